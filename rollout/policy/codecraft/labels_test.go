package codecraft_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	features "moonfarm/features/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Choices do the same as all orders of the scripts: a tick that is played by them
// leads to the same state but for the stored actions. Builds that must fail may be left out, and with
// them their ids and their part in the draw of the order of builds.
func TestCraftLabels(t *testing.T) {
	ticks, presets := int32(330), []string{"round1", "finals"}
	if long() {
		ticks, presets = 1000, []string{"round1", "round2", "finals"}
	}
	styles := names()
	counts := map[string]*[2]int{}
	for _, name := range styles {
		counts[name] = new([2]int)
	}
	played, drawn := 0, 0
	for k, name := range presets {
		for first := range styles {
			if ticks < 1000 && first%2 != k%2 {
				continue
			}
			list := slices.Concat(styles[first:], styles[:first])
			scriptedGame(t, name, uint64(first), ticks, list, func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
				same, ids := playLabels(t, g, s, turn, list, counts)
				if played++; !same && ids {
					t.Fatalf("%s, seed %d, tick %d: the choices lead to another state", name, first, s.Tick)
				} else if !same {
					drawn++
				}
			})
		}
	}
	for _, name := range styles {
		c := counts[name]
		t.Logf("%-10s %d rows, %d with choices for all orders", name, c[0], c[1])
		assert.Truef(t, c[0] >= 100 && c[1]*1000 >= c[0]*995, "%s: %d of %d rows have choices for all orders, want 0.995 of 100 or more", name, c[1], c[0])
	}
	t.Logf("%d of %d ticks go another way: two bases share a purse for one unit, and builds that must fail are left out of the draw", drawn, played)
	assert.LessOrEqual(t, drawn*10, played)
}

// playLabels plays one tick by the orders and by their choices. It reports whether both lead to
// the same state, and whether they take the same ids.
func playLabels(t *testing.T, g *codecraft.Game, s *codecraft.State, turn *sim.Turn, names []string, counts map[string]*[2]int) (same, ids bool) {
	t.Helper()
	a := features.NewActions(g)
	action, chosen := make([]int32, len(a.Heads())), sim.NewTurn(g.Info().MaxOrders)
	for p := range sim.Player(g.Info().Players) {
		c, orders := counts[names[int(p)%len(names)]], turn.Orders(p)
		if c[0]++; a.Action(action, orders, s, p) {
			c[1]++
			orders = a.AppendOrders(nil, action, s, p)
		}
		chosen.Set(p, orders)
	}
	byOrders, byChoices := *s, *s
	g.Step(&byOrders, turn)
	g.Step(&byChoices, chosen)
	ids = byOrders.NextID == byChoices.NextID
	return board(&byOrders) == board(&byChoices) && byOrders.Score == byChoices.Score && byOrders.Resource == byChoices.Resource, ids
}

// board returns what covers each cell of a state, without ids.
func board(s *codecraft.State) (cells [codecraft.Cells]codecraft.Unit) {
	for at := range cells {
		cells[at].Health = int16(s.Health[at])
		if i := s.At[at]; i != 0 {
			cells[at] = s.Units[i-1]
			cells[at].ID = 0
		}
	}
	return cells
}
