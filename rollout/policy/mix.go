package policy

import (
	"context"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/prng"
)

// mix draws one of its members for each row, in every turn, by a separate random stream
// from the row's seed.
type mix struct {
	name    string
	members []rollout.Policy
	wants   env.Want
	limits  []uint64  // the first member whose limit is above the draw plays
	depth   uint64    // mixtures that contain this one; nested ones draw independently
	firsts  []uint8   // index of the first of each member's own members
	lists   [][]int32 // scratch: rows of each member
}

// drawBits is the number of random bits of a draw.
const drawBits = 53

// limits returns cumulative bounds for a draw of drawBits bits from weights; the last bound is
// above every draw.
func limits(weights []float64) []uint64 {
	largest, sum := 0.0, 0.0
	for _, w := range weights {
		largest = max(largest, w)
	}
	// Divided by the largest, the sum cannot overflow.
	for _, w := range weights {
		sum += w / largest
	}
	at, l := 0.0, make([]uint64, len(weights))
	for i, w := range weights {
		at += w / largest
		l[i] = uint64(float64(at / sum * (1 << drawBits)))
	}
	l[len(l)-1] = 1 << drawBits
	return l
}

func (m *mix) Name() string { return m.name }

func (m *mix) Wants() env.Want { return m.wants | env.WantRowSeed }

func (m *mix) Act(v env.Vector, b *env.Batch, rows []int32) {
	b.Need(env.WantRowSeed, m.name)
	for i := range m.lists {
		m.lists[i] = m.lists[i][:0]
	}
	for _, row := range rows {
		i := m.draw(b.RowSeed[row])
		m.lists[i] = append(m.lists[i], row)
	}
	for i, p := range m.members {
		if len(m.lists[i]) > 0 {
			p.Act(v, b, m.lists[i])
		}
	}
}

// draw returns the index of the member that plays a row of that seed.
func (m *mix) draw(seed uint64) int {
	draw := prng.StreamSeed(seed, m.depth, 0, 0, prng.PurposeMixture) >> (64 - drawBits)
	i := 0
	for draw >= m.limits[i] {
		i++
	}
	return i
}

// Until implements rollout.Interruptible.
func (m *mix) Until(ctx context.Context) { rollout.Until(ctx, m.members...) }

// Members implements rollout.Mixture. It returns the members that are not mixtures, from left
// to right, and in the place of a nested mixture its members.
func (m *mix) Members() (all []string) {
	for _, p := range m.members {
		if c, ok := p.(rollout.Mixture); ok {
			all = append(all, c.Members()...)
		} else {
			all = append(all, p.Name())
		}
	}
	return all
}

// Chosen implements rollout.Mixture.
func (m *mix) Chosen(b *env.Batch, row int32) uint8 {
	i := m.draw(b.RowSeed[row])
	if c, ok := m.members[i].(rollout.Mixture); ok {
		return m.firsts[i] + c.Chosen(b, row)
	}
	return m.firsts[i]
}

// Files implements rollout.WithFiles: the files of the members.
func (m *mix) Files() (all []rollout.File) {
	for _, p := range m.members {
		if l, ok := p.(rollout.WithFiles); ok {
			all = append(all, l.Files()...)
		}
	}
	return all
}

// searchMix is a mix with members that search.
type searchMix struct{ *mix }

// SearchResult implements rollout.Searcher. It returns the result of the member that played
// the row, nil if that member does not search.
func (m searchMix) SearchResult(row int32) *rollout.SearchResult {
	for i, p := range m.members {
		if s, ok := p.(rollout.Searcher); ok && slices.Contains(m.lists[i], row) {
			return s.SearchResult(row)
		}
	}
	return nil
}

// Close closes the members that can be closed.
func (m *mix) Close() error { return rollout.CloseSeats(m.members...) }

// networkMix is a mix with members that evaluate a network, searchNetworkMix a mix with such
// members and members that search.
type (
	networkMix       struct{ *mix }
	searchNetworkMix struct{ searchMix }
)

// network returns the counts of the network of the member that played the row.
func (m *mix) network(b *env.Batch, row int32) rollout.NetworkCounts {
	if n, ok := m.members[m.draw(b.RowSeed[row])].(rollout.Networked); ok {
		return n.Network(b, row)
	}
	return rollout.NetworkCounts{}
}

// Network implements rollout.Networked.
func (n networkMix) Network(b *env.Batch, row int32) rollout.NetworkCounts { return n.network(b, row) }

// Network implements rollout.Networked.
func (s searchNetworkMix) Network(b *env.Batch, row int32) rollout.NetworkCounts {
	return s.network(b, row)
}

// asPolicy returns the mix as a policy that implements rollout.Searcher and rollout.Networked if
// any member does.
func (m *mix) asPolicy() rollout.Policy {
	searches, networks := false, false
	for _, p := range m.members {
		_, s := p.(rollout.Searcher)
		_, n := p.(rollout.Networked)
		searches, networks = searches || s, networks || n
	}
	switch {
	case searches && networks:
		return searchNetworkMix{searchMix{m}}
	case searches:
		return searchMix{m}
	case networks:
		return networkMix{m}
	}
	return m
}
