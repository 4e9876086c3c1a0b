package farm

import (
	"errors"
	"fmt"
	"time"
)

// errMissing means that an expected record does not exist.
var errMissing = errors.New("its record is missing")

// finish completes the dataset of a run. It retries until it succeeds or until shards have to
// be made again.
func (x *runs) finish(r *run) {
	pause := backoff{time.Second, time.Minute}
	for {
		err := x.complete(r)
		if err == nil || r.ctx.Err() != nil {
			return
		}
		x.do(func(*state) { r.Text = line(err.Error()) })
		x.events.fail(r.id, "", "the dataset is not complete yet: "+err.Error())
		var broken *BrokenError
		if errors.As(err, &broken) && r.valid(broken.Shard) || errors.Is(err, errMissing) {
			x.resume(r, broken)
			return
		}
		if !pause.pause(r.ctx) {
			return
		}
	}
}

// complete tries once to complete the dataset and to end the run.
func (x *runs) complete(r *run) error {
	shards, err := x.open(r.ctx, r)
	if err != nil {
		return err
	}
	err = shards.Finish(r.ctx, func(shard int) (string, error) {
		v, revision, err := x.readRecord(r, shard)
		if err == nil && revision == 0 {
			err = errMissing
		}
		if err != nil {
			return "", fmt.Errorf("shard %d: %w", shard, err)
		}
		return v.Sum, nil
	})
	if err != nil {
		return err
	}
	x.steering.Lock() // so that a retry of the run comes before or after all of this
	defer x.steering.Unlock()
	if err = x.change(r, Done, ""); err == nil {
		x.forget(r)
	}
	return err
}

// forget removes the records of a done run. If it cannot, it tries again in the background, until the
// run is started again. The caller holds steering.
func (x *runs) forget(r *run) {
	err := x.st.forget(x.ctx, r.id)
	if err == nil {
		return
	}
	x.wg.Go(func() {
		for b := newBackoff(); err != nil && b.pause(x.ctx); {
			x.log.Warn("the records of a done run are not removed yet", "run", r.id, "err", err)
			x.steering.Lock()
			again := false
			x.do(func(s *state) { again = s.runs[r.id] != r || r.begun })
			if err = nil; !again {
				err = x.st.forget(x.ctx, r.id)
			}
			x.steering.Unlock()
		}
	})
}

// resume starts a finishing run again that lacks a record or the files of a shard.
func (x *runs) resume(r *run, broken *BrokenError) {
	if broken != nil {
		x.commits.revert(r, broken.Shard)
	}
	x.steering.Lock()
	defer x.steering.Unlock()
	finishing := false
	x.do(func(*state) {
		if finishing = r.begun && r.State == Finishing; finishing && broken != nil {
			r.reverted++
		}
	})
	if !finishing { // it was cancelled meanwhile
		return
	}
	if _, err := x.begin(r); err != nil {
		x.events.fail(r.id, "", "the records cannot be read: "+err.Error())
		x.do(func(s *state) {
			s.end(r)
			r.State = Cancelled // in memory alone: the next coordinator, or a retry, begins it
		})
	}
}
