package codecraft_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// horde returns a state with MaxUnits units, all with actions.
func horde(g *codecraft.Game, seed uint64, share int) (s codecraft.State, turn *sim.Turn) {
	r := prng.New(seed)
	c := newScene(&r, g.Rules(), share)
	for c.s.N < codecraft.MaxUnits {
		t := c.anything()
		if g.Rules().Types[t].Size > 2 && !chance(&r, 20) {
			continue
		}
		c.put(c.player(), t, r.IntN(codecraft.Side), r.IntN(codecraft.Side))
	}
	for p := range g.Rules().Players {
		c.s.Resource[p] = 50_000
	}
	s = c.done()
	turn = sim.NewTurn(g.Info().MaxOrders)
	commands := &commander{r: &r, s: &s, g: g}
	anyMood(&r, commands)
	commands.again, commands.far = 100, 60
	for p := range sim.Player(g.Rules().Players) {
		if seed%3 == 0 {
			turn.Set(p, commands.rally(nil, p))
		} else {
			turn.Set(p, commands.orders(nil, p))
		}
	}
	return s, turn
}

// TestHordesAllocateNothing checks that no tick allocates, with 2048 units and actions of all
// kinds, on open ground and in thickets, with short and long searches. A list with too small a
// capacity would grow here.
func TestHordesAllocateNothing(t *testing.T) {
	parts := codecraft.Parts(0)
	for seed := range uint64(12) {
		preset, share, nodes := []string{"round1", "finals"}[seed%2], []int{0, 150, 350, 700}[seed%4], []int32{1000, 6400, 30}[seed/4]
		t.Run(fmt.Sprintf("%s %d %d", preset, share, nodes), func(t *testing.T) {
			// AllocsPerRun runs twice and counts once. Each run has its own game: lists
			// that grow in the first run would not grow again.
			var games [2]*codecraft.Game
			for k := range games {
				games[k] = mustGame(t, preset, func(r *codecraft.Rules) {
					r.MaxNodes = nodes
					for k := range r.Types {
						r.Types[k].PopUse = 0 // so that they can build
					}
				})
			}
			start, turn := horde(games[0], seed, share)
			var s codecraft.State
			run := 0
			n := testing.AllocsPerRun(1, func() {
				s.Clone(&start)
				for range 2 {
					games[run].Step(&s, turn)
				}
				run++
			})
			assert.Zerof(t, n, "%v allocations in two ticks", n)
			for _, a := range s.Acts[:s.N] {
				parts |= a.Parts
			}
		})
	}
	want := codecraft.HasRepair<<1 - 1 - codecraft.MoveOutside
	assert.Equalf(t, want, parts&want, "the actions have only the parts %b", parts)
}

// TestManyEnclosedAreas has a chequerboard of resources, in which every free cell is enclosed, and
// many units that go to many places. The next cells must be those of the plain game, whatever areas
// a search leaves out.
func TestManyEnclosedAreas(t *testing.T) {
	g := mustGame(t, "round1", nil)
	r := prng.New(4)
	c := newScene(&r, g.Rules(), 0)
	for y := range codecraft.Side {
		for x := range codecraft.Side {
			if (x+y)%2 == 0 {
				c.s.Resources.Add(x, y)
				c.s.Health[codecraft.CellOf(x, y)] = 30
				c.taken[x][y] = true
			}
		}
	}
	c.s.SetVeins()
	c.s.NextID = c.s.FirstID + uint32(c.s.Resources.Count())
	for c.s.N < codecraft.MaxUnits {
		x, y := r.IntN(codecraft.Side), r.IntN(codecraft.Side)
		if !c.taken[x][y] || chance(&r, 2) {
			c.put(c.player(), codecraft.MeleeUnit, x, y)
		}
	}
	s := c.done()
	var given [sim.MaxPlayers]orders
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		o := &given[u.Owner]
		o.player, o.list = u.Owner, append(o.list, codecraft.Move(u.ID, r.IntN(codecraft.Side), r.IntN(codecraft.Side), true, false))
	}
	m := resume(t, g, s)
	m.play(given[:]...).play()
}
