package codecraft

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// shadows is the scratch of what units of a group find out together.
type shadows struct {
	units  [MaxUnits]uint16    // of the group, those that no straight way leads from
	far    [MaxUnits]int16     // by unit: the cost of its path, 0 while that is not known
	bound  bitboard.Square     // open cells outside of the field
	n      int                 // cells of bound
	state  grid                // shadowOpen and shadowUnit; 0 also where the flood has been
	first  [2 * Side]uint16    // by distance: 1 + a cell of the field from which the flood starts
	others [gridSize]uint16    // by cell: 1 + the next of them at that distance
	queue  [2][gridSize]uint16 // of the flood: no cell is in it twice
}

// The flood queues each cell once: those of the field when it comes to their
// distance, from lists that have each once, the others when it takes shadowOpen
// from them; none is both, since bound has no cells of the field. So a queue
// holds at most Cells, below gridSize, and far is below Cells + 2·Side, which
// fits 15 bits. Distances of cells are below 2·Side.

const (
	shadowOpen = 1
	shadowUnit = 2
)

// shadow finds the ways of n units of a group that lie in the shadow of the
// field: no straight way leads from them. A flood comes from the edge of the
// field, each cell at its distance from the target. Where so few cells are
// open that a search cannot have closed too many, its steps are the unit's;
// the others search for themselves.
func (g *Game) shadow(s *State, w *group, n int) {
	q, f := &g.paths.shadows, &g.paths.field
	q.bound = g.open[w.player]
	q.bound.AndNot(&f.board)
	q.n = q.bound.Count()
	q.state.draw(&q.bound)
	for _, i := range q.units[:n] {
		u := &s.Units[i]
		q.far[i], g.steps[i] = 0, 0
		q.state[gridCell(int(u.X), int(u.Y))] = shadowUnit
	}
	g.ford(s, n)
	for _, i := range q.units[:n] {
		u := &s.Units[i]
		if far := int(q.far[i]); far == 0 || !q.few(u, far+f.least, int(g.rules.MaxNodes), f) {
			g.withField(w.player)
			g.steps[i] = g.detour(u, s.Acts[i].Parts&FindClosest != 0, f.distance(u))
		}
	}
}

// ford is the flood. It ends when it has come to all units.
func (g *Game) ford(s *State, n int) {
	q, f := &g.paths.shadows, &g.paths.field
	q.edge(s, n, f)
	now, next, left := 0, 0, n
	for d := f.least; left > 0 && (d < 2*Side || now > 0); d++ {
		here, there := &q.queue[d&1], &q.queue[d&1^1]
		if d < 2*Side {
			for at := q.first[d]; at != 0; at = q.others[at-1] {
				here[now] = at - 1
				now++
			}
			q.first[d] = 0
		}
		next = 0
		for _, c := range here[:now] {
			for k, step := range gridStep {
				m := int(c) - step // from m, direction k leads to c
				switch q.state[m] {
				case shadowOpen:
					q.state[m] = 0
					there[next] = uint16(m)
					next++
				case shadowUnit:
					left -= g.forded(s, m, k, d-f.least+1)
				}
			}
		}
		now = next
	}
	clear(q.first[:])
}

// forded tells a unit on cell m of the grid that the flood has come to its
// neighbour in a direction. It returns 1 if it is the first to tell.
func (g *Game) forded(s *State, m, direction, far int) int {
	q := &g.paths.shadows
	i := s.At[CellOf(m&gridX-1, m>>gridShift-1)] - 1
	switch int(q.far[i]) {
	case 0:
		q.far[i], g.steps[i] = int16(far), 1<<direction
		return 1
	case far:
		g.steps[i] |= 1 << direction
	}
	return 0
}

// edge lists the cells of the field next to its shadow or to one of the units,
// by their distance from the target.
func (q *shadows) edge(s *State, n int, f *field) {
	dark := q.bound
	for _, i := range q.units[:n] {
		dark.Add(int(s.Units[i].X), int(s.Units[i].Y))
	}
	var edge bitboard.Square
	edge.Grow(&dark)
	edge.And(&f.board)
	for y := range Side {
		low, high := edge.Row(y)
		for row, k := [2]uint64{low, high}, 0; k < 2; k++ {
			for w := row[k]; w != 0; w &= w - 1 {
				x := k*64 + bits.TrailingZeros64(w)
				d := max(x-f.x, f.x-x) + max(y-f.y, f.y-y)
				c := gridCell(x, y)
				q.others[c] = q.first[d]
				q.first[d] = uint16(c + 1)
			}
		}
	}
}

// few tells whether a search from the unit, whose target is closed in the given
// level, has closed fewer cells than it may before: those are open, outside of
// the field, and the sum of their distances from the unit and the target is
// below the level.
func (q *shadows) few(u *Unit, level, most int, f *field) bool {
	if q.n+1 < most {
		return true
	}
	ux, uy := int(u.X), int(u.Y)
	left, right := min(ux, f.x), max(ux, f.x)
	closed := 1 // the start
	for y := range Side {
		spare := level - 2 - max(y-uy, uy-y) - max(y-f.y, f.y-y) - (right - left)
		if spare < 0 {
			continue
		}
		low, high := rowMask(max(left-spare/2, 0), min(right+spare/2, Side-1))
		b0, b1 := q.bound.Row(y)
		closed += bits.OnesCount64(b0&low) + bits.OnesCount64(b1&high)
	}
	return closed < most
}
