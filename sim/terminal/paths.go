package terminal

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Paths finds the paths of mobile units over the cells without structures (RULES.md, 3.2 to 3.5).
// The zero value is ready for a Reset, which reuses the memory.
type Paths struct {
	free    bitboard.Diamond
	charted [edges]bool      // by edge: fields has the distances for the free cells
	fields  []bitboard.Field // distances to the edges, then to the ends of the pockets
	pockets []pocket
}

// pocket is a region from which units cannot reach their target edge. They go to the cell `end`
// of the region instead (3.2).
type pocket struct {
	end  uint16
	edge uint8
}

// The edges of the arena, as targets of mobile units. Bit 0 is the colour of their cells on
// bitboard.Diamond.
const (
	topRight    = 0
	topLeft     = 1
	bottomLeft  = 2
	bottomRight = 3
	edges       = 4
)

// edgeCells holds the cells of the edges.
var edgeCells = func() (t [edges]bitboard.Diamond) {
	for i := range Side / 2 {
		for edge, at := range [edges][2]int{{14 + i, 27 - i}, {13 - i, 27 - i}, {13 - i, i}, {14 + i, i}} {
			cell, _ := bitboard.DiamondCell(at[0], at[1])
			t[edge].Add(cell)
		}
	}
	return t
}()

// targetEdge returns the edge that units of player p head for from a cell of their own edges (2.3).
func targetEdge(p sim.Player, cell int) int {
	left := positions[cell].X < Side/2
	switch {
	case p == 0 && left:
		return topRight
	case p == 0:
		return topLeft
	case left:
		return bottomRight
	}
	return bottomLeft
}

// Reset sets the cells with structures, and forgets all paths.
func (w *Paths) Reset(blocked *bitboard.Diamond) {
	w.free = bitboard.DiamondBoard
	w.free.AndNot(blocked)
	w.forget()
}

// open frees a cell whose structure was destroyed.
func (w *Paths) open(cell int) {
	w.free.Add(cell)
	w.forget()
}

// forget drops all distances, which are no longer valid for the free cells.
func (w *Paths) forget() {
	if w.fields == nil {
		w.fields = make([]bitboard.Field, edges)
	}
	w.charted = [edges]bool{}
	w.pockets, w.fields = w.pockets[:0], w.fields[:edges]
}

// Walk appends the cells of the path of a unit of player p from a free cell of its own edges, and
// reports whether the path ends on the unit's target edge.
func (w *Paths) Walk(dst []uint16, from int, p sim.Player) (path []uint16, through bool) {
	edge := targetEdge(p, from)
	if !w.charted[edge] {
		w.chart(edge, &bitboard.Everywhere)
	}
	field, distance := w.find(from, edge)
	cell, h := uint16(from), newHeading(edge)
	for range bitboard.DiamondCells { // no path has a cell twice
		dst = append(dst, cell)
		if distance == 0 && w.ends(field, cell) {
			break
		}
		distance = (distance - 1) & 3
		cell, h = w.step(field, distance, cell, h)
	}
	return dst, field < edges
}

// chart computes the distances to an edge, at least for the wanted cells.
func (w *Paths) chart(edge int, wanted *bitboard.Diamond) {
	w.fields[edge].Fill(&w.free, &edgeCells[edge], edge&1, wanted)
	w.charted[edge] = true
}

// find returns the index of the field that units on a cell follow to a charted edge or, if they
// cannot reach it, to the end of their pocket, and their distance modulo 4.
func (w *Paths) find(cell, edge int) (field uint16, distance uint8) {
	if f := &w.fields[edge]; f.Reached(cell) {
		return uint16(edge), f.Phase(cell, edge&1)
	}
	i := 0
	for i < len(w.pockets) && !(int(w.pockets[i].edge) == edge && w.fields[edges+i].Reached(cell)) {
		i++
	}
	if i == len(w.pockets) {
		w.explore(cell, edge)
	}
	return uint16(edges + i), w.fields[edges+i].Phase(cell, colour(w.pockets[i].end))
}

// explore adds the pocket around a cell.
func (w *Paths) explore(cell, edge int) {
	w.fields = append(w.fields, bitboard.Field{})
	f := &w.fields[len(w.fields)-1]
	var goals bitboard.Diamond
	goals.Add(cell)
	f.Fill(&w.free, &goals, colour(uint16(cell)), &bitboard.Everywhere)
	end := deepest(f, edge)
	goals = bitboard.Diamond{}
	goals.Add(int(end))
	f.Fill(&w.free, &goals, colour(end), &bitboard.Everywhere)
	w.pockets = append(w.pockets, pocket{end, uint8(edge)})
}

// deepest returns the reached cell that is nearest to the end of the arena where the edge lies; of
// several such cells, the one furthest to the side of the edge.
func deepest(f *bitboard.Field, edge int) uint16 {
	reached := f.Step[0]
	reached.Or(&f.Step[1])
	y, back := Side-1, -1
	if edge == bottomLeft || edge == bottomRight {
		y, back = 0, 1
	}
	for !meets(&reached, &rowCells[y]) {
		y += back
	}
	best, furthest := 0, -1
	for i, row := range rowCells[y] {
		for b := row & reached[i]; b != 0; b &= b - 1 {
			cell := cellOf(i, b)
			x := int(positions[cell].X)
			if edge == topLeft || edge == bottomLeft {
				x = Side - 1 - x
			}
			if x > furthest {
				best, furthest = cell, x
			}
		}
	}
	return uint16(best)
}

// rowCells holds the cells of each row y.
var rowCells = func() (t [Side]bitboard.Diamond) {
	for cell, at := range positions {
		if bitboard.DiamondBoard.Has(cell) {
			t[at.Y].Add(cell)
		}
	}
	return t
}()

// ends reports whether the paths of a field end on a cell, whose distance is 0 modulo 4.
func (w *Paths) ends(field, cell uint16) bool {
	if field < edges {
		return edgeCells[field].Has(int(cell))
	}
	return w.pockets[field-edges].end == cell
}

// Directions of a step. Ties are decided in choose (3.5), not by the order of these constants. Each is the bit of its neighbour in a
// set of candidates.
const (
	stepUp    = 0
	stepRight = 1
	stepLeft  = 2
	stepDown  = 3
)

// neighbours holds, by colour of a cell, the differences modulo 2^16 between its neighbours and the cell: that of
// direction d in bits 16d to 16d+15. The neighbours up and right are adjacent bits, and so are left and down.
var neighbours = [2]uint64{
	256<<(16*stepUp) | 257<<(16*stepRight) | 240<<(16*stepLeft) | 241<<(16*stepDown),
	(1<<16-241)<<(16*stepUp) | (1<<16-240)<<(16*stepRight) | (1<<16-257)<<(16*stepLeft) | (1<<16-256)<<(16*stepDown),
}

// colour returns the colour of a cell on bitboard.Diamond.
func colour(cell uint16) int { return int(cell >> 8 & 1) }

// heading has the target edge of a unit in bits 6 and 7, and the axis of its previous step in bits
// 4 and 5.
type heading uint8

const (
	axisNone       heading = 0 << 4
	axisVertical   heading = 1 << 4
	axisHorizontal heading = 2 << 4
	axisMask       heading = 3 << 4
	edgeShift              = 6
)

// newHeading returns the heading of a unit before its first move.
func newHeading(edge int) heading { return heading(edge<<edgeShift) | axisNone }

func (h heading) edge() int { return int(h >> edgeShift) }

// step returns the neighbour of a cell that has the given distance modulo 4 in the field. If
// several neighbours have it, 3.4 and 3.5 choose one.
func (w *Paths) step(field uint16, distance uint8, cell uint16, h heading) (uint16, heading) {
	return follow(&w.fields[field], distance, cell, h)
}

// follow does the work of step.
func follow(f *bitboard.Field, distance uint8, cell uint16, h heading) (uint16, heading) {
	const pair = 3
	board := &f.Step[distance>>1&1]
	next := neighbours[colour(cell)]
	up, left := cell+uint16(next>>(16*stepUp)), cell+uint16(next>>(16*stepLeft))
	candidates := board[up>>6&7]>>(up&63)&pair<<stepUp | board[left>>6&7]>>(left&63)&pair<<stepLeft
	chosen := choices[h|heading(candidates)]
	return cell + uint16(next>>(chosen&choiceStep)), h&^axisMask | heading(chosen>>choiceAxis)
}

// choice is a step: 16 times its direction in bits 0 to 5, and its axis as in a heading in bits 8 to 15.
type choice uint16

const (
	choiceStep = 63
	choiceAxis = 8
)

func newChoice(direction uint8, axis heading) choice {
	return choice(direction)*16 | choice(axis)<<choiceAxis
}

// choices holds the steps by heading and the set of candidates in bits 0 to 3.
var choices = func() (t [256]choice) {
	for edge := range edges {
		for _, axis := range []heading{axisNone, axisVertical, axisHorizontal} {
			for set := range heading(16) {
				t[newHeading(edge)|axis|set] = choose(edge, axis, int(set))
			}
		}
	}
	return t
}()

// choose returns the step to one of a set of neighbours at the same distance (3.4, 3.5).
func choose(edge int, axis heading, set int) choice {
	const vertical, horizontal = 1<<stepUp | 1<<stepDown, 1<<stepLeft | 1<<stepRight
	prefer, other := vertical, horizontal // a unit that has not moved prefers vertical
	if axis == axisVertical {
		prefer, other = horizontal, vertical
	}
	straight := set&prefer == 0 // it continues on the axis of its previous step
	if straight {
		prefer = other
	}
	toward := [edges]int{
		topRight: 1<<stepUp | 1<<stepRight, topLeft: 1<<stepUp | 1<<stepLeft,
		bottomLeft: 1<<stepDown | 1<<stepLeft, bottomRight: 1<<stepDown | 1<<stepRight,
	}[edge]
	if straight && axis != axisNone {
		toward = 1<<stepUp | 1<<stepLeft
	}
	set &= prefer
	if set&toward != 0 {
		set &= toward
	}
	direction := uint8(bits.TrailingZeros(uint(set)))
	if prefer == vertical {
		return newChoice(direction, axisVertical)
	}
	return newChoice(direction, axisHorizontal)
}
