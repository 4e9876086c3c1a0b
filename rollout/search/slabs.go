package search

import (
	"unsafe"

	"moonfarm/sim/prng"
)

// slabs is the memory of a Tree. Nodes and cells are named by their index.
type slabs[S, M any] struct {
	nodes  []node
	states []S      // of the nodes
	stats  []stat   // of the nodes' moves, those of seat 0 before those of seat 1
	moves  []M      // likewise
	cells  []cell   // pairs of moves, and outcomes of chance
	table  []int32  // open-addressed: index of a cell + 1, or 0
	used   []uint32 // entries of table that are not 0, by cell
}

// node is a state in the tree.
type node struct {
	first  [2]int32 // of the seat's moves in stats
	count  [2]int32 // 0 of both where the moves were not asked for yet
	visits float64  // the evaluation is the first
	sum    float64  // of the values for seat 0 by weight
	weight float64
	over   bool
}

// stat is what is known of one seat's move at a node.
type stat struct {
	prior   float64 // they sum to 1
	visits  float64
	mean    float64 // of the values for the seat
	bonus   float64 // prior/(1+visits)
	regret  float64
	average float64 // sum of the strategies
}

// cell is a pair of moves at a node, or an outcome of chance of such a cell.
type cell struct {
	from int32 // the node; of an outcome, ^cell
	node int32 // the child; of a cell with outcomes, the first
	what uint64

	visits, weight, sum float64 // values for seat 0 in regret matching, later visits weigh more
}

// make allocates the slabs.
func (l *slabs[S, M]) make(o Options) {
	cells := 1 // of a node
	if o.Chance {
		cells = 2
	}
	var s S
	var m M
	// The table has at most 4 entries for a cell.
	each := int(unsafe.Sizeof(s)+unsafe.Sizeof(node{})) + 2*o.Width*int(unsafe.Sizeof(stat{})+unsafe.Sizeof(m)) +
		cells*int(unsafe.Sizeof(cell{})+4*4+4)
	n := max(1, min(o.Memory/each, o.Simulations+1))
	table := 4
	for table < 2*cells*n {
		table *= 2
	}
	l.nodes = make([]node, 0, n)
	l.states = make([]S, n)
	l.stats = make([]stat, 0, 2*o.Width*n)
	l.moves = make([]M, 0, 2*o.Width*n)
	l.cells = make([]cell, 0, cells*n)
	l.used = make([]uint32, 0, cells*n)
	l.table = make([]int32, table)
}

// forget empties the slabs.
func (l *slabs[S, M]) forget() {
	for _, at := range l.used {
		l.table[at] = 0
	}
	l.nodes, l.stats, l.moves = l.nodes[:0], l.stats[:0], l.moves[:0]
	l.cells, l.used = l.cells[:0], l.used[:0]
}

// slot is where a cell is in the table, or would be.
func (l *slabs[S, M]) slot(from int32, what uint64) uint32 {
	mask := uint32(len(l.table) - 1)
	at := uint32(prng.Mix(what^uint64(uint32(from))*0x9e3779b97f4a7c15)) & mask
	for {
		i := l.table[at]
		if i == 0 || l.cells[i-1].from == from && l.cells[i-1].what == what {
			return at
		}
		at = (at + 1) & mask
	}
}

// find returns the cell, −1 if it is not stored.
func (l *slabs[S, M]) find(from int32, what uint64) int32 {
	return l.table[l.slot(from, what)] - 1
}

// add stores a cell that is not stored yet. There is room for it if there was for
// its node.
func (l *slabs[S, M]) add(from int32, what uint64, node int32) int32 {
	at := l.slot(from, what)
	l.cells = append(l.cells, cell{from: from, what: what, node: node})
	l.used = append(l.used, at)
	l.table[at] = int32(len(l.cells))
	return int32(len(l.cells) - 1)
}

// keep stores the state in scratch, its value and, if it is not the end and they are
// wanted now, its moves. There must be room.
func (t *Tree[S, M]) keep(value float64, over bool) int32 {
	i := len(t.nodes)
	n := node{visits: 1, sum: value, weight: 1, over: over}
	if !over {
		t.states[i] = t.scratch
		if !t.options.Late {
			t.list(&n)
		}
	}
	t.nodes = append(t.nodes, n)
	return int32(i)
}

// list stores the choices as the moves of a node.
func (t *Tree[S, M]) list(n *node) {
	for p, choices := range t.choices {
		total := 0.0
		for k := range choices {
			total += choices[k].Prior
		}
		n.first[p], n.count[p] = int32(len(t.stats)), int32(len(choices))
		for k := range choices {
			prior := 1 / float64(len(choices))
			if total > 0 {
				prior = choices[k].Prior / total
			}
			t.stats = append(t.stats, stat{prior: prior, bonus: prior})
			t.moves = append(t.moves, choices[k].Move)
		}
	}
}
