package towerdefence_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim/towerdefence"
)

// plans runs the planner on given states.
type plans struct {
	v env.Vector
	b *env.Batch
	p rollout.Policy
}

func newPlans(t testing.TB) *plans {
	t.Helper()
	v := policytest.NewVector(t, "towerdefence", "", 1, 0)
	p := policytest.NewPolicy(t, "towerdefence", "planner", v.Spec())
	return &plans{v, env.NewBatch(v.Spec(), 1, p.Wants()), p}
}

// set sets the state of the game from a text. Rows that the text lacks are empty.
func (p *plans) set(t testing.TB, text string) {
	t.Helper()
	g, _ := env.Rules[towerdefence.State](p.v)
	states, _ := env.States[towerdefence.State](p.v)
	p.v.Reset(0, 1)
	for y := range towerdefence.Height {
		if row := "\n" + string(rune('0'+y)) + " "; !strings.Contains(text, row) {
			text += row + ". . . . . . . . | . . . . . . . ."
		}
	}
	s, err := towerdefence.ParseText(g.(*towerdefence.Game), text)
	require.NoError(t, err)
	states[0] = s
}

// orders returns the different orders that seat A gives with eight seeds.
func (p *plans) orders() (all []towerdefence.Command) {
	p.v.Observe(p.b)
	for seed := range uint64(8) {
		p.b.RowSeed[0] = seed
		p.p.Act(p.v, p.b, []int32{0})
		if o := towerdefence.Decode(p.b.Orders[0]); !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}

// The planner gives the obvious orders in simple positions. A missile flies two cells a round
// and takes 5 points of health.
func TestPlannerDecides(t *testing.T) {
	const (
		plain = "A energy 30 health 100 hits 0 score 0 damage 0 curtain -9 ready no fails 0\n"
		foe   = "B energy 0 health 100 hits 0 score 0 damage 0 curtain -9 ready no fails 0\n"
	)
	rich := strings.NewReplacer("30", "250", "no", "yes").Replace(plain)
	rows := func(row string) (all string) {
		for y := range "01234567" {
			all += string(rune('0'+y)) + " " + row + "\n"
		}
		return all
	}
	for _, c := range []struct {
		name, text string
		want       func(o towerdefence.Command) bool
	}{
		{"the first order is an energy building at the back", "round 0\n" + strings.Replace(plain, "30", "20", 1) + foe,
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpEnergy && o.X == 0 }},
		{"an energy building keeps out of the rows that are shot at", "round 30\n" + strings.Replace(plain, "30", "20", 1) + foe +
			"0 E . . . . . . . | . . . A . . . E\n1 E . . . . . . . | . . . A . . . E\n2 E . . . . . . . | D . . A . . . E\n" +
			"4 E . . . . . . . | D . . A . . . E\n",
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpEnergy && (o.Y == 3 || o.Y > 4) }},
		{"the last hit comes from the row that is open", "round 30\n" + plain + strings.Replace(foe, "100", "5", 1) +
			strings.Replace(rows(". . . . . . . . | D . . . . . . ."), "4 . . . . . . . . | D", "4 . . . . . . . . | .", 1),
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpAttack && o.Y == 4 }},
		{"a volley before the front column is worth a curtain", "round 90\n" + rich + foe +
			rows("E . . . . . . . | .< .< . . A . . ."),
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpCurtain }},
		{"missiles beyond the front column are not", "round 90\n" + rich + foe +
			rows("E . . . . .< .< . | . . . . . . . ."),
			func(o towerdefence.Command) bool { return o.Op != towerdefence.OpCurtain }},
		{"a wall in the row of a battery behind a wall", "round 30\n" + strings.Replace(plain, "100", "40", 1) + foe +
			"2 E E E . . . . . | D . . . A A A A\n",
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpDefense && o.Y == 2 }},
		{"lightning, where walls stop the missiles", "round 90\n" + strings.Replace(rich, "yes", "no", 1) + foe +
			rows("E E . . . . . . | D D . . . . E E"),
			func(o towerdefence.Command) bool { return o.Op == towerdefence.OpTesla && o.X == 7 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlans(t)
			p.set(t, c.text)
			for _, o := range p.orders() {
				assert.True(t, c.want(o), "the order %+v", o)
			}
		})
	}
}
