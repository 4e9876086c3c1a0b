package tracker

import "slices"

// Queue hands out the shards of a run. Every shard that is neither committed nor leased is in
// it: among the new ones, or because it was returned.
type Queue struct {
	shards   int   // of the run
	next     int   // this shard and all later ones have not been handed out
	returned []int // shards to hand out again; may contain finished ones
}

// NewQueue returns the queue of a run whose shards have not been handed out.
func NewQueue(shards int) Queue { return Queue{shards: shards} }

// Next removes a shard that is not taken, which means committed or leased: first a returned one,
// then a new one. It reports false if there is none.
func (q *Queue) Next(taken func(shard int) bool) (int, bool) {
	for len(q.returned) > 0 {
		shard := q.returned[0]
		q.returned = q.returned[1:]
		if !taken(shard) {
			return shard, true
		}
	}
	for q.next < q.shards {
		q.next++
		if !taken(q.next - 1) {
			return q.next - 1, true
		}
	}
	return 0, false
}

// Return puts a shard back that has lost its last lease or its commit, unless the queue has it.
func (q *Queue) Return(shard int) {
	if shard < q.next && !slices.Contains(q.returned, shard) {
		q.returned = append(q.returned, shard)
	}
}

// Restart looks at every shard again.
func (q *Queue) Restart() { q.next = 0 }

// Drained reports whether every remaining shard is leased to a worker.
func (q *Queue) Drained() bool { return q.next >= q.shards && len(q.returned) == 0 }
