package search_test

import (
	"math"
	"slices"
	"testing"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// plainNode is a node of the plain twin of PUCT: with separate slices and a map, and
// every pick compares all moves.
type plainNode struct {
	state       matrixState
	over        bool
	visits, sum float64
	prior       [2][]float64
	count, mean [2][]float64
	children    map[[2]int]*plainNode
}

// plain is PUCT as the package comment describes it.
type plain struct {
	game  *matrices
	c     float64
	depth int

	seat int
	root func(n *plainNode) int // the seat's pick at the root; nil: as at other nodes
}

func (w *plain) node(s matrixState, over bool, value float64) *plainNode {
	n := &plainNode{state: s, over: over, visits: 1, sum: value, children: map[[2]int]*plainNode{}}
	for p := range n.prior {
		if over {
			continue
		}
		total := 0.0
		for _, c := range w.game.Moves(nil, &s, sim.Player(p)) {
			n.prior[p] = append(n.prior[p], c.Prior)
			total += c.Prior
		}
		for k := range n.prior[p] {
			n.prior[p][k] /= total
		}
		n.count[p], n.mean[p] = make([]float64, len(n.prior[p])), make([]float64, len(n.prior[p]))
	}
	return n
}

func (w *plain) pick(n *plainNode, p int) (best int) {
	most := math.Inf(-1)
	for k, prior := range n.prior[p] {
		value := n.mean[p][k]
		if n.count[p][k] == 0 {
			value = []float64{1, -1}[p] * n.sum / n.visits
		}
		value += float64(w.c * math.Sqrt(n.visits) * (prior / (1 + n.count[p][k])))
		if value > most {
			best, most = k, value
		}
	}
	return best
}

// simulate plays a simulation from n on and returns its value for seat 0.
func (w *plain) simulate(n *plainNode, depth int) (value float64) {
	switch {
	case n.over:
		return n.sum / n.visits
	case depth == w.depth:
		return n.state.sum
	}
	pick := [2]int{w.pick(n, 0), w.pick(n, 1)}
	if depth == 0 && w.root != nil {
		pick[w.seat] = w.root(n)
	}
	if child := n.children[pick]; child != nil {
		value = w.simulate(child, depth+1)
	} else {
		s := n.state
		over, _ := w.game.Step(&s, pick[0], pick[1], nil)
		value = s.sum
		n.children[pick] = w.node(s, over, value)
	}
	n.visits++
	n.sum += value
	for p, k := range pick {
		own := []float64{1, -1}[p] * value
		n.count[p][k]++
		n.mean[p][k] += (own - n.mean[p][k]) / n.count[p][k]
	}
	return value
}

// drawMatrices returns a game of drawn payoffs and priors, and the numbers of moves.
func drawMatrices(r *prng.Rand) (m *matrices, size [2]int) {
	m = &matrices{}
	size = [2]int{1 + r.IntN(9), 1 + r.IntN(9)}
	for range 1 + r.IntN(4) {
		var pays [][]float64
		for range size[0] {
			row := make([]float64, size[1])
			for k := range row {
				row[k] = float64(r.IntN(5)-2) / 8 // many moves are as good as each other
			}
			pays = append(pays, row)
		}
		m.turns = append(m.turns, pays)
	}
	for range max(size[0], size[1]) {
		m.prior = append(m.prior, float64(1+r.IntN(3)))
	}
	return m, size
}

// The tree compares only the tried moves and one more; its results equal those of the
// plain twin bit by bit.
func TestPlainTwin(t *testing.T) {
	r := prng.New(1)
	for game := range 60 {
		m, size := drawMatrices(&r)
		o := options(1500)
		o.C, o.Depth = float64(1+r.IntN(8))/4, 1+r.IntN(5)
		w := &plain{game: m, c: o.C, depth: o.Depth}
		root := w.node(matrixState{}, false, 0)
		for _, n := range []int{1, 10, 100, 1500} {
			o.Simulations = n
			tree := newMatrices(o, m)
			if game&1 == 0 {
				tree.Search(&matrixState{}, 1)
			} else {
				searchExpanded(tree, search.Model[matrixState, int](m), &matrixState{}, 1)
			}
			if size == [2]int{1, 1} {
				n = (n + 7) / 8
			}
			for root.visits < float64(1+n) {
				w.simulate(root, 0)
			}
			if got, want := tree.Value(0), root.sum/root.visits; got != want {
				t.Fatalf("game %d, %d simulations: value %v, want %v", game, n, got, want)
			}
			for p := range 2 {
				var want []float32
				for _, count := range root.count[p] {
					want = append(want, float32(count/float64(n)))
				}
				if got := tree.AppendShares(nil, sim.Player(p)); !slices.Equal(got, want) {
					t.Fatalf("game %d, %d simulations: shares %v of seat %d, want %v", game, n, got, p, want)
				}
			}
		}
	}
}
