// Package search looks ahead with a Monte Carlo tree for two players who move
// at the same time.
//
// A node of the tree is a state. At each node both seats have a list of moves, and
// each picks one without knowing the other's; the pair of moves leads to a child.
// One simulation descends from the root, adds one node, evaluates it, and backs its
// value up to all nodes on the way. A node is expanded, that is, its moves are
// listed, when it is visited for the second time; most nodes never are.
//
// To use it, implement Model for the game, make a Tree with New, call Search for a
// state, and read the results at the root:
//
//	t := search.New(options, model)
//	t.Search(&state, seed)
//	shares := t.AppendShares(nil, seat)
//	move := t.Moves(seat)[search.Best(shares)]
//
// Search evaluates leaves by Model.Evaluate. A caller with another evaluation, such
// as a network that takes the leaves of several trees in one batch, calls Start
// instead, and then Next for one Leaf after the other:
//
//	t.Start(&state, seed)
//	for leaf := t.Next(); leaf != nil; leaf = t.Next() {
//		leaf.Value = evaluate(leaf.State)
//	}
//
// If the network also gives priors of moves, the caller calls Expand after Next, and
// changes the priors in Leaf.Choices.
//
// Each seat by itself picks the move with the largest mean value plus
// prior·c·√visits/(1+visits of the move): PUCT (Silver and others: "Mastering the game of
// Go without human knowledge", 2017; for simultaneous moves, "decoupled": Tak, Lanctot,
// Winands: "Monte Carlo tree search variants for simultaneous move games", 2014). It is
// deterministic and need not converge to a mixed equilibrium: both seats may cycle through
// their moves, and the visit shares then describe the cycle. Regret matching (the same
// paper), which converges, lost 40 of 40 games of Tower Defence against it with 400
// simulations each, and is not here.
//
// To learn from searches, the searching seat explores at the root. The other seat, and both seats below the root, pick
// by PUCT as ever: they stand for what would be played. Options has
//
//   - Noise: Dirichlet noise in its priors (Silver and others, as above; 0.25 there);
//   - Gumbel: it draws some moves without replacement by the Gumbel distribution, divides the simulations among them by
//     sequential halving, and its shares are the improved policy instead of visits (Danihelka, Guez, Schrittwieser,
//     Silver: "Policy improvement by planning with Gumbel", 2022);
//   - Cheap: simulations of the searches of turns from which nothing is learned, so that more games are played (playout
//     cap randomization; Wu: "Accelerating self-play learning in Go", 2019).
//
// A search is a pure function of the state, the seed and the Options: it reads no
// clock, iterates over no map, and has no arithmetic that differs between machines.
// Options.Stop can end a search early, for instance by the caller's clock.
//
// Trees are not kept from one turn to the next. A Policy's choice may depend on
// nothing but the row, and a player with a time budget would gain little: in Tower
// Defence three tenths of the visits are below the state that comes next (with 100
// to 2,000 simulations). A search that kept them won 46 of 100 games against one
// that did not; both made 100 further simulations and used an earlier formula at the
// leaves.
//
// A search has one thread. Threads in one tree would see each other's values in a
// random order; for a fixed order they would have to wait for each other at every
// simulation, which takes microseconds. Several games at once use all cores.
//
// All memory is in slabs made by New: a search allocates nothing. Options.Memory
// bounds them. Once they are full, leaves are evaluated but not stored, and the search
// still learns from their values.
package search

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Choice is a move of a seat with its prior: how promising it looks, 0 or above. The
// priors of a seat need not sum to 1.
type Choice[M any] struct {
	Move  M
	Prior float64
}

// Model is a game to be searched. S is a state, M a move of a seat (an order, or a
// value that stands for several); both are plain data. The methods allocate nothing
// and depend on nothing but their arguments.
type Model[S, M any] interface {
	// Moves appends the moves of seat p that are worth searching, the most
	// promising first; at least one. The search uses the first Options.Width.
	Moves(dst []Choice[M], s *S, p sim.Player) []Choice[M]
	// Step plays a turn with the moves of both seats, and reports whether the game
	// has ended. A game with chance draws from r and returns the number of the
	// outcome (Options.Chance); other games return 0.
	Step(s *S, a, b M, r *prng.Rand) (over bool, chance uint64)
	// Result returns the value for seat 0, −1 … 1, of a game that has ended.
	Result(s *S) float64
	// Evaluate estimates the value for seat 0, −1 … 1, of a running game, by a
	// rollout or a formula. It may draw from r and does not change s.
	Evaluate(s *S, r *prng.Rand) float64
}

// Options are the bounds and weights of a search.
type Options struct {
	Simulations int     // limit of simulations of each search
	C           float64 // weight of exploration
	Memory      int     // limit of the bytes of all slabs; at least the root is stored
	Width       int     // limit of the moves of a seat at a node, 1 … 1024
	Depth       int     // limit of turns below the root
	Chance      bool    // Model.Step draws: each outcome of a pair of moves has a node

	// What the seat of SearchFor does at the root, to explore.
	Noise  float64 // weight of Dirichlet noise in its priors
	Gumbel int     // number of moves that Gumbel noise picks for sequential halving, with a limit of Simulations; 0: PUCT
	Cheap  int     // simulations of a search that SearchFor says is not full

	// Stop, if it is not nil, is called before each simulation with the number of
	// simulations made so far. The search ends when it returns true.
	Stop func(made int) bool
}

// Unlimited is the number of simulations of a search that only Options.Stop ends.
const Unlimited = 1 << 30

// forced bounds the simulations of an Unlimited search in which neither seat has a choice.
const forced = 64

// maxWidth is the largest Options.Width that has an effect.
const maxWidth = 1 << 10

// Tree is a search and its memory. One Tree serves one goroutine.
type Tree[S, M any] struct {
	options Options
	model   Model[S, M]
	slabs[S, M]

	seed      uint64     // of the search
	made      int        // simulations begun
	budget    int        // simulations at most
	leaf      Leaf[S, M] // the latest result of Next
	waits     place      // which kind of leaf it is
	expanding int32      // the node whose moves are listed, if waits is atMoves
	random    prng.Rand  // of the simulation
	scratch   S          // the new state if the slabs are full
	chance    uint64     // the new state's outcome of chance
	path      []visit    // the nodes of the simulation, from the root
	explorer  explorer
}

// Leaf is a node that the caller of Next evaluates.
type Leaf[S, M any] struct {
	State *S // not to be changed

	// Expansion reports that the node was evaluated before and is now expanded. Choices
	// are its moves, and Value is ignored.
	Expansion bool

	// Depth is the number of turns from the root; 0 at the root.
	Depth int

	// Choices are the moves of both seats, with the Model's priors, which the caller may
	// change until the next call of Next. They are empty unless Expansion is true or
	// Expand has listed them. The caller may also remove moves, or append some, up to
	// Options.Width for each seat; at least one must remain.
	Choices [2][]Choice[M]

	// Value is the value of the state for seat 0, −1 … 1. The caller sets it.
	Value float64

	Random *prng.Rand // random numbers of the simulation, for Model.Evaluate
}

// visit is a node on the path of a simulation, and the moves picked there.
type visit struct {
	node int32
	pick [2]int32
	stat [2]int32 // the stats of the picked moves
	slot uint32   // of the cell of the pair of moves
	cell int32    // this cell, −1 if it is not stored
}

// New returns a Tree that searches with these options. It allocates the slabs.
func New[S, M any](o Options, m Model[S, M]) *Tree[S, M] {
	o.Width = min(max(o.Width, 1), maxWidth)
	o.Depth = max(o.Depth, 1)
	t := &Tree[S, M]{options: o, model: m, path: make([]visit, 0, o.Depth)}
	t.slabs.make(o)
	for p := range t.leaf.Choices {
		t.leaf.Choices[p] = make([]Choice[M], 0, 2*o.Width)
	}
	t.leaf.Random = &t.random
	t.explorer = explorer{full: true, logits: make([]float64, 0, o.Width), draws: make([]float64, 0, o.Width), scratch: make([]float64, 0, o.Width)}
	return t
}

// Search searches the state, with random numbers from the seed, and evaluates every leaf
// by Model.Evaluate. The state must not be the end of a game.
func (t *Tree[S, M]) Search(s *S, seed uint64) {
	t.Start(s, seed)
	for leaf := t.Next(); leaf != nil; leaf = t.Next() {
		if !leaf.Expansion {
			leaf.Value = t.model.Evaluate(leaf.State, leaf.Random)
		}
	}
}

// Start begins a search whose leaves the caller evaluates: see Next.
func (t *Tree[S, M]) Start(s *S, seed uint64) {
	t.forget()
	t.seed, t.made, t.budget = seed, 0, t.simulations()
	t.reseed(0)
	t.path = t.path[:0]
	root := t.fresh()
	*root = *s
	t.wait(atStart, root)
}

// Next reads the Value of the Leaf that it returned last, and the priors of its
// Choices, and continues the search to the next Leaf. It returns nil at the end of the
// search.
func (t *Tree[S, M]) Next() *Leaf[S, M] {
	if t.waits == atStart {
		t.waits = atRoot
		return &t.leaf
	}
	t.take(t.leaf.Value)
	for t.waits == nowhere {
		if t.made >= t.budget {
			return nil
		}
		if stop := t.options.Stop; stop != nil && stop(t.made) {
			return nil
		}
		t.made++
		t.reseed(uint64(t.made))
		t.path = t.path[:0]
		t.descend(0)
	}
	return &t.leaf
}

// Expand lists the moves of the latest Leaf in its Choices before the search would: for
// a caller whose evaluation gives priors together with the value, such as a network with
// both outputs.
func (t *Tree[S, M]) Expand() {
	for p := range t.leaf.Choices {
		c := t.model.Moves(t.leaf.Choices[p][:0], t.leaf.State, sim.Player(p))
		t.leaf.Choices[p] = c[:min(len(c), t.options.Width)]
	}
}

// take continues from the leaf with its value for seat 0.
func (t *Tree[S, M]) take(value float64) {
	waits := t.waits
	t.waits = nowhere
	switch waits {
	case atRoot:
		t.explorer.value = value
		if t.keep(value, false); t.nodes[0].count[0] == 0 {
			t.expand(0)
		} else {
			t.limit()
		}
	case atMoves:
		if t.list(&t.nodes[t.expanding]); t.expanding == 0 {
			t.limit()
		} else {
			t.descend(t.expanding)
		}
	case atChild:
		t.store(value, false)
		t.learn(value)
	case atDepth:
		t.learn(value)
	}
}

// limit bounds the simulations once the moves of the root are known.
func (t *Tree[S, M]) limit() {
	if t.nodes[0].count == [2]uint16{1, 1} {
		t.budget = (t.budget + 7) / 8 // neither seat has a choice: only the value is needed
		if t.options.Simulations == Unlimited {
			t.budget = forced
		}
	}
}

// place is the kind of leaf that the search waits for.
type place uint8

const (
	nowhere place = iota // the search does not wait
	atStart              // the root, which Next has not returned yet
	atRoot
	atChild // the new child of the latest visit
	atDepth // a node at Options.Depth, where the simulation ends
	atMoves // the node `expanding`, whose moves are listed
)

// wait makes a state the leaf for which the search waits.
func (t *Tree[S, M]) wait(at place, s *S) {
	t.waits = at
	l := &t.leaf
	l.State, l.Expansion, l.Depth, l.Value = s, at == atMoves, len(t.path), 0
	l.Choices[0], l.Choices[1] = l.Choices[0][:0], l.Choices[1][:0]
}

// reseed starts the random numbers of a simulation.
func (t *Tree[S, M]) reseed(simulation uint64) {
	t.random = prng.New(prng.StreamSeed(t.seed, simulation, 0, 0, prng.PurposeSearch))
}

// expand lists the moves of a node and waits for their priors.
func (t *Tree[S, M]) expand(at int32) {
	t.expanding = at
	t.wait(atMoves, &t.states[at])
	t.Expand()
}

// descend goes down from a node to a leaf, or to the end of a game, whose value it
// backs up.
func (t *Tree[S, M]) descend(at int32) {
	for at >= 0 {
		n := &t.nodes[at]
		if n.over {
			t.learn(n.sum / n.weight)
			return
		}
		if len(t.path) == t.options.Depth {
			t.wait(atDepth, &t.states[at])
			return
		}
		if n.count[0] == 0 {
			t.expand(at)
			return
		}
		// In place: a visit that is copied soon after its parts are written takes longer.
		t.path = t.path[:len(t.path)+1]
		v := &t.path[len(t.path)-1]
		v.node = at
		v.pick[0], v.pick[1] = t.pick(v, n, 0), t.pick(v, n, 1)
		if at == 0 && t.halves() {
			t.halve(v)
		}
		slot := t.slot(at, pair(v.pick[0], v.pick[1]))
		cell := t.table[slot].cell - 1
		v.slot, v.cell = slot, cell
		if cell >= 0 && !t.options.Chance {
			at = t.child(cell)
			continue
		}
		at = t.step(at)
	}
}

// step plays the moves of the latest visit. It returns the child, or −1 if the child is
// new: then its value is backed up if the game has ended there, else it is the leaf.
func (t *Tree[S, M]) step(at int32) (child int32) {
	v := &t.path[len(t.path)-1]
	n := &t.nodes[at]
	s := t.fresh()
	*s = t.states[at]
	over, chance := t.model.Step(s, t.moves[n.first[0]+v.pick[0]], t.moves[n.first[1]+v.pick[1]], &t.random)
	t.chance = chance
	if t.options.Chance && v.cell >= 0 {
		if outcome := t.find(^v.cell, chance); outcome >= 0 {
			return t.cells[outcome].node
		}
	}
	if over {
		value := t.model.Result(s)
		t.store(value, true)
		t.learn(value)
	} else {
		t.wait(atChild, s)
	}
	return -1
}

// store stores the new child of the latest visit if the slabs have room.
func (t *Tree[S, M]) store(value float64, over bool) {
	if len(t.nodes) == cap(t.nodes) {
		return
	}
	v := &t.path[len(t.path)-1]
	node := t.keep(value, over)
	if v.cell < 0 {
		v.cell = t.add(v.slot, v.node, pair(v.pick[0], v.pick[1]), node)
	}
	if t.options.Chance {
		from := ^v.cell
		t.add(t.slot(from, t.chance), from, t.chance, node)
	}
}

// child returns the node to which a cell leads. The cell must not be an outcome of chance.
func (t *Tree[S, M]) child(c int32) int32 {
	if !t.options.Chance {
		return c + 1
	}
	return t.cells[c].node
}

// pair returns the number of a pair of moves.
func pair(a, b int32) uint64 { return uint64(a)<<32 | uint64(b) }

// learn backs the value of a leaf for seat 0 up to the nodes of the path.
func (t *Tree[S, M]) learn(value float64) {
	for k := len(t.path) - 1; k >= 0; k-- {
		v := &t.path[k]
		n := &t.nodes[v.node]
		n.visits++
		t.mean(v, n, value)
	}
}

// mean adds a value for seat 0 to the means at a node, and updates the bounds
// for the next pick there.
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

// pick picks the move of a seat in a simulation: the one with the largest upper bound, the first one among
// equals. Among the untried moves the one with the largest prior has the largest bound.
func (t *Tree[S, M]) pick(v *visit, n *node, p int) int32 {
	explore := n.explore
	stats := t.stats[n.first[p]:][:n.stats[p]]
	last := len(stats) - 1 // only the last one may be untried
	e := &stats[last]
	value := e.mean
	if e.visits == 0 {
		value = n.mean // an untried move has the mean of the node
		if p == 1 {
			value = -value
		}
	}
	best, most, move := last, value+float64(explore*e.bonus), e.move
	for k := range stats[:last] {
		e := &stats[k]
		value := e.mean + float64(explore*e.bonus)
		if value > most || value == most && e.move < move {
			best, most, move = k, value, e.move
		}
	}
	v.stat[p] = n.first[p] + int32(best)
	return move
}
