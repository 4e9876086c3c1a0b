package policy

import (
	"moonfarm/rollout"
	"moonfarm/rollout/policy/neural"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
)

// The defaults of optionTurns and of optionTemperature in a search, and the largest value of
// optionTurns.
const (
	defaultTurns     = 8
	turnsTemperature = 0.2
	mostTurns        = 32
)

// The priors of the turns of a network, beside the priors of the game's own moves.
const (
	likeliestPrior = 3 // of the likeliest turn
	drawnPrior     = 1 // of each other turn
)

// rootTurns adds whole turns, which a network of a sequential form draws, to the searching seat's
// moves at the roots of several searches.
type rootTurns[S, M any] struct {
	*neural.Turns[S]
	game        script.SearchGame[S, M]
	given       script.Given[M]
	drawn       int     // turns of each root: the likeliest one, and others
	temperature float64 // of the others
	width       int     // limit of the moves of a seat
	roots       []root[S, M]
	orders      []sim.Order // scratch
}

// root is the root of a search.
type root[S, M any] struct {
	leaf  *search.Leaf[S, M]
	tree  int
	seat  sim.Player // that searches
	first int        // number of its first drawn turn
}

// clear removes all roots.
func (r *rootTurns[S, M]) clear() {
	r.Clear()
	r.roots = r.roots[:0]
}

// add adds the root of a tree, unless the searching seat has no choice there.
func (r *rootTurns[S, M]) add(leaf *search.Leaf[S, M], tree int, seat sim.Player) {
	choices := leaf.Choices[seat]
	if len(choices) < 2 {
		return
	}
	choices = choices[:min(len(choices), r.width-r.drawn)]
	leaf.Choices[seat] = choices
	r.Position(leaf.State, seat)
	for _, c := range choices {
		r.orders = r.game.AppendOrders(r.orders[:0], leaf.State, seat, c.Move)
		r.Compare(r.orders)
	}
	first := r.Draw(0, 0)
	for range r.drawn - 1 {
		r.Draw(r.temperature, leaf.Random.Uint64())
	}
	r.roots = append(r.roots, root[S, M]{leaf, tree, seat, first})
}

// run draws the turns and adds them to the moves, without those that equal an earlier one. It adds
// the numbers of evaluations to counts, by tree.
func (r *rootTurns[S, M]) run(counts *[rowsAtOnce]rollout.NetworkCounts) {
	r.Run()
	for i := range r.roots {
		x := &r.roots[i]
		counts[x.tree].Add(r.Network(i))
		prior := float64(likeliestPrior)
		for k := range r.drawn {
			if turn := x.first + k; r.First(turn) == turn {
				r.orders = r.AppendOrders(r.orders[:0], turn)
				if m, ok := r.given.Give(x.tree*r.drawn+k, r.orders); ok {
					x.leaf.Choices[x.seat] = append(x.leaf.Choices[x.seat], search.Choice[M]{Move: m, Prior: prior})
				}
			}
			prior = drawnPrior
		}
	}
}
