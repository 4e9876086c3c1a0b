package wire

import (
	"fmt"
	"math"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// readOrders fills t with the orders that led to f, the first action frame of a
// turn, from the given healths before it and the spawn events, of which those of
// upgrades are told apart: for each player the clock, the
// penalty, then the commands as they were carried out, equal ones for mobile
// units as one order.
func readOrders(t *sim.Turn, before [2]float32, f *Frame, events []terminal.SpawnEvent) error {
	t.Clear()
	for p := range sim.Player(2) {
		switch ms, ok := milliseconds(f.Stats[p].Time); {
		case !ok:
			return fmt.Errorf("p%dStats: want whole milliseconds from 0 to %d, found %v", p+1, uint32(math.MaxUint32), f.Stats[p].Time)
		case ms > 0:
			t.Add(p, terminal.Clock(ms))
		}
		if lost := before[p] - healthSubmitted(f, p); lost > 0 {
			t.Add(p, terminal.Penalty(lost))
		}
	}
	phases, ok := phasesOf(events)
	if !ok {
		return fmt.Errorf("events.spawn: want the players' lines in turn (1, 2, 1, 2), found more changes between them")
	}
	for i := 0; i < len(events); {
		e, n := events[i], 1
		for ; i+n < len(events) && sameSpawn(e, events[i+n]) && phases[i+n] == phases[i]; n++ {
		}
		o := orderOf(e, n)
		if first := phases[i] < 2; first == e.Kind.Mobile() {
			o = terminal.Swap(o)
		}
		t.Add(e.Player, o)
		i += n
	}
	return nil
}

// healthSubmitted is the health of player p after the penalties and before the
// first frame's breaches.
func healthSubmitted(f *Frame, p sim.Player) float32 {
	health := f.Stats[p].Health
	for i := len(f.Events.Breaches) - 1; i >= 0; i-- {
		if b := f.Events.Breaches[i]; b.Player != p {
			health += b.Damage
		}
	}
	return health
}

// sameSpawn reports whether two mobile units could come from one order.
func sameSpawn(a, b terminal.SpawnEvent) bool {
	return a.Kind.Mobile() && a.Kind == b.Kind && a.At == b.At && a.Player == b.Player
}

// orderOf is the order of which n equal spawn events tell.
func orderOf(e terminal.SpawnEvent, n int) sim.Order {
	x, y := int(e.At.X), int(e.At.Y)
	switch {
	case e.Kind == terminal.Removal:
		return terminal.RemoveAt(x, y)
	case e.Kind == terminal.Upgrade:
		return terminal.UpgradeAt(x, y)
	case e.Kind.Structure():
		return terminal.Place(e.Kind, x, y)
	}
	return terminal.Spawn(e.Kind, x, y, n)
}

// phasesOf tells for every spawn event in which of four phases it was carried
// out: player 1's first line, player 2's first, 1's second, 2's second. That
// is where structures and mobile units belong, unless the order of the events
// says that some were in the other line: then the fewest mobile units, and
// with them the fewest structures. false: no lines have that order.
func phasesOf(events []terminal.SpawnEvent) ([]uint8, bool) {
	const never = 1 << 60
	// cost[q]: of the events so far, the last of them in phase q.
	var cost [4]int64
	before := make([][4]uint8, len(events)) // the phase of the event before, for each phase of this one
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

// phaseCost is what it costs to take an event for one of the other line.
func phaseCost(e terminal.SpawnEvent, phase int) int64 {
	switch {
	case e.Kind.Mobile() && phase < 2:
		return 1 << 32
	case !e.Kind.Mobile() && phase >= 2:
		return 1
	}
	return 0
}
