package codecraft_test

import (
	"encoding/binary"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// The orders of a tick in a fuzzer's bytes: each begins with a byte
//
//	bits 0–2 op (0 ends the tick, 7: eight bytes follow that are the order)
//	bit 3 and, bit 4 closest, bit 5 break through, bits 6–7 player
//
// and, for ops 1 to 6, the number of the unit in the list and two bytes more:
// x and y of a move, type and place of a build, the number of the target in the
// list (or the column and row of a resource), the types and range of an auto
// attack.

// fuzzOrder reads an order off data; more is false at the end of a tick.
func fuzzOrder(s *codecraft.State, data []byte) (o sim.Order, p sim.Player, rest []byte, more bool) {
	head := data[0]
	op, p := codecraft.Op(head&7), sim.Player(head>>6)
	switch {
	case op == 0 || len(data) < 4:
		return 0, 0, data[1:], false
	case op == 7 && len(data) < 9:
		return 0, 0, nil, false
	case op == 7:
		return sim.Order(binary.LittleEndian.Uint64(data[1:])), p, data[9:], true
	}
	u := s.Units[int(data[1])%max(int(s.N), 1)]
	if head>>3&3 != 3 {
		p = u.Owner // mostly an order of one's own
	}
	x, y := int(data[2]), int(data[3])
	target := s.Units[x%max(int(s.N), 1)].ID
	if y > 127 {
		target = s.ResourceID(x%codecraft.Side, y%codecraft.Side)
	}
	switch op {
	case codecraft.OpStop:
		o = codecraft.Stop(u.ID)
	case codecraft.OpMove:
		o = codecraft.Move(u.ID, x, y, head>>4&1 != 0, head>>5&1 != 0)
	case codecraft.OpBuild:
		o = codecraft.Build(u.ID, codecraft.Type(x&15), int(u.X)+y%11-5, int(u.Y)+y/11%11-5)
	case codecraft.OpAttack:
		o = codecraft.Attack(u.ID, target)
	case codecraft.OpAuto:
		o = codecraft.Auto(u.ID, y, codecraft.TypeSet(x)|codecraft.TypeSet(head)<<4&0x300)
	case codecraft.OpRepair:
		o = codecraft.Repair(u.ID, target)
	}
	if head>>3&1 != 0 {
		o = codecraft.And(o)
	}
	return o, p, data[4:], true
}

// FuzzOrders reads bytes as the orders of all players and plays them on the fast game and the plain
// twin, from a state of any scenario under any rules.
func FuzzOrders(f *testing.F) {
	f.Add(uint64(1), []byte{})
	f.Add(uint64(2), []byte{2, 1, 40, 40, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint64(3), []byte{53, 3, 255, 80, 10, 3, 60, 70, 11, 2, 1, 60, 0, 3, 0, 3, 27, 14, 9, 20, 200, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0})
	f.Add(uint64(1<<40+7), []byte{50, 5, 79, 0, 50, 6, 0, 79, 5, 7, 0, 20, 12, 7, 8, 0, 6, 9, 10, 0, 3, 11, 0, 88, 0, 54, 4, 200, 250, 0, 0})
	f.Add(uint64(99), []byte{34, 0, 200, 20, 42, 1, 20, 200, 18, 2, 255, 255, 26, 3, 90, 90, 2, 4, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		r := prng.New(seed)
		sc := scenarios[r.IntN(len(scenarios))]
		rules := twinRules(&r)
		if sc.rules != nil {
			sc.rules(&r, &rules)
		}
		m := newMatch(t, sc.name, rules, new(tally))
		s := sc.begin(&r, m.g)
		m.begin(&s)
		for m.status == sim.Running && m.n.ticks < 8 && m.s.N > 0 {
			for p := range m.orders {
				m.orders[p] = m.orders[p][:0]
			}
			for len(data) > 0 {
				o, p, rest, more := fuzzOrder(&m.s, data)
				if data = rest; !more {
					break
				}
				m.orders[p] = append(m.orders[p], o)
			}
			m.step()
		}
	})
}

// FuzzRules reads any text as rules, and plays some ticks by valid rules on both games.
func FuzzRules(f *testing.F) {
	f.Add(uint64(1), "")
	f.Add(uint64(2), "round1-3\nmax_pathfind_nodes=7\nchoice.dead_rest=true\nchoice.nearest_victim=true")
	f.Add(uint64(3), "round2\nWall.can_move=true\nRangedUnit.attack.attack_range=20\nRangedUnit.sight_range=0\nchoice.range_gates=true")
	f.Add(uint64(4), "round1-1\nchoice.solo_ends=true\nTurret.size=1\nTurret.can_move=true\nBuilderUnit.repair.power=30000\nHouse.population_provide=1000")
	f.Add(uint64(5), "finals\nResource.max_health=255\nResource.resource_per_health=1000\nBuilderUnit.attack.damage=30000\nchoice.break_floor=true")
	f.Add(uint64(6), "round1-4\nstart=\nmax_tick_count=1")
	r := prng.New(5)
	for range 4 {
		f.Add(uint64(7), string(twinRules(&r).AppendText(nil)))
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		rules, err := codecraft.ParseRules([]byte(text))
		if err != nil {
			return
		}
		g, err := codecraft.New(rules)
		if (rules.Validate() == nil) != (err == nil) {
			t.Fatalf("Validate says %v, New %v", rules.Validate(), err)
		}
		if err != nil {
			return
		}
		m := newMatch(t, "rules", rules, new(tally))
		r := prng.New(seed)
		s := fromStart(&r, g)
		if scene := newScene(&r, rules, 100); chance(&r, 2) {
			scene.crowd(30, 4)
			scene.site()
			s = scene.done()
		}
		m.begin(&s)
		c := &commander{r: &r, s: &m.s, g: m.g}
		anyMood(&r, c)
		for m.status == sim.Running && m.n.ticks < 4 && m.s.N > 0 {
			for p := range sim.Player(rules.Players) {
				m.orders[p] = c.orders(m.orders[p][:0], p)
			}
			m.step()
		}
	})
}
