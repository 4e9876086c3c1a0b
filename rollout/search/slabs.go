package search

import (
	"math"
	"unsafe"

	"moonfarm/sim/prng"
)

// slabs is the memory of a Tree. Nodes and cells are named by their index. Each cell
// that is not an outcome of chance is made with a node, its child; so without chance
// cell i leads to node i+1.
type slabs[S, M any] struct {
	nodes  []node
	states []S       // of the nodes
	moves  []M       // of the nodes, seat 0's before seat 1's
	priors []float64 // of the moves, of PUCT; shown where the move has a stat
	stats  []stat    // of PUCT: as many as there are moves; the first ones of each seat are in use
	mixed  []mixed   // of Regret: of the moves
	cells  []cell    // pairs of moves, and outcomes of chance
	table  []entry   // open-addressed
}

// node is a state in the tree. It takes one line of a cache.
type node struct {
	visits  float64 // the evaluation is the first
	sum     float64 // of the values for seat 0 by weight
	weight  float64
	mean    float64 // sum/weight, of PUCT
	explore float64 // c·√visits, of PUCT

	first [2]int32  // of the seat's moves in moves
	count [2]uint16 // both are 0 until the node is expanded
	stats [2]uint16 // of the seat, in use
	over  bool
}

// stat holds the figures of one seat's move at a node in PUCT. Moves get one in the order in
// which they are tried; the next move to be tried has one, too. So the memory that a
// simulation reads at a node grows with the visits of the node, not with its moves.
type stat struct {
	mean   float64 // of the values for the seat
	bonus  float64 // prior/(1+visits)
	prior  float64
	visits int32
	move   int32 // of the seat's moves
}

// shown is in priors where the move has a stat.
const shown = -1

// mixed holds the figures of one seat's move at a node in regret matching.
type mixed struct {
	prior   float64 // they sum to 1
	regret  float64
	average float64 // sum of the strategies
}

// cell is a pair of moves at a node, or an outcome of chance of such a cell.
type cell struct {
	slot uint32 // of the table
	node int32  // the child, or the first of several outcomes' children

	visits, weight, sum float64 // values for seat 0 in regret matching, later visits weigh more
}

// entry finds a cell.
type entry struct {
	what uint64 // the pair of moves, or the outcome
	from int32  // the node, or ^cell for an outcome
	cell int32  // +1; 0: the entry is free
}

// make allocates the slabs.
func (l *slabs[S, M]) make(o Options) {
	cells := 1 // of a node
	if o.Chance {
		cells = 2
	}
	var s S
	var m M
	move := unsafe.Sizeof(m) + unsafe.Sizeof(stat{}) + 8
	if o.Nodes == Regret {
		move = unsafe.Sizeof(m) + unsafe.Sizeof(mixed{})
	}
	// The table has at most 4 entries for a cell.
	each := int(unsafe.Sizeof(s)+unsafe.Sizeof(node{})) + 2*o.Width*int(move) + cells*int(unsafe.Sizeof(cell{})+4*unsafe.Sizeof(entry{}))
	n := max(1, min(o.Memory/each, o.Simulations+1))
	table := 4
	for table < 2*cells*n {
		table *= 2
	}
	l.nodes = make([]node, 0, n)
	l.states = make([]S, n)
	l.moves = make([]M, 0, 2*o.Width*n)
	if o.Nodes == Regret {
		l.mixed = make([]mixed, 2*o.Width*n)
	} else {
		l.priors = make([]float64, 2*o.Width*n)
		l.stats = make([]stat, 2*o.Width*n)
	}
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

// slot returns the place of a cell in the table, whether the cell is stored or not.
func (l *slabs[S, M]) slot(from int32, what uint64) uint32 {
	mask := uint32(len(l.table) - 1)
	at := uint32(prng.Mix(what^uint64(uint32(from))*0x9e3779b97f4a7c15)) & mask
	for {
		e := &l.table[at]
		if e.cell == 0 || e.from == from && e.what == what {
			return at
		}
		at = (at + 1) & mask
	}
}

// find returns the cell, −1 if it is not stored.
func (l *slabs[S, M]) find(from int32, what uint64) int32 {
	return l.table[l.slot(from, what)].cell - 1
}

// add stores a cell that is not stored yet. It has room wherever its node had.
func (l *slabs[S, M]) add(from int32, what uint64, node int32) int32 {
	at := l.slot(from, what)
	l.cells = append(l.cells, cell{slot: at, node: node})
	l.table[at] = entry{what, from, int32(len(l.cells))}
	return int32(len(l.cells) - 1)
}

// fresh returns the memory for the next state: in the slabs, or scratch if they are full.
func (t *Tree[S, M]) fresh() *S {
	if len(t.nodes) < cap(t.nodes) {
		return &t.states[len(t.nodes)]
	}
	return &t.scratch
}

// keep stores the fresh state's value and, if the leaf was expanded, its moves. There must
// be room.
func (t *Tree[S, M]) keep(value float64, over bool) int32 {
	n := node{visits: 1, sum: value, weight: 1, mean: value, explore: t.options.C, over: over}
	if !over && len(t.leaf.Choices[0]) > 0 {
		t.list(&n)
	}
	t.nodes = append(t.nodes, n)
	return int32(len(t.nodes) - 1)
}

// list stores the leaf's choices as the moves of a node.
func (t *Tree[S, M]) list(n *node) {
	for p, choices := range t.leaf.Choices {
		total := 0.0
		for k := range choices {
			total += choices[k].Prior
		}
		first := len(t.moves)
		n.first[p], n.count[p] = int32(first), uint16(len(choices))
		for k := range choices {
			prior := 1 / float64(len(choices))
			if total > 0 {
				prior = choices[k].Prior / total
			}
			t.moves = append(t.moves, choices[k].Move)
			if t.options.Nodes == Regret {
				t.mixed[first+k] = mixed{prior: prior}
			} else {
				t.priors[first+k] = prior
			}
		}
		if t.options.Nodes == PUCT {
			t.show(n, p)
		}
	}
}

// show gives a stat to a seat's untried move with the largest prior, the first one among
// equals, if there is an untried move.
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
	t.priors[int(first)+best] = shown
	t.stats[int(first)+int(used)] = stat{bonus: most, prior: most, move: int32(best)}
	n.stats[p] = used + 1
}
