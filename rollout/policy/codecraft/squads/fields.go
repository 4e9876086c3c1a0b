package squads

import "moonfarm/sim/codecraft"

// The map has a border of one cell, so that steps need no bounds checks.
const (
	wide  = codecraft.Side + 2
	cells = wide * wide
)

// cellAt returns the index of a cell.
func cellAt(x, y int) int { return (y+1)*wide + x + 1 }

// around are the steps to the four neighbours of a cell.
var around = [4]int{1, -1, wide, -wide}

// ground is the content of a cell, as far as it is seen.
type ground uint8

const (
	open ground = iota
	ore         // a resource
	own         // an own unit that moves
	foe         // an enemy's unit that moves
	wall        // a building, or the border
)

// markGround clears the marks of the previous tick, and marks the border and the resources in
// sight.
func (c *Commander) markGround() {
	c.ground = [cells]ground{}
	c.kept = [cells]bool{}
	c.leaving = [cells]bool{}
	c.taken = [cells]bool{}
	c.danger = [cells]uint8{}
	for k := range wide {
		c.ground[k], c.ground[cells-1-k] = wall, wall
		c.ground[k*wide], c.ground[k*wide+wide-1] = wall, wall
	}
	ores := c.State.Resources
	ores.And(&c.sight)
	eachCell(&ores, func(x, y int) { c.ground[cellAt(x, y)] = ore })
}

// far is the distance of unreachable cells.
const far = 1 << 15

// field holds the distance of each cell from the nearest source.
type field struct {
	dist  [cells]uint16
	queue [cells]uint16 // cells in the order in which they are reached
	head  int
	tail  int
}

// begin removes all sources and distances.
func (f *field) begin() {
	for i := range f.dist {
		f.dist[i] = far
	}
	f.head, f.tail = 0, 0
}

// source adds a source with a distance. Sources must be added in the order of their distances.
func (f *field) source(at int, dist uint16) {
	if f.dist[at] > dist {
		f.dist[at] = dist
		f.queue[f.tail] = uint16(at)
		f.tail++
	}
}

// flood computes distances from the sources by breadth-first search over the kinds of cells
// that pass.
func (f *field) flood(on *[cells]ground, pass *[wall + 1]bool) {
	for f.head < f.tail {
		at := int(f.queue[f.head])
		f.head++
		d := f.dist[at] + 1
		for _, by := range around {
			if to := at + by; d < f.dist[to] && pass[on[to]] {
				f.dist[to] = d
				f.queue[f.tail] = uint16(to)
				f.tail++
			}
		}
	}
}

// bucketCount is larger than the price of any step.
const bucketCount = 16

// weighted floods a field with steps of different prices. It is a bucket queue of cells by
// distance: a cell is in it once for every time that its distance decreased.
type weighted struct {
	next [4 * cells]uint16 // by entry: 1 + the entry below it in its bucket
	at   [4 * cells]uint16
	top  [bucketCount]uint16
	n    int
}

func (w *weighted) push(at int, dist uint16) {
	if w.n == len(w.at) {
		return
	}
	b := dist % bucketCount
	w.at[w.n], w.next[w.n] = uint16(at), w.top[b]
	w.n++
	w.top[b] = uint16(w.n)
}

// flood computes distances from the sources of the field, with a price for a step onto each
// kind of cell; cells of price 0 are impassable.
func (w *weighted) flood(f *field, on *[cells]ground, price *[wall + 1]uint16) {
	w.n = 0
	w.top = [bucketCount]uint16{}
	for _, at := range f.queue[:f.tail] {
		w.push(int(at), f.dist[at])
	}
	for d, idle := uint16(0), 0; idle < bucketCount; d++ {
		b := d % bucketCount
		idle++
		for w.top[b] != 0 {
			e := w.top[b] - 1
			w.top[b] = w.next[e]
			at := int(w.at[e])
			if f.dist[at] != d {
				continue
			}
			idle = 0
			for _, by := range around {
				to := at + by
				if p := price[on[to]]; p != 0 && d+p < f.dist[to] {
					f.dist[to] = d + p
					w.push(to, d+p)
				}
			}
		}
	}
}

// local is scratch memory for searches from one cell.
type local struct {
	queue  [cells]uint16
	seen   [cells]uint32 // stamp of the latest search that reached the cell
	before [cells]uint16 // the cell from which it was reached
	steps  [cells]uint16
	stamp  uint32
	head   int
	tail   int
	sorted [codecraft.MaxUnits]uint32
}
