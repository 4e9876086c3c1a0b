package farm

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// feeder moves the shards of a run through the work queue: one goroutine publishes them,
// another fetches messages for the claims that wait. tracker.Queue has the decisions.
type feeder struct {
	*term
	r *run

	mu       sync.Mutex // guards consumer
	consumer jetstream.Consumer
}

// errQueued is the code of JetStream's error for a second message of a
// subject that may have one.
const errQueued = 10077

// window returns the number of messages of a run that the stream should have for the given number
// of slots.
func window(slots int) int { return max(256, min(4*slots, 16384)) }

// feeding keeps the stream filled until the run ends.
func (f *feeder) feeding() {
	b, counted := newBackoff(), time.Now()
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		if time.Since(counted) > 5*time.Second {
			counted = time.Now()
			f.count()
		}
		list := f.take()
		if err := f.publish(list); err != nil && f.r.ctx.Err() == nil {
			f.events.fail(f.r.id, "", "shards cannot be published to the queue: "+err.Error())
			b.pause(f.r.ctx)
		} else {
			b = newBackoff()
		}
		if len(list) > 0 && f.r.ctx.Err() == nil {
			continue
		}
		select {
		case <-f.r.queue.Feed:
		case <-t.C:
		case <-f.r.ctx.Done():
			return
		}
	}
}

// take returns the shards to publish now.
func (f *feeder) take() (list []int) {
	if f.o.Server.trouble() != "" {
		return nil
	}
	f.do(func(s *state) {
		if f.r.running() {
			list = f.r.queue.Take(window(s.workers.slots(time.Now().Add(-s.lapse))), f.r.commits.Has)
		}
	})
	return list
}

// publish puts shards into the stream, which ignores the ones that it has.
func (f *feeder) publish(list []int) error {
	futures := make([]jetstream.PubAckFuture, len(list))
	var first error
	for i, shard := range list {
		p, err := f.st.js.PublishAsync(workSubject+f.r.id+"."+strconv.Itoa(shard), nil)
		if err != nil {
			first = err
			break
		}
		futures[i] = p
	}
	limit := time.After(10 * time.Second)
	accepted := 0
	var failed []int
	for i, p := range futures {
		err := first
		if p != nil {
			select {
			case <-p.Ok():
				accepted++
				continue
			case err = <-p.Err():
			case <-limit:
				err = errors.New("no answer in 10s")
			case <-f.r.ctx.Done():
				return nil
			}
		}
		var api *jetstream.APIError
		if errors.As(err, &api) && api.ErrorCode == errQueued {
			continue
		}
		first = err
		failed = append(failed, list[i])
	}
	f.do(func(*state) { f.r.queue.Accepted(accepted, failed) })
	return first
}

// count replaces the queue's counts by the stream's, and recreates a lost consumer.
func (f *feeder) count() {
	info, err := f.info()
	if err != nil && f.r.ctx.Err() == nil {
		f.events.fail(f.r.id, "", "the queue cannot be read: "+err.Error())
	}
	if err != nil || info == nil {
		return
	}
	f.do(func(*state) {
		if f.r.begun {
			f.r.queue.Recount(int(info.NumPending), info.NumAckPending, f.r.commits.Whole())
		}
	})
}

// info asks the consumer for its counts. If the consumer is gone, info recreates it, resets
// the queue's counts, and returns nil.
func (f *feeder) info() (*jetstream.ConsumerInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := f.consumer.Info(f.r.ctx)
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return info, err
	}
	c, err := newConsumer(f.r.ctx, f.st, f.r.id, 2*f.o.Lapse)
	if err != nil {
		return nil, err
	}
	f.consumer = c
	f.do(func(*state) { f.r.queue.Reset(int(c.CachedInfo().NumPending)) })
	return nil, nil
}

// current returns the consumer.
func (f *feeder) current() jetstream.Consumer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.consumer
}

// fetching fetches messages for the waiting claims until the run ends. It does not log a single
// failure, since a reopened store may need a moment.
func (f *feeder) fetching() {
	b, failed := newBackoff(), false
	for f.r.ctx.Err() == nil {
		n := f.reserve()
		if n == 0 {
			select {
			case <-f.r.queue.Fetch:
			case <-f.r.ctx.Done():
			}
			continue
		}
		got, err := f.fetch(n)
		f.do(func(s *state) { s.waiting.reserved -= n - got })
		if err != nil && f.r.ctx.Err() == nil {
			if failed {
				f.events.fail(f.r.id, "", "shards cannot be fetched from the queue: "+err.Error())
			}
			failed = true
			b.pause(f.r.ctx)
		} else {
			b, failed = newBackoff(), false
		}
		if got == 0 && f.r.ctx.Err() == nil {
			f.count()
		}
	}
}

// maxFetch is how many messages are fetched at once.
const maxFetch = 256

// reserve returns how many messages to fetch: one for each waiting claim that no other fetch
// serves, as far as the queue has messages.
func (f *feeder) reserve() (n int) {
	f.do(func(s *state) {
		if f.r.running() {
			now := time.Now()
			n = s.waiting.reserve(min(f.r.queue.Unassigned, maxFetch), func(w *worker) bool { return w.takes(f.r.id, now) })
		}
	})
	return n
}

// fetch delivers at most n messages, and returns how many came.
func (f *feeder) fetch(n int) (got int, err error) {
	batch, err := f.current().Fetch(n, jetstream.FetchMaxWait(time.Second))
	if err != nil {
		return 0, err
	}
	for m := range batch.Messages() {
		got++
		shard, err := strconv.Atoi(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
		if err != nil {
			shard = -1
		}
		f.do(func(s *state) { s.deliver(f.r, shard, m, time.Now()) })
	}
	return got, batch.Error()
}
