package codecraft

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/features/featuretest"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
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

func TestValuesTwin(t *testing.T) {
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
