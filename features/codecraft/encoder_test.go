package codecraft

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

func rules(t testing.TB, name string) cc.Rules {
	t.Helper()
	r, ok := cc.Preset(name)
	require.Truef(t, ok, "no preset %s", name)
	return r
}

func newGame(t testing.TB, r cc.Rules) *cc.Game {
	t.Helper()
	g, err := cc.New(r)
	require.NoError(t, err)
	return g
}

// odd returns rules under which squares next to an entity or in its range can be out of its sight,
// and under which types have abilities that they lack in the presets.
func odd(t testing.TB) cc.Rules {
	r := rules(t, "round2")
	r.Start = rules(t, "round1").Start
	r.Types[cc.BuilderUnit].Sight, r.Types[cc.BuilderBase].Sight = 1, 0
	r.Types[cc.RangedUnit].Sight, r.Types[cc.RangedUnit].Range = 2, 7
	r.Types[cc.Wall].MaxHealth = 1000
	r.Types[cc.MeleeUnit].CanRepair, r.Types[cc.MeleeUnit].Repairs, r.Types[cc.MeleeUnit].Power = true, cc.ListOf(cc.House, cc.MeleeUnit), 3
	r.Types[cc.MeleeUnit].CanAttack, r.Types[cc.MeleeUnit].Range, r.Types[cc.MeleeUnit].Damage = false, 0, 0
	r.Types[cc.Turret].CanRepair, r.Types[cc.Turret].Repairs, r.Types[cc.Turret].Power = true, cc.ListOf(cc.Wall, cc.Turret), 2
	r.PopulationAll = true
	return r
}

// variants returns the rules of the tests by name.
func variants(t testing.TB) map[string]cc.Rules {
	return map[string]cc.Rules{
		"finals": rules(t, "finals"), "round2": rules(t, "round2"), "round1": rules(t, "round1"),
		"round1-3": rules(t, "round1-3"), "finals-1": rules(t, "finals-1"), "odd": odd(t),
	}
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"finals", "round1"} {
		t.Run(name, func(t *testing.T) {
			r := rules(t, name)
			featuretest.Run(t, func() sim.Game[cc.State] { return newGame(t, r) }, Kit(newGame(t, r)),
				featuretest.Options{Games: 1, Turns: 120, Every: 29})
		})
	}
}

// TestForms checks the promises of the other forms, with fog and without.
func TestForms(t *testing.T) {
	for name, r := range variants(t) {
		t.Run(name, func(t *testing.T) {
			featuretest.RunForms(t, func() sim.Game[cc.State] { return newGame(t, r) }, Kit(newGame(t, r)),
				featuretest.Options{Games: 1, Turns: 90, Every: 29})
		})
	}
}

// crowd makes a position with entities of all types and owners at random places, some damaged, some
// inactive, with actions of all kinds. It tries the given number of places, and fills those that
// are free.
func crowd(t testing.TB, g *cc.Game, s *cc.State, seed uint64, tries int) {
	t.Helper()
	g.Reset(s, seed)
	var p cc.Position
	s.Position(&p)
	r := prng.New(seed ^ 0xc0de)
	p.Veins = slices.DeleteFunc(p.Veins, func(v cc.Vein) bool { return r.IntN(3) > 0 })
	taken := s.Occupied
	taken.AndNot(&s.Resources)
	for _, v := range p.Veins {
		taken.Add(int(v.X), int(v.Y))
	}
	for range tries {
		u := cc.Unit{ID: p.NextID, Type: cc.Type(r.IntN(cc.Types)), Owner: sim.Player(r.IntN(g.Info().Players)), Active: r.IntN(5) > 0}
		n := g.Rules().Types[u.Type]
		size := int(n.Size)
		x, y := r.IntN(side-size+1), r.IntN(side-size+1)
		if r.IntN(2) == 0 { // close together
			x, y = x/4+30, y/4+30
		}
		if u.Type == cc.Resource || taken.MeetsSquare(x, y, size) {
			continue
		}
		u.X, u.Y, u.Health = uint8(x), uint8(y), int16(n.MaxHealth)
		if !u.Active || r.IntN(3) == 0 {
			u.Health = 1 + int16(r.IntN(int(n.MaxHealth)))
		}
		taken.AddSquare(x, y, size)
		p.Units = append(p.Units, u)
		p.NextID++
	}
	p.Acts = make([]cc.Action, len(p.Units))
	for i := range p.Acts {
		for range r.IntN(3) {
			p.Acts[i].Take(anyOrder(&r, p.Units[i].ID, p.NextID))
		}
	}
	for i := range p.Resource[:g.Info().Players] {
		p.Resource[i], p.Score[i] = int32(r.IntN(600)), int32(r.IntN(100_000))
	}
	p.Tick = int32(r.IntN(999))
	require.NoError(t, g.Restore(s, &p))
	for i := range s.Health {
		if s.Health[i] > 0 && r.IntN(2) == 0 {
			s.Health[i] = uint8(1 + r.IntN(30))
		}
	}
	for i := range s.Count { // limits of population that bind, and that do not
		s.PopProvide[i] += int32(r.IntN(150))
	}
}

// anyOrder returns any order for an entity.
func anyOrder(r *prng.Rand, id, ids uint32) sim.Order {
	var o sim.Order
	switch r.IntN(7) {
	case 0:
		o = cc.Stop(id)
	case 1:
		o = cc.Move(id, r.IntN(side+3), r.IntN(side+3), r.IntN(2) == 0, r.IntN(2) == 0)
	case 2:
		o = cc.Build(id, cc.Type(r.IntN(12)), r.IntN(side), r.IntN(side))
	case 3:
		o = cc.Attack(id, uint32(r.IntN(int(ids))))
	case 4:
		o = cc.Auto(id, r.IntN(100), cc.TypeSet(r.IntN(1<<cc.Types)))
	case 5:
		o = cc.Auto(id, far, cc.TypeSet(r.IntN(2)<<cc.Resource))
	case 6:
		o = cc.Repair(id, uint32(r.IntN(int(ids))))
	}
	if r.IntN(3) == 0 {
		o = cc.And(o)
	}
	return o
}

// visit calls check for all seats with positions under all rules of variants: crowds (five times as
// many with MOONFARM_LONG=1), and positions of games that are played by random choices.
func visit(t *testing.T, check func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player)) {
	for name, r := range variants(t) {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			s := new(cc.State)
			seeds := uint64(6)
			if os.Getenv("MOONFARM_LONG") == "1" {
				seeds = 30
			}
			for seed := range seeds {
				crowd(t, g, s, seed, 60+100*int(seed%8))
				for p := range sim.Player(r.Players) {
					check(t, g, s, p)
				}
			}
			play(g, s, 5, 130, func(tick int) {
				if tick%43 == 0 {
					for p := range sim.Player(r.Players) {
						check(t, g, s, p)
					}
				}
			})
		})
	}
}

// play plays a game by random choices of the masks; entities keep their choices for some ticks.
func play(g *cc.Game, s *cc.State, seed uint64, ticks int, look func(tick int)) {
	a := NewActions(g)
	r := prng.New(seed)
	turn, orders := sim.NewTurn(g.Info().MaxOrders), make([]sim.Order, 0, g.Info().MaxOrders)
	mask, action := make([]uint64, maskWords*slots), make([]int32, slots)
	g.Reset(s, seed)
	for tick := range ticks {
		look(tick)
		for p := range sim.Player(g.Info().Players) {
			a.Mask(mask, s, p)
			for h := range action {
				action[h] = 0
				if m := mask[maskWords*h:][:maskWords]; (m[0] != 1 || m[1] != 0) && r.IntN(4) == 0 {
					n := r.IntN(choices)
					for m[n/64]>>(n%64)&1 == 0 {
						n = (n + 1) % choices
					}
					action[h] = int32(n)
				}
			}
			orders = a.AppendOrders(orders[:0], action, s, p)
			turn.Set(p, orders)
		}
		if g.Step(s, turn) != sim.Running {
			return
		}
	}
	look(ticks)
}

// entity is an entity as a player sees it.
type entity struct {
	cc.Unit
	x, y, size int // lowest corner, in the player's frame
	rival      int
	action     cc.Action
}

// inSight reports whether an entity of p sees the square.
func inSight(g *cc.Game, s *cc.State, p sim.Player, x, y, size int) bool {
	r := g.Rules()
	if !r.Fog {
		return true
	}
	for _, u := range s.Units[:s.N] {
		n := r.Types[u.Type]
		if u.Owner == p && gap(int(u.X), int(u.Y), int(n.Size), x, y, size) <= int(n.Sight) {
			return true
		}
	}
	return false
}

// gap returns the distance between two squares.
func gap(ax, ay, a, bx, by, b int) int {
	return max(bx-ax-a+1, ax-bx-b+1, 0) + max(by-ay-a+1, ay-by-b+1, 0)
}

// inView returns the entities that a player sees, including resources.
func inView(g *cc.Game, s *cc.State, p sim.Player) (list []entity) {
	r := g.Rules()
	for i, u := range s.Units[:s.N] {
		size := int(r.Types[u.Type].Size)
		if u.Owner != p && !inSight(g, s, p, int(u.X), int(u.Y), size) {
			continue
		}
		e := entity{Unit: u, size: size, rival: rival(u.Owner, p)}
		e.x, e.y = cc.Turn(p, int(u.X), int(u.Y), size)
		if u.Owner == p {
			e.action = s.Acts[i]
		}
		list = append(list, e)
	}
	for y := range side {
		for x := range side {
			if h := s.Health[cc.CellOf(x, y)]; h > 0 && inSight(g, s, p, x, y, 1) {
				e := entity{Unit: cc.Unit{Type: cc.Resource, Health: int16(h), Active: true}, size: 1}
				e.x, e.y = cc.Turn(p, x, y, 1)
				list = append(list, e)
			}
		}
	}
	return list
}

// rival returns the number of an entity's owner as p sees it: by the quarter of the map in which
// the owner starts.
func rival(q, p sim.Player) int {
	x, y := cc.TurnBack(q, 4, 4, 1)
	x, y = cc.Turn(p, x, y, 1)
	return map[[2]bool]int{{false, false}: 0, {true, true}: 1, {true, false}: 2, {false, true}: 3}[[2]bool{x > 40, y > 40}]
}

// plainPlanes writes the planes of p's view cell by cell.
func plainPlanes(r *cc.Rules, p sim.Player, seen []entity) []uint8 {
	dst := make([]uint8, boardBytes)
	for y := range side {
		for x := range side {
			if !r.Fog || slices.ContainsFunc(seen, func(e entity) bool {
				return e.rival == 0 && e.Type != cc.Resource && gap(e.x, e.y, e.size, x, y, 1) <= int(r.Types[e.Type].Sight)
			}) {
				dst[planeVisible*planeBytes+y*side+x] = 1
			}
		}
	}
	order := []cc.Type{cc.Wall, cc.House, cc.BuilderBase, cc.BuilderUnit, cc.MeleeBase, cc.MeleeUnit, cc.RangedBase, cc.RangedUnit, cc.Turret}
	for _, e := range seen {
		health := int(e.Health)
		if most := int(r.Types[e.Type].MaxHealth); most > 255 {
			health = int(math.Ceil(float64(health) * 255 / float64(most)))
		}
		plane := planeResource
		for k, t := range order {
			if t == e.Type {
				plane = k
			}
		}
		if e.rival != 0 {
			plane += len(order)
		}
		put := func(plane, v int) {
			for y := e.y; y < e.y+e.size; y++ {
				for x := e.x; x < e.x+e.size; x++ {
					dst[plane*planeBytes+y*side+x] = uint8(v)
				}
			}
		}
		put(plane, health)
		if e.rival == 0 && e.Type != cc.Resource {
			dst[planeCorner*planeBytes+e.y*side+e.x] = 1
		}
		put(planeRival, e.rival)
		if !e.Active {
			put(planeInactive, 1)
		}
		has := func(part cc.Parts) bool { return e.action.Parts&part != 0 }
		code := 0
		for i, ok := range []bool{has(cc.Given), has(cc.HasMove), has(cc.HasRepair), has(cc.HasBuild), has(cc.HasAuto), has(cc.HasTarget)} {
			if ok {
				code = []int{1, 2, 3, 4, 6, 5}[i]
			}
		}
		if code == 6 && e.action.Valid == 1<<cc.Resource {
			code = 7
		}
		put(planeAction, code)
		if has(cc.HasMove) {
			x, y := cc.Turn(p, int(e.action.MoveX), int(e.action.MoveY), 1)
			put(planeGoal, 1+x/20+y/20*4)
		}
	}
	return dst
}

func TestPlanesTwin(t *testing.T) {
	seen := map[int]bool{}
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		e, r := NewEncoder(g), g.Rules()
		want, at := plainPlanes(&r, p, inView(g, s, p)), fmt.Sprintf("tick %d seat %d", s.Tick, p)
		featuretest.SamePlanes(t, e, at, featuretest.Planes(e, s, p), want)
		featuretest.SamePlanes(t, e, at+", packed", featuretest.Unpacked(t, e, s, p), want)
		for i, v := range want {
			if v != 0 {
				seen[i/planeBytes] = true
			}
		}
	})
	assert.Equalf(t, planes, len(seen), "only the planes %v had values", seen)
}

func TestScalars(t *testing.T) {
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		e, r := NewEncoder(g), g.Rules()
		got := make([]float32, scalars)
		e.Scalars(got, s, p)
		want := map[string]int{
			"own_score": int(s.Score[p]), "own_resource": int(s.Resource[p]), "own_population_limit": int(s.PopProvide[p]),
			"turn": int(s.Tick), "turns_left": 1000 - int(s.Tick), "players": g.Info().Players, "fog": 0,
		}
		if r.Fog {
			want["fog"] = 1
		}
		for q := range sim.Player(r.Players) {
			if q != p {
				name := []string{"", "opposite", "right", "left"}[rival(q, p)]
				want[name+"_score"], want[name+"_resource"] = int(s.Score[q]), int(s.Resource[q])
			}
		}
		for _, u := range s.Units[:s.N] {
			if u.Owner == p {
				want["own_"+snake(u.Type)+"s"]++
				want["own_population"] += int(r.Types[u.Type].PopUse)
			}
		}
		for i, f := range e.Description().Scalars {
			require.Equalf(t, float32(want[f.Name]), got[i], "tick %d seat %d: %s is %v, want %d", s.Tick, p, f.Name, got[i], want[f.Name])
			delete(want, f.Name)
		}
		require.Empty(t, want, "no scalars")
	})
}
