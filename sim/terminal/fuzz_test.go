package terminal_test

import (
	"encoding/binary"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// The bytes of a fuzzer have the orders of turns. Each order begins with a byte
//
//	bits 0–2 op (0 ends the turn; 7: the order is the next eight bytes)
//	bits 3–4 kind, from scout on for spawns
//	bit 5 player, bit 6 the other line, bit 7 the other half
//
// followed, for ops 1 to 6, by the number of the cell (of the edge cell, for spawns) and a count.

// fuzzOrder reads an order from data; more is false at the end of a turn.
func fuzzOrder(data []byte) (o sim.Order, p sim.Player, rest []byte, more bool) {
	head := data[0]
	op, kind, p := terminal.Op(head&7), terminal.Kind(head>>3&3), sim.Player(head>>5&1)
	switch {
	case op == 0 || len(data) < 3:
		return 0, 0, data[1:], false
	case op == 7 && len(data) < 9:
		return 0, 0, nil, false
	case op == 7:
		return sim.Order(binary.LittleEndian.Uint64(data[1:])), p, data[9:], true
	}
	x, y := terminal.LocalXY(int(data[1])%terminal.HalfCells, p^sim.Player(head>>7))
	count := int(data[2])
	switch op {
	case terminal.OpPlace:
		o = terminal.Place(kind, x, y)
	case terminal.OpUpgrade:
		o = terminal.UpgradeAt(x, y)
	case terminal.OpRemove:
		o = terminal.RemoveAt(x, y)
	case terminal.OpSpawn:
		x, y = terminal.EdgeXY(int(data[1])%terminal.EdgeCells, p^sim.Player(head>>7))
		o = terminal.Spawn(terminal.Scout+kind, x, y, count)
	case terminal.OpClock:
		o = terminal.Clock(uint32(count))
	case terminal.OpPenalty:
		o = terminal.Penalty(float32(count) / 16)
	}
	if head>>6&1 != 0 {
		o = terminal.Swap(o)
	}
	return o, p, data[3:], true
}

// FuzzOrders reads bytes as the orders of both players and plays them on the fast game and the plain
// twin, frame by frame, under one of the rule sets. rich adds cores and bits at the start.
func FuzzOrders(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte{})
	f.Add(uint8(3), uint8(20), []byte{1, 209, 0, 33, 209, 0, 4, 0, 9, 36, 1, 3, 0, 2, 209, 0, 35, 209, 0, 12, 27, 2, 0})
	f.Add(uint8(5), uint8(90), []byte{17, 150, 0, 2, 150, 0, 49, 150, 0, 17, 151, 0, 17, 149, 0, 20, 0, 40, 52, 1, 40, 5, 7, 0, 38, 9, 0, 0, 3, 150, 0, 0, 0})
	f.Add(uint8(2), uint8(60), []byte{65, 1, 0, 68, 0, 9, 7, 255, 255, 255, 255, 0, 0, 0, 255, 135, 3, 3, 1, 2, 3, 4, 5, 6, 7, 4, 0, 0, 28, 5, 5, 0, 4, 6, 6})
	var games []*terminal.Game
	for _, name := range terminal.RuleSets() {
		games = append(games, mustGame(f, name))
	}
	f.Fuzz(func(t *testing.T, set, rich uint8, data []byte) {
		g := games[int(set)%len(games)]
		var s terminal.State
		g.Reset(&s, 0)
		rules := g.Rules()
		for p := range s.Cores {
			s.Cores[p] += float32(rich)
			s.Bits[p] = min(s.Bits[p]+float32(rich)/4, float32(rules.MaxMobile())*rules.Units[terminal.Scout].Bits)
		}
		m := resume(t, g, s)
		for turns := 0; turns < 8 && m.status == sim.Running; turns++ {
			var given [2][]sim.Order
			for len(data) > 0 {
				o, p, rest, more := fuzzOrder(data)
				if data = rest; !more {
					break
				}
				given[p] = append(given[p], o)
			}
			m.give(given[0], given[1]).action().restore()
		}
	})
}

// FuzzRules reads any text as rules and, if they can be played, plays some turns on both games.
func FuzzRules(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "2019\nunitInformation.1.shieldDecay=3\nmoonfarm.doomedShielded=false")
	f.Add(uint64(3), "2022\nunitInformation.5.selfDestructRange=40\nunitInformation.0.getHitRadius=1.3\nmoonfarm.doomedExplode=false\nmoonfarm.deadAt=0.75")
	f.Add(uint64(4), "2020\nunitInformation.3.speed=0.15\nresources.startingBits=60\nresources.startingCores=500\nmoonfarm.removedGive=false")
	r := prng.New(5)
	f.Add(uint64(5), string(randomRules(&r).AppendText(nil)))
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		rules, err := terminal.ParseRules([]byte(text))
		if err != nil {
			return
		}
		g, err := terminal.New(rules)
		if (rules.Validate() == nil) != (err == nil) {
			t.Fatalf("Validate says %v, New %v", rules.Validate(), err)
		}
		if err != nil || rules.MaxMobile() > 300 { // the twin takes long for large armies
			return
		}
		playSome(t, g, seed, 3)
	})
}

// playSome plays turns of random orders on both games. It stops in an action phase that takes too long.
func playSome(t *testing.T, g *terminal.Game, seed uint64, turns int) {
	t.Helper()
	r := prng.New(seed)
	var s terminal.State
	g.Reset(&s, 0)
	m := resume(t, g, s)
	for ; turns > 0 && m.status == sim.Running; turns-- {
		var given [2][]sim.Order
		for p := range sim.Player(2) {
			given[p] = g.Playout(nil, &m.s, p, &r)
		}
		m.give(given[0], given[1])
		for m.more {
			if m.frame(1); m.frames > 300 {
				return
			}
		}
		m.restore()
	}
}
