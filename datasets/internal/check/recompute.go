package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
	"moonfarm/env"
	"moonfarm/rollout"
)

// recompute says which shards are made again, and how.
type recompute struct {
	again   []bool // the shards
	layout  *about.Layout
	makers  about.Makers
	seats   about.SeatMakers // empty: the recorded orders are played again
	opening rollout.Opening
}

// has reports whether a shard is made again; with a nil recompute no shard is.
func (r *recompute) has(shard int) bool { return r != nil && r.again[shard] }

// recompute returns which shards are made again, and how; nil if Recompute asks for
// none.
func (v *verifier) recompute(m about.Makers) (*recompute, error) {
	all, n := v.d.ShardCount(), v.o.Recompute
	if n < 0 || n > all {
		n = all
	}
	if n == 0 {
		return nil, nil
	}
	job := v.d.Manifest().Job
	specs, err := job.Complete(m)
	if err != nil {
		return nil, err
	}
	if diff := v.d.Manifest().Job.Differ(job); diff != "" {
		return nil, fmt.Errorf("%s: these makers do not make it: %s", v.d.Dir, diff)
	}
	if job.Obs != about.ObsNone || job.Search {
		if err := v.d.Manifest().SameActions(specs[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", v.d.Dir, err)
		}
	}
	a := &recompute{again: make([]bool, all), layout: about.NewLayout(job, specs), makers: m}
	for k := range n {
		a.again[read.SpreadShard(k, n, all)] = true
	}
	for i, r := range v.d.Manifest().Rules {
		if specs[i].Info.Rules != r.Version {
			return nil, fmt.Errorf("%s: made with version %s of the rules, this moonfarm plays %s", v.d.Dir, r.Version, specs[i].Info.Rules)
		}
	}
	if m.Policy != nil && !job.Imported() {
		made := job
		if a.seats, _, err = about.MakeSeats(m, read.ModelsIn(v.d.Ctx, v.d.Files), &made, specs[0]); err != nil {
			// The orders that the policy chose are recorded, so all else can be
			// compared.
			a.seats, made, v.report.Lacking = about.SeatMakers{}, job, err.Error()
		}
		if a.opening, err = job.OpeningOf(m); err != nil {
			return nil, err
		}
		if diff := job.Differ(made); diff != "" {
			return nil, fmt.Errorf("%s: these makers do not make it: %s", v.d.Dir, diff)
		}
	}
	v.report.Replayed = a.seats.All == nil
	return a, v.remade(a.layout, m)
}

// recompute makes a shard again and compares it, bit for bit. It reports differences as
// problems. It fails with the errors of makers and of the context.
func (c *checker) recompute(ctx context.Context, a *recompute, s about.Shard) error {
	if c.encoder == nil {
		x, err := write.NewEncoder(a.layout, a.makers)
		if err != nil {
			return err
		}
		c.encoder = x
	}
	sums, err := c.compare(ctx, a, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var made *about.MakerError
	if errors.As(err, &made) {
		return err
	}
	if err != nil {
		c.problem(fmt.Errorf("shard %d made again: %w", s.Number, err))
		return nil
	}
	for k, f := range s.All() {
		if got := sums[k].SHA256(); got != f.SHA256 {
			c.problem(fmt.Errorf("%s: made again its rows are equal, but its sha256 is %s, not %s: another version wrote it", f.Path, got, f.SHA256))
		}
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	c.v.report.Recomputed++
	c.v.networks = about.AddNetworks(c.v.networks, c.encoder.Counts.Counts.Networks)
	c.v.report.Recorded += c.recorded
	return nil
}

// CompareShard makes a shard again with policies, and fails where its files differ from those of the dataset.
func CompareShard(ctx context.Context, d *read.Dataset, s about.Shard, l *about.Layout, m about.Makers, seats about.SeatMakers) error {
	c, err := (&verifier{d: d}).checker()
	if err != nil {
		return &about.MakerError{Err: err}
	}
	defer c.Close()
	if c.encoder, err = write.NewEncoder(l, m); err != nil {
		return &about.MakerError{Err: err}
	}
	_, err = c.compare(ctx, &recompute{layout: l, makers: m, seats: seats}, s)
	return err
}

// compare makes a shard again, compares every batch with those of its files and returns
// the sums of the new files. If the recorded orders are played again, the table of
// episodes is not compared, because it is the input.
func (c *checker) compare(ctx context.Context, a *recompute, s about.Shard) (sums [about.AllTables]store.Sum, err error) {
	var to []io.Writer
	var compared []*read.FileCursor
	for i, w := range c.encoder.Tables {
		sums[i] = store.NewSum()
		to = append(to, &sums[i])
		if w.Full = w.Writer.Write; i == about.EpisodesTable && a.seats.All == nil {
			continue
		}
		f, err := c.readers[i].Open(*s.Of(i))
		if err != nil {
			return sums, err
		}
		defer f.Close()
		compared = append(compared, f)
		w.Full = func(t *arrowfile.RecordBatch) error {
			if err := compareBatch(f, t); err != nil {
				return err
			}
			return w.Writer.Write(t)
		}
	}
	if err := c.encoder.Start(s.Place(), to); err != nil {
		return sums, err
	}
	if a.seats.All == nil {
		err = c.replay(s)
	} else {
		err = c.play(ctx, a, s)
	}
	if err == nil {
		_, err = c.encoder.Finish()
	}
	for _, f := range compared {
		if err != nil {
			break
		}
		var more bool
		if more, err = f.Next(); more {
			err = fmt.Errorf("%s: more rows than expected", f.File.Path)
		}
	}
	return sums, err
}

// replay makes the shard again from its recorded episodes.
func (c *checker) replay(s about.Shard) error {
	c.recorded = 0
	return c.v.d.ShardEpisodes(c.readers[about.EpisodesTable], s.Episodes, func(e *read.Episode) error {
		if len(e.Recording) > 0 {
			c.recorded++
		}
		return c.encoder.Episode(&e.Episode, e.Source)
	})
}

// play lets the policies play the shard again, and writes its episodes. Rows are made
// by playing again, though Generate may have kept them while it played: so both ways
// are compared.
func (c *checker) play(ctx context.Context, a *recompute, s about.Shard) error {
	job := a.layout.Job
	v, err := a.makers.Vector(job.Rules[0], job.Config(16))
	if err != nil {
		return &about.MakerError{Err: err}
	}
	games, err := rollout.NewGames(v, rollout.Cast{Seats: a.seats.All, Opening: a.opening, Ask: a.seats.Ask, Keep: env.WantReward})
	if err != nil {
		return &about.MakerError{Err: err}
	}
	defer func() { _ = games.Close() }() // the episodes were played before any error
	return games.Play(ctx, job.Seed, s.First, s.Episodes.Rows, sinkFunc(func(e *rollout.Episode) error {
		return c.encoder.Episode(e, "")
	}))
}

// sinkFunc is a rollout.Sink.
type sinkFunc func(e *rollout.Episode) error

func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

// compareBatch reads the next batch of a file and compares it with want, bit for
// bit. The error names the file, the column, the row and both values.
func compareBatch(c *read.FileCursor, want *arrowfile.RecordBatch) error {
	first, name := c.Rows, c.File.Path
	more, err := c.Next()
	if err != nil {
		return err
	}
	got := c.Reader.Table
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

// where names the row by its episode, turn and seat.
func where(t *arrowfile.RecordBatch, row int) string {
	text := fmt.Sprintf("episode %d", arrowfile.View[uint64](t.Col(about.ColEpisode).Fixed)[row])
	if d := t.Col(about.ColTurn); d != nil {
		text += fmt.Sprintf(", turn %d, seat %d", arrowfile.View[int32](d.Fixed)[row], t.Col(about.ColSeat).Fixed[row])
	}
	return text
}

// remade compares the manifest with the one that a run of its Job writes now, key by
// key, without the totals and the index, which follow from the files.
func (v *verifier) remade(l *about.Layout, m about.Makers) error {
	usual, err := m.Vector("", env.Settings{N: 1})
	if err != nil {
		return err
	}
	found, err := keysOf(v.d.Manifest())
	if err != nil {
		return err
	}
	made := about.NewManifest(l, l.Job.Command(usual.Spec().Info.Config))
	if l.Job.Obs == about.ObsNone && !l.Job.Search {
		made.Action = v.d.Manifest().Action // there are no actions, and orders hold in every action space
	}
	expected, err := keysOf(made)
	if err != nil {
		return err
	}
	jsontext.Differences("", found, expected, func(key string, found, expected any) {
		f, _ := json.Marshal(found) // cannot fail: it came from JSON
		e, _ := json.Marshal(expected)
		is, would := jsontext.AtDifference(string(f), string(e))
		v.problem("%s: %s is %s, made again it is %s", about.ManifestName, key, is, would)
	})
	return nil
}

// notOfJob lists the keys that do not follow from the Job alone.
var notOfJob = []string{"totals", "index", "shards", "statistics", "card", "checksum"}

// keysOf returns the keys of a manifest that follow from its Job.
func keysOf(m *about.Manifest) (map[string]any, error) {
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
