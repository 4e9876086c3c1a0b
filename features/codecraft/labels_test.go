package codecraft

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// TestActionOfOrders gives orders of all kinds. A tick that is played by the choices of the
// entities that have one, and by the orders of the others, must lead to the same board; orders of which
// the choices let the entity do the same from now on must lead to the same boards as long as no id
// differs.
func TestActionOfOrders(t *testing.T) {
	r := prng.New(17)
	action, how := make([]int32, slots), make([]agreement, slots)
	var counts [exactly + 1]int
	other := 0
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		s = playable(t, g, s)
		a := NewActions(g)
		own := (&plain{g, g.Rules(), s, p, inView(g, s, p)}).slots()
		for range 8 {
			var orders []sim.Order
			for _, e := range own {
				if r.IntN(2) == 0 {
					orders = append(orders, nearOrder(&r, s, e.ID))
				}
			}
			for h := range how {
				how[h] = -1
			}
			a.label(action, how, orders, s, p)
			for _, lasts := range []bool{false, true} {
				var by, kept []sim.Order
				for h, e := range own {
					if how[h] >= 0 {
						counts[how[h]]++
					}
					mine := slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return cc.Decode(o).ID != e.ID })
					said := action[h] >= 0 && (!lasts || how[h] >= fromNow)
					if !said && lasts {
						continue
					}
					kept = append(kept, mine...)
					if said {
						alone := make([]int32, slots)
						alone[h] = action[h]
						mine = a.AppendOrders(nil, alone, s, p)
					}
					by = append(by, mine...)
				}
				ticks := 1
				if lasts {
					ticks = 5
				}
				if !sameBoards(g, s, p, kept, by, ticks, &other) {
					t.Fatalf("tick %d seat %d: orders %#x, choices %d", s.Tick, p, orders, action[:len(own)])
				}
			}
		}
	})
	t.Logf("orders without a choice %d, the same in this tick %d, from now on %d, exactly %d; %d ticks with other ids", counts[0], counts[1], counts[2], counts[3], other)
	assert.True(t, counts[thisTick] > 1000 && counts[fromNow] > 200 && counts[exactly] > 1000)
}

// playable returns the state with the population limits of its entities, and complete entities
// active, as the rules have them: a crowd has others.
func playable(t *testing.T, g *cc.Game, s *cc.State) *cc.State {
	t.Helper()
	var q cc.Position
	s.Position(&q)
	for i := range q.Units {
		u := &q.Units[i]
		u.Active = u.Active || int32(u.Health) == g.Rules().Types[u.Type].MaxHealth
	}
	own := new(cc.State)
	require.NoError(t, g.Restore(own, &q))
	own.Seed = s.Seed
	return own
}

// nearOrder returns an order for an own entity that often has an effect.
func nearOrder(r *prng.Rand, s *cc.State, id uint32) sim.Order {
	u := &s.Units[s.Find(id)]
	x, y := int(u.X)+r.IntN(9)-4, int(u.Y)+r.IntN(9)-4
	switch x, y := min(max(x, 0), side-1), min(max(y, 0), side-1); r.IntN(6) {
	case 0:
		return cc.Move(id, x, y, r.IntN(2) == 0, r.IntN(2) == 0)
	case 1:
		return cc.Auto(id, r.IntN(12), cc.TypeSet(r.IntN(2)*(1<<cc.Resource)))
	case 2, 3:
		if i := s.At[cc.CellOf(x, y)]; i != 0 {
			if r.IntN(2) == 0 {
				return cc.Repair(id, s.Units[i-1].ID)
			}
			return cc.Attack(id, s.Units[i-1].ID)
		}
	case 4:
		return cc.Build(id, cc.Type(r.IntN(cc.Types)), x, y)
	}
	return anyOrder(r, id, s.NextID)
}

// sameBoards plays ticks by two lists of orders, and reports whether they lead to the same boards. It
// stops at a tick that takes other ids.
func sameBoards(g *cc.Game, s *cc.State, p sim.Player, orders, by []sim.Order, ticks int, other *int) bool {
	turn := sim.NewTurn(g.Info().MaxOrders)
	a, b := *s, *s
	for tick := range ticks {
		for _, c := range []struct {
			s      *cc.State
			orders []sim.Order
		}{{&a, orders}, {&b, by}} {
			turn.Clear()
			if tick == 0 {
				turn.Set(p, c.orders)
			}
			g.Step(c.s, turn)
		}
		if a.NextID != b.NextID {
			*other++
			return true
		}
		if a.At != b.At || a.Health != b.Health || a.Score != b.Score || a.Resource != b.Resource || a.Units != b.Units {
			return false
		}
	}
	return true
}

// TestActionIsShared finds choices in several goroutines at once.
func TestActionIsShared(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	a, s := NewActions(g), new(cc.State)
	crowd(t, g, s, 12, 500)
	r := prng.New(4)
	var orders []sim.Order
	for _, u := range s.Units[:s.N] {
		orders = append(orders, nearOrder(&r, s, u.ID))
	}
	want := make([]int32, slots)
	said := a.Action(want, orders, s, 0)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got := make([]int32, slots)
			for range 5 {
				if a.Action(got, orders, s, 0) != said || !slices.Equal(got, want) {
					t.Error("goroutines find different choices")
				}
			}
		})
	}
	group.Wait()
}

// acts returns the actions of all units after orders.
func acts(s *cc.State, p sim.Player, orders []sim.Order) []cc.Action {
	list := slices.Clone(s.Acts[:s.N])
	for _, o := range orders {
		if i := s.Find(cc.Decode(o).ID); i >= 0 && s.Units[i].Owner == p {
			list[i].Take(o)
		}
	}
	return list
}

// FuzzActions reads bytes as orders. A choice that is found as exactly the same must give the entity the
// same action, and the orders of choices must have choices that give these orders.
func FuzzActions(f *testing.F) {
	type position struct {
		game    *cc.Game
		actions *Actions
		state   *cc.State
	}
	var list []position
	for _, name := range []string{"finals", "round1", "odd"} {
		g := newGame(f, variants(f)[name])
		s := new(cc.State)
		crowd(f, g, s, 9, 160)
		list = append(list, position{g, NewActions(g), s})
	}
	r := prng.New(5)
	for which := range uint8(24) {
		s := list[int(which)%len(list)].state
		var seed []byte
		for range 30 {
			u := &s.Units[r.IntN(int(s.N))]
			seed = binary.LittleEndian.AppendUint64(seed, uint64(nearOrder(&r, s, u.ID)))
		}
		f.Add(which, seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := list[int(which)%len(list)]
		p := sim.Player(int(which) / 8 % c.game.Info().Players)
		var orders []sim.Order
		for ; len(data) >= 8 && len(orders) < 100; data = data[8:] {
			orders = append(orders, sim.Order(binary.LittleEndian.Uint64(data)))
		}
		action, how := make([]int32, slots), make([]agreement, slots)
		complete := c.actions.label(action, how, orders, c.state, p)
		require.Equal(t, !slices.Contains(action, -1), complete)
		back := c.actions.AppendOrders(nil, action, c.state, p)
		want, got := acts(c.state, p, orders), acts(c.state, p, back)
		for h, e := range (&plain{c.game, c.game.Rules(), c.state, p, inView(c.game, c.state, p)}).slots() {
			if i := c.state.Find(e.ID); how[h] == exactly && action[h] >= 0 && want[i] != got[i] {
				t.Fatalf("%s %d: %+v by the orders, %+v by choice %d", e.Type, e.ID, want[i], got[i], action[h])
			}
		}
		again := make([]int32, slots)
		require.True(t, c.actions.Action(again, back, c.state, p), "orders %#x have no choices", back)
		require.Equal(t, back, c.actions.AppendOrders(nil, again, c.state, p), "orders of choices")
	})
}
