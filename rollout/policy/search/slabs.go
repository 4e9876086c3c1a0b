package search

import (
	"math"
	"unsafe"

	"moonfarm/sim"
)

// slabs is the memory of a Tree. Nodes and cells are identified by their index. Each
// cell that is not an outcome of chance is made together with its child node; so
// without chance cell i leads to node i+1.
type slabs[S, M any] struct {
	nodes  []node
	states []S       // of the nodes
	moves  []M       // of the nodes, seat 0's before seat 1's
	priors []float64 // of the moves; `shown` if the move has a stat
	stats  []stat    // parallel to moves; the first ones of each seat are in use
	cells  []cell    // pairs of moves, and outcomes of chance
	table  []entry   // open-addressed hash table of the cells
}

// node is a state in the tree. It fits in one cache line.
type node struct {
	visits  float64 // including the evaluation
	sum     float64 // of the values for seat 0
	weight  float64 // number of these values
	mean    float64 // sum/weight
	explore float64 // c·√visits

	first [2]int32  // index of each seat's moves in moves
	count [2]uint16 // number of each seat's moves; 0 until the node is expanded
	stats [2]uint16 // number of each seat's stats in use
	over  bool
}

// stat holds the statistics of one seat's move at a node. Moves get a stat in the
// order in which they are tried; the next move to be tried has one, too. So the memory
// that a simulation reads at a node grows with its visits, not with its moves.
type stat struct {
	mean   float64 // of the values for the seat
	bonus  float64 // prior/(1+visits)
	prior  float64
	visits int32
	move   int32 // index among the seat's moves
}

// shown replaces the prior of a move that has a stat.
const shown = -1

// cell is a pair of moves at a node, or an outcome of chance of such a cell.
type cell struct {
	slot uint32 // in the table
	node int32  // the child; with chance, the child of the first outcome
}

// cellBytes is what a cell counts against Options.Memory, more than it has. The number of nodes depends on it, and so does
// what a search finds once the memory is full.
const cellBytes = 32

// entry finds a cell.
type entry struct {
	what uint64 // the pair of moves, or the outcome
	from int32  // the node, or ^cell for an outcome
	cell int32  // the cell + 1; 0: the entry is free
}

// Bytes returns the size of the memory of a Tree with these options.
func Bytes[S, M any](o Options) int {
	var l slabs[S, M]
	n, each := l.size(o)
	return n * each
}

// size returns the number of nodes, and the limit of the bytes of each.
func (l *slabs[S, M]) size(o Options) (n, each int) {
	cells := 1 // of a node
	if o.Chance {
		cells = 2
	}
	var s S
	var m M
	move := unsafe.Sizeof(m) + unsafe.Sizeof(stat{}) + 8
	// The table has at most 4 entries for a cell.
	each = int(unsafe.Sizeof(s)+unsafe.Sizeof(node{})) + 2*o.Width*int(move) + cells*int(cellBytes+4*unsafe.Sizeof(entry{}))
	return max(1, min(o.Memory/each, max(o.Simulations, o.Cheap)+1)), each
}

// make allocates the slabs.
func (l *slabs[S, M]) make(o Options) {
	n, _ := l.size(o)
	cells := 1 // of a node
	if o.Chance {
		cells = 2
	}
	table := 4
	for table < 2*cells*n {
		table *= 2
	}
	l.nodes = make([]node, 0, n)
	l.states = make([]S, n)
	l.moves = make([]M, 0, 2*o.Width*n)
	l.priors = make([]float64, 2*o.Width*n)
	l.stats = make([]stat, 2*o.Width*n)
	l.cells = make([]cell, 0, cells*n)
	l.table = make([]entry, table)
}

// forget empties the slabs.
func (l *slabs[S, M]) forget() {
	for i := range l.cells {
		l.table[l.cells[i].slot] = entry{}
	}
	l.nodes, l.moves, l.cells = l.nodes[:0], l.moves[:0], l.cells[:0]
}

// slot returns the slot of a cell in the table; it is free if the cell is not stored. The hash is one
// multiplication, since the search waits for it at every node.
func (l *slabs[S, M]) slot(from int32, what uint64) uint32 {
	mask := uint32(len(l.table) - 1)
	at := uint32((what^uint64(uint32(from))*0x9e3779b97f4a7c15)*0xd6e8feb86659fd93>>32) & mask
	for {
		e := &l.table[at]
		if e.cell == 0 || e.from == from && e.what == what {
			return at
		}
		at = (at + 1) & mask
	}
}

// find returns the index of a cell, −1 if it is not stored.
func (l *slabs[S, M]) find(from int32, what uint64) int32 {
	return l.table[l.slot(from, what)].cell - 1
}

// add stores a new cell in its slot. There is room for it whenever there was room for its node.
func (l *slabs[S, M]) add(slot uint32, from int32, what uint64, node int32) int32 {
	l.cells = append(l.cells, cell{slot: slot, node: node})
	l.table[slot] = entry{what, from, int32(len(l.cells))}
	return int32(len(l.cells) - 1)
}

// fresh returns memory for the next state: in the slabs, or scratch if they are full.
func (t *Tree[S, M]) fresh() *S {
	if len(t.nodes) < cap(t.nodes) {
		return &t.states[len(t.nodes)]
	}
	return &t.scratch
}

// keep stores the value of the state in fresh as a node and, if the leaf was expanded, its
// moves. There must be room.
func (t *Tree[S, M]) keep(value float64, over bool) int32 {
	at := len(t.nodes)
	t.nodes = t.nodes[:at+1]
	n := &t.nodes[at]
	*n = node{visits: 1, sum: value, weight: 1, mean: value, explore: t.options.C, over: over}
	if !over && len(t.leaf.Choices[0]) > 0 {
		t.list(n)
	}
	return int32(at)
}

// list stores the leaf's choices as the moves of a node.
func (t *Tree[S, M]) list(n *node) {
	for p := range t.leaf.Choices {
		choices := t.leaf.Choices[p]
		total := 0.0
		for k := range choices {
			total += choices[k].Prior
		}
		first := len(t.moves)
		n.first[p], n.count[p] = int32(first), uint16(len(choices))
		t.moves = t.moves[:first+len(choices)]
		moves := t.moves[first:]
		for k := range choices {
			moves[k] = choices[k].Move
		}
		priors := t.priors[first:][:len(choices)]
		best, most := 0, math.Inf(-1)
		for k := range priors {
			prior := choices[k].share(total, len(choices))
			if priors[k] = prior; prior > most {
				best, most = k, prior
			}
		}
		if n == &t.nodes[0] && sim.Player(p) == t.explorer.seat && t.explore(n, priors) {
			continue
		}
		t.reveal(n, p, best)
	}
}

// share returns the prior of a choice if all priors sum to 1.
func (c *Choice[M]) share(total float64, choices int) float64 {
	if total > 0 {
		return c.Prior / total
	}
	return 1 / float64(choices)
}

// show gives a stat to the move with the largest prior among those of a seat without a
// stat, the first one among equals. It does nothing if all moves have one.
func (t *Tree[S, M]) show(n *node, p int) {
	first, used := n.first[p], n.stats[p]
	if used == n.count[p] {
		return
	}
	best, most := 0, math.Inf(-1)
	for k, prior := range t.priors[first:][:n.count[p]] {
		if prior > most {
			best, most = k, prior
		}
	}
	t.reveal(n, p, best)
}

// reveal gives a stat to a move of a seat.
func (t *Tree[S, M]) reveal(n *node, p, move int) {
	first := int(n.first[p])
	prior := t.priors[first+move]
	t.priors[first+move] = shown
	t.stats[first+int(n.stats[p])] = stat{bonus: prior, prior: prior, move: int32(move)}
	n.stats[p]++
}
