package datasets

import (
	"context"
	"errors"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
)

// anew is how shards are made anew.
type anew struct {
	shards map[int]bool
	layout *layout
	makers Makers
	seats  []rollout.Maker // nil: the recorded orders are played again
}

// chosen returns which shards to make anew, and how; nil if none are asked for.
func (v *verifier) chosen(m Makers) (*anew, error) {
	all, n := len(v.d.manifest.Shards), v.o.Recompute
	if n < 0 || n > all {
		n = all
	}
	if n == 0 {
		return nil, nil
	}
	job := v.d.manifest.Job
	specs, err := job.complete(m)
	if err != nil {
		return nil, err
	}
	if diff := v.d.manifest.Job.differ(job); diff != "" {
		return nil, fmt.Errorf("%s: these makers do not make it: %s", v.d.dir, diff)
	}
	a := &anew{shards: map[int]bool{}, layout: newLayout(job, specs), makers: m}
	for i, r := range v.d.manifest.Rules {
		if specs[i].Info.Rules != r.Version {
			return nil, fmt.Errorf("%s: made with version %s of the rules, this moonfarm plays %s", v.d.dir, r.Version, specs[i].Info.Rules)
		}
	}
	if m.Policy != nil && len(job.Shards) == 0 {
		if a.seats, _, err = makeSeats(m, job, specs[0]); err != nil {
			return nil, err
		}
	}
	v.report.Replayed = a.seats == nil
	for k := range n {
		a.shards[k*all/n] = true
	}
	return a, nil
}

// again makes a shard anew and compares it, bit for bit. What differs is a
// problem; errors are the context's and those of makers.
func (c *checker) again(ctx context.Context, a *anew, i int) error {
	if c.anew == nil {
		x, err := newEncoder(a.layout, a.makers)
		if err != nil {
			return err
		}
		c.anew = x
	}
	sums, err := c.compare(ctx, a, i)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var made *makerError
	if errors.As(err, &made) {
		return err
	}
	if err != nil {
		c.problem(fmt.Errorf("shard %d made anew: %w", i, err))
		return nil
	}
	s := c.v.d.manifest.Shards[i]
	for k, f := range []File{s.Steps, s.Episodes} {
		if got := sums[k].sha256(); got != f.SHA256 {
			c.problem(fmt.Errorf("%s: made anew its rows are equal, but its sha256 is %s, not %s: another version wrote it", f.Path, got, f.SHA256))
		}
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	c.v.report.Recomputed++
	return nil
}

// compare makes shard i anew, compares every batch with those of its files and
// returns the sums of what it made.
func (c *checker) compare(ctx context.Context, a *anew, i int) (sums [2]*summer, err error) {
	x, s := c.anew, c.v.d.manifest.Shards[i]
	steps, err := c.steps.open(s.Steps)
	if err != nil {
		return sums, err
	}
	defer steps.close()
	sums = [2]*summer{newSummer(), newSummer()}
	x.stepsFull, x.episodesFull = both(comparer{steps}.batch, x.steps.Write), x.episodes.Write
	if err := x.start(i, sums[0], sums[1]); err != nil {
		return sums, err
	}
	if a.seats == nil {
		err = c.v.d.shardEpisodes(c.episodes, s.Episodes, func(e *Episode) error { return x.episode(&e.Episode, e.Source) })
		if err == nil {
			_, err = x.finish()
		}
	} else {
		err = c.play(ctx, a, i)
	}
	if err == nil {
		err = comparer{steps}.end()
	}
	return sums, err
}

// makerError is an error of a maker, not of the dataset.
type makerError struct{ error }

func (e *makerError) Unwrap() error { return e.error }

// both calls two functions, the second if the first does not fail.
func both[T any](first, second func(T) error) func(T) error {
	return func(t T) error {
		if err := first(t); err != nil {
			return err
		}
		return second(t)
	}
}

// play lets the policies play the shard into the encoder, and compares the
// episodes too.
func (c *checker) play(ctx context.Context, a *anew, i int) error {
	x, job := c.anew, a.layout.job
	v, err := a.makers.Vector(job.Rules[0], job.config(16))
	if err != nil {
		return &makerError{err}
	}
	seats, err := a.sit(v)
	if err != nil {
		return &makerError{err}
	}
	defer func() {
		for _, p := range seats {
			_ = closePolicy(p) // it has played its part
		}
	}()
	f, err := c.episodes.open(c.v.d.manifest.Shards[i].Episodes)
	if err != nil {
		return err
	}
	defer f.close()
	x.episodesFull = both(comparer{f}.batch, x.episodes.Write)
	first, n, _ := job.shard(i)
	sink := sinkFunc(func(e *rollout.Episode) error { return x.episode(e, "") })
	if err := rollout.Shard(ctx, v, seats, job.Seed, first, n, sink); err != nil {
		return err
	}
	if _, err := x.finish(); err != nil {
		return err
	}
	return comparer{f}.end()
}

// sit makes the policies.
func (a *anew) sit(v env.Vector) ([]rollout.Policy, error) {
	var seats []rollout.Policy
	for _, maker := range a.seats {
		p, err := maker(v.Spec())
		if err != nil {
			return nil, err
		}
		seats = append(seats, p)
	}
	return seats, nil
}

// sinkFunc is a rollout.Sink.
type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }
