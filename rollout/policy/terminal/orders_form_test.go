package terminal_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	tmfeatures "moonfarm/features/terminal"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/replay"
)

// said counts what becomes of turns of one player that are said in the form of single orders, and
// played against the enemy's orders of the same turn.
type said struct {
	turns, steps int
	same         int // the state after the turn is the same
	ids          int // it differs in ids of structures alone
	fights       int // the deployment differs in ids alone, but the fight takes another course
	lost         int // the deployment differs: Action could not say the orders
}

func (s *said) add(d said) {
	s.turns, s.steps, s.same = s.turns+d.turns, s.steps+d.steps, s.same+d.same
	s.ids, s.fights, s.lost = s.ids+d.ids, s.fights+d.fights, s.lost+d.lost
}

// share returns the part of the turns that come out the same but for ids.
func (s *said) share() float64 { return float64(s.same+s.ids) / float64(s.turns) }

func (s *said) String() string {
	return fmt.Sprintf("%d turns of %.1f steps, %.3f %% come out the same: %d with equal ids, %d with others; %d fights take another course, %d deployments are lost",
		s.turns, float64(s.steps)/float64(s.turns), 100*s.share(), s.same, s.ids, s.fights, s.lost)
}

// sayer says turns in the form of single orders.
type sayer struct {
	testing.TB
	game   *terminal.Game
	drafts features.Drafts[terminal.State]
	action []int32
	orders []sim.Order
	turn   *sim.Turn
}

func newSayer(t testing.TB, r terminal.Rules) *sayer {
	t.Helper()
	g, err := terminal.New(r)
	require.NoError(t, err)
	kit := tmfeatures.Kit(g)
	f, err := kit.Form(tmfeatures.OrdersForm)
	require.NoError(t, err)
	return &sayer{TB: t, game: g, drafts: f.NewDrafts(1), action: make([]int32, 1), turn: sim.NewTurn(g.Info().MaxOrders)}
}

// say says the orders of seat p in a turn that begins in state s, and plays it.
func (y *sayer) say(c *said, s *terminal.State, p sim.Player, orders, enemy []sim.Order) {
	y.drafts.Begin(0, s, p)
	all := true
	for ended := false; !ended; c.steps++ {
		all = y.drafts.Action(y.action, orders, 0) && all
		ended = y.drafts.Take(0, y.action)
	}
	y.orders = y.orders[:0]
	for _, o := range orders {
		if op := terminal.Decode(o).Op; op == terminal.OpClock || op == terminal.OpPenalty {
			y.orders = append(y.orders, o)
		}
	}
	y.orders = y.drafts.AppendOrders(y.orders, 0)
	var after, deployed [2]terminal.State
	for i, own := range [][]sim.Order{orders, y.orders} {
		y.turn.Set(p, own)
		y.turn.Set(p^1, enemy)
		after[i] = *s
		y.game.Deploy(&after[i], y.turn)
		deployed[i] = after[i]
		y.game.Action(&after[i])
		y.game.Restore(&after[i])
	}
	c.turns++
	equal := sameBoard(&deployed[0], &deployed[1])
	if equal != all {
		y.Fatalf("turn %d seat %d: the deployments are equal: %v, Action says %v\norders %x\nsaid %x", s.Turn, p, equal, all, orders, y.orders)
	}
	switch {
	case after[0] == after[1]:
		c.same++
	case sameBoard(&after[0], &after[1]):
		c.ids++
	case equal:
		c.fights++
	default:
		c.lost++
	}
}

// sameBoard reports whether two states differ in ids alone.
func sameBoard(a, b *terminal.State) bool {
	const id = 1<<8 - 1
	for i := range a.Cells {
		if a.Cells[i].Health != b.Cells[i].Health || a.Cells[i].Mark&id != b.Cells[i].Mark&id {
			return false
		}
	}
	return a.Health == b.Health && a.Cores == b.Cores && a.Bits == b.Bits && a.Time == b.Time && a.Turn == b.Turn
}

// recordings says the turns of recordings.
func recordings(t *testing.T, names ...string) (sum said) {
	t.Helper()
	for _, name := range names {
		text := simtest.Text(t, name)
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		m, _, err := replay.Verify(filepath.Base(name), bytes.NewReader(text), nil)
		if m == nil || m.Turns == 0 {
			t.Logf("%s: %v", name, err)
			continue
		}
		y, turn := newSayer(t, m.Config.Rules), new(sim.Turn)
		var s terminal.State
		y.game.Reset(&s, 0)
		for i := range m.Turns {
			for p := range sim.Player(2) {
				y.say(&sum, &s, p, m.OrdersOf(i, p), m.OrdersOf(i, p^1))
			}
			m.Turn(turn, i)
			if y.game.Step(&s, turn) != sim.Running {
				break
			}
		}
	}
	return sum
}

// games says the turns of n games of the first policy against each of the others.
func games(t *testing.T, rules, name string, against []string, n int) (sum said) {
	t.Helper()
	v := policytest.NewVector(t, "terminal", rules, n, 0)
	g, _ := env.Rules[terminal.State](v)
	y := newSayer(t, g.(*terminal.Game).Rules())
	states, _ := env.States[terminal.State](v)
	b := env.NewBatch(v.Spec(), n, env.WantMask|env.WantAction|env.WantRowSeed)
	own := policytest.NewPolicy(t, "terminal", name, v.Spec())
	var opponents []rollout.Policy
	for _, name := range against {
		opponents = append(opponents, policytest.NewPolicy(t, "terminal", name, v.Spec()))
	}
	for i := range n {
		v.Reset(i, uint64(i))
	}
	most := v.Spec().Info.MaxOrders
	for range v.Spec().MaxTurns {
		v.Observe(b)
		for i := range n {
			row := 2*i + i%2
			own.Act(v, b, []int32{int32(row)})
			opponents[i%len(opponents)].Act(v, b, []int32{int32(row ^ 1)})
		}
		before := append([]terminal.State(nil), states...)
		status := append([]sim.Status(nil), b.Status...)
		v.Step(b)
		for i := range n {
			if row := 2*i + i%2; status[i] == sim.Running {
				y.say(&sum, &before[i], sim.Player(row&1), b.Orders[row*most:][:b.OrderLen[row]], b.Orders[(row^1)*most:][:b.OrderLen[row^1]])
			}
		}
	}
	return sum
}

// TestOrdersForm measures how many turns of scripts and of the search come out the same if they are
// said in the form of single orders: of some games, or of many under several rules.
func TestOrdersForm(t *testing.T) {
	scripts := append(policytest.Scripts("terminal"), "random")
	names, n, rules := quick(), 6, []string{"2026", "classic"}
	if policytest.Long() {
		names, n, rules = append(scripts[:len(scripts):len(scripts)], "mcts(sims=20)"), 60, []string{"2026", "2025b", "2022", "2020", "classic"}
	}
	var all said
	for _, set := range rules {
		for _, name := range names {
			c := games(t, set, name, scripts, n)
			t.Logf("%s by the rules of %s: %v", name, set, &c)
			assert.GreaterOrEqual(t, c.share(), 0.98)
			all.add(c)
		}
	}
	t.Logf("all: %v", &all)
	assert.GreaterOrEqual(t, all.share(), 0.995)
}

// TestOrdersFormOfRecordings measures the same for all recordings.
func TestOrdersFormOfRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("plays all recordings")
	}
	var all said
	for _, folder := range []string{"terminal", "terminal-edge", "terminal-more"} {
		c := recordings(t, simtest.SharedFiles(t, "replays", folder, "*.replay.gz")...)
		t.Logf("%s: %v", folder, &c)
		all.add(c)
	}
	t.Logf("all: %v", &all)
	assert.GreaterOrEqual(t, all.share(), 0.995)
}
