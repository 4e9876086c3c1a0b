package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/rollout"
)

// recompute says which shards are made again, and how.
type recompute struct {
	n, all  int // n shards of all
	layout  *layout
	makers  Makers
	seats   seatMakers // empty: the recorded orders are played again
	opening rollout.Opening
}

// has reports whether a shard is made again; with a nil recompute no shard is.
func (a *recompute) has(shard int) bool { return a != nil && isSpread(shard, a.n, a.all) }

// recompute returns which shards are made again, and how; nil if Recompute asks for
// none.
func (v *verifier) recompute(m Makers) (*recompute, error) {
	all, n := v.d.shardCount(), v.o.Recompute
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
	a := &recompute{n: n, all: all, layout: newLayout(job, specs), makers: m}
	a.layout.encode(v.d.manifest.Encoding)
	for i, r := range v.d.manifest.Rules {
		if specs[i].Info.Rules != r.Version {
			return nil, fmt.Errorf("%s: made with version %s of the rules, this moonfarm plays %s", v.d.dir, r.Version, specs[i].Info.Rules)
		}
	}
	if m.Policy != nil && !job.imported() {
		made := job
		if a.seats, _, err = makeSeats(m, modelsIn(v.d.ctx, v.d.files), &made, specs[0]); err != nil {
			// The orders that the policy chose are recorded, so all else can be
			// compared.
			a.seats, made, v.report.Lacking = seatMakers{}, job, err.Error()
		}
		if a.opening, err = job.openingOf(m); err != nil {
			return nil, err
		}
		if diff := job.differ(made); diff != "" {
			return nil, fmt.Errorf("%s: these makers do not make it: %s", v.d.dir, diff)
		}
	}
	v.report.Replayed = a.seats.all == nil
	return a, v.remade(a.layout, m)
}

// recompute makes a shard again and compares it, bit for bit. It reports differences as
// problems. It fails with the errors of makers and of the context.
func (c *checker) recompute(ctx context.Context, a *recompute, s Shard) error {
	if c.encoder == nil {
		x, err := newEncoder(a.layout, a.makers)
		if err != nil {
			return err
		}
		c.encoder = x
	}
	sums, err := c.compare(ctx, a, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var made *makerError
	if errors.As(err, &made) {
		return err
	}
	if err != nil {
		c.problem(fmt.Errorf("shard %d made again: %w", s.Number, err))
		return nil
	}
	for k, f := range s.all() {
		if got := sums[k].SHA256(); got != f.SHA256 {
			c.problem(fmt.Errorf("%s: made again its rows are equal, but its sha256 is %s, not %s: another version wrote it", f.Path, got, f.SHA256))
		}
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	c.v.report.Recomputed++
	c.v.networks = addNetworks(c.v.networks, c.encoder.counts.counts.Networks)
	c.v.report.Recorded += c.recorded
	return nil
}

// compareShard makes a shard again with policies, and fails where its files differ from those of the dataset.
func compareShard(ctx context.Context, d *Dataset, s Shard, l *layout, m Makers, seats seatMakers) error {
	c, err := (&verifier{d: d}).checker()
	if err != nil {
		return &makerError{err}
	}
	defer c.Close()
	if c.encoder, err = newEncoder(l, m); err != nil {
		return &makerError{err}
	}
	_, err = c.compare(ctx, &recompute{layout: l, makers: m, seats: seats}, s)
	return err
}

// compare makes a shard again, compares every batch with those of its files and returns
// the sums of the new files. If the recorded orders are played again, the table of
// episodes is not compared, because it is the input.
func (c *checker) compare(ctx context.Context, a *recompute, s Shard) (sums [allTables]store.Sum, err error) {
	var to []io.Writer
	var compared []comparer
	for i, w := range c.encoder.tables {
		sums[i] = store.NewSum()
		to = append(to, &sums[i])
		if w.full = w.w.Write; i == episodesTable && a.seats.all == nil {
			continue
		}
		f, err := c.readers[i].open(*s.of(i))
		if err != nil {
			return sums, err
		}
		defer f.close()
		k := comparer{f}
		compared = append(compared, k)
		w.full = func(t *arrowfile.RecordBatch) error {
			if err := k.batch(t); err != nil {
				return err
			}
			return w.w.Write(t)
		}
	}
	if err := c.encoder.start(s.place(), to); err != nil {
		return sums, err
	}
	if a.seats.all == nil {
		err = c.replay(s)
	} else {
		err = c.play(ctx, a, s)
	}
	if err == nil {
		_, err = c.encoder.finish()
	}
	for _, k := range compared {
		if err == nil {
			err = k.end()
		}
	}
	return sums, err
}

// replay makes the shard again from its recorded episodes.
func (c *checker) replay(s Shard) error {
	c.recorded = 0
	return c.v.d.shardEpisodes(c.readers[episodesTable], s.Episodes, func(e *Episode) error {
		if len(e.Recording) > 0 {
			c.recorded++
		}
		return c.encoder.episode(&e.Episode, e.Source)
	})
}

// makerError is an error of a maker, not of the dataset.
type makerError struct{ error }

func (e *makerError) Unwrap() error { return e.error }

// play lets the policies play the shard again, and writes its episodes. Rows are made
// by playing again, though Generate may have kept them while it played: so both ways
// are compared.
func (c *checker) play(ctx context.Context, a *recompute, s Shard) error {
	job := a.layout.job
	v, err := a.makers.Vector(job.Rules[0], job.config(16))
	if err != nil {
		return &makerError{err}
	}
	seats, err := rollout.NewSeats(a.seats.all, v.Spec())
	if err != nil {
		return &makerError{err}
	}
	defer func() { _ = rollout.CloseSeats(seats...) }() // the episodes were played before any error
	games, err := rollout.NewGames(v, seats, env.WantReward)
	if err != nil {
		return err
	}
	if o := a.opening; o.Turns > 0 {
		p, err := o.Policy(v.Spec())
		if err == nil {
			seats = append(seats, p)
			err = games.Open(o.Turns, p)
		}
		if err != nil {
			return &makerError{err}
		}
	}
	if a.seats.ask != nil {
		if err := games.Ask(a.seats.ask); err != nil {
			return &makerError{err}
		}
		defer func() { _ = games.CloseAsked() }()
	}
	return games.Play(ctx, job.Seed, s.First, s.Episodes.Rows, sinkFunc(func(e *rollout.Episode) error {
		return c.encoder.episode(e, "")
	}))
}

// sinkFunc is a rollout.Sink.
type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

// comparer compares the batches of a file with the batches that it should have.
type comparer struct {
	cursor *fileCursor
}

// batch reads the next batch of the file and compares it with want, bit for
// bit. The error names the file, the column, the row and both values.
func (c comparer) batch(want *arrowfile.RecordBatch) error {
	first, name := c.cursor.rows, c.cursor.file.Path
	more, err := c.cursor.next()
	if err != nil {
		return err
	}
	got := c.cursor.t.table
	if !more {
		return fmt.Errorf("%s: row %d is missing", name, first)
	}
	if got.Rows != want.Rows {
		return fmt.Errorf("%s: the batch at row %d has %d rows, expected %d", name, first, got.Rows, want.Rows)
	}
	for i, w := range want.Data {
		if row, found := w.Difference(got.Data[i], want.Rows); found != "" {
			return fmt.Errorf("%s: column %s, row %d (%s): %s", name, w.Column.Name, first+uint64(row), where(want, row), found)
		}
	}
	return nil
}

// end checks that the file has no more rows.
func (c comparer) end() error {
	more, err := c.cursor.next()
	if more {
		return fmt.Errorf("%s: more rows than expected", c.cursor.file.Path)
	}
	return err
}

// where names the row by its episode, turn and seat.
func where(t *arrowfile.RecordBatch, row int) string {
	text := fmt.Sprintf("episode %d", arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[row])
	if d := t.Col(ColTurn); d != nil {
		text += fmt.Sprintf(", turn %d, seat %d", arrowfile.View[int32](d.Fixed)[row], t.Col(ColSeat).Fixed[row])
	}
	return text
}

// remade compares the manifest with the one that a run of its Job writes now, key by
// key, without the totals and the index, which follow from the files.
func (v *verifier) remade(l *layout, m Makers) error {
	usual, err := m.Vector("", env.Settings{N: 1})
	if err != nil {
		return err
	}
	found, err := keysOf(v.d.manifest)
	if err != nil {
		return err
	}
	expected, err := keysOf(newManifest(l, l.job.command(usual.Spec().Info.Config)))
	if err != nil {
		return err
	}
	jsontext.Differences("", found, expected, func(key string, found, expected any) {
		f, _ := json.Marshal(found) // cannot fail: it came from JSON
		e, _ := json.Marshal(expected)
		is, would := jsontext.AtDifference(string(f), string(e))
		v.problem("%s: %s is %s, made again it is %s", manifestName, key, is, would)
	})
	return nil
}

// notOfJob lists the keys that do not follow from the Job alone.
var notOfJob = []string{"totals", "index", "shards", "statistics", "card", "checksum"}

// keysOf returns the keys of a manifest that follow from its Job.
func keysOf(m *Manifest) (map[string]any, error) {
	text, err := jsontext.Encode(m)
	if err != nil {
		return nil, err
	}
	var keys map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&keys); err != nil {
		return nil, err
	}
	for _, k := range notOfJob {
		delete(keys, k)
	}
	return keys, nil
}
