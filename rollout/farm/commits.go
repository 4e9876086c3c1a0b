package farm

// commits are the committed shards of a run: a bit for each, and totals.
type commits struct {
	shards              int // of the run
	bits                []uint64
	made                int
	played, rows, bytes uint64
}

func newCommits(shards int) commits {
	return commits{shards: shards, bits: make([]uint64, (shards+63)/64)}
}

// has reports whether a shard is committed.
func (c *commits) has(shard int) bool { return c.bits[shard/64]>>(shard%64)&1 != 0 }

// whole reports whether all shards are committed.
func (c *commits) whole() bool { return c.made == c.shards }

// add counts a commit, and reports false if the shard is committed already.
func (c *commits) add(shard int, r *Receipt) bool {
	if c.has(shard) {
		return false
	}
	c.bits[shard/64] |= 1 << (shard % 64)
	c.made++
	c.played += r.Episodes
	c.rows += r.Rows
	c.bytes += r.Bytes
	return true
}

// revert undoes add, and reports false if the shard is not committed.
func (c *commits) revert(shard int, r *Receipt) bool {
	if !c.has(shard) {
		return false
	}
	c.bits[shard/64] &^= 1 << (shard % 64)
	c.made--
	c.played -= r.Episodes
	c.rows -= r.Rows
	c.bytes -= r.Bytes
	return true
}
