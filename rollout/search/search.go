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
//     move games", 2014). It is the stronger one with few simulations. It is
//     deterministic and need not converge to an equilibrium where that is mixed:
//     both seats may go round in a circle, and its visit shares then are those of
//     the circle.
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
// depend on nothing but the row, and where a clock allows more it does not pay: in
// Tower Defence 15 to 35 % of the visits were below the state that came next, and a
// search that kept them won 46 of 100 games against one that did not, both with 100
// simulations more.
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

	// Continue, if it is not nil, is asked before each simulation, with the number of
	// those that the search has made. The search ends where it returns false.
	Continue func(made int) bool
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

	random  prng.Rand      // of the simulation
	scratch S              // the state that is evaluated
	choices [2][]Choice[M] // its moves
	path    []visit        // the nodes that the simulation went through
	means   []float64      // of a seat's moves against one of the other's
}

// visit is a node on the way of a simulation, and the moves picked there.
type visit struct {
	node int32
	pick [2]int32
	cell int32 // what is known of the pair of moves, −1 if it is not stored
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

// Search begins anew at the state, with random numbers from the key. The state
// must not be the end of a game.
func (t *Tree[S, M]) Search(s *S, key uint64) {
	t.forget()
	t.seed(key, 0)
	t.scratch = *s
	t.keep(t.leaf(), false)
	if t.options.Late {
		t.open(0)
	}
	n := t.options.Simulations
	if root := &t.nodes[0]; root.count == [2]int32{1, 1} {
		n = (n + 7) / 8 // nothing is to be chosen: this is for the value alone
		if t.options.Continue != nil {
			n = min(n, forced)
		}
	}
	for i := range n {
		if more := t.options.Continue; more != nil && !more(i) {
			return
		}
		t.seed(key, uint64(i)+1)
		t.simulate()
	}
}

// seed begins the random numbers of a simulation.
func (t *Tree[S, M]) seed(key, simulation uint64) {
	t.random = prng.New(prng.Key(key, simulation, 0, 0, prng.PurposeSearch))
}

// leaf evaluates the state in scratch and, if they are wanted now, leaves its moves
// in choices.
func (t *Tree[S, M]) leaf() float64 {
	if !t.options.Late {
		t.ask(&t.scratch)
	}
	return t.evaluator.Evaluate(&t.scratch, &t.choices, &t.random)
}

// ask leaves the moves of a state in choices.
func (t *Tree[S, M]) ask(s *S) {
	for p := range t.choices {
		c := t.model.Moves(t.choices[p][:0], s, sim.Player(p))
		t.choices[p] = c[:min(len(c), t.options.Width)]
	}
}

// open stores the moves of a node that was kept without.
func (t *Tree[S, M]) open(at int32) {
	t.ask(&t.states[at])
	t.list(&t.nodes[at])
	for p := range t.choices {
		t.choices[p] = t.choices[p][:0]
	}
}

// simulate goes down from the root, evaluates a leaf and brings its value back.
func (t *Tree[S, M]) simulate() {
	at := int32(0)
	t.path = t.path[:0]
	for {
		n := &t.nodes[at]
		if n.over {
			t.learn(n.sum / n.weight)
			return
		}
		if len(t.path) == t.options.Depth {
			t.scratch = t.states[at]
			t.learn(t.leaf())
			return
		}
		if n.count[0] == 0 {
			t.open(at)
		}
		v := visit{node: at}
		for p := range v.pick {
			t.pick(&v, n, p)
		}
		v.cell = t.find(at, pair(v.pick))
		t.path = append(t.path, v)
		child := int32(-1)
		if v.cell >= 0 && !t.options.Chance {
			child = t.cells[v.cell].node
		}
		if child < 0 {
			var value float64
			if child, value = t.step(at); child < 0 {
				t.learn(value)
				return
			}
		}
		at = child
	}
}

// step plays the moves of the latest visit. It returns the child, if it is known,
// else −1 and the value of the new state, which it stores if there is room.
func (t *Tree[S, M]) step(at int32) (child int32, value float64) {
	v := &t.path[len(t.path)-1]
	n := &t.nodes[at]
	t.scratch = t.states[at]
	over, chance := t.model.Step(&t.scratch, t.moves[n.first[0]+v.pick[0]], t.moves[n.first[1]+v.pick[1]], &t.random)
	parent := v.cell
	if t.options.Chance && parent >= 0 {
		if outcome := t.find(^parent, chance); outcome >= 0 {
			return t.cells[outcome].node, 0
		}
	}
	if over {
		value = t.model.Result(&t.scratch)
	} else {
		value = t.leaf()
	}
	if len(t.nodes) == cap(t.nodes) {
		return -1, value
	}
	node := t.keep(value, over)
	if parent < 0 {
		parent = t.add(at, pair(v.pick), node)
		v.cell = parent
	}
	if t.options.Chance {
		t.add(^parent, chance, node)
	}
	return -1, value
}

// pair is the number of a pair of moves.
func pair(pick [2]int32) uint64 { return uint64(pick[0])<<32 | uint64(pick[1]) }

// pick picks the move of a seat in a simulation.
func (t *Tree[S, M]) pick(v *visit, n *node, p int) {
	switch {
	case n.count[p] == 1:
		v.pick[p] = 0
	case t.options.Nodes == Regret:
		t.draw(v, n, p)
	default:
		v.pick[p] = t.bound(n, p)
	}
}

// learn brings the value of a leaf for seat 0 back to the nodes on the way.
func (t *Tree[S, M]) learn(value float64) {
	for k := len(t.path) - 1; k >= 0; k-- {
		v := &t.path[k]
		n := &t.nodes[v.node]
		n.visits++
		for p := range v.pick {
			own := value
			if p == 1 {
				own = -value
			}
			e := &t.stats[n.first[p]+v.pick[p]]
			e.visits++
			e.mean += (own - e.mean) / e.visits
			e.bonus = e.prior / (1 + e.visits)
		}
		if t.options.Nodes == PUCT {
			n.weight++
			n.sum += value
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

// bound is PUCT's pick: the move with the largest upper bound, the first of those
// that tie.
func (t *Tree[S, M]) bound(n *node, p int) int32 {
	explore := t.options.C * math.Sqrt(n.visits)
	untried := n.sum / n.weight // such a move counts as the node does
	if p == 1 {
		untried = -untried
	}
	best, most := 0, math.Inf(-1)
	stats := t.stats[n.first[p]:][:n.count[p]]
	for k := range stats {
		e := &stats[k]
		value := e.mean
		if e.visits == 0 {
			value = untried
		}
		if value += float64(explore * e.bonus); value > most {
			best, most = k, value
		}
	}
	return int32(best)
}
