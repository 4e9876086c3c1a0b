package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	tmfeatures "moonfarm/features/terminal"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// forts are the scripted policies of the game.
var forts = []string{"scatter", "starter", "maze", "turtle"}

// newFort returns n games of Terminal under the rules of that name.
func newFort(rules string, n int) (env.Vector, error) {
	r, _ := terminal.RuleSet(rules)
	g, err := terminal.New(r)
	if err != nil {
		return nil, err
	}
	return env.New(g, tmfeatures.Kit(g), env.Config{N: n})
}

// fortPairs plays every pair of the named policies.
func fortPairs(t *testing.T, rules string, games int, names ...string) *arena.Result {
	t.Helper()
	c := arena.Config{Games: games, Seed: 1, Workers: 2, Vector: func() (env.Vector, error) { return newFort(rules, 8) }}
	for _, name := range names {
		m, err := policy.New("terminal", name)
		if err != nil {
			t.Fatal(err)
		}
		c.Policies = append(c.Policies, arena.Entrant{Name: name, New: m})
	}
	r, err := arena.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The scripts beat both random policies under every rule set: nearly always
// under the newest.
func TestFortsAgainstEachOther(t *testing.T) {
	for _, rules := range terminal.RuleSets() {
		least := 0.8
		if rules == "2026" {
			least = 0.95
		}
		for _, p := range fortPairs(t, rules, 20, append([]string{"random"}, forts...)...).Pairs {
			t.Logf("%7s: %8s – %-8s %3d won %2d drawn %3d lost, %5.1f turns", rules, p.A, p.B, p.Wins, p.Draws, p.Losses, p.MeanTurns)
			weak := p.A == "random" || p.A == "scatter"
			if weak && p.B != "scatter" && float64(p.Losses) < least*20 {
				t.Errorf("%s: %s wins only %d of 20 games against %s", rules, p.B, p.Losses, p.A)
			}
		}
	}
}

// What a script orders is carried out, order by order, in every state it meets,
// against every kind of opponent, and costs no memory.
func TestFortsAreLegal(t *testing.T) {
	const games = 8
	turn := sim.NewTurn(1)
	for _, rules := range terminal.RuleSets() {
		for _, name := range forts {
			v, err := newFort(rules, games)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := terminal.RuleSet(rules)
			g, _ := terminal.New(r)
			states, _ := env.States[terminal.State](v)
			p := newPolicy(t, "terminal", name, v.Spec())
			b := env.NewBatch(v.Spec(), games, env.WantMask|env.WantAction|env.WantKey)
			var opponents []rollout.Policy
			for _, spec := range append([]string{"random"}, forts...) {
				opponents = append(opponents, newPolicy(t, "terminal", spec, v.Spec()))
			}
			for i := range games {
				v.Reset(i, uint64(i))
			}
			var ops [8]int
			for range v.Spec().MaxTurns {
				v.Observe(b)
				for i := range games {
					row := 2*i + i%2
					p.Act(v, b, []int32{int32(row)})
					opponents[i%len(opponents)].Act(v, b, []int32{int32(row ^ 1)})
					if b.Status[i] != sim.Running {
						continue
					}
					after := states[i]
					for _, o := range b.Orders[row*v.Spec().Info.MaxOrders:][:b.OrderLen[row]] {
						ops[terminal.Decode(o).Op]++
						if before := after; !carriedOut(g, &after, sim.Player(row&1), turn, o) {
							t.Fatalf("%s: %s orders %+v in turn %d, which is not carried out; cores %v, bits %v", rules, name,
								terminal.Decode(o), before.Turn, before.Cores, before.Bits)
						}
					}
				}
				v.Step(b)
			}
			if ops[terminal.OpPlace] == 0 || ops[terminal.OpSpawn] == 0 || r.Upgradable[terminal.Turret] != (ops[terminal.OpUpgrade] > 0) {
				t.Errorf("%s: %s orders %v", rules, name, ops)
			}
			rows := numbers(b.Rows)
			for i := range games {
				v.Reset(i, uint64(i))
			}
			v.Observe(b)
			if n := testing.AllocsPerRun(5, func() { p.Act(v, b, rows) }); n != 0 {
				t.Errorf("%s: %s: %v allocations", rules, name, n)
			}
		}
	}
}

// carriedOut reports whether an order changes the state as it should: all units
// of a stack are paid for, a structure comes, is upgraded or marked.
func carriedOut(g *terminal.Game, s *terminal.State, p sim.Player, turn *sim.Turn, o sim.Order) bool {
	before := *s
	turn.SetOne(p, o)
	turn.Set(p^1, nil)
	g.Deploy(s, turn)
	if c := terminal.Decode(o); c.Op == terminal.OpSpawn {
		return s.NextID-before.NextID == c.Count
	}
	return s.Own != before.Own || s.Upgraded != before.Upgraded || s.Marked != before.Marked
}

// A script's choice depends on the row alone: not on the games beside it.
func TestFortsArePure(t *testing.T) {
	for _, name := range append([]string{"mix(1*starter,1*mix(1*maze,2*turtle),1*scatter)"}, forts...) {
		var want []sim.Order
		for _, games := range []int{1, 5} {
			v, err := newFort("2026", games)
			if err != nil {
				t.Fatal(err)
			}
			seats := []rollout.Policy{newPolicy(t, "terminal", name, v.Spec()), newPolicy(t, "terminal", "turtle", v.Spec())}
			var got []sim.Order
			sink := sinkFunc(func(e *rollout.Episode) error { got = append(got, e.Orders...); return nil })
			if err := rollout.Shard(context.Background(), v, seats, 2, 0, 10, sink); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: other orders with %d games at once", name, games)
			}
		}
	}
}

// What a script has built after some turns, as seat 0 against a random player:
// the shape it is named for.
func TestFortShapes(t *testing.T) {
	for _, c := range []struct {
		name            string
		walls           int // least in the row y = 12 and the two corners above
		turrets, mobile int // least turrets in the front rows; the most stacks in a turn
	}{
		{"maze", 20, 2, 1},
		{"turtle", 0, 6, 3},
		{"starter", 2, 4, 40},
	} {
		v, err := newFort("2025b", 1)
		if err != nil {
			t.Fatal(err)
		}
		states, _ := env.States[terminal.State](v)
		g, _ := env.Rules[terminal.State](v)
		b := env.NewBatch(v.Spec(), 1, env.WantMask|env.WantAction|env.WantKey)
		me, you := newPolicy(t, "terminal", c.name, v.Spec()), newPolicy(t, "terminal", "scatter", v.Spec())
		v.Reset(0, 3)
		for range 7 {
			v.Observe(b)
			me.Act(v, b, []int32{0})
			you.Act(v, b, []int32{1})
			stacks := 0
			for _, o := range b.Orders[:b.OrderLen[0]] {
				if terminal.Decode(o).Op == terminal.OpSpawn {
					stacks++
				}
			}
			if stacks > c.mobile {
				t.Errorf("%s spawns %d stacks in turn %d", c.name, stacks, b.Turn[0])
			}
			v.Step(b)
		}
		walls, turrets := 0, 0
		for _, piece := range states[0].AppendStructures(nil, 0) {
			switch {
			case piece.Kind == terminal.Wall && piece.At.Y >= 12:
				walls++
			case piece.Kind == terminal.Turret && piece.At.Y >= 11:
				turrets++
			}
		}
		if walls < c.walls || turrets < c.turrets {
			t.Errorf("%s has %d walls and %d turrets at the front:\n%s", c.name, walls, turrets, terminal.AppendText(nil, g.(*terminal.Game), &states[0]))
		}
	}
}

func TestFortsPlayTheirGameOnly(t *testing.T) {
	m, err := policy.New("terminal", "maze")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := slabs([]int{2}, 1)
	s.Info.Name = "toy"
	if _, err := m(s); err == nil || !strings.Contains(err.Error(), "maze plays terminal, not toy") {
		t.Errorf("error %v", err)
	}
	if _, err := policy.New("towerdefence", "maze"); err == nil || !strings.Contains(err.Error(), `no policy "maze" for towerdefence`) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkForts records whole episodes: choosing, stepping and recording, per
// game and turn.
func BenchmarkForts(b *testing.B) {
	for _, name := range append([]string{"random"}, forts...) {
		b.Run(name, func(b *testing.B) {
			v, err := newFort("2026", 16)
			if err != nil {
				b.Fatal(err)
			}
			table, err := rollout.NewTable(v, []rollout.Policy{newPolicy(b, "terminal", name, v.Spec()), newPolicy(b, "terminal", name, v.Spec())})
			if err != nil {
				b.Fatal(err)
			}
			turns, sum := 0, uint64(0)
			sink := sinkFunc(func(e *rollout.Episode) error {
				turns += e.Turns
				for _, o := range e.Orders {
					sum = sum*31 + uint64(o)
				}
				return nil
			})
			b.ReportAllocs()
			first := uint64(0)
			for turns < b.N {
				if err := table.Play(context.Background(), 1, first, 50, sink); err != nil {
					b.Fatal(err)
				}
				first += 50
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
			b.Logf("%s: %d turns in %d episodes, checksum %x", name, turns, first, sum)
		})
	}
}
