package tracker

import "moonfarm/rollout/shard"

// Commits are the committed shards of a run: a bit for each, and totals.
type Commits struct {
	Shards              int // of the run
	Bits                []uint64
	Made                int
	Played, Rows, Bytes uint64
}

// NewCommits returns the commits of a run with that number of shards.
func NewCommits(shards int) Commits {
	return Commits{Shards: shards, Bits: make([]uint64, (shards+63)/64)}
}

// Has reports whether a shard is committed.
func (c *Commits) Has(shard int) bool { return c.Bits[shard/64]>>(shard%64)&1 != 0 }

// Whole reports whether all shards are committed.
func (c *Commits) Whole() bool { return c.Made == c.Shards }

// Add counts a commit, and reports false if the shard is committed already.
func (c *Commits) Add(shard int, r *shard.Receipt) bool {
	if c.Has(shard) {
		return false
	}
	c.Bits[shard/64] |= 1 << (shard % 64)
	c.Made++
	c.Played += r.Episodes
	c.Rows += r.Rows
	c.Bytes += r.Bytes
	return true
}

// Revert undoes Add, and reports false if the shard is not committed.
func (c *Commits) Revert(shard int, r *shard.Receipt) bool {
	if !c.Has(shard) {
		return false
	}
	c.Bits[shard/64] &^= 1 << (shard % 64)
	c.Made--
	c.Played -= r.Episodes
	c.Rows -= r.Rows
	c.Bytes -= r.Bytes
	return true
}
