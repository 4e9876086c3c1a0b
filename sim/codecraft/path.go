package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft/internal/path"
)

// Steps is a set of directions: bit 0 +x, bit 1 −x, bit 2 +y, bit 3 −y.
type Steps = path.Steps

// stepX and stepY are the directions of Steps.
var stepX, stepY = path.StepX, path.StepY

// maxWeighted is how many weighted terrains are kept. The presets have two
// damages, so this many; with more kinds the oldest is made again.
const maxWeighted = 2 * sim.MaxPlayers

// paths are the units of one tick that look for a path to a place. Units that
// want the same are a group, so that package path finds their steps together.
type paths struct {
	finder *path.Finder
	n      int
	groups [MaxUnits]group
	at     [Cells]uint16       // by target: 1 + the last group that goes there; 0 between ticks
	others [MaxUnits]uint16    // by unit: 1 + the next one of its group or chase, 0 for none
	units  [MaxUnits]path.Unit // the group in hand

	terrain  [sim.MaxPlayers]path.Terrain // without break through
	weighted [maxWeighted]weighted        // with it
	kinds    int                          // weighted terrains made in this tick
}

// walk is what a group has in common. Without break through, or an attack to
// break through with, damage is 0.
type walk struct {
	player  sim.Player
	x, y    uint8
	outside bool
	damage  int32
}

type group struct {
	walk
	first uint16 // 1 + its first unit
	next  uint16 // 1 + the next group with that target, 0 for none
}

// weighted is the terrain of a player's units that break through with so much
// damage.
type weighted struct {
	player  sim.Player
	damage  int32
	terrain path.Terrain
}

// towards returns the first steps of unit i by its move action (RULES.md, 3.5),
// or puts it into a group, for walk to find them.
func (g *Game) towards(i int, u *Unit, a *Action) Steps {
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

// join puts unit i into the group of the walk.
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
		g.answer(w.first, units)
	}
	t.n = 0
}

// listUnits lists the units of a group, from the first on.
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

// answer notes what was found out for the units of a group.
func (g *Game) answer(first uint16, units []path.Unit) {
	at := first
	for k := range units {
		g.steps[at-1] = units[k].Steps
		at = g.paths.others[at-1]
	}
}

// terrainFor returns the terrain of a player's units that break through with
// that damage, or with 0 do not.
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
	w.player, w.damage = p, damage
	w.terrain.Weigh(&t.terrain[p])
	var others bitboard.Square // covered, as the player sees it, but not by its own
	others.Flip(&t.terrain[p].Free)
	others.AndNot(&s.Own[p])
	for y := range Side {
		low, high := others.Row(y)
		for row, k := [2]uint64{low, high}, 0; k < 2; k++ {
			for m := row[k]; m != 0; m &= m - 1 {
				x := k*64 + bits.TrailingZeros64(m)
				w.terrain.SetCost(x, y, int(g.breakCost(s, CellOf(x, y), damage)))
			}
		}
	}
	return &w.terrain
}

// breakCost is what it costs to break through what covers a cell (RULES.md, 3.7).
func (g *Game) breakCost(s *State, cell int, damage int32) int32 {
	health := int32(s.Health[cell])
	if i := int(s.At[cell]) - 1; i >= 0 {
		health = int32(s.Units[i].Health)
	}
	if !g.rules.BreakFloor {
		health += damage - 1
	}
	return max(1, health/damage)
}
