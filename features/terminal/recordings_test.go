package terminal

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/replay"
)

// TestRecordedTurns finds actions for the orders of recordings, and plays their turns in the sequential
// form with choices of its action space that the mask allows.
func TestRecordedTurns(t *testing.T) {
	names := simtest.SharedFiles(t, "replays", "terminal", "202*.replay.gz")
	known, all, steps := 0, 0, 0
	for _, name := range names {
		m, err := replay.ReadMatch(filepath.Base(name), bytes.NewReader(simtest.Text(t, name)))
		require.NoError(t, err)
		g, q := newGame(t, m.Config.Rules), newSequential(t, m.Config.Rules)
		v := &recorded{T: t, g: g, a: NewActions(g), q: q, qa: NewSequentialActions(q)}
		g.Reset(&v.s, 0)
		turn := sim.NewTurn(64)
		for i := range m.Turns {
			for p := range sim.Player(2) {
				orders := m.OrdersOf(i, p)
				turn.Set(p, orders)
				all++
				if v.action(orders, p) {
					known++
				}
			}
			before := v.s
			v.status = g.Step(&v.s, turn)
			steps += v.sequential(&before, turn)
		}
	}
	t.Logf("%d recordings: %d of %d turns of a player have an action; %d steps of the sequential form", len(names), known, all, steps)
	assert.GreaterOrEqual(t, known*1000, all*995, "that is less than 99.5 %")
}

type recorded struct {
	*testing.T
	g      *tm.Game
	a      *Actions
	q      *tm.Sequential
	qa     *SequentialActions
	s      tm.State
	status sim.Status
}

// action finds the action of a player's orders and compares the effects.
func (v *recorded) action(orders []sim.Order, p sim.Player) bool {
	action := make([]int32, heads)
	if !v.a.Action(action, orders, &v.s, p) {
		return false
	}
	mask := make([]uint64, gridMaskWords)
	v.a.Mask(mask, &v.s, p)
	at := 0
	for h, n := range v.a.Heads() {
		if i := at + int(action[h]); mask[i/64]>>(i%64)&1 == 0 {
			v.Fatalf("turn %d seat %d: head %d has choice %d, which is masked", v.s.Turn, p, h, action[h])
		}
		at += n
	}
	given := slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return tm.Decode(o).Op > tm.OpSpawn })
	want, got := result(v.g, &v.s, p, given), result(v.g, &v.s, p, v.a.AppendOrders(nil, action, &v.s, p))
	if want != got {
		v.Fatalf("turn %d seat %d: the orders come to\n%s\ntheir action to\n%s", v.s.Turn, p, want, got)
	}
	return true
}

// sequential plays a turn step by step from the state before it. It leaves out turns with penalties,
// which the form does not have, and turns with orders for the other line.
func (v *recorded) sequential(before *tm.State, turn *sim.Turn) (steps int) {
	var lists [2][]sim.Order
	for p := range sim.Player(2) {
		var lines [2][]sim.Order
		for _, o := range turn.Orders(p) {
			switch c := tm.Decode(o); {
			case c.Swapped || c.Op == tm.OpPenalty:
				return 0
			case c.Op == tm.OpSpawn:
				for range c.Count {
					lines[1] = append(lines[1], tm.Spawn(c.Kind, int(c.X), int(c.Y), 1))
				}
			case c.Op != tm.OpClock:
				lines[0] = append(lines[0], o)
			}
		}
		lists[p] = slices.Concat(lines[0], lines[1])
	}
	s := tm.SequentialState{Base: *before, View: *before}
	step, action, mask := sim.NewTurn(1), make([]int32, 1), make([]uint64, choiceWords)
	status := sim.Running
	for i := 0; i <= max(len(lists[0]), len(lists[1])); i++ {
		step.Clear()
		for p := range sim.Player(2) {
			if i >= len(lists[p]) {
				continue
			}
			v.qa.Mask(mask, &s, p)
			if !v.qa.Action(action, lists[p][i:i+1], &s, p) || mask[action[0]/64]>>(action[0]%64)&1 == 0 {
				v.Fatalf("turn %d seat %d: the mask does not have command %#x", before.Turn, p, lists[p][i])
			}
			step.Set(p, v.qa.AppendOrders(nil, action, &s, p))
		}
		status = v.q.Step(&s, step)
		steps++
	}
	s.Base.Time = v.s.Time // the form ignores clocks
	if d := simtest.Diff(&v.s, &s.Base); d != "" || status != v.status {
		v.Fatalf("turn %d: %v, step by step %v; %s", before.Turn, v.status, status, d)
	}
	return steps
}
