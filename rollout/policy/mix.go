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
	weights rollout.Weights  // of the members
	depth   uint64           // mixtures that contain this one; nested ones draw independently
	all     []rollout.Policy // see Members
	firsts  []uint8          // index in all of the first of each member's own members
	lists   [][]int32        // scratch: rows of each member

	recurrent []int // the members that also act in rows that others play (rollout.Follow)
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
	for _, i := range m.recurrent {
		for other, others := range m.lists {
			if other != i {
				rollout.Follow(m.members[i], v, b, others)
			}
		}
	}
	for i, p := range m.members {
		if len(m.lists[i]) > 0 {
			p.Act(v, b, m.lists[i])
		}
	}
}

// draw returns the index of the member that plays a row of that seed.
func (m *mix) draw(seed uint64) int {
	return m.weights.Draw(prng.StreamSeed(seed, m.depth, 0, 0, prng.PurposeMixture))
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
