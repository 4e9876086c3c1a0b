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

// TestRecordedTurns finds actions for the orders of recordings.
func TestRecordedTurns(t *testing.T) {
	names := simtest.SharedFiles(t, "replays", "terminal", "202*.replay.gz")
	known, all := 0, 0
	for _, name := range names {
		m, _, err := replay.Verify(filepath.Base(name), bytes.NewReader(simtest.Text(t, name)), nil)
		require.NoError(t, err)
		g := newGame(t, m.Config.Rules)
		v := &recorded{T: t, g: g, a: NewActions(g)}
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
			g.Step(&v.s, turn)
		}
	}
	t.Logf("%d recordings: %d of %d turns of a player have an action", len(names), known, all)
	assert.GreaterOrEqual(t, known*1000, all*995, "that is less than 99.5 %")
}

type recorded struct {
	*testing.T
	g *tm.Game
	a *Actions
	s tm.State
}

// action finds the action of a player's orders and compares the effects.
func (r *recorded) action(orders []sim.Order, p sim.Player) bool {
	action := make([]int32, heads)
	if !r.a.Action(action, orders, &r.s, p) {
		return false
	}
	mask := make([]uint64, gridMaskWords)
	r.a.Mask(mask, &r.s, p)
	at := 0
	for h, n := range r.a.Heads() {
		if i := at + int(action[h]); mask[i/64]>>(i%64)&1 == 0 {
			r.Fatalf("turn %d seat %d: head %d has choice %d, which is masked", r.s.Turn, p, h, action[h])
		}
		at += n
	}
	given := slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return tm.Decode(o).Op > tm.OpSpawn })
	want, got := result(r.g, &r.s, p, given), result(r.g, &r.s, p, r.a.AppendOrders(nil, action, &r.s, p))
	if want != got {
		r.Fatalf("turn %d seat %d: the orders come to\n%s\ntheir action to\n%s", r.s.Turn, p, want, got)
	}
	return true
}
