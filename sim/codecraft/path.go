package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft/internal/path"
)

// Steps is a set of directions: bit 0 +x, bit 1 −x, bit 2 +y, bit 3 −y.
type Steps = path.Steps

// stepX and stepY have the steps of the directions.
var stepX, stepY = path.StepX, path.StepY

// maxWeighted is the number of weighted terrains that are kept. The presets have two values of
// damage, which need this many. If a tick needs more, the oldest is overwritten.
const maxWeighted = 2 * sim.MaxPlayers

// paths has the units that need a path in one tick. Units with the same walk are
// a group, so that package path finds their steps together.
type paths struct {
	finder *path.Finder
	n      int
	groups [MaxUnits]group
	at     [Cells]uint16       // by target: 1 + the last group that goes to it; 0 between ticks
	others [MaxUnits]uint16    // by unit: 1 + the next unit of its group or chase, 0 at the end
	units  [MaxUnits]path.Unit // the current group

	terrain  [sim.MaxPlayers]path.Terrain // for units that do not break through
	weighted [maxWeighted]weighted        // for units that break through
	kinds    int                          // the number of weighted terrains made in this tick
}

// walk has the common values of the units of a group. damage is 0 for units that do not break
// through or cannot attack.
type walk struct {
	player  sim.Player
	x, y    uint8
	outside bool
	damage  int32
}

type group struct {
	walk
	first uint16 // 1 + its first unit
	next  uint16 // 1 + the next group with the same target, 0 at the end
}

// weighted is the terrain of a player's units that break through with the given damage.
type weighted struct {
	player  sim.Player
	damage  int32
	costs   [256]uint16 // of breaking through a resource, by its health
	terrain path.Terrain
}

// moveSteps returns the first steps of unit i by its move action (RULES.md, 3.5), or adds the unit
// to a group, whose steps the method walk finds.
func (g *Game) moveSteps(i int, u *Unit, a *Action) Steps {
	outside := a.Parts&MoveOutside != 0
	if outside && g.rules.OutsideIgnored {
		return 0
	}
	if a.MoveX == u.X && a.MoveY == u.Y {
		return 0
	}
	for d := range stepX {
		if int(a.MoveX) == int(u.X)+stepX[d] && int(a.MoveY) == int(u.Y)+stepY[d] && !outside {
			return 1 << d
		}
	}
	w := walk{player: u.Owner, x: a.MoveX, y: a.MoveY, outside: outside}
	if a.Parts&BreakThrough != 0 {
		w.damage = g.rules.Types[u.Type].Damage
	}
	g.join(i, w)
	return 0
}

// join adds unit i to the group of the walk.
func (g *Game) join(i int, w walk) {
	t := &g.paths
	at := &t.at[CellOf(int(w.x), int(w.y))]
	k := *at
	for k != 0 && t.groups[k-1].walk != w {
		k = t.groups[k-1].next
	}
	if k == 0 {
		t.groups[t.n] = group{walk: w, next: *at}
		t.n++
		k = uint16(t.n)
		*at = k
	}
	t.others[i], t.groups[k-1].first = t.groups[k-1].first, uint16(i+1)
}

// walk finds the first steps of all groups.
func (g *Game) walk(s *State) {
	t := &g.paths
	for k := range t.groups[:t.n] {
		w := &t.groups[k]
		x, y := int(w.x), int(w.y)
		t.at[CellOf(x, y)] = 0
		units := g.listUnits(s, w.first)
		t.finder.Walk(g.terrainFor(s, w.player, w.damage), x, y, w.outside, units)
		g.storeSteps(w.first, units)
	}
	t.n = 0
}

// listUnits returns the units of a group. The list is valid until the next call.
func (g *Game) listUnits(s *State, first uint16) []path.Unit {
	list := g.paths.units[:0]
	for at := first; at != 0; at = g.paths.others[at-1] {
		u, a := &s.Units[at-1], &s.Acts[at-1]
		list = append(list, path.Unit{
			X: u.X, Y: u.Y, Closest: a.Parts&FindClosest != 0,
			Length: uint16(min(max(int(a.Range)-int(g.rules.Types[u.Type].Range), 0), Cells)),
		})
	}
	return list
}

// storeSteps stores the first steps of the units of a group.
func (g *Game) storeSteps(first uint16, units []path.Unit) {
	at := first
	for k := range units {
		g.steps[at-1] = units[k].Steps
		at = g.paths.others[at-1]
	}
}

// terrainFor returns the terrain of a player's units that break through with the given damage;
// with damage 0 they do not break through.
func (g *Game) terrainFor(s *State, p sim.Player, damage int32) *path.Terrain {
	t := &g.paths
	if damage == 0 {
		return &t.terrain[p]
	}
	for k := range t.weighted[:min(t.kinds, maxWeighted)] {
		if w := &t.weighted[k]; w.player == p && w.damage == damage {
			return &w.terrain
		}
	}
	w := &t.weighted[t.kinds%maxWeighted]
	t.kinds++
	if w.player = p; w.damage != damage {
		w.damage = damage
		for health := range w.costs {
			w.costs[health] = uint16(g.breakCost(int32(health), damage))
		}
	}
	w.terrain.Weigh(&t.terrain[p])
	var others bitboard.Square // the cells that the player sees covered by other entities than its own
	others.Flip(&t.terrain[p].Free)
	others.AndNot(&s.Own[p])
	for y := range Side {
		low, high := others.Row(y)
		for row, k := [2]uint64{low, high}, 0; k < 2; k++ {
			for m := row[k]; m != 0; m &= m - 1 {
				x := k*64 + bits.TrailingZeros64(m)
				cell := CellOf(x, y)
				cost := int(w.costs[s.Health[cell]])
				if i := int(s.At[cell]) - 1; i >= 0 {
					cost = int(g.breakCost(int32(s.Units[i].Health), damage))
				}
				w.terrain.SetCost(x, y, cost)
			}
		}
	}
	return &w.terrain
}

// breakCost returns the cost of breaking through an entity with that health (RULES.md, 3.7).
func (g *Game) breakCost(health, damage int32) int32 {
	if !g.rules.BreakFloor {
		health += damage - 1
	}
	return max(1, health/damage)
}
