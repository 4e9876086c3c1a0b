package policy

import (
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
	limits  []uint64         // the first member whose limit is above the draw plays
	depth   uint64           // mixtures that contain this one; nested ones draw independently
	all     []rollout.Policy // see Members
	firsts  []uint8          // index in all of the first of each member's own members
	lists   [][]int32        // scratch: rows of each member
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

// Members implements rollout.Mixture. It returns the members that are not mixtures, from left
// to right, and in the place of a nested mixture its members.
func (m *mix) Members() []rollout.Policy { return m.all }

// Chosen implements rollout.Mixture.
func (m *mix) Chosen(b *env.Batch, row int32) uint8 {
	i := m.draw(b.RowSeed[row])
	if c, ok := m.members[i].(rollout.Mixture); ok {
		return m.firsts[i] + c.Chosen(b, row)
	}
	return m.firsts[i]
}
