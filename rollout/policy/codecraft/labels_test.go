package codecraft_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	features "moonfarm/features/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// labels counts how many of a policy's orders the action space can encode.
type labels struct {
	ordered, encoded int // own entities with orders, and those whose orders a choice encodes
	rows, full       int // rows, and those whose orders are all encoded
}

// add counts the orders of one seat.
func (l *labels) add(a *features.Actions, action []int32, s *codecraft.State, p sim.Player, orders []sim.Order) {
	l.rows++
	if a.Action(action, orders, s, p) {
		l.full++
	}
	byEntity := map[uint32][]sim.Order{}
	for _, o := range orders {
		id := codecraft.Decode(o).ID
		if i := s.Find(id); i >= 0 && s.Units[i].Owner == p {
			byEntity[id] = append(byEntity[id], o)
		}
	}
	alone := make([]int32, len(action))
	for _, list := range byEntity {
		l.ordered++
		if a.Action(alone, list, s, p) {
			l.encoded++
		}
	}
}

// Choices encode nearly all orders of the scripts, and a game that is played by these choices
// equals the game that is played by the orders.
func TestCraftLabels(t *testing.T) {
	ticks, presets := int32(400), []string{"round1", "finals"}
	if long() {
		ticks, presets = 1000, []string{"round1", "round2", "finals"}
	}
	styles := names()
	counts := map[string]*labels{}
	for _, name := range styles {
		counts[name] = new(labels)
	}
	for k, name := range presets {
		for first := range styles {
			if ticks < 1000 && first%2 != k%2 {
				continue // each rule set plays every other pairing
			}
			playLabels(t, name, ticks, styles, first, counts)
		}
	}
	for _, name := range styles {
		l := counts[name]
		orders, rows := float64(l.encoded)/float64(l.ordered), float64(l.full)/float64(l.rows)
		t.Logf("%-10s %6d entity orders, %.2f %% are encoded; %6d rows, %.2f %% completely", name, l.ordered, 100*orders, l.rows, 100*rows)
		assert.Truef(t, l.ordered >= 100 && orders >= 0.98 && rows >= 0.90, "%s: %.3f of %d entity orders and %.3f of the rows are encoded, want 0.98 of 100 or more, and 0.90", name, orders, l.ordered, rows)
	}
}

// playLabels plays a game twice, with the scripts from number first on: once by their
// orders and once by the choices that encode them.
func playLabels(t *testing.T, preset string, ticks int32, styles []string, first int, counts map[string]*labels) {
	t.Helper()
	names := slices.Concat(styles[first:], styles[:first])
	byChoices := new(codecraft.State)
	scriptedGame(t, preset, uint64(first), ticks, names, func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
		a := features.NewActions(g)
		action, turn2 := make([]int32, len(a.Heads())), sim.NewTurn(g.Info().MaxOrders)
		if s.Tick == 0 {
			*byChoices = *s
		}
		for p := range sim.Player(g.Info().Players) {
			orders := turn.Orders(p)
			counts[names[int(p)%len(names)]].add(a, action, s, p, orders)
			if !slices.Contains(action, -1) {
				orders = a.AppendOrders(nil, action, byChoices, p)
			}
			turn2.Set(p, orders)
		}
		byOrders := *s
		g.Step(&byOrders, turn)
		if g.Step(byChoices, turn2); *byChoices != byOrders {
			t.Fatalf("%s, seed %d, tick %d: the game that is played by choices differs", preset, first, s.Tick)
		}
	})
}

// Choices of the form entities do the same as all orders of the scripts: a tick that is played by them
// leads to the same state but for the stored actions. Builds that must fail may be left out, and with
// them their ids and their part in the draw of the order of builds.
func TestCraftEntityLabels(t *testing.T) {
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
				same, ids := playEntityLabels(t, g, s, turn, list, counts)
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

// playEntityLabels plays one tick by the orders and by their choices. It reports whether both lead to
// the same state, and whether they take the same ids.
func playEntityLabels(t *testing.T, g *codecraft.Game, s *codecraft.State, turn *sim.Turn, names []string, counts map[string]*[2]int) (same, ids bool) {
	t.Helper()
	a := features.NewEntityActions(g)
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
