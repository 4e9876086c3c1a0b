package tracker

// Queue decides which shards of a run are published to the work queue, a stream of
// JetStream, and counts where the published ones are:
//
//	next, retries ──publish──▶ unassigned ──fetch──▶ assigned ──commit──▶ acknowledged
//	                               ▲                     │
//	                               └──── lease ends ─────┘
type Queue struct {
	shards     int             // of the run
	next       int             // this shard and all later ones have not been published
	Retries    []int           // shards to publish again
	Published  int             // messages in the stream that are not acknowledged
	Unassigned int             // published messages that no worker has
	Assigned   map[int]Message // messages of leased shards
	Feed       Wakeup          // the stream may have room
	Fetch      Wakeup          // a waiting worker may get a message
}

// Message is a delivered message of the stream. Errors of its methods do not matter: the
// stream redelivers a message that is neither acknowledged nor extended.
type Message interface {
	Ack() error
	Nak() error
	InProgress() error
}

// Wakeup wakes a goroutine. Several wakeups before it runs count as one.
type Wakeup chan struct{}

func newWakeup() Wakeup { return make(Wakeup, 1) }

// Set wakes the goroutine, or makes it skip its next sleep.
func (w Wakeup) Set() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// NewQueue returns the queue of a run whose shards are not published.
func NewQueue(shards int) Queue {
	return Queue{shards: shards, Assigned: map[int]Message{}, Feed: newWakeup(), Fetch: newWakeup()}
}

// maxPublish is the largest number of shards that are published at once.
const maxPublish = 512

// Take removes the shards to publish next: first the retries, then new ones. The stream should have
// window messages; Take returns nothing until at least a quarter of them are gone.
func (q *Queue) Take(window int, committed func(shard int) bool) []int {
	if q.Published > window*3/4 {
		return nil
	}
	room := min(window-q.Published, maxPublish)
	n := min(room, len(q.Retries))
	list := append([]int(nil), q.Retries[:n]...)
	q.Retries = q.Retries[n:]
	for ; len(list) < room && q.next < q.shards; q.next++ {
		if !committed(q.next) {
			list = append(list, q.next)
		}
	}
	return list
}

// Accepted counts n shards that the stream has taken; failed ones are published again.
func (q *Queue) Accepted(n int, failed []int) {
	q.Published += n
	q.Unassigned += n
	q.Retries = append(q.Retries, failed...)
	q.Fetch.Set()
}

// Fetched counts a message that the stream has delivered.
func (q *Queue) Fetched() { q.Unassigned = max(0, q.Unassigned-1) }

// Discard acknowledges a delivered message that is not needed.
func (q *Queue) Discard(m Message) {
	_ = m.Ack()
	q.Published--
	q.Feed.Set()
}

// Assign keeps the message of a leased shard.
func (q *Queue) Assign(shard int, m Message) { q.Assigned[shard] = m }

// Extend keeps the stream from redelivering the message of a leased shard.
func (q *Queue) Extend(shard int) {
	if m := q.Assigned[shard]; m != nil {
		_ = m.InProgress()
	}
}

// GiveBack returns the message of a shard that has lost its last lease to the stream.
func (q *Queue) GiveBack(shard int) {
	if m := q.Assigned[shard]; m != nil {
		delete(q.Assigned, shard)
		q.Refuse(m)
		q.Fetch.Set()
	}
}

// Refuse returns a delivered message to the stream.
func (q *Queue) Refuse(m Message) {
	_ = m.Nak()
	q.Unassigned++
}

// Settle acknowledges the message of a committed shard.
func (q *Queue) Settle(shard int) {
	if m := q.Assigned[shard]; m != nil {
		delete(q.Assigned, shard)
		q.Discard(m)
	}
}

// Retry publishes a shard again.
func (q *Queue) Retry(shard int) {
	q.Retries = append(q.Retries, shard)
	q.Feed.Set()
}

// Restart publishes every uncommitted shard again; the stream refuses the ones that it still
// has.
func (q *Queue) Restart() {
	q.next = 0
	q.Feed.Set()
}

// Reset takes the count of a new consumer, which has not delivered any message.
func (q *Queue) Reset(messages int) { q.Published, q.Unassigned = messages, messages }

// Recount sets the stream's own counts. If the stream is empty although shards are missing, it has
// lost messages, and Recount publishes these shards again.
func (q *Queue) Recount(undelivered, delivered int, complete bool) {
	q.Published = undelivered + delivered
	q.Unassigned = max(0, q.Published-len(q.Assigned))
	if q.Unassigned > 0 {
		q.Fetch.Set()
	}
	if q.Published == 0 && q.next >= q.shards && len(q.Retries) == 0 && !complete {
		q.next = 0
	}
}

// Drained reports whether every remaining shard is leased to a worker.
func (q *Queue) Drained() bool {
	return q.next >= q.shards && q.Unassigned == 0 && len(q.Retries) == 0
}
