package replay

import (
	"fmt"
	"math"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// readOrders fills t with the orders that led to f, the first action frame of a turn, given
// the health of the players before it and the spawn events, in which upgrades have their own
// kind. Each player's orders are the clock, the penalty, and the commands as they were
// carried out; consecutive equal mobile units become one order.
func readOrders(t *sim.Turn, before [2]float32, f *frame.Frame, events []terminal.SpawnEvent) error {
	t.Clear()
	for p := range sim.Player(2) {
		switch ms, ok := frame.Milliseconds(f.Stats[p].Time); {
		case !ok:
			return fmt.Errorf("p%dStats: expected whole milliseconds from 0 to %d, found %v", p+1, uint32(math.MaxUint32), f.Stats[p].Time)
		case ms > 0:
			t.Add(p, terminal.Clock(ms))
		}
		if lost := before[p] - healthSubmitted(f, p); lost > 0 {
			t.Add(p, terminal.Penalty(lost))
		}
	}
	phases, ok := phasesOf(events)
	if !ok {
		return fmt.Errorf("events.spawn: expected the players' lines in turn (1, 2, 1, 2), found more changes between them")
	}
	for i := 0; i < len(events); {
		e, n := events[i], 1
		for ; i+n < len(events) && sameSpawn(e, events[i+n]) && phases[i+n] == phases[i]; n++ {
		}
		o := e.Order(n)
		if first := phases[i] < 2; first == e.Kind.Mobile() {
			o = terminal.Swap(o)
		}
		t.Add(e.Player, o)
		i += n
	}
	return nil
}

// healthSubmitted returns the health of player p after the penalties and before the breaches
// of the first frame.
func healthSubmitted(f *frame.Frame, p sim.Player) float32 {
	health := f.Stats[p].Health
	for i := len(f.Events.Breaches) - 1; i >= 0; i-- {
		if b := f.Events.Breaches[i]; b.Player != p {
			health += b.Damage
		}
	}
	return health
}

// sameSpawn reports whether one order may have led to both spawn events of mobile units.
func sameSpawn(a, b terminal.SpawnEvent) bool {
	return a.Kind.Mobile() && a.Kind == b.Kind && a.At == b.At && a.Player == b.Player
}

// phasesOf returns for every spawn event the phase in which it was carried out: 0 is player
// 1's first line, 1 player 2's first, 2 player 1's second, 3 player 2's second. Structures
// belong to first lines and mobile units to second lines. If the order of the events rules
// that out, phasesOf moves as few mobile units as possible to the other line, and then as few
// structures as possible. It returns false if no lines lead to the order.
func phasesOf(events []terminal.SpawnEvent) ([]uint8, bool) {
	const never = 1 << 60
	// cost[q] is the cost of the events so far if the last of them is in phase q.
	var cost [4]int64
	before := make([][4]uint8, len(events)) // by event and its phase: the phase of the event before
	for i, e := range events {
		least, from := int64(never), uint8(0)
		var next [4]int64
		for q := range next {
			if cost[q] < least {
				least, from = cost[q], uint8(q)
			}
			before[i][q] = from
			next[q] = min(least+phaseCost(e, q), never)
			if sim.Player(q&1) != e.Player {
				next[q] = never
			}
		}
		cost = next
	}
	last := 0
	for q := range cost {
		if cost[q] < cost[last] {
			last = q
		}
	}
	phases := make([]uint8, len(events))
	for i, q := len(events)-1, uint8(last); i >= 0; i-- {
		phases[i], q = q, before[i][q]
	}
	return phases, cost[last] < never
}

// phaseCost returns the cost of an event in a phase: 0 in the line where it belongs. A mobile
// unit in the other line costs more than any number of structures.
func phaseCost(e terminal.SpawnEvent, phase int) int64 {
	switch {
	case e.Kind.Mobile() && phase < 2:
		return 1 << 32
	case !e.Kind.Mobile() && phase >= 2:
		return 1
	}
	return 0
}
