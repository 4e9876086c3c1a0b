// Package tracker keeps track of the shards of a farm: in the queue, leased to a worker,
// committed, or to be audited. Its structs are plain: they use no lock, no clock and no
// network, and the caller passes the time. Package farm changes them in steps, one at a time,
// and talks to workers and to the store.
//
//	Queue       the shards to publish, and the messages of the published ones
//	Leases      which worker has which shard, to make or to audit
//	Stragglers  the leases that last longer than usual
//	Commits     the committed shards, a bit for each
//	Sampler     the draw of the shards to audit
//	Audits      the pending audits and disputes
package tracker
