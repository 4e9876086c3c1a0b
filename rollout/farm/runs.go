package farm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// runs begins, changes and ends runs.
type runs struct {
	*term
	commits  *committer
	steering sync.Mutex // held while a run begins, changes its state or ends: one at a time
}

// load reads the runs, and begins the open ones.
func (x *runs) load() error {
	var list []*run
	err := each(x.ctx, x.st.runs, ">", func(id string, revision uint64, v *runRecord) error {
		list = append(list, newRun(id, v, revision))
		return nil
	})
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	for _, r := range list {
		if r.State == Finishing {
			r.State = Running
		}
		x.do(func(s *state) { s.runs[r.id] = r })
		if r.State == Running {
			if _, err = x.begin(r); err != nil {
				return fmt.Errorf("run %s: %w", r.id, err)
			}
		}
	}
	return nil
}

// begin replaces a run that the store has as running by one with all its records. If begin fails,
// the old run stays unchanged.
func (x *runs) begin(old *run) (*run, error) {
	var r *run
	x.do(func(*state) { r = newRun(old.id, &old.runRecord, old.revision) })
	r.State = Running
	err := each(x.ctx, x.st.shards, r.id+".*", func(key string, _ uint64, v *record) error {
		shard, err := shardOf(key)
		if err != nil || !r.valid(shard) {
			return fmt.Errorf("record %s: no shard of %d", key, r.Spec.Shards)
		}
		r.addCommit(shard, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.ctx, r.stop = context.WithCancel(x.ctx)
	x.do(func(s *state) {
		s.begin(r)
		x.commits.completed(r)
	})
	x.wg.Go(old.shards.close)
	return r, nil
}

// change writes a new state of a run, and ends the run unless the state is Running.
func (x *runs) change(r *run, to State, text string) error {
	var v runRecord
	var revision uint64
	made := 0
	x.do(func(s *state) {
		v, revision, made = r.runRecord, r.revision, r.commits.Made
		v.State, v.Text, v.Ended, v.End = to, text, time.Time{}, nil
		if to == Running {
			return
		}
		v.Ended = time.Now()
		end := r.status(0, v.Ended)
		end.State, end.Text, end.Ended, end.Left, end.Audits.Pending = to, text, v.Ended, 0, 0 // an ended run has no audits
		v.End = &end
	})
	ctx, cancel := context.WithTimeout(x.ctx, 10*time.Second)
	revision, ok, err := write(ctx, x.st.runs, r.id, &v, revision)
	cancel()
	if err == nil && !ok {
		err = fmt.Errorf("run %s: its record has changed meanwhile", r.id)
	}
	if err != nil {
		x.events.fail(r.id, "", "the state of the run is not written: "+err.Error())
		return err
	}
	x.do(func(s *state) {
		r.State, r.Text, r.Ended, r.End, r.revision = v.State, v.Text, v.Ended, v.End, revision // others read the spec without the lock
		if to != Running {
			s.end(r)
		}
	})
	x.log.Info("run", "run", r.id, "name", r.Spec.Name, "state", to, "text", text, "made", made, "shards", r.Spec.Shards)
	if to == Failed {
		x.events.fail(r.id, "", "the run failed: "+text)
	}
	if to != Running {
		x.wg.Go(r.shards.close)
	}
	return nil
}

// find returns the run with an id, and whether a submission begins it.
func (x *runs) find(id string) (r *run, begins bool) {
	x.do(func(s *state) {
		r = s.runs[id]
		begins = r == nil || r.State == Cancelled || r.State == Failed
	})
	return r, begins
}

// submit begins or joins a run.
func (x *runs) submit(_ string, q *request, _ func(*answer)) *answer {
	if q.Spec == nil {
		return &answer{Error: "submit: no spec"}
	}
	if err := q.Spec.check(); err != nil {
		return &answer{Error: err.Error()}
	}
	id := q.Spec.ID()
	var whole *Receipt
	if _, begins := x.find(id); begins {
		s, err := x.o.Open(x.ctx, q.Spec, 1)
		if err == nil {
			whole, err = s.Complete(x.ctx)
			_ = s.Close()
		}
		if err != nil {
			return &answer{Error: err.Error()}
		}
	}
	x.steering.Lock()
	defer x.steering.Unlock()
	switch r, begins := x.find(id); {
	case !begins:
		return x.stateAnswer(r, true)
	case whole != nil:
		return x.found(r, q.Spec, whole)
	case r == nil:
		return x.start(x.enter(q.Spec), false)
	default:
		return x.start(r, true)
	}
}

// enter adds a new run to the state.
func (x *runs) enter(s *Spec) *run {
	r := newRun(s.ID(), &runRecord{Spec: s, Created: time.Now()}, 0)
	x.replace(r, r.id)
	return r
}

// replace replaces the run with an id by r; nil removes it.
func (x *runs) replace(r *run, id string) {
	x.do(func(s *state) {
		if s.runs[id] = r; r == nil {
			delete(s.runs, id)
		}
	})
}

// found answers for a run, or for a new one if r is nil, whose dataset is complete: the farm that
// made it has lost its store.
func (x *runs) found(r *run, s *Spec, whole *Receipt) *answer {
	done := newRun(s.ID(), &runRecord{Spec: s, Created: time.Now()}, 0)
	if r != nil {
		x.do(func(*state) {
			done = newRun(r.id, &r.runRecord, r.revision)
			done.duplicates, done.reverted = r.duplicates, r.reverted
		})
		done.End = nil
	}
	done.commits = tracker.Commits{Shards: s.Shards, Made: s.Shards, Played: whole.Episodes, Rows: whole.Rows, Bytes: whole.Bytes}
	x.replace(done, done.id)
	if err := x.change(done, Done, ""); err != nil {
		x.replace(r, done.id)
		return &answer{Error: err.Error()}
	}
	x.forget(done)
	return x.stateAnswer(done, true)
}

// stateAnswer returns an answer with the state of a run.
func (x *runs) stateAnswer(r *run, joined bool) *answer {
	a := new(answer)
	x.do(func(st *state) {
		s := r.status(st.leases.Held(r.id), time.Now())
		s.Joined = joined
		a.Run = &s
	})
	return a
}

// start begins a run that is new or has ended.
func (x *runs) start(r *run, joined bool) *answer {
	fresh := r.revision == 0
	if err := x.change(r, Running, ""); err != nil {
		if fresh {
			x.replace(nil, r.id)
		}
		return &answer{Error: err.Error()}
	}
	begun, err := x.begin(r)
	if err != nil {
		x.do(func(*state) { r.State = Cancelled }) // in memory alone: the next coordinator, or a retry, begins it
		return &answer{Error: err.Error()}
	}
	return x.stateAnswer(begun, joined)
}

// cancel ends a run by hand.
func (x *runs) cancel(_ string, q *request, _ func(*answer)) *answer {
	x.steering.Lock()
	defer x.steering.Unlock()
	var r *run
	over := false
	x.do(func(s *state) {
		r = s.runs[q.Run]
		over = r != nil && (r.State == Cancelled || r.State == Done)
	})
	if r == nil {
		return noRun(q.Run)
	}
	if !over {
		if err := x.change(r, Cancelled, ""); err != nil {
			return &answer{Error: err.Error()}
		}
	}
	return x.stateAnswer(r, false)
}

// retry begins a run that has ended, and looks again for the missing shards of a running one.
func (x *runs) retry(_ string, q *request, _ func(*answer)) *answer {
	x.steering.Lock()
	defer x.steering.Unlock()
	var r *run
	again := false
	x.do(func(s *state) {
		if r = s.runs[q.Run]; r == nil {
			return
		}
		if again = r.State != Running && r.State != Finishing; again || r.State == Finishing {
			return
		}
		s.restartRun(r)
	})
	switch {
	case r == nil:
		return noRun(q.Run)
	case again:
		return x.start(r, false)
	default:
		return x.stateAnswer(r, false)
	}
}

// fail fails a running run in the background.
func (x *runs) fail(r *run, text string) {
	x.wg.Go(func() {
		x.steering.Lock()
		defer x.steering.Unlock()
		running := false
		x.do(func(*state) { running = r.running() })
		if running {
			_ = x.change(r, Failed, text) // change has logged its error
		}
	})
}
