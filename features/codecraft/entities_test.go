package codecraft

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// byCell sorts entities by their lowest corners as seen.
func byCell(a, b entity) int { return a.y*side + a.x - b.y*side - b.x }

// plainValues writes the values of p's view from the tables of FEATURES.md.
func plainValues(r *cc.Rules, p sim.Player, seen []entity, visible []uint8) []uint8 {
	dst := make([]uint8, entityBytes)
	var own, others, veins []entity
	for _, e := range seen {
		switch {
		case e.Type == cc.Resource:
			veins = append(veins, e)
		case e.rival == 0:
			own = append(own, e)
		default:
			others = append(others, e)
		}
	}
	// distance returns how far the entities of the list are from a square.
	distance := func(list []entity, x, y, size int) int {
		least := 1000
		for _, e := range list {
			least = min(least, gap(x, y, size, e.x, e.y, e.size))
		}
		return least
	}
	slices.SortFunc(own, byCell)
	slices.SortFunc(others, byCell)
	listed := slices.Clone(others)
	if len(listed) > 256 {
		slices.SortStableFunc(listed, func(a, b entity) int {
			return cmp.Compare(distance(own, a.x, a.y, a.size), distance(own, b.x, b.y, b.size))
		})
		listed = listed[:256]
		slices.SortFunc(listed, byCell)
	}
	row := func(e *entity) []uint8 {
		health := int(e.Health)
		if most := int(r.Types[e.Type].MaxHealth); most > 255 {
			health = (health*255 + most - 1) / most
		}
		active := uint8(0)
		if e.Active {
			active = 1
		}
		return []uint8{uint8(e.Type) + 1, uint8(e.x), uint8(e.y), uint8(health), active}
	}
	for i, e := range listed {
		copy(dst[256*12+6*i:], append(row(&e), uint8(e.rival)))
	}
	for i, e := range own[:min(len(own), 256)] {
		copy(dst[12*i:], append(row(&e), plainOwn(r, p, &e, others, veins, distance)...))
	}
	cells, coarse := dst[256*18:][:6400], dst[256*18+6400:]
	copy(cells, visible)
	for i, v := range visible {
		coarse[i/80/8*10+i%80/8] += v
	}
	group := map[cc.Type]uint8{cc.BuilderUnit: 0, cc.MeleeUnit: 1, cc.RangedUnit: 2, cc.Turret: 3, cc.House: 5, cc.Wall: 5}
	for _, e := range seen {
		code, plane := uint8(2), 1
		if e.Type != cc.Resource {
			g, ok := group[e.Type]
			if !ok {
				g = 4
			}
			code, plane = 3+g, 2
			if k := r.Types[e.Type]; !k.CanMove {
				plane = 4
			} else if !k.Collects {
				plane = 3
			}
			if e.rival != 0 {
				code, plane = code+6, plane+3
			} else if !e.Active {
				code = 15
			}
		}
		for k := range e.size * e.size {
			cells[(e.y+k/e.size)*80+e.x+k%e.size] = code
		}
		coarse[100*plane+e.y/8*10+e.x/8]++
	}
	return dst
}

// plainOwn returns the fields of an own entity after those of all entities.
func plainOwn(r *cc.Rules, p sim.Player, e *entity, others, veins []entity, distance func(list []entity, x, y, size int) int) []uint8 {
	list := make([]uint8, 7)
	list[0] = codeOf(&e.action) // TestPlanesTwin checks it
	if e.action.Parts&cc.HasMove != 0 {
		x, y := cc.Turn(p, int(e.action.MoveX), int(e.action.MoveY), 1)
		list[1], list[2] = uint8(x+1), uint8(y+1)
	}
	farthest := 0
	for _, k := range r.Types {
		if k.CanAttack && k.Range > 1 {
			farthest = max(farthest, int(k.Range))
		}
	}
	if d := distance(others, e.x, e.y, 1); d < 8 {
		list[6] = uint8(8 - d)
	}
	for _, w := range others {
		for k := range w.size * w.size {
			d := gap(e.x, e.y, e.size, w.x+k%w.size, w.y+k/w.size, 1)
			if n := r.Types[e.Type]; n.CanAttack && d <= int(n.Range) && list[6] > 0 {
				list[3] = min(list[3]+1, 15)
			}
			if n := r.Types[w.Type]; w.Active && n.CanAttack && n.Range > 1 && d <= farthest+1 && list[6] > 0 {
				list[4] = min(list[4]+1, 15)
			}
		}
	}
	for _, w := range veins {
		if n := r.Types[e.Type]; n.Collects && gap(e.x, e.y, e.size, w.x, w.y, 1) <= int(n.Range) {
			list[5] = min(list[5]+1, 15)
		}
	}
	return list
}

func TestEntityValuesTwin(t *testing.T) {
	used := make([]bool, entityBytes)
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) { checkValues(t, g, s, p, used) })
	for _, x := range NewEntityEncoder(newGame(t, rules(t, "finals"))).Description().Tensors[:1] {
		for k, f := range x.Fields {
			assert.Truef(t, slices.Contains(column(used[:256*12], k, 12), true), "no entity has a value in the field %s", f.Name)
		}
	}
	// More entities of others than the list has room for.
	g := newGame(t, rules(t, "round1"))
	s := new(cc.State)
	crowd(t, g, s, 77, 6000)
	checkValues(t, g, s, 2, used)
	assert.NotZero(t, used[256*18-6], "the list of others is not full")
}

// column returns every step-th value, from number k on.
func column[E any](list []E, k, step int) (col []E) {
	for ; k < len(list); k += step {
		col = append(col, list[k])
	}
	return col
}

func checkValues(t *testing.T, g *cc.Game, s *cc.State, p sim.Player, used []bool) {
	t.Helper()
	e, r := NewEntityEncoder(g), g.Rules()
	seen := inView(g, s, p)
	planes := plainPlanes(&r, p, seen)
	want := plainValues(&r, p, seen, planes[planeVisible*planeBytes:][:planeBytes])
	at := fmt.Sprintf("tick %d seat %d", s.Tick, p)
	featuretest.SamePlanes(t, e, at, featuretest.Planes(e, s, p), want)
	featuretest.SamePlanes(t, e, at+", packed", featuretest.Unpacked(t, e, s, p), want)
	for i, v := range want {
		used[i] = used[i] || v != 0
	}
}

// entityOrders returns the orders of a choice for an own entity by the table in Doc, nil if it is not
// legal.
func (v *plain) entityOrders(e *entity, c int) []sim.Order {
	n := v.r.Types[e.Type]
	const all = cc.EveryType &^ (1 << cc.Resource)
	switch {
	case c == 1 && (n.CanMove || n.CanAttack || n.CanBuild || n.CanRepair):
		return []sim.Order{cc.Stop(e.ID)}
	case (c == 14 || c == 15) && n.CanMove && n.Collects:
		return []sim.Order{cc.Auto(e.ID, 80-70*(c-14), 1<<cc.Resource)}
	case c == 16 && n.CanMove && n.Collects:
		return []sim.Order{v.move(e, 79, 79, true, false), cc.And(cc.Auto(e.ID, 30, 1<<cc.Resource))}
	case c >= 17 && c < 20 && n.CanMove && n.CanAttack:
		return []sim.Order{cc.Auto(e.ID, []int{80, 20, 10}[c-17], all)}
	case c == 20, c == 21:
		return v.orders(e, c+40)
	case c >= 24 && c < 40:
		return v.orders(e, c+12)
	case c >= 40 && c < 43 && n.CanMove:
		x, y := [3]int{72, 72, 7}[c-40], [3]int{72, 7, 72}[c-40]
		for q := range sim.Player(v.r.Players) {
			if q != v.p && rival(q, v.p) == c-39 {
				if o := v.move(e, x, y, true, false); !n.CanAttack || n.Collects {
					return []sim.Order{o}
				} else {
					return []sim.Order{o, cc.And(cc.Auto(e.ID, 10, all))}
				}
			}
		}
	case c == 43 && n.CanMove:
		return []sim.Order{v.move(e, 7, 7, true, false)}
	case !e.Active:
	case c >= 2 && c < 6:
		return v.orders(e, c)
	case c >= 6 && c < 10:
		dir := [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}[c-6]
		if w := v.at(e.x+dir[0], e.y+dir[1]); w != nil && !v.owns(w) && n.CanAttack && e.size == 1 && (n.CanBuild || n.Range == 1) {
			return []sim.Order{cc.Attack(e.ID, v.idOf(w))}
		}
	case c >= 10 && c < 14:
		return v.orders(e, c-2)
	case c == 22, c == 23:
		return v.orders(e, c+40)
	case c >= 44 && n.CanBuild:
		return v.square(e, c-44)
	case c >= 44 && n.CanAttack && (n.Range > 1 || n.Size > 1):
		return v.target(e, c-44)
	}
	return nil
}

// idOf returns the id of an entity in view.
func (v *plain) idOf(w *entity) uint32 {
	if w.Type == cc.Resource {
		x, y := cc.TurnBack(v.p, w.x, w.y, 1)
		return v.s.ResourceID(x, y)
	}
	return w.ID
}

// square returns the build of place j.
func (v *plain) square(e *entity, j int) []sim.Order {
	n := v.r.Types[e.Type]
	first := 0
	for _, built := range n.Builds.All() {
		k := v.r.Types[built]
		z := int(k.Size)
		row := e.size + z - 1
		if first+4*row > 84 {
			continue
		}
		if j < first || j >= first+4*row {
			first += 4 * row
			continue
		}
		d, along := (j-first)/row, (j-first)%row-z+1
		x := [4]int{e.x + e.size, e.x - z, e.x + along, e.x + along}[d]
		y := [4]int{e.y + along, e.y + along, e.y + e.size, e.y - z}[d]
		cost := k.Cost
		if k.CanMove {
			cost += int32(v.s.Count[v.p][built])
		}
		tested := k.PopUse > 0 || v.r.PopulationAll
		if x < 0 || y < 0 || x+z > side || y+z > side || v.purse() < cost ||
			tested && v.s.PopProvide[v.p] < v.s.PopUse[v.p]+k.PopUse {
			return nil
		}
		for i := range v.view {
			if w := &v.view[i]; gap(x, y, z, w.x, w.y, w.size) == 0 {
				return nil
			}
		}
		x, y = cc.TurnBack(v.p, x, y, z)
		return []sim.Order{cc.Build(e.ID, built, x, y)}
	}
	return nil
}

// purse returns the resource that can be spent in this tick.
func (v *plain) purse() int32 {
	purse := v.s.Resource[v.p]
	blind := v.r.Fog && v.r.Types[cc.BuilderUnit].Sight == 1 // the rules odd
	for i := range v.view {
		e := &v.view[i]
		if n := v.r.Types[e.Type]; v.owns(e) && e.Active && n.Collects && (blind || slices.ContainsFunc(v.view, func(w entity) bool {
			return w.Type == cc.Resource && gap(e.x, e.y, e.size, w.x, w.y, 1) == 1
		})) {
			purse += n.Damage
		}
	}
	return purse
}

// target returns the attack of place j.
func (v *plain) target(e *entity, j int) []sim.Order {
	var cells [][2]int
	reach := int(v.r.Types[e.Type].Range)
	for d := 1; d <= reach; d++ {
		for y := e.y - reach; y < e.y+e.size+reach; y++ {
			for x := e.x - reach; x < e.x+e.size+reach; x++ {
				if gap(e.x, e.y, e.size, x, y, 1) == d {
					cells = append(cells, [2]int{x, y})
				}
			}
		}
	}
	if j >= len(cells) {
		return nil
	}
	w := v.at(cells[j][0], cells[j][1])
	if w == nil || w.rival == 0 {
		return nil
	}
	for _, c := range cells[:j] {
		if v.at(c[0], c[1]) == w {
			return nil
		}
	}
	return []sim.Order{cc.Attack(e.ID, w.ID)}
}

// TestEntityMaskTwin compares the mask and the orders of every choice of every slot with the plain ones.
func TestEntityMaskTwin(t *testing.T) {
	mask, action := make([]uint64, entityMask*slots), make([]int32, slots)
	legal := map[int]int{}
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		if (int(s.Tick)+int(p))%3 != 0 && os.Getenv("MOONFARM_LONG") == "" {
			return
		}
		a := NewEntityActions(g)
		a.Mask(mask, s, p)
		v := &plain{g, g.Rules(), s, p, inView(g, s, p)}
		own := v.slots()
		for c := range entityChoices {
			for h := range action {
				action[h] = int32(c)
			}
			orders := a.AppendOrders(nil, action, s, p)
			for h, e := range own {
				got := slices.DeleteFunc(slices.Clone(orders), func(o sim.Order) bool { return cc.Decode(o).ID != e.ID })
				if v.r.Types[e.Type].CanBuild && c >= entityPlace { // builds are settled
					clear(action)
					action[h] = int32(c)
					got = a.AppendOrders(nil, action, s, p)
				}
				want := v.entityOrders(e, c)
				if !slices.Equal(got, want) || (mask[2*h+c/64]>>(c%64)&1 != 0) != (want != nil || c == 0) {
					t.Fatalf("tick %d seat %d: %s %d at %d,%d, choice %d: orders %#x, mask %b, want orders %#x",
						s.Tick, p, e.Type, e.ID, e.x, e.y, c, got, mask[2*h+c/64]>>(c%64)&1, want)
				}
				if want != nil {
					legal[c]++
				}
			}
		}
		for h := len(own); h < slots; h++ {
			require.Truef(t, mask[2*h] == 1 && mask[2*h+1] == 0, "tick %d seat %d: slot %d has choices, but there is no own entity", s.Tick, p, h)
		}
	})
	for c := 1; c < entityChoices; c++ {
		assert.NotEqualf(t, 0, legal[c], "choice %d was never legal", c)
	}
}

// TestEntitySettlement lets several entities build at once.
func TestEntitySettlement(t *testing.T) {
	r := rules(t, "finals")
	g := newGame(t, r)
	a, s := NewEntityActions(g), new(cc.State)
	g.Reset(s, 1)
	var p cc.Position
	s.Position(&p)
	p.Units, p.Veins = p.Units[:0], nil
	for _, at := range [][2]int{{20, 20}, {22, 20}, {30, 20}, {40, 20}} {
		p.Units = append(p.Units, cc.Unit{ID: p.NextID, Type: cc.BuilderUnit, X: uint8(at[0]), Y: uint8(at[1]), Health: 10, Active: true})
		p.NextID++
	}
	p.Units = append(p.Units, cc.Unit{ID: p.NextID, Type: cc.BuilderBase, X: 50, Y: 50, Health: 300, Active: true})
	p.NextID++
	p.Acts = make([]cc.Action, len(p.Units))
	base := p.Units[4].ID
	build := func(resource int32, choices ...int32) []sim.Order {
		p.Resource[0] = resource
		require.NoError(t, g.Restore(s, &p))
		action := make([]int32, slots)
		copy(action, choices)
		return a.AppendOrders(nil, action, s, 0)
	}
	id := p.Units[0].ID
	// Place 8 is the middle of the upper side: the houses above (20, 20) and (22, 20) overlap.
	houses := []sim.Order{cc.Build(id, cc.House, 20, 21), cc.Build(id+1, cc.House, 22, 21), cc.Build(id+2, cc.House, 30, 21), cc.Build(id+3, cc.House, 40, 21)}
	up := int32(entityPlace + 2*3 + 2)
	assert.Equal(t, []sim.Order{houses[0], houses[2], houses[3]}, build(200, up, up, up, up), "squares")
	assert.Equal(t, []sim.Order{houses[0], houses[2]}, build(149, up, up, up, up), "resource for two")
	assert.Equal(t, []sim.Order{houses[1], houses[2]}, build(149, 0, up, up, up), "resource for two")
	assert.Equal(t, []sim.Order{houses[0], cc.Build(base, cc.BuilderUnit, 55, 50)}, build(55, up, 0, 0, 0, entityPlace), "a base always builds")
	assert.Empty(t, build(49, up, up, up, up), "no resource")
}

// TestEntityActionOfOrders gives orders of all kinds. A tick that is played by the choices of the
// entities that have one, and by the orders of the others, must lead to the same board; orders of which
// the choices let the entity do the same from now on must lead to the same boards as long as no id
// differs.
func TestEntityActionOfOrders(t *testing.T) {
	r := prng.New(17)
	action, how := make([]int32, slots), make([]agreement, slots)
	var counts [exactly + 1]int
	other := 0
	visit(t, func(t *testing.T, g *cc.Game, s *cc.State, p sim.Player) {
		s = playable(t, g, s)
		a := NewEntityActions(g)
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

// TestEntityActionIsShared finds choices in several goroutines at once.
func TestEntityActionIsShared(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	a, s := NewEntityActions(g), new(cc.State)
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

// TestEntityPlaythrough compares the values and masks of the form in a short match with a golden file.
func TestEntityPlaythrough(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	form := Kit(g).Forms[0]
	s, turn := new(cc.State), sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, 2)
	out := []byte("# What both seats see and may do in a short match in the form entities, and what they choose, slot=choice: scalars that are not\n" +
		"# 0; the rows of both lists; the runs of equal values in the rows of the map and of the counts, as x,y=value or x–x,y=value.\n")
	action := make([]int32, slots)
	for tick := range 27 {
		for p := range sim.Player(2) {
			clear(action)
			switch {
			case tick == 0:
				action[0] = entityForage
			case tick == 25:
				action[0] = entityPlace + int32(p)
			}
			if tick == 0 || tick == 26 {
				out = appendEntityView(fmt.Appendf(out, "\ntick %d seat %d\n", tick, p), form, s, p)
			}
			orders := form.Actions.AppendOrders(nil, action, s, p)
			if len(orders) > 0 {
				out = fmt.Appendf(out, "tick %d seat %d action 0=%d orders %#x\n", tick, p, action[0], orders)
			}
			turn.Set(p, orders)
		}
		require.Equal(t, sim.Running, g.Step(s, turn), "the match is over")
	}
	simtest.Golden(t, "testdata/entities.txt", out)
}

// appendEntityView appends the values of an observation that are not 0, and the mask.
func appendEntityView(out []byte, form features.Form[cc.State], s *cc.State, p sim.Player) []byte {
	out = featuretest.AppendScalars(out, form.Encoder, s, p)
	values := featuretest.Planes(form.Encoder, s, p)
	for _, x := range form.Encoder.Description().Tensors {
		part := values[:x.Len()]
		values = values[x.Len():]
		width := x.Dims[len(x.Dims)-1]
		if x.Axis == 0 {
			out = fmt.Appendf(out, "\n%s%s", x.Name, appendRuns(nil, part, width))
			continue
		}
		for i := range x.Dims[0] {
			if row := part[i*width:][:width]; row[0] != 0 {
				out = fmt.Appendf(out, "\n%s %d: %d", x.Name, i, row)
			}
		}
	}
	mask := make([]uint64, entityMask*slots)
	form.Actions.Mask(mask, s, p)
	for w, m := range mask {
		if w%2 == 0 && m == 1 && mask[w+1] == 0 {
			continue
		}
		if w%2 == 0 {
			out = fmt.Appendf(out, "\nchoices of slot %d", w/2)
		}
		for ; m != 0; m &= m - 1 {
			out = fmt.Appendf(out, " %d", w%2*64+bits.TrailingZeros64(m))
		}
	}
	return append(out, '\n')
}
