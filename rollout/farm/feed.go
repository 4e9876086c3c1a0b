package farm

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// errQueued is the code of JetStream's error for a second message of a
// subject that may have one.
const errQueued = 10077

// consume makes the run's consumer anew: what another coordinator had in hand
// is delivered again. It has the lock.
func (c *coordinator) consume(r *run) error {
	if err := c.st.work.DeleteConsumer(c.ctx, r.id); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	var err error
	r.consumer, err = c.st.work.CreateConsumer(c.ctx, jetstream.ConsumerConfig{
		Durable: r.id, FilterSubject: workSubject + r.id + ".*", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 2 * c.o.Lapse, MaxAckPending: -1, MaxDeliver: -1,
	})
	if err != nil {
		return err
	}
	r.pending = int(r.consumer.CachedInfo().NumPending)
	r.queued = r.pending
	return nil
}

func (c *coordinator) consumer(r *run) jetstream.Consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.consumer
}

// window is how many messages of a run the queue should have.
func (c *coordinator) window() int {
	slots := 0
	for _, w := range c.workers {
		if time.Since(w.Beat) < c.o.Lapse {
			slots += w.Slots
		}
	}
	return max(256, min(4*slots, 16384))
}

// feeding keeps the queue of a run filled.
func (c *coordinator) feeding(r *run) {
	b, counted := newBackoff(), time.Now()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		if time.Since(counted) > 5*time.Second {
			counted = time.Now()
			c.count(r)
		}
		list := c.unfed(r)
		if err := c.publish(r, list); err != nil && r.ctx.Err() == nil {
			c.book.fail(r.id, "", "the queue takes no work: "+err.Error())
			b.pause(r.ctx)
		} else {
			b = newBackoff()
		}
		if len(list) > 0 && r.ctx.Err() == nil {
			continue
		}
		select {
		case <-r.feed:
		case <-t.C:
		case <-r.ctx.Done():
			return
		}
	}
}

// unfed takes shards to feed: those of which a record was taken back, then
// the next ones. It waits until there is room for a good few.
func (c *coordinator) unfed(r *run) (list []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	window := c.window()
	if r.State != Running || r.queued > window*3/4 || c.o.Server.trouble() != "" {
		return nil
	}
	room := min(window-r.queued, 512)
	for len(list) < room && len(r.redo) > 0 {
		list = append(list, r.redo[0])
		r.redo = r.redo[1:]
	}
	for ; len(list) < room && r.next < r.Spec.Shards; r.next++ {
		if !r.has(r.next) {
			list = append(list, r.next)
		}
	}
	return list
}

// publish puts shards into the queue. Those that are there are left.
func (c *coordinator) publish(r *run, list []int) error {
	futures := make([]jetstream.PubAckFuture, len(list))
	var first error
	for i, shard := range list {
		f, err := c.st.js.PublishAsync(workSubject+r.id+"."+strconv.Itoa(shard), nil)
		if err != nil {
			first = err
			break
		}
		futures[i] = f
	}
	limit := time.After(10 * time.Second)
	fed := 0
	var lost []int
	for i, f := range futures {
		err := first
		if f != nil {
			select {
			case <-f.Ok():
				fed++
				continue
			case err = <-f.Err():
			case <-limit:
				err = errors.New("no answer in 10s")
			case <-r.ctx.Done():
				return nil
			}
		}
		var api *jetstream.APIError
		if errors.As(err, &api) && api.ErrorCode == errQueued {
			continue
		}
		first = err
		lost = append(lost, list[i])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.queued += fed
	r.pending += fed
	r.redo = append(r.redo, lost...)
	r.wake(r.fetch)
	return first
}

// count compares with the queue itself: what was lost there is fed again.
func (c *coordinator) count(r *run) {
	consumer := c.consumer(r)
	info, err := consumer.Info(r.ctx)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		c.mu.Lock()
		err = c.consume(r)
		c.mu.Unlock()
	}
	if err != nil {
		if r.ctx.Err() == nil {
			c.book.fail(r.id, "", "the queue cannot be read: "+err.Error())
		}
		return
	}
	if info == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	with := 0
	for _, at := range r.held {
		if at.msg != nil {
			with++
		}
	}
	r.queued = int(info.NumPending) + info.NumAckPending
	r.pending = max(0, r.queued-with)
	if r.pending > 0 {
		r.wake(r.fetch)
	}
	if r.queued == 0 && r.next >= r.Spec.Shards && len(r.redo) == 0 && r.made < r.Spec.Shards {
		r.next = 0 // what was queued is gone
	}
}

// fetching takes messages from the queue for those who wait. One failure is not told:
// a queue that has just been opened again may need a moment.
func (c *coordinator) fetching(r *run) {
	b, failed := newBackoff(), false
	for r.ctx.Err() == nil {
		k := c.reserve(r)
		if k == 0 {
			select {
			case <-r.fetch:
			case <-r.ctx.Done():
			}
			continue
		}
		batch, err := c.consumer(r).Fetch(k, jetstream.FetchMaxWait(time.Second))
		got := 0
		if err == nil {
			for m := range batch.Messages() {
				got++
				c.deliver(r, m)
			}
			err = batch.Error()
		}
		c.mu.Lock()
		c.reserved -= k - got
		c.mu.Unlock()
		if err != nil && r.ctx.Err() == nil {
			if failed {
				c.book.fail(r.id, "", "the queue gives no work: "+err.Error())
			}
			failed = true
			b.pause(r.ctx)
		} else {
			b, failed = newBackoff(), false
		}
		if got == 0 && r.ctx.Err() == nil {
			c.count(r)
		}
	}
}

// reserve says for how many of those who wait there are messages.
func (c *coordinator) reserve(r *run) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := 0
	for _, t := range c.waiting {
		if c.takes(t.w, r) {
			wait++
		}
	}
	k := min(wait-c.reserved, r.pending, 256)
	if r.State != Running || k <= 0 {
		return 0
	}
	c.reserved += k
	return k
}

// deliver gives a message to the first who waits and may have it.
func (c *coordinator) deliver(r *run, m jetstream.Msg) {
	shard, err := strconv.Atoi(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved--
	r.pending = max(0, r.pending-1)
	switch {
	case r.State != Running:
		return
	case err != nil || shard < 0 || shard >= r.Spec.Shards || r.has(shard):
		_ = m.Ack() // else it comes again
		r.queued--
		r.wake(r.feed)
		return
	}
	if at := r.held[shard]; at != nil { // it came twice, or was made known by its holder
		at.msg = m
		return
	}
	for i, t := range c.waiting {
		if !c.takes(t.w, r) {
			continue
		}
		c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
		t.w.waiters--
		h, a := c.grant(t.w, claim{Run: r.id, Shard: shard})
		r.held[shard] = &hold{m, []*holder{h}}
		c.reply(t.m, a)
		return
	}
	_ = m.Nak()
	r.pending++
}
