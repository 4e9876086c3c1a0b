package rollout

import "moonfarm/env"

// NetworkCounts count the evaluations of a network and the faults in its outputs.
type NetworkCounts struct {
	Evaluations uint64 `json:"evaluations"` // of a row's observation, or of a seat's in a state that a search reached
	// NotFinite counts the evaluations in which a logit or value that was used is NaN or +∞,
	// the value is −∞, or the logits of all legal choices are −∞.
	NotFinite uint64 `json:"not_finite"`
	Choices   uint64 `json:"choices"` // of heads with a mask and a legal choice; searches count 0
	// Illegal counts the choices in which an illegal choice has the largest logit, so that
	// only the mask prevented it. For a network that was trained with the mask this is no fault.
	Illegal uint64 `json:"illegal"`
}

// Add adds the counts of o.
func (n *NetworkCounts) Add(o NetworkCounts) {
	n.Evaluations += o.Evaluations
	n.NotFinite += o.NotFinite
	n.Choices += o.Choices
	n.Illegal += o.Illegal
}

// Networked is a Policy that evaluates a network.
type Networked interface {
	Policy
	// Network returns the counts of the latest Act for a row. The batch must be as that Act
	// left it.
	Network(b *env.Batch, row int32) NetworkCounts
}

// CountsOf returns the counts of a policy's latest Act for a row; zero if the policy, or the member
// that chose, has no network. The batch must be as that Act left it.
func CountsOf(p Policy, b *env.Batch, row int32) NetworkCounts {
	if n, ok := chooser(p, b, row).(Networked); ok {
		return n.Network(b, row)
	}
	return NetworkCounts{}
}

// countNetwork adds the counts of seat p's network for its rows in the latest Act.
func (g *Games) countNetwork(p int, rows []int32) {
	for _, row := range rows {
		g.playing[int(row)/g.players].Networks[p].Add(CountsOf(g.seats[p], g.batch, row))
	}
}

// zeroCounts returns the counts at the start of an episode, in the memory of used.
func (g *Games) zeroCounts(used []NetworkCounts) []NetworkCounts {
	used = used[:0]
	for range g.players {
		if g.networks {
			used = append(used, NetworkCounts{})
		}
	}
	return used
}
