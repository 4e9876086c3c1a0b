package plain

import "slices"

// An edge is one of the four diagonal edges of the arena (2.3).
type edge uint8

const (
	topRight edge = iota
	topLeft
	bottomLeft
	bottomRight
)

// opposite returns the edge that a unit which starts on e heads for.
func (e edge) opposite() edge { return (e + 2) % 4 }

// signs returns the directions of the edge along x and y.
func (e edge) signs() (x, y int) {
	x, y = 1, 1
	if e == topLeft || e == bottomLeft {
		x = -1
	}
	if e == bottomLeft || e == bottomRight {
		y = -1
	}
	return x, y
}

// cells returns the 14 cells of the edge.
func (e edge) cells() (all [14]Pos) {
	for i := range all {
		switch e {
		case topRight:
			all[i] = Pos{14 + i, 27 - i}
		case topLeft:
			all[i] = Pos{13 - i, 27 - i}
		case bottomLeft:
			all[i] = Pos{13 - i, i}
		case bottomRight:
			all[i] = Pos{14 + i, i}
		}
	}
	return all
}

// on reports whether the cell lies on the edge.
func (e edge) on(at Pos) bool {
	cells := e.cells()
	return slices.Contains(cells[:], at)
}

// edgeAt returns the edge that a cell lies on. No cell lies on two edges.
func edgeAt(at Pos) (edge, bool) {
	for e := topRight; e <= bottomRight; e++ {
		if e.on(at) {
			return e, true
		}
	}
	return 0, false
}

// An axis is the axis of a move.
type axis uint8

const (
	none axis = iota
	horizontal
	vertical
)

// directions lists the four directions in the order of the last tie (3.5): up before down, left
// before right.
var directions = [4]struct {
	x, y int
	axis axis
}{{0, 1, vertical}, {0, -1, vertical}, {-1, 0, horizontal}, {1, 0, horizontal}}

// unknown marks cells whose distance has not been computed.
const unknown = -1

// A field holds the distances of cells for units with one target edge: to the edge from all cells
// connected with it, and to the deepest cell of a pocket from the cells of the pocket. Pockets are
// added when a unit needs them. A field is valid until a structure dies.
type field [side][side]int

// forgetFields drops all fields. It is called whenever structures have changed.
func (g *Game) forgetFields() { g.fields = [4]*field{} }

// distanceOf returns the number of moves to the end of a unit's path.
func (g *Game) distanceOf(u *Unit) int {
	f := g.fieldTo(u.Target)
	if f[u.At.Y][u.At.X] == unknown {
		g.flood(f, []Pos{g.deepest(u)})
	}
	return f[u.At.Y][u.At.X]
}

// fieldTo returns the distance field of an edge.
func (g *Game) fieldTo(e edge) *field {
	if g.fields[e] != nil {
		return g.fields[e]
	}
	f := new(field)
	for y := range f {
		for x := range f[y] {
			f[y][x] = unknown
		}
	}
	var free []Pos
	for _, c := range e.cells() {
		if g.structure(c) == nil {
			free = append(free, c)
		}
	}
	g.flood(f, free)
	g.fields[e] = f
	return f
}

// flood computes the distances to the nearest of the given cells over free cells, and returns the
// cells that it reached.
func (g *Game) flood(f *field, queue []Pos) []Pos {
	for _, c := range queue {
		f[c.Y][c.X] = 0
	}
	for i := 0; i < len(queue); i++ {
		c := queue[i]
		for _, w := range directions {
			n := Pos{c.X + w.x, c.Y + w.y}
			if n.inside() && g.structure(n) == nil && f[n.Y][n.X] == unknown {
				f[n.Y][n.X] = f[c.Y][c.X] + 1
				queue = append(queue, n)
			}
		}
	}
	return queue
}

// deepest returns where a unit goes that cannot reach its edge (3.2): the cell of its pocket that is
// deepest on the other side; of several such cells, the one furthest in the direction of its edge.
func (g *Game) deepest(u *Unit) Pos {
	var f field
	for y := range f {
		for x := range f[y] {
			f[y][x] = unknown
		}
	}
	sx, sy := u.Target.signs()
	best := u.At
	for _, c := range g.flood(&f, []Pos{u.At}) {
		dx, dy := (c.X-best.X)*sx, (c.Y-best.Y)*sy
		if dy > 0 || dy == 0 && dx > 0 {
			best = c
		}
	}
	return best
}

// next returns the cell that a unit steps to, and the axis of the step (3.3 to 3.5).
func (g *Game) next(u *Unit) (Pos, axis) {
	f := g.fieldTo(u.Target)
	here := f[u.At.Y][u.At.X]
	type option struct {
		to   Pos
		axis axis
	}
	var options []option
	preferred := vertical
	if u.Last == vertical {
		preferred = horizontal
	}
	turn := false // some option is on the preferred axis
	for _, w := range directions {
		n := Pos{u.At.X + w.x, u.At.Y + w.y}
		if n.inside() && f[n.Y][n.X] == here-1 {
			options = append(options, option{n, w.axis})
			turn = turn || w.axis == preferred
		}
	}
	var left []option
	for _, o := range options {
		if !turn || o.axis == preferred {
			left = append(left, o)
		}
	}
	if len(left) == 2 && left[0].axis != u.Last { // opposite directions: the one of the edge
		sx, sy := u.Target.signs()
		if (left[1].to.X-u.At.X)*sx+(left[1].to.Y-u.At.Y)*sy > 0 {
			return left[1].to, left[1].axis
		}
	}
	return left[0].to, left[0].axis
}
