package farm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"

	"moonfarm/rollout/redact"
)

// errMissing is that a record is not there that should be.
var errMissing = errors.New("its record is missing")

// ended completes a run of which nothing is left to do. It has the lock.
func (c *coordinator) ended(r *run) {
	if r.State == Running && r.made == r.Spec.Shards && len(r.due) == 0 && r.doubts == 0 {
		r.State = Finishing
		c.wg.Go(func() { c.finish(r) })
	}
}

// finish completes the dataset, and tries until it can.
func (c *coordinator) finish(r *run) {
	pause := backoff{time.Second, time.Minute}
	for {
		err := c.complete(r)
		if err == nil || r.ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		r.Text = line(err.Error())
		c.mu.Unlock()
		c.book.fail(r.id, "", "the dataset is not complete yet: "+err.Error())
		var broken *BrokenError
		if errors.As(err, &broken) && broken.Shard >= 0 && broken.Shard < r.Spec.Shards || errors.Is(err, errMissing) {
			c.resume(r, broken)
			return
		}
		if !pause.pause(r.ctx) {
			return
		}
	}
}

// complete is one try.
func (c *coordinator) complete(r *run) error {
	shards, err := c.open(r.ctx, r)
	if err != nil {
		return err
	}
	err = shards.Finish(r.ctx, func(shard int) (string, error) {
		v := new(record)
		revision, err := read(r.ctx, c.st.shards, shardKey(r.id, shard), v)
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
	c.steering.Lock() // a retry comes before or after all of the end
	c.mu.Lock()
	err = c.change(r, Done, "")
	c.mu.Unlock()
	var left error
	if err == nil {
		left = c.st.forget(c.ctx, r.id)
	}
	c.steering.Unlock()
	for b := newBackoff(); left != nil && b.pause(c.ctx); {
		c.log.Warn("the records of a done run are not removed yet", "run", r.id, "err", left)
		left = c.forget(r)
	}
	return err
}

// forget removes the records of a done run that has not been begun again.
func (c *coordinator) forget(r *run) error {
	c.steering.Lock()
	defer c.steering.Unlock()
	c.mu.Lock()
	again := c.runs[r.id] != r
	c.mu.Unlock()
	if again {
		return nil
	}
	return c.st.forget(c.ctx, r.id)
}

// resume goes on with a run that lacks something after all.
func (c *coordinator) resume(r *run, broken *BrokenError) {
	if broken != nil {
		c.takeBack(r, broken.Shard)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.State = Running
	r = c.anew(r)
	if broken != nil {
		r.remade++
	}
	if err := c.begin(r); err != nil {
		c.book.fail(r.id, "", "the records cannot be read: "+err.Error())
		r.State = Cancelled // here alone: the next coordinator, or a retry, begins it again
	}
}

// meter measures what came in the last half minute.
type meter struct {
	at           [7]time.Time
	shards, rows [7]uint64
	next         int
}

func (m *meter) note(shards, rows uint64) {
	i := m.next % len(m.at)
	m.at[i], m.shards[i], m.rows[i] = time.Now(), shards, rows
	m.next++
}

// rates are a second, since the oldest measurement.
func (m *meter) rates(shards, rows uint64) (float64, float64) {
	i := 0
	if m.next > len(m.at) {
		i = m.next % len(m.at)
	}
	d := time.Since(m.at[i]).Seconds()
	if m.at[i].IsZero() || d <= 0 || shards < m.shards[i] || rows < m.rows[i] {
		return 0, 0
	}
	return float64(shards-m.shards[i]) / d, float64(rows-m.rows[i]) / d
}

// runStatus is a run as people see it. It has the lock.
func (c *coordinator) runStatus(r *run) RunStatus {
	if r.End != nil {
		s := *r.End
		s.Out, s.Text = redact.Text(s.Out), redact.Text(s.Text) // an older version may have written it
		return s
	}
	s := RunStatus{
		ID: r.id, Name: r.Spec.Name, Build: r.Spec.Build, Out: redact.Text(r.Spec.Out), State: r.State, Text: redact.Text(r.Text), Created: r.Created,
		Shards: r.Spec.Shards, Made: r.made, Held: len(r.held), Episodes: r.Spec.Episodes,
		Played: r.played, Rows: r.rows, Bytes: r.bytes, Audits: r.counts, Again: r.again, Remade: r.remade,
	}
	if s.State == "" { // being written for the first time
		s.State = Running
	}
	s.Audits.Due = len(r.due)
	s.ShardRate, s.RowRate = r.meter.rates(uint64(r.made), r.rows)
	if s.ShardRate > 0 {
		s.Left = float64(s.Shards-s.Made) / s.ShardRate
	}
	return s
}

// most of what a status lists.
const (
	maxEnded  = 100
	maxListed = 5000
)

// status is everything, for people.
func (c *coordinator) status(_ string, _ *request, _ micro.Request) *answer {
	s := &Status{Version: c.o.Version, Now: time.Now(), Since: c.since, Trouble: c.o.Server.trouble()}
	s.Failures, s.Audits = c.book.list()
	c.mu.Lock()
	defer c.mu.Unlock()
	due := map[string]int{} // audits, by who made the shard
	for _, r := range c.runs {
		s.Runs = append(s.Runs, c.runStatus(r))
		for _, d := range r.due {
			due[d.maker]++
		}
	}
	slices.SortFunc(s.Runs, func(a, b RunStatus) int { return b.Created.Compare(a.Created) })
	ended := 0
	s.Runs = slices.DeleteFunc(s.Runs, func(r RunStatus) bool {
		if !r.Ended.IsZero() {
			ended++
		}
		return !r.Ended.IsZero() && ended > maxEnded
	})
	for _, w := range c.workers {
		o := WorkerStatus{
			Name: w.name, Version: w.Version, Host: w.Host, Slots: w.Slots, Beat: w.Beat, Alive: time.Since(w.Beat) < c.o.Lapse,
			Held: len(w.claims), Shards: w.Shards, Rows: w.Rows, Audits: w.Audits, Lapsed: w.Lapsed, Trouble: w.trouble, Quarantined: w.Quarantined,
		}
		o.Audits.Due = due[w.name]
		o.ShardRate, o.RowRate = w.meter.rates(w.Shards, w.Rows)
		s.Workers = append(s.Workers, o)
	}
	slices.SortFunc(s.Workers, func(a, b WorkerStatus) int { return strings.Compare(a.Name, b.Name) })
	if n := len(s.Workers) - maxListed; n > 0 {
		s.Workers, s.Unlisted = s.Workers[:maxListed], n
	}
	return &answer{Status: s}
}
