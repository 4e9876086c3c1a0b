package farm

// queue decides which shards of a run are published to the work queue, a stream of
// JetStream, and counts where the published ones are:
//
//	next, retries ──publish──▶ unassigned ──fetch──▶ assigned ──commit──▶ acknowledged
//	                               ▲                     │
//	                               └──── lease ends ─────┘
type queue struct {
	shards     int             // of the run
	next       int             // shards from here on have not been published
	retries    []int           // shards to publish again
	published  int             // messages in the stream that are not acknowledged
	unassigned int             // published messages that no worker has
	assigned   map[int]message // messages of leased shards
	feed       wakeup          // the stream may have room
	fetch      wakeup          // a waiting worker may get a message
}

// message is a delivered message of the stream. Its errors do not matter: the stream
// delivers a message again that is neither acknowledged nor extended.
type message interface {
	Ack() error
	Nak() error
	InProgress() error
}

// wakeup wakes a goroutine. Several wakeups before it wakes are one.
type wakeup chan struct{}

func newWakeup() wakeup { return make(wakeup, 1) }

func (s wakeup) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func newQueue(shards int) queue {
	return queue{shards: shards, assigned: map[int]message{}, feed: newWakeup(), fetch: newWakeup()}
}

// maxPublish is the largest number of shards that are published at once.
const maxPublish = 512

// take removes the shards to publish next: first the retries, then new ones. The stream
// should have window messages; take returns nothing until a quarter of them are gone.
func (q *queue) take(window int, committed func(shard int) bool) []int {
	if q.published > window*3/4 {
		return nil
	}
	room := min(window-q.published, maxPublish)
	n := min(room, len(q.retries))
	list := append([]int(nil), q.retries[:n]...)
	q.retries = q.retries[n:]
	for ; len(list) < room && q.next < q.shards; q.next++ {
		if !committed(q.next) {
			list = append(list, q.next)
		}
	}
	return list
}

// accepted counts n shards that the stream has taken; failed ones are published again.
func (q *queue) accepted(n int, failed []int) {
	q.published += n
	q.unassigned += n
	q.retries = append(q.retries, failed...)
	q.fetch.set()
}

// fetched counts a message that the stream has delivered.
func (q *queue) fetched() { q.unassigned = max(0, q.unassigned-1) }

// discard acknowledges a delivered message that is not needed.
func (q *queue) discard(m message) {
	_ = m.Ack()
	q.published--
	q.feed.set()
}

// assign keeps the message of a leased shard.
func (q *queue) assign(shard int, m message) { q.assigned[shard] = m }

// extend keeps the stream from delivering the message of a leased shard again.
func (q *queue) extend(shard int) {
	if m := q.assigned[shard]; m != nil {
		_ = m.InProgress()
	}
}

// giveBack returns the message of a shard that has lost its last lease to the stream.
func (q *queue) giveBack(shard int) {
	if m := q.assigned[shard]; m != nil {
		delete(q.assigned, shard)
		q.refuse(m)
		q.fetch.set()
	}
}

// refuse returns a delivered message to the stream.
func (q *queue) refuse(m message) {
	_ = m.Nak()
	q.unassigned++
}

// settle acknowledges the message of a committed shard.
func (q *queue) settle(shard int) {
	if m := q.assigned[shard]; m != nil {
		delete(q.assigned, shard)
		q.discard(m)
	}
}

// retry publishes a shard again.
func (q *queue) retry(shard int) {
	q.retries = append(q.retries, shard)
	q.feed.set()
}

// restart publishes every shard again that is not committed; the stream refuses
// the ones that it still has.
func (q *queue) restart() {
	q.next = 0
	q.feed.set()
}

// reset takes the count of a new consumer, to which all messages are undelivered.
func (q *queue) reset(messages int) { q.published, q.unassigned = messages, messages }

// recount takes the stream's own counts. If it is empty although shards are missing, the
// stream has lost messages: they are published again.
func (q *queue) recount(undelivered, delivered int, complete bool) {
	q.published = undelivered + delivered
	q.unassigned = max(0, q.published-len(q.assigned))
	if q.unassigned > 0 {
		q.fetch.set()
	}
	if q.published == 0 && q.next >= q.shards && len(q.retries) == 0 && !complete {
		q.next = 0
	}
}

// drained reports that every shard left is with a worker.
func (q *queue) drained() bool {
	return q.next >= q.shards && q.unassigned == 0 && len(q.retries) == 0
}
