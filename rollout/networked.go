package rollout

import "moonfarm/env"

// NetworkCounts count the evaluations of a network and the faults in its outputs.
type NetworkCounts struct {
	Evaluations uint64 `json:"evaluations"` // of the observation of a row, or of a seat in a state that a search reached
	// NotFinite are the evaluations in which a logit or value that was used is NaN or +∞, or
	// −∞ as the value or as the logit of every legal choice.
	NotFinite uint64 `json:"not_finite"`
	Choices   uint64 `json:"choices"` // of heads with a mask that has a legal choice; none by searches
	// Illegal are the choices in which an illegal choice has the largest logit: the mask
	// alone kept the network from it. In a network that was trained with the mask it is no fault.
	Illegal uint64 `json:"illegal"`
}

// Add adds the counts of o.
func (c *NetworkCounts) Add(o NetworkCounts) {
	c.Evaluations += o.Evaluations
	c.NotFinite += o.NotFinite
	c.Choices += o.Choices
	c.Illegal += o.Illegal
}

// Networked is a Policy that asks a network.
type Networked interface {
	Policy
	// Network returns the counts of the latest Act for a row. The batch must be as that Act
	// left it.
	Network(b *env.Batch, row int32) NetworkCounts
}

// findNetworked looks for seats whose policies ask a network.
func (t *Table) findNetworked() {
	for p, policy := range t.seats {
		if n, ok := policy.(Networked); ok {
			if t.networked == nil {
				t.networked = make([]Networked, t.players)
			}
			t.networked[p] = n
		}
	}
}

// countNetwork adds the counts of seat p's network for its rows in the latest Act.
func (t *Table) countNetwork(p int, rows []int32) {
	if t.networked == nil || t.networked[p] == nil {
		return
	}
	for _, row := range rows {
		t.games[int(row)/t.players].Networks[p].Add(t.networked[p].Network(t.batch, row))
	}
}

// noNetworks is the list of counts at the start of an episode, in memory used before.
func (t *Table) noNetworks(used []NetworkCounts) []NetworkCounts {
	used = used[:0]
	if t.networked != nil {
		for range t.players {
			used = append(used, NetworkCounts{})
		}
	}
	return used
}
