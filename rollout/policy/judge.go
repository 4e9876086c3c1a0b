package policy

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/neural"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
)

// rowsAtOnce is the number of rows that a search with a network searches at once, and the
// number of leaves in a batch.
const rowsAtOnce = 16

// judge lets a network evaluate the leaves of several trees in one batch.
type judge[S, M any] struct {
	*neural.Judge[S]
	game   script.SearchGame[S, M]
	priors bool                 // the network also gives priors of the moves
	trust  float64              // weight of the network's values; the rest is the weight of the game's own
	turns  *rootTurns[S, M]     // of a network of a sequential form; nil: it only gives values
	batch  []*search.Leaf[S, M] // evaluated together
	rows   []int                // per leaf, the index of its tree
	counts [rowsAtOnce]rollout.NetworkCounts
	orders []sim.Order
	ends   []int32
	scores []float64
}

// judgedSearcher is a searcher with a network.
type judgedSearcher[S, M any] struct {
	*searcher[S, M]
	file rollout.File
}

// Network implements rollout.Networked.
func (j judgedSearcher[S, M]) Network(_ *env.Batch, row int32) rollout.NetworkCounts {
	return j.networks[row]
}

// Files implements rollout.WithFiles.
func (j judgedSearcher[S, M]) Files() []rollout.File { return []rollout.File{j.file} }

// newJudged returns a policy that searches with the network of the options. With a budget of
// time it searches one row at a time, since each search has the whole budget.
func newJudged[S, M any](name string, o searchOptions, g script.SearchGame[S, M], kit features.Kit[S], s env.Spec) (rollout.Policy, error) {
	fit, s, err := FitForm(o.model.network, s, o.head)
	if err != nil {
		return nil, err
	}
	form, err := kit.Form(s.Form)
	if err != nil {
		return nil, err
	}
	given, _ := g.(script.Given[M])
	if err := o.settle(fit, s, given != nil); err != nil {
		return nil, err
	}
	n := rowsAtOnce
	if o.time > 0 {
		n = 1
	}
	j := &judge[S, M]{Judge: neural.NewJudge(o.model.network, fit, form, s, n), game: g, priors: weighs(s), trust: o.trust}
	if o.turns > 0 {
		o.Width += o.turns
		j.turns = &rootTurns[S, M]{Turns: neural.NewTurns(o.model.network, fit, form, s, n*o.Width),
			game: g, given: given, drawn: o.turns, temperature: o.temperature, width: o.Width}
	}
	c := makeSearcher(name, o, g)
	c.judge = j
	for range n {
		c.addTree(o)
	}
	return judgedSearcher[S, M]{c, o.model.file}, nil
}

// weighs reports whether a network of the form of s gives a prior to every move: a move is a choice
// of its one head.
func weighs(s env.Spec) bool { return len(s.Heads) == 1 && !s.Sequential }

// settle replaces the defaults of options that depend on the network, which fits s, and refuses what
// it cannot do. takes tells whether the search takes whole turns as moves.
func (o *searchOptions) settle(fit neural.Fit, s env.Spec, takes bool) error {
	if len(fit.States) > 0 {
		return fmt.Errorf("%s is recurrent (input %q): a search evaluates positions without the turns before them, so it needs a network without a state", o.model.file.Name, fit.States[0].Input)
	}
	switch takes = takes && s.Sequential; {
	case !takes && o.turns > 0:
		return fmt.Errorf("%s=%d: only networks of a form in which orders follow one another give whole turns; %s has the form %s", optionTurns, o.turns, o.model.file.Name, s.Form)
	case o.turns >= 0:
	case takes:
		o.turns = defaultTurns
	default:
		o.turns = 0
	}
	if o.trust < 0 {
		o.trust = defaultTrust
	}
	if fit.Value == "" && o.trust > 0 {
		return fmt.Errorf("%s has no output for the value, which a search with %s=%v needs", o.model.file.Name, optionTrust, o.trust)
	}
	if !weighs(s) && o.turns == 0 && o.trust == 0 {
		return fmt.Errorf("%s=0: a network cannot weigh the moves of %s, which consist of several choices", optionTrust, s.Info.Name)
	}
	return nil
}

// clear empties the batch.
func (j *judge[S, M]) clear() {
	j.batch, j.rows = j.batch[:0], j.rows[:0]
	if j.turns != nil {
		j.turns.clear()
	}
}

// add adds a leaf of tree i, in which that seat searches, to the batch.
func (j *judge[S, M]) add(leaf *search.Leaf[S, M], i int, seat sim.Player) {
	if leaf.Expansion && j.turns != nil {
		j.turns.add(leaf, i, seat)
		return
	}
	j.Put(len(j.batch), leaf.State)
	j.batch, j.rows = append(j.batch, leaf), append(j.rows, i)
}

// next returns the next leaf of a tree for the network to evaluate, nil at the end of the
// search. If the network's values count, it evaluates all leaves, else only the few nodes that
// are expanded, or only the root if it draws turns. The value of the leaf is the game's own
// evaluation.
func (j *judge[S, M]) next(t *search.Tree[S, M]) *search.Leaf[S, M] {
	for leaf := t.Next(); leaf != nil; leaf = t.Next() {
		if leaf.Expansion {
			if j.priors || j.turns != nil && leaf.Depth == 0 {
				return leaf
			}
			continue
		}
		if j.trust < 1 {
			leaf.Value = j.game.Evaluate(leaf.State, leaf.Random)
		}
		if j.trust > 0 {
			if j.priors {
				t.Expand()
			}
			return leaf
		}
	}
	return nil
}

// run evaluates the leaves of the batch.
func (j *judge[S, M]) run() {
	if j.turns != nil {
		j.turns.run(&j.counts)
	}
	j.Run(len(j.batch))
	for i, leaf := range j.batch {
		c := j.Network(i)
		if j.priors {
			for p, choices := range leaf.Choices {
				if !j.weigh(i, leaf.State, sim.Player(p), choices) && c.NotFinite < c.Evaluations {
					c.NotFinite++
				}
			}
		}
		j.counts[j.rows[i]].Add(c)
		switch {
		case leaf.Expansion:
		case j.trust == 1:
			leaf.Value = j.Value(i)
		default:
			leaf.Value = float64((1-j.trust)*leaf.Value) + float64(j.trust*j.Value(i))
		}
	}
}

// ownShare is the weight of the game's own priors: so the search also tries moves to which the
// network gives a small prior.
const ownShare = 0.2

// weigh mixes the network's priors into the priors of seat p's moves. It returns false, and
// leaves the priors, if a logit is NaN or infinite.
func (j *judge[S, M]) weigh(i int, s *S, p sim.Player, choices []search.Choice[M]) bool {
	if len(choices) < 2 {
		return true
	}
	j.orders, j.ends = j.orders[:0], j.ends[:0]
	own := 0.0
	for _, c := range choices {
		j.orders = j.game.AppendOrders(j.orders, s, p, c.Move)
		j.ends = append(j.ends, int32(len(j.orders)))
		own += c.Prior
	}
	j.scores = j.Score(j.scores[:0], i, s, p, j.orders, j.ends)
	all := 0.0
	for _, x := range j.scores {
		all += x
	}
	if !(all > 0 && own > 0) {
		return all == all // 0 if no choice encodes any of the moves; else NaN
	}
	for k := range choices {
		choices[k].Prior = float64(ownShare*(choices[k].Prior/own)) + float64((1-ownShare)*(j.scores[k]/all))
	}
	return true
}
