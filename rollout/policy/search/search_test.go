package search_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// matrices plays a matrix game in each of its turns, and adds up the payoffs. With
// noise, a payoff is 0.5 larger or smaller, by chance.
type matrices struct {
	turns [][][]float64
	noise bool
	prior []float64 // of all moves, nil: equal
	asked int       // calls of Moves
}

type matrixState struct {
	turn int
	sum  float64
}

func (m *matrices) Moves(dst []search.Choice[int], s *matrixState, p sim.Player) []search.Choice[int] {
	m.asked++
	n := len(m.turns[s.turn])
	if p == 1 {
		n = len(m.turns[s.turn][0])
	}
	for i := range n {
		prior := 1.0
		if m.prior != nil {
			prior = m.prior[i]
		}
		dst = append(dst, search.Choice[int]{Move: i, Prior: prior})
	}
	return dst
}

func (m *matrices) Step(s *matrixState, a, b int, r *prng.Rand) (over bool, chance uint64) {
	pays := m.turns[s.turn][a][b]
	if m.noise {
		chance = r.Uint64() >> 63
		pays += float64(chance) - 0.5
	}
	s.sum += pays
	s.turn++
	return s.turn == len(m.turns), chance
}

func (m *matrices) Result(s *matrixState) float64 { return s.sum }

// Evaluate returns the sum of the payoffs so far.
func (m *matrices) Evaluate(s *matrixState, _ *prng.Rand) float64 { return s.sum }

var (
	pennies = [][]float64{{1, -0.5}, {-0.5, 0.25}} // unequal payoffs: value 0, strategies 1/3 and 2/3
	scissor = [][]float64{{0, -1, 1}, {1, 0, -1}, {-1, 1, 0}}
	weighed = [][]float64{{0, -0.5, 1}, {0.5, 0, -0.25}, {-1, 0.25, 0}}
	// Row 2 and column 3 are dominated.
	dominated = [][]float64{{0.5, -0.25, 0.75, 0.8}, {-0.75, 0.5, 0.1, 0.6}, {-0.8, -0.3, 0, 0.5}}
	saddle    = [][]float64{{0.25, 0.5}, {-0.5, 0.75}}
)

func options(simulations int) search.Options {
	return search.Options{Simulations: simulations, C: 1, Memory: 256 << 20, Width: 16, Depth: 64}
}

func newMatrices(o search.Options, m *matrices) *search.Tree[matrixState, int] {
	return search.New(o, search.Model[matrixState, int](m))
}

// searchExpanded does the same as Search, but expands every node when it is evaluated.
func searchExpanded[S, M any](t *search.Tree[S, M], m search.Model[S, M], s *S, seed uint64) {
	t.Start(s, seed)
	for leaf := t.Next(); leaf != nil; leaf = t.Next() {
		t.Expand()
		leaf.Value = m.Evaluate(leaf.State, leaf.Random)
	}
}

// strategy returns the shares of seat p's moves.
func strategy(t *search.Tree[matrixState, int], p sim.Player) (s []float64) {
	for _, share := range t.AppendShares(nil, p) {
		s = append(s, float64(share))
	}
	return s
}

// A search finds solutions in pure strategies: saddle points, and that dominated moves are
// not played.
func TestBoundFindsSaddle(t *testing.T) {
	turns := [][][]float64{saddle, saddle}
	tree := newMatrices(options(5000), &matrices{turns: turns})
	tree.Search(&matrixState{}, 1)
	got, want := tree.Value(0), 0.5
	assert.LessOrEqualf(t, math.Abs(got-want), 0.02, "value %.4f, want %.4f", got, want)
	for p := range sim.Player(2) {
		shares := tree.AppendShares(nil, p)
		if shares[0] < 0.95 || search.Best(shares) != 0 {
			t.Errorf("seat %d: shares %.3f, chosen %d", p, shares, search.Best(shares))
		}
	}
	tree = newMatrices(options(5000), &matrices{turns: [][][]float64{dominated}})
	tree.Search(&matrixState{}, 1)
	shares := tree.AppendShares(nil, 0)
	assert.LessOrEqualf(t, shares[2], float32(0.05), "the dominated row has the share %.3f", shares[2])
	shares = tree.AppendShares(nil, 1)
	assert.LessOrEqualf(t, shares[3], float32(0.05), "the dominated column has the share %.3f", shares[3])
	assert.Equal(t, 1, search.Best([]float32{0.2, 0.4, 0.4}), "the first of the most visited moves")
}

// The same state and seed give the same result, whatever the tree searched before; another
// seed gives another result.
func TestPure(t *testing.T) {
	for _, noise := range []bool{false, true} {
		o := options(500)
		o.Chance = noise
		m := &matrices{turns: [][][]float64{weighed, dominated, pennies}, noise: noise}
		found := func(tree *search.Tree[matrixState, int], seed uint64) []float32 {
			tree.Search(&matrixState{}, seed)
			all := tree.AppendShares(nil, 0)
			return append(tree.AppendShares(all, 1), float32(tree.Value(0)))
		}
		tree := newMatrices(o, m)
		want := found(newMatrices(o, m), 7)
		if other := found(tree, 8); slices.Equal(other, want) && noise {
			t.Errorf("noise %v: the seed has no effect", noise)
		}
		if got := found(tree, 7); !slices.Equal(got, want) {
			t.Errorf("noise %v: found %v, a new tree %v", noise, got, want)
		}
	}
}

// Trees whose leaves are evaluated alternately give the same results as separate searches.
func TestNext(t *testing.T) {
	o := options(300)
	m := &matrices{turns: [][][]float64{weighed, dominated, pennies}}
	var trees [3]*search.Tree[matrixState, int]
	for k := range trees {
		trees[k] = newMatrices(o, m)
		trees[k].Start(&matrixState{}, uint64(k))
	}
	for running := true; running; {
		running = false
		for _, tree := range trees {
			if leaf := tree.Next(); leaf != nil {
				running = true
				leaf.Value = m.Evaluate(leaf.State, nil)
			}
		}
	}
	for k, tree := range trees {
		alone := newMatrices(o, m)
		alone.Search(&matrixState{}, uint64(k))
		if got, want := strategy(tree, 0), strategy(alone, 0); !slices.Equal(got, want) || tree.Value(0) != alone.Value(0) {
			t.Errorf("tree %d: found %v, value %v; alone %v, %v", k, got, tree.Value(0), want, alone.Value(0))
		}
		if tree.Next() != nil {
			t.Errorf("tree %d goes on after its end", k)
		}
	}
}

// Once the memory is full, the search continues with the stored nodes and evaluates the
// states below them without storing them.
func TestMemory(t *testing.T) {
	o := options(5000)
	o.C = 1
	o.Memory = 0 // the root alone
	m := &matrices{turns: [][][]float64{saddle, scissor}}
	tree := newMatrices(o, m)
	tree.Search(&matrixState{}, 1)
	n := tree.Nodes()
	assert.Equalf(t, 1, n, "%d nodes without memory", n)
	got := tree.Value(0)
	assert.Truef(t, math.Abs(got-0.25) <= 0.02, "value %.3f, want 0.25", got)
	o.Memory = 100 << 10
	tree = newMatrices(o, &matrices{turns: slices.Repeat([][][]float64{dominated}, 10)})
	tree.Search(&matrixState{}, 1)
	full := tree.Nodes()
	tree.Search(&matrixState{}, 2)
	if strconv.IntSize == 64 {
		assert.Equal(t, 59, full, "what a search finds depends on the number of nodes in 100 KiB")
	}
	assert.Equal(t, full, tree.Nodes())
}

// Depth bounds the turns below the root, Width the moves of a node.
func TestBounds(t *testing.T) {
	o := options(2000)
	o.Depth = 1
	m := &matrices{turns: slices.Repeat([][][]float64{dominated}, 10)}
	tree := newMatrices(o, m)
	tree.Search(&matrixState{}, 1)
	n := tree.Nodes()
	assert.LessOrEqualf(t, n, 1+3*4, "%d nodes, want the root and its children", n)
	o.Width = 2
	tree = newMatrices(o, m)
	tree.Search(&matrixState{}, 1)
	n = len(tree.Moves(1))
	assert.Equalf(t, 2, n, "%d moves, want 2", n)
	n = tree.Nodes()
	assert.LessOrEqualf(t, n, 1+2*2, "%d nodes, want the root and its children", n)
}

// A search in which neither seat has a choice makes an eighth of its simulations. Priors
// need not sum to 1; they determine the order of the untried moves.
func TestPriors(t *testing.T) {
	alone := &matrices{turns: [][][]float64{{{0.5}}, saddle}}
	tree := newMatrices(options(1000), alone)
	tree.Search(&matrixState{}, 1)
	got := tree.Value(0)
	assert.LessOrEqualf(t, math.Abs(got-0.75), 0.1, "value %.3f where there is nothing to choose, want 0.75", got)
	shares := tree.AppendShares(nil, 0)
	assert.Truef(t, len(shares) == 1 && shares[0] == 1, "shares %v, want 1", shares)
	m := &matrices{turns: [][][]float64{{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, prior: []float64{1, 6, 1}}
	tree = newMatrices(options(4000), m)
	tree.Search(&matrixState{}, 1)
	shares = tree.AppendShares(nil, 0)
	assert.LessOrEqualf(t, math.Abs(float64(shares[1])-0.75), 0.02, "shares %.3f of moves worth the same, want the priors", shares)
	tree = newMatrices(options(0), m)
	tree.Search(&matrixState{}, 1)
	shares = tree.AppendShares(nil, 0)
	assert.Equalf(t, float32(0.75), shares[1], "shares %v without simulations, want the priors", shares)
}

// A search that expands every node at once gives the same result as one that expands nodes
// at their second visit, which lists the moves of fewer nodes.
func TestExpansion(t *testing.T) {
	for _, noise := range []bool{false, true} {
		for _, memory := range []int{0, 50 << 10, 16 << 20} {
			var found [2][]float32
			var asked [2]int
			for late := range found {
				o := options(500)
				o.Chance, o.Memory, o.Depth = noise, memory, 4
				m := &matrices{turns: slices.Repeat([][][]float64{weighed, dominated}, 3), noise: noise}
				tree := newMatrices(o, m)
				for seed := range uint64(2) {
					if late == 1 {
						tree.Search(&matrixState{}, seed)
					} else {
						searchExpanded(tree, search.Model[matrixState, int](m), &matrixState{}, seed)
					}
					found[late] = append(tree.AppendShares(found[late], 0), float32(tree.Value(0)))
				}
				asked[late] = m.asked
			}
			if !slices.Equal(found[0], found[1]) {
				t.Errorf("noise %v, %d bytes: found %v, and late %v", noise, memory, found[0], found[1])
			}
			if memory == 16<<20 && asked[1] > asked[0]*3/4 {
				t.Errorf("noise %v: asked for moves %d times, and late %d times", noise, asked[0], asked[1])
			}
		}
	}
}

// The caller can change the priors of a leaf's choices: the result is the same whether
// the caller changes them when the leaf is evaluated or when it is expanded. The value
// of an expansion is ignored.
func TestPriorsOfCaller(t *testing.T) {
	for _, noise := range []bool{false, true} {
		var found [2][]float32
		var weighed [2]int
		for late := range found {
			o := options(500)
			o.Chance, o.Depth = noise, 4
			m := &matrices{turns: slices.Repeat([][][]float64{{{0, 1}, {0.5, 0.25}}, dominated}, 3), noise: noise}
			tree := newMatrices(o, m)
			for seed := range uint64(2) {
				tree.Start(&matrixState{}, seed)
				for leaf := tree.Next(); leaf != nil; leaf = tree.Next() {
					if late == 0 {
						tree.Expand()
					}
					for p, choices := range leaf.Choices {
						for k := range choices {
							choices[k].Prior = float64(1 + (k+p)%2)
						}
					}
					if len(leaf.Choices[0]) > 0 {
						weighed[late]++
					}
					if leaf.Value = math.NaN(); !leaf.Expansion {
						leaf.Value = m.Evaluate(leaf.State, leaf.Random)
					}
				}
				found[late] = append(tree.AppendShares(found[late], 0), float32(tree.Value(0)))
			}
		}
		if !slices.Equal(found[0], found[1]) {
			t.Errorf("noise %v: found %v, and asked for late %v", noise, found[0], found[1])
		}
		if weighed[1] == 0 || weighed[1] > weighed[0]*3/4 {
			t.Errorf("noise %v: priors given %d times, and late %d times", noise, weighed[0], weighed[1])
		}
	}
}

// fewer hides the last move of both seats in the first turn.
type fewer struct{ *matrices }

func (f fewer) Moves(dst []search.Choice[int], s *matrixState, p sim.Player) []search.Choice[int] {
	if dst = f.matrices.Moves(dst, s, p); s.turn == 0 {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// The caller can append moves to a leaf's choices: the result is that of a Model that lists them. The
// depth of a leaf is the number of turns from the root.
func TestMovesOfCaller(t *testing.T) {
	m := &matrices{turns: [][][]float64{scissor, weighed, dominated}}
	want := newMatrices(options(500), m)
	want.Search(&matrixState{}, 3)
	tree := search.New(options(500), search.Model[matrixState, int](fewer{m}))
	tree.Start(&matrixState{}, 3)
	for leaf := tree.Next(); leaf != nil; leaf = tree.Next() {
		if leaf.Depth != leaf.State.turn {
			t.Fatalf("a leaf in turn %d has depth %d", leaf.State.turn, leaf.Depth)
		}
		if !leaf.Expansion {
			leaf.Value = m.Evaluate(leaf.State, leaf.Random)
		} else if leaf.Depth == 0 {
			for p := range leaf.Choices {
				leaf.Choices[p] = append(leaf.Choices[p], search.Choice[int]{Move: 2, Prior: 1})
			}
		}
	}
	assert.Equal(t, want.AppendShares(nil, 0), tree.AppendShares(nil, 0))
	assert.Equal(t, want.Value(0), tree.Value(0))
}

// Stop ends a search, whose result then equals that of a search limited to the simulations
// made. An Unlimited search in which neither seat has a choice ends soon without Stop.
func TestStop(t *testing.T) {
	found := func(o search.Options, turns [][][]float64) (all []float32, nodes int) {
		tree := newMatrices(o, &matrices{turns: turns})
		tree.Search(&matrixState{}, 1)
		return append(tree.AppendShares(all, 0), float32(tree.Value(0))), tree.Nodes()
	}
	want, _ := found(options(70), [][][]float64{weighed, dominated})
	asked := 0
	o := options(search.Unlimited)
	o.Memory = 1 << 20
	o.Stop = func(made int) bool {
		assert.Equalf(t, asked, made, "asked with %d simulations made, want %d", made, asked)
		asked++
		return made == 70
	}
	got, _ := found(o, [][][]float64{weighed, dominated})
	assert.Truef(t, slices.Equal(got, want) && asked == 71, "found %v after %d questions, want %v", got, asked, want)
	o.Stop = func(int) bool { return false }
	_, n := found(o, [][][]float64{{{0.5}}, saddle})
	assert.LessOrEqualf(t, n, 100, "%d nodes where nothing is to be chosen", n)
}

// A search allocates nothing.
func TestAllocations(t *testing.T) {
	for _, memory := range []int{1 << 20, 50 << 10} {
		o := options(2000)
		o.Memory, o.Chance = memory, true
		tree := newMatrices(o, &matrices{turns: slices.Repeat([][][]float64{dominated}, 5), noise: true})
		seed := uint64(0)
		s := new(matrixState)
		if n := testing.AllocsPerRun(5, func() { seed++; tree.Search(s, seed) }); n != 0 {
			t.Errorf("%d bytes: %v allocations", memory, n)
		}
	}
}
