package codecraft_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// midgame returns a state some ticks into a random game, in which players have resource and units
// have no actions.
func midgame(g *codecraft.Game, seed uint64, ticks int) (s codecraft.State) {
	g.Reset(&s, seed)
	r := prng.New(seed)
	turn := sim.NewTurn(256)
	var orders []sim.Order
	for range ticks {
		turn.Clear()
		for p := range sim.Player(g.Info().Players) {
			s.Resource[p] += 60
			orders = g.AppendOrders(orders[:0], &s, p)
			for range 20 {
				turn.Add(p, orders[r.IntN(len(orders))])
			}
		}
		g.Step(&s, turn)
	}
	clear(s.Acts[:s.N])
	return s
}

// TestOrdersAreAccepted gives every order of the list alone and checks its effect.
func TestOrdersAreAccepted(t *testing.T) {
	// Only the first ticks of the finals: its few builders soon wall themselves in.
	for i, preset := range []string{"round1", "finals"} {
		g := mustGame(t, preset, nil)
		var rec codecraft.Record
		g.Record(&rec)
		count := map[codecraft.Op]int{}
		turn := sim.NewTurn(1)
		for seed := range uint64(3) {
			start := midgame(g, seed+uint64(10*i), 60-40*i)
			for p := range sim.Player(g.Info().Players) {
				for _, o := range g.AppendOrders(nil, &start, p) {
					s := start
					turn.Clear()
					turn.SetOne(p, o)
					g.Step(&s, turn)
					c := codecraft.Decode(o)
					count[c.Op]++
					if !accepted(&start, &s, c, &rec) {
						t.Fatalf("%s seed %d: order %+v of player %d was refused\n%s", preset, seed, c, p+1,
							codecraft.AppendWindow(nil, g, &start, int(c.X)-5, int(c.Y)-5, 11, 11))
					}
				}
			}
		}
		t.Logf("%s: orders by op %v", preset, count)
		for op := codecraft.OpStop; op <= codecraft.OpRepair; op++ {
			if count[op] < 3 {
				t.Errorf("%s: only %d orders of op %d", preset, count[op], op)
			}
		}
	}
}

// accepted reports whether an order had its effect between two states.
func accepted(before, after *codecraft.State, c codecraft.Command, rec *codecraft.Record) bool {
	if c.Op == codecraft.OpNothing {
		return len(rec.Attacks) == 0 && before.NextID == after.NextID
	}
	u, v := before.Units[before.Find(c.ID)], after.Units[after.Find(c.ID)]
	switch c.Op {
	case codecraft.OpMove:
		return c.Closest || v.X == uint8(c.X) && v.Y == uint8(c.Y)
	case codecraft.OpBuild:
		n := after.Units[after.N-1]
		return n.ID == before.NextID && n.Type == c.Type && n.X == uint8(c.X) && n.Y == uint8(c.Y) && n.Owner == u.Owner
	case codecraft.OpAttack:
		return slices.Contains(rec.Attacks, codecraft.Hit{Attacker: c.ID, Victim: c.Target})
	case codecraft.OpRepair:
		return after.Units[after.Find(c.Target)].Health > before.Units[before.Find(c.Target)].Health
	case codecraft.OpAuto:
		return after.Acts[after.Find(c.ID)].Parts&codecraft.HasAuto != 0
	}
	return true
}

// TestOrdersAreAll tries every build, repair, attack and single step around some units: every order
// with an effect must be in the list.
func TestOrdersAreAll(t *testing.T) {
	m := begin(t, `
		p1 resource 60
		16  * . . . .H2H2H2 .
		15  . .b1 . .H2H2H2 .
		14  . . . . .H2H2H2 .
		13 W1 . . . . . . . .
		12 W1b1 .T1T1 .r2 . .
		11  .r1 .T1T1 . . . .
		10 B1B1B1B1B1 . .H1H1H1
		9  B1B1B1B1B1 . .H1H1H1
		8  B1B1B1B1B1 .b1H1H1H1
		7  B1B1B1B1B1 . . . *
		6  B1B1B1B1B1 . . . .
		x10
		tick 0 next 70 first 60
		unit 5 b1 11,12 health 9
		unit 6 W1 10,12 health 3
		unit 7 W1 10,13 health 4
		unit 8 b1 12,15
		unit 9 b1 16,8
		unit 10 H1 17,8 health 30 inactive
		unit 11 r1 11,11 health 7
		unit 12 T1 13,11 health 77
		unit 13 B1 10,6
		unit 20 H2 15,14
		unit 21 r2 16,12`, nil)
	listed := m.g.AppendOrders(nil, &m.s, 0)
	turn := sim.NewTurn(1)
	effects := 0
	try := func(o sim.Order) {
		t.Helper()
		s := m.s
		turn.Clear()
		turn.SetOne(0, o)
		m.g.Step(&s, turn)
		c := codecraft.Decode(o)
		u := m.s.Units[m.s.Find(c.ID)]
		effect := accepted(&m.s, &s, c, &m.rec)
		if c.Op == codecraft.OpAttack { // of others: the list has no attacks on own ones
			if i := m.s.Find(c.Target); i >= 0 && m.s.Units[i].Owner == u.Owner {
				effect = false
			}
		}
		assert.Equalf(t, slices.Contains(listed, o), effect, "order %+v has an effect: %v, and is in the list: %v", c, effect, !effect)
		if effect {
			effects++
		}
	}
	for _, u := range m.s.Units[:m.s.N] {
		if u.Owner != 0 {
			continue
		}
		for y := 3; y < 20; y++ {
			for x := 4; x < 24; x++ {
				for k := range codecraft.Type(codecraft.Types) {
					try(codecraft.Build(u.ID, k, x, y))
				}
			}
		}
		for id := range uint32(70) {
			if m.exists(strconv.Itoa(int(id))) {
				try(codecraft.Attack(u.ID, id))
			}
			if m.s.Find(id) >= 0 {
				try(codecraft.Repair(u.ID, id))
			}
		}
		for d := range 4 {
			x, y := int(u.X)+[4]int{1, -1, 0, 0}[d], int(u.Y)+[4]int{0, 0, 1, -1}[d]
			try(codecraft.Move(u.ID, x, y, false, false))
		}
	}
	rest := 0
	for _, o := range listed {
		switch c := codecraft.Decode(o); {
		case c.Op == codecraft.OpNothing || c.Op == codecraft.OpStop || c.Op == codecraft.OpAuto || c.Op == codecraft.OpMove && c.Closest:
			rest++
		}
	}
	assert.Truef(t, effects+rest == len(listed) && effects >= 50, "%d orders have an effect, %d orders besides; the list has %d", effects, rest, len(listed))
}

// TestOrdersOfTheFar checks that the far corner is in the player's frame.
func TestOrdersOfTheFar(t *testing.T) {
	m := begin(t, "40 b1b2b3b4T1T1\n41 . . . .T1T1\nx40\nunit 9 T1 44,40", nil)
	for p, far := range [][2]int{{79, 79}, {0, 0}, {0, 79}, {79, 0}} {
		var got []codecraft.Command
		for _, o := range m.g.AppendOrders(nil, &m.s, sim.Player(p)) {
			if c := codecraft.Decode(o); c.Op == codecraft.OpMove && c.Closest {
				got = append(got, c)
			}
		}
		assert.Truef(t, len(got) == 2 && !got[0].Break && got[1].Break && int(got[0].X) == far[0] && int(got[0].Y) == far[1], "player %d is sent to %+v", p+1, got)
	}
}
