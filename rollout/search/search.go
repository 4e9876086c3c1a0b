// Package search looks ahead with a Monte Carlo tree for two players who move
// at the same time.
//
// A node of the tree is a state. Each seat has a list of moves there, and picks
// one without knowing the other's; the two together lead to a child. One
// simulation goes down from the root, adds one node, has it evaluated, and
// brings the value back to all nodes on the way. Two rules of picking:
//
//   - PUCT: each seat by itself picks the move with the largest mean value plus
//     prior·c·√visits/(1+visits of the move) (Silver and others: "Mastering the
//     game of Go without human knowledge", 2017; for simultaneous moves, "decoupled":
//     Tak, Lanctot, Winands: "Monte Carlo tree search variants for simultaneous
//     move games", 2014). With 400 simulations of Tower Defence it won 40 of 40
//     games against the other. It is deterministic and need not converge to an
//     equilibrium where that is mixed: both seats may go round in a circle, and its
//     visit shares then are those of the circle.
//   - Regret: each seat draws from regret matching (the same paper; here with
//     regrets kept at 0 and above and with averages that weigh later visits more,
//     as in Tammelin's CFR+, 2014). What a move would have brought comes from the
//     mean values of the children; moves tried beside the strategy do not enter the
//     mean of their own node. The average of the strategies converges to an
//     equilibrium of the moves that the Model lists.
//
// A search is a pure function of the state, the key and the Options: there are no
// clocks here, no order of maps, and no arithmetic that differs between machines.
// Options.Continue can end it by what the caller looks at.
//
// Trees are not carried over from one turn to the next. What a Policy chooses may
// depend on nothing but the row, and where a clock allows more there is little to win:
// in Tower Defence three tenths of the visits are below the state that comes next (of
// 100 to 2,000 simulations), and a search that kept them won 46 of 100 games against
// one that did not, both with 100 simulations more and a former formula at the leaves.
//
// A search has one thread. Threads in one tree would see each other's values in an
// order of chance; to make that order fixed they would have to wait for each other at
// every simulation, which takes microseconds. Games side by side use all cores.
//
// All memory is in slabs made by New: a search allocates nothing. Options.Memory
// bounds them. Once they are full, leaves are evaluated and not stored: PUCT
// learns from their values as from others, regret matching only at nodes whose
// children are stored.
package search

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Choice is a move of a seat, and how promising it looks: priors are 0 and above,
// and need not sum to 1.
type Choice[M any] struct {
	Move  M
	Prior float64
}

// Model is what a game gives the search. S is a state, M a move of a seat (an
// order, or whatever stands for several); both are plain data. Its methods
// allocate nothing and depend on nothing but their arguments.
type Model[S, M any] interface {
	// Moves appends the moves of seat p worth looking at, the most promising
	// first; at least one. Those beyond Options.Width are left out.
	Moves(dst []Choice[M], s *S, p sim.Player) []Choice[M]
	// Step plays a turn with the moves of both seats, and reports whether the game
	// has ended. A game with chance draws from r, and says by a number which of the
	// outcomes it was (Options.Chance); others return 0.
	Step(s *S, a, b M, r *prng.Rand) (over bool, chance uint64)
	// Result is the value for seat 0, −1 … 1, of a game that has ended.
	Result(s *S) float64
}

// Evaluator judges states. A rollout or a formula does, or a network.
type Evaluator[S, M any] interface {
	// Evaluate returns the value of s for seat 0, −1 … 1. It may change the priors
	// of the seats' choices (there are none with Options.Late). It leaves s as it is.
	Evaluate(s *S, choices *[2][]Choice[M], r *prng.Rand) float64
}

// Rule says how a seat picks its move at a node.
type Rule uint8

// The rules; see the package comment.
const (
	PUCT Rule = iota
	Regret
)

// Options are the bounds and weights of a search.
type Options struct {
	Simulations int     // of each search, at most
	Nodes       Rule    // how moves are picked
	C           float64 // weight of exploration
	Memory      int     // bytes of all slabs, at most; at least the root is stored
	Width       int     // most moves of a seat at a node, 1 … MaxWidth
	Depth       int     // most turns below the root
	Chance      bool    // Model.Step draws: the outcomes of a pair of moves have a node each

	// Late asks for the moves of a node when it is visited again, which most never are.
	// Evaluate is then given none. The search finds the same, in less time.
	Late bool

	// Ask has Next stop also at nodes whose moves are asked for Late, before they are
	// stored: Asks reports that, and priors can be changed until Give.
	Ask bool

	// Continue, if it is not nil, is asked before each simulation, with the number of
	// those that the search has made. The search ends where it returns false.
	Continue func(made int) bool

	// Abandon, if it is not nil, is asked before each simulation, too. The search ends
	// where it returns true, and what it found is of no use.
	Abandon func() bool
}

// forced is the most simulations where nothing is to be chosen and
// Options.Continue bounds the search.
const forced = 64

// MaxWidth is the most moves of a seat that a node can have.
const MaxWidth = 1 << 10

// Tree is a search and its memory. One Tree serves one goroutine.
type Tree[S, M any] struct {
	options   Options
	model     Model[S, M]
	evaluator Evaluator[S, M]
	slabs[S, M]

	key     uint64         // of the search
	made    int            // simulations begun
	budget  int            // simulations at most
	waits   place          // of the leaf
	asking  int32          // the node whose moves are asked for, where waits is atMoves
	random  prng.Rand      // of the simulation
	leaf    *S             // or the end of a game: a state of the slabs, or scratch
	scratch S              // where there is no room
	chance  uint64         // its outcome of chance
	choices [2][]Choice[M] // its moves
	path    []visit        // the nodes that the simulation went through
	means   []float64      // of a seat's moves against one of the other's
}

// visit is a node on the way of a simulation, and the moves picked there.
type visit struct {
	node int32
	pick [2]int32
	stat [2]int32 // of the moves picked, of PUCT
	cell int32    // what is known of the pair of moves, −1 if it is not stored
	// explored says of which seat regret matching tried any move, not one of its
	// strategy: what came of it says nothing about the node, nor about what the other
	// seat should do there.
	explored [2]bool
}

// New returns a Tree that searches with these options. It allocates the slabs.
func New[S, M any](o Options, m Model[S, M], e Evaluator[S, M]) *Tree[S, M] {
	o.Width = min(max(o.Width, 1), MaxWidth)
	o.Depth = max(o.Depth, 1)
	t := &Tree[S, M]{options: o, model: m, evaluator: e, path: make([]visit, 0, o.Depth), means: make([]float64, o.Width)}
	t.slabs.make(o)
	for p := range t.choices {
		t.choices[p] = make([]Choice[M], 0, 2*o.Width)
	}
	return t
}

// Search begins anew at the state, with random numbers from the key, and has the
// Evaluator judge every leaf. The state must not be the end of a game.
func (t *Tree[S, M]) Search(s *S, key uint64) {
	t.Begin(s, key)
	for t.Next() {
		leaf, choices := t.Leaf()
		t.Give(t.evaluator.Evaluate(leaf, choices, &t.random))
	}
}

// Begin begins what Search does without judging a leaf: Next and Give take turns from
// here on. So the leaves of several trees can be judged at once, by a network.
func (t *Tree[S, M]) Begin(s *S, key uint64) {
	t.forget()
	t.key, t.made, t.budget, t.waits = key, 0, t.options.Simulations, atRoot
	t.seed(key, 0)
	t.leaf = t.fresh()
	*t.leaf = *s
	t.path = t.path[:0]
}

// Next goes on to the next leaf, which Leaf then is, and reports whether there is one:
// false is the end of the search.
func (t *Tree[S, M]) Next() bool {
	for t.waits == nowhere {
		if t.made >= t.budget {
			return false
		}
		if more := t.options.Continue; more != nil && !more(t.made) {
			return false
		}
		if given := t.options.Abandon; given != nil && given() {
			return false
		}
		t.made++
		t.seed(t.key, uint64(t.made))
		t.path = t.path[:0]
		t.descend(0)
	}
	if !t.options.Late || t.waits == atMoves {
		t.ask(t.leaf)
	}
	return true
}

// Asks reports whether Next stopped for the moves of a node that was judged before: only
// their priors are wanted, and the value given counts for nothing.
func (t *Tree[S, M]) Asks() bool { return t.waits == atMoves }

// Leaf is the state that Next found and its choices, whose priors may be changed
// before Give. With Options.Late it has none unless Asks is true.
func (t *Tree[S, M]) Leaf() (*S, *[2][]Choice[M]) { return t.leaf, &t.choices }

// Evaluate is what the Evaluator of the search says of the leaf, for a caller who
// weighs that against what it knows itself.
func (t *Tree[S, M]) Evaluate() float64 {
	return t.evaluator.Evaluate(t.leaf, &t.choices, &t.random)
}

// Give tells the value of the leaf for seat 0.
func (t *Tree[S, M]) Give(value float64) {
	waits := t.waits
	t.waits = nowhere
	switch waits {
	case atRoot:
		t.keep(value, false)
		if t.options.Late && !t.open(0) {
			return
		}
		t.begin()
	case atMoves:
		t.listed()
		if t.asking == 0 {
			t.begin()
		} else {
			t.descend(t.asking)
		}
	case atChild:
		t.store(value, false)
		t.learn(value)
	case atDepth:
		t.learn(value)
	case nowhere:
		panic("search: Give without a leaf of Next")
	}
}

// begin bounds the simulations once the moves of the root are known.
func (t *Tree[S, M]) begin() {
	if t.nodes[0].count == [2]uint16{1, 1} {
		t.budget = (t.budget + 7) / 8 // nothing is to be chosen: this is for the value alone
		if t.options.Continue != nil {
			t.budget = min(t.budget, forced)
		}
	}
}

// place is where the leaf is that waits to be judged.
type place uint8

const (
	nowhere place = iota
	atRoot
	atChild // of the latest visit
	atDepth // below which Options.Depth ends the simulation
	atMoves // it is the node asking
)

// seed begins the random numbers of a simulation.
func (t *Tree[S, M]) seed(key, simulation uint64) {
	t.random = prng.New(prng.Key(key, simulation, 0, 0, prng.PurposeSearch))
}

// ask leaves the moves of a state in choices.
func (t *Tree[S, M]) ask(s *S) {
	for p := range t.choices {
		c := t.model.Moves(t.choices[p][:0], s, sim.Player(p))
		t.choices[p] = c[:min(len(c), t.options.Width)]
	}
}

// open stores the moves of a node that was kept without; false where Options.Ask has
// Next stop for them first.
func (t *Tree[S, M]) open(at int32) bool {
	t.asking = at
	if t.options.Ask {
		t.leaf, t.waits = &t.states[at], atMoves
		return false
	}
	t.ask(&t.states[at])
	t.listed()
	return true
}

// listed stores the choices as the moves of the node asking.
func (t *Tree[S, M]) listed() {
	t.list(&t.nodes[t.asking])
	for p := range t.choices {
		t.choices[p] = t.choices[p][:0]
	}
}

// descend goes down from a node, at first the root, to a leaf that waits to be judged, or
// to the end of a game, whose value it brings back.
func (t *Tree[S, M]) descend(at int32) {
	for at >= 0 {
		n := &t.nodes[at]
		if n.over {
			t.learn(n.sum / n.weight)
			return
		}
		if len(t.path) == t.options.Depth {
			t.leaf, t.waits = &t.states[at], atDepth
			return
		}
		if n.count[0] == 0 && !t.open(at) {
			return
		}
		v := visit{node: at}
		for p := range v.pick {
			t.pick(&v, n, p)
		}
		v.cell = t.find(at, pair(v.pick))
		t.path = append(t.path, v)
		if v.cell >= 0 && !t.options.Chance {
			at = t.child(v.cell)
			continue
		}
		at = t.step(at)
	}
}

// step plays the moves of the latest visit. It returns the child, −1 if it is new:
// then its value is brought back if the game has ended there, else it waits to be
// judged.
func (t *Tree[S, M]) step(at int32) (child int32) {
	v := &t.path[len(t.path)-1]
	n := &t.nodes[at]
	t.leaf = t.fresh()
	*t.leaf = t.states[at]
	over, chance := t.model.Step(t.leaf, t.moves[n.first[0]+v.pick[0]], t.moves[n.first[1]+v.pick[1]], &t.random)
	t.chance = chance
	if t.options.Chance && v.cell >= 0 {
		if outcome := t.find(^v.cell, chance); outcome >= 0 {
			return t.cells[outcome].node
		}
	}
	if over {
		value := t.model.Result(t.leaf)
		t.store(value, true)
		t.learn(value)
	} else {
		t.waits = atChild
	}
	return -1
}

// store keeps the new child of the latest visit if there is room.
func (t *Tree[S, M]) store(value float64, over bool) {
	if len(t.nodes) == cap(t.nodes) {
		return
	}
	v := &t.path[len(t.path)-1]
	node := t.keep(value, over)
	if v.cell < 0 {
		v.cell = t.add(v.node, pair(v.pick), node)
	}
	if t.options.Chance {
		t.add(^v.cell, t.chance, node)
	}
}

// child is where a cell leads that is not an outcome of chance.
func (t *Tree[S, M]) child(c int32) int32 {
	if !t.options.Chance {
		return c + 1
	}
	return t.cells[c].node
}

// pair is the number of a pair of moves.
func pair(pick [2]int32) uint64 { return uint64(pick[0])<<32 | uint64(pick[1]) }

// pick picks the move of a seat in a simulation.
func (t *Tree[S, M]) pick(v *visit, n *node, p int) {
	switch {
	case t.options.Nodes == PUCT:
		t.bound(v, n, p)
	case n.count[p] > 1:
		t.draw(v, n, p)
	}
}

// learn brings the value of a leaf for seat 0 back to the nodes on the way.
func (t *Tree[S, M]) learn(value float64) {
	for k := len(t.path) - 1; k >= 0; k-- {
		v := &t.path[k]
		n := &t.nodes[v.node]
		n.visits++
		if t.options.Nodes == PUCT {
			t.mean(v, n, value)
			continue
		}
		if v.cell >= 0 {
			c := &t.cells[v.cell]
			c.visits++
			c.weight += c.visits
			c.sum += float64(c.visits * value)
		}
		t.regret(v)
		if v.explored != [2]bool{} {
			value = n.sum / n.weight
			continue
		}
		n.weight += n.visits
		n.sum += float64(n.visits * value)
	}
}

// mean adds a value for seat 0 to the means of PUCT at a node, and prepares its next
// pick there.
func (t *Tree[S, M]) mean(v *visit, n *node, value float64) {
	n.weight++
	n.sum += value
	n.mean = n.sum / n.weight
	n.explore = t.options.C * math.Sqrt(n.visits)
	for p := range v.stat {
		own := value
		if p == 1 {
			own = -value
		}
		e := &t.stats[v.stat[p]]
		if e.visits++; e.visits == 1 {
			t.show(n, p)
		}
		visits := float64(e.visits)
		e.mean += (own - e.mean) / visits
		e.bonus = e.prior / (1 + visits)
	}
}

// bound is PUCT's pick: the move with the largest upper bound, the first of those
// that tie. Of the moves that were not tried none has a larger one than that with the
// largest prior.
func (t *Tree[S, M]) bound(v *visit, n *node, p int) {
	untried := n.mean // such a move counts as the node does
	if p == 1 {
		untried = -untried
	}
	explore := n.explore
	best, most, move := 0, math.Inf(-1), int32(0)
	stats := t.stats[n.first[p]:][:n.stats[p]]
	for k := range stats {
		e := &stats[k]
		value := e.mean
		if e.visits == 0 {
			value = untried
		}
		value += float64(explore * e.bonus)
		if value > most || value == most && e.move < move {
			best, most, move = k, value, e.move
		}
	}
	v.pick[p], v.stat[p] = move, n.first[p]+int32(best)
}
