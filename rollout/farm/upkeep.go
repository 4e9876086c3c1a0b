package farm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"moonfarm/rollout/farm/internal/tracker"
)

// upkeep does the periodic work: it ends leases, waives audits, saves the records of
// workers, and recreates lost streams.
type upkeep struct {
	*term
	audits *auditor
}

// load reads the workers, and removes the ones that were silent for a month.
func (u *upkeep) load() error {
	err := each(u.ctx, u.st.workers, ">", func(name string, revision uint64, v *workerRecord) error {
		if time.Since(v.Beat) > 30*24*time.Hour && v.Quarantined == "" {
			return u.st.workers.Purge(u.ctx, name, jetstream.LastRevision(revision))
		}
		u.do(func(s *state) {
			s.expects = s.expects || time.Since(v.Beat) < 10*time.Minute
			s.workers[name] = &worker{workerRecord: *v, name: name, drawn: v.Shards}
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("workers: %w", err)
	}
	return nil
}

// ticks runs until the lease is lost.
func (u *upkeep) ticks() {
	t := time.NewTicker(min(u.o.Lapse/20, 250*time.Millisecond))
	defer t.Stop()
	measured, saved := time.Now(), time.Now()
	for {
		select {
		case <-t.C:
		case <-u.ctx.Done():
			u.do(func(s *state) {
				s.closed = true // the next coordinator gives the shards
				s.waiting.dismiss()
			})
			return
		}
		often := u.tick()
		if time.Since(measured) > 5*time.Second {
			measured = time.Now()
			u.measure(measured)
		}
		if time.Since(saved) > often && u.o.Server.trouble() == "" {
			saved = time.Now()
			u.save(u.ctx, 1000)
		}
	}
}

// tick ends leases and audits, and serves waiting claims. It returns how long changed
// records of workers may stay unsaved.
func (u *upkeep) tick() (often time.Duration) {
	var lapsed []*tracker.Lease
	var list []*run
	u.do(func(s *state) {
		lapsed = s.expire(time.Now())
		for _, r := range s.runs {
			if r.running() {
				list = append(list, r)
			}
		}
	})
	for _, l := range lapsed {
		u.events.warn(l.Run, l.Worker, fmt.Sprintf("not heard of for %v: its shards go to others", u.o.Lapse))
	}
	for _, r := range list {
		u.audits.waive(r)
	}
	u.do(func(s *state) {
		s.serve(time.Now())
		if often = 10 * time.Second; s.urgent {
			often = time.Second
		}
	})
	return often
}

// measure samples the totals of runs and workers for their rates.
func (u *upkeep) measure(now time.Time) {
	u.do(func(s *state) {
		for _, r := range s.runs {
			r.meter.Add(now, uint64(r.commits.Made), r.commits.Rows)
		}
		for _, w := range s.workers {
			w.meter.Add(now, w.Shards, w.Rows)
		}
	})
}

// save writes at most limit changed records of workers. If a record is lost, its worker has
// a shorter history, and more of its shards are audited.
func (u *upkeep) save(ctx context.Context, limit int) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var list []entry
	u.do(func(s *state) {
		s.urgent = false
		list = s.workers.unsaved(limit)
	})
	for i, e := range list {
		if err := u.saveWorker(ctx, e.name, &e.workerRecord); err != nil {
			u.events.fail("", e.name, "the worker's record is not written: "+err.Error())
			u.do(func(s *state) {
				for _, e := range list[i:] {
					s.workers.mark(e.name)
				}
			})
			return
		}
	}
}

// listen adds the lines of the server in this process to the event log. The server has
// logged them already.
func (u *upkeep) listen() {
	for {
		select {
		case text := <-u.o.Server.lines:
			u.events.add(&Failure{Text: line(text), kind: serverKind(text)}, nil)
		case <-u.ctx.Done():
			return
		}
	}
}

// errVanished ends a coordinator's term after the loss of a stream.
var errVanished = errors.New("a stream was missing")

// losses maps streams to the consequences of their loss.
var losses = map[string]string{
	runsStream:    "the runs are written again from the memory of the coordinator",
	shardsStream:  "the records of committed shards are lost, and those shards are made again",
	workersStream: "the histories of workers are written again from the memory of the coordinator",
	leaseStream:   "the lease is taken again",
	eventStream:   "the older entries of the audit log are lost",
}

// keepStreams checks periodically that all streams exist. If one is gone, it recreates the
// stream, writes the records of the state into it, and ends the term: the next term reads the
// store.
func (u *upkeep) keepStreams(stop context.CancelCauseFunc) {
	t := time.NewTicker(u.o.look)
	defer t.Stop()
	gone := 0 // checks in a row: a server that has just started may not know all of its streams
	for {
		select {
		case <-t.C:
		case <-u.ctx.Done():
			return
		}
		list, err := lost(u.ctx, u.st.js)
		if gone++; err != nil || len(list) == 0 || u.o.Server.trouble() != "" {
			gone = 0
		}
		if gone < 2 {
			continue
		}
		if err := u.restore(list); err == nil {
			stop(errVanished)
			return
		} else if u.ctx.Err() == nil {
			u.events.fail("", "", fmt.Sprintf("%s: missing, and cannot be recreated yet: %v", strings.Join(list, ", "), err))
		}
	}
}

// restore recreates streams and writes their records.
func (u *upkeep) restore(list []string) error {
	if _, err := openStore(u.ctx, u.conn, u.o); err != nil {
		return err
	}
	records := map[string]runRecord{}
	u.do(func(s *state) {
		for id, r := range s.runs {
			if r.revision != 0 {
				records[id] = r.runRecord
			}
		}
		if slices.Contains(list, workersStream) {
			for name := range s.workers {
				s.workers.mark(name)
			}
		}
	})
	if slices.Contains(list, runsStream) {
		for id, v := range records {
			if _, _, err := write(u.ctx, u.st.runs, id, &v, 0); err != nil {
				return err
			}
		}
	}
	u.save(u.ctx, maxWorkers)
	for _, name := range list {
		u.events.fail("", "", fmt.Sprintf("the stream %s was missing and is recreated: %s", name, losses[name]))
	}
	return nil
}
