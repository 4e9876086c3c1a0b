package codecraft_test

import (
	"slices"
	"testing"

	features "moonfarm/features/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// labels counts what of a policy's orders has a choice.
type labels struct {
	told, said int // own entities that orders name
	rows, full int // rows, and those of which all is said
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
		l.told++
		if a.Action(alone, list, s, p) {
			l.said++
		}
	}
}

// Nearly all that the scripted policies order has a choice, and a game that is
// played by these choices goes as one that is played by the orders.
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
				continue // one of two pairings by each rules
			}
			playLabels(t, name, ticks, styles, first, counts)
		}
	}
	for _, name := range styles {
		l := counts[name]
		orders, rows := float64(l.said)/float64(l.told), float64(l.full)/float64(l.rows)
		t.Logf("%-10s %6d entity orders, %.2f %% have a choice; %6d rows, %.2f %% as a whole", name, l.told, 100*orders, l.rows, 100*rows)
		if l.told < 100 || orders < 0.98 || rows < 0.90 {
			t.Errorf("%s: that is too few", name)
		}
	}
}

// playLabels plays a game twice, with the scripts from first on: once by their
// orders and once by the choices for them.
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
			t.Fatalf("%s, seed %d, tick %d: played by choices the game goes another way", preset, first, s.Tick)
		}
	})
}
