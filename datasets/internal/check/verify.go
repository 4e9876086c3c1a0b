// Package check compares datasets with their manifests, and with shards that are made again.
package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"sort"
	"sync"

	"moonfarm/datasets/derive"
	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/read"
	"moonfarm/datasets/internal/rows"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/shortage"
	"moonfarm/sim"
)

// VerifyOptions say how thoroughly Verify checks.
type VerifyOptions struct {
	Workers int // goroutines; at least 1
	// Recompute is the number of shards that are made again and compared, spread evenly
	// over the dataset; -1: all. The policies play their episodes from the seed. If a
	// policy cannot be made, Report.Lacking gives the reason, and the recorded orders
	// are played again.
	Recompute int
	// Progress, if not nil, is called with the number of shards done, never by two
	// goroutines at once.
	Progress func(done, all int)
}

// Report lists the findings of Verify.
type Report struct {
	Shards     int      `json:"shards"`
	Episodes   uint64   `json:"episodes"`
	Rows       uint64   `json:"rows"`
	Bytes      uint64   `json:"bytes"`
	Recomputed int      `json:"recomputed"` // shards made again and equal
	Replayed   bool     `json:"replayed"`   // the recorded orders were played again, the policies did not choose
	Lacking    string   `json:"lacking"`    // why a policy could not be made; "": all could
	Recorded   uint64   `json:"recorded"`   // recordings among the episodes of these shards, whose every transition was checked
	Problems   []string `json:"problems"`   // one line each; empty: the dataset is sound
}

// maxProblems bounds the list of problems.
const maxProblems = 100

// Verify checks a dataset.
func Verify(ctx context.Context, dir string, m about.Makers, o VerifyOptions) (*Report, error) {
	d, err := read.OpenContext(context.WithoutCancel(ctx), dir)
	if err != nil {
		return nil, err
	}
	man := d.Manifest()
	v := &verifier{d: d, o: o, report: Report{
		Shards: d.ShardCount(), Episodes: man.Totals.Episodes, Rows: man.Totals.Rows, Bytes: man.Totals.Bytes, Problems: []string{},
	}}
	if err := v.listing(); err != nil {
		return nil, err
	}
	v.attached()
	again, err := v.recompute(m)
	if err != nil {
		return nil, err
	}
	v.parts = about.NewPartsSum()
	v.found = parallel.Queue[about.Sidecar]{Take: func(c about.Sidecar) {
		_ = v.sum.Add(c)             // cannot fail: its games were counted here
		_ = v.sample.Add(&c.Sampled) // cannot fail: all sums have the same shape
	}}
	err = parallel.Do(ctx, o.Workers, d.ShardCount(), v.shards(), v.checker, func(ctx context.Context, c *checker, _ int, s about.Shard) error {
		if err := c.shard(ctx, s); err != nil {
			return err
		}
		if c.bad == 0 && again.has(s.Number) {
			if err := c.recompute(ctx, again, s); err != nil {
				return err
			}
		}
		v.tick()
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	if v.failed != nil {
		return nil, v.failed
	}
	if err := v.totals(); err != nil {
		return nil, err
	}
	sort.Strings(v.report.Problems)
	return &v.report, nil
}

// verifier is one Verify.
type verifier struct {
	d *read.Dataset
	o VerifyOptions

	large sync.Mutex // locked by a checker with a large batch of episodes: only one may have such

	mu       sync.Mutex
	report   Report
	bad      int   // problems found
	failed   error // of this machine
	done     int
	found    parallel.Queue[about.Sidecar] // the counts of each shard's files
	sum      about.Manifest                // the totals of these counts
	networks []rollout.NetworkCounts       // of the shards that were made again
	sample   stats.Sums                    // the sums of the samples of rows
	parts    *about.PartsSum               // of imported shards
}

// shards lists the shards. A part of the index that cannot be read is reported and
// skipped.
func (v *verifier) shards() iter.Seq2[about.Shard, error] {
	return func(yield func(about.Shard, error) bool) {
		x, err := v.d.IndexReader()
		if err != nil {
			yield(about.Shard{}, err)
			return
		}
		for i := 0; i < v.d.ShardCount(); {
			s, err := x.Shard(i)
			if err != nil {
				v.wrong(err)
				i = (i/about.IndexShards + 1) * about.IndexShards
				continue
			}
			v.parts.Add(s.Episodes.Rows, s.Rules)
			if !yield(s, nil) {
				return
			}
			i++
		}
	}
}

// wrong reports an error as a problem, unless this machine, and not the dataset, is at
// fault: then Verify fails with it.
func (v *verifier) wrong(err error) {
	if !shortage.Of(err) {
		v.problem("%v", err)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = err // one is enough
	v.bad++
}

func (v *verifier) problem(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.bad++
	if v.bad <= maxProblems {
		v.report.Problems = append(v.report.Problems, fmt.Sprintf(format, args...))
	}
}

func (v *verifier) tick() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done++
	if v.o.Progress != nil {
		v.o.Progress(v.done, v.d.ShardCount())
	}
}

// totals compares the manifest's totals with the counts of the files.
func (v *verifier) totals() error {
	if v.bad > 0 {
		return nil
	}
	v.sum.Close()
	got, want := v.sum.Totals, v.d.Manifest().Totals
	if got.Networks = want.Networks; !v.report.Replayed && v.report.Recomputed == v.report.Shards && v.report.Shards > 0 {
		got.Networks = v.networks
	}
	if !reflect.DeepEqual(got, want) {
		v.problem("%s: totals are %+v, the files hold %+v", about.ManifestName, want, got)
	}
	if got, want := v.parts.SHA256(), v.d.Manifest().Job.ShardsSHA256; v.d.Manifest().Job.Imported() && got != want {
		v.problem("%s: shards_sha256 is %s, the index has %s", about.ManifestName, want, got)
	}
	return v.sampled()
}

// checker checks shards, one after the other.
type checker struct {
	v        *verifier
	readers  []*read.TableReader // of each table
	sampler  *stats.Sampler      // nil: there are no statistics
	encoder  *write.Encoder      // makes shards again; nil until the first
	recorded uint64              // episodes of the shard in hand that are recordings
	bad      int                 // problems of the shard in hand
	reward   []float32           // of the rows of an episode
	ret      []float32
	moves    rows.Moves // of the episode in hand
}

func (v *verifier) checker() (*checker, error) {
	c := &checker{v: v}
	for table := range v.d.Tables {
		r, err := v.d.Reader(table, nil)
		if err != nil {
			return nil, err
		}
		c.readers = append(c.readers, r)
	}
	c.readers[about.EpisodesTable].Table.Turn = &v.large
	if !v.d.Manifest().HasFinals() {
		return c, nil
	}
	o := v.d.Manifest().Observation
	var err error
	c.sampler, err = stats.NewSampler(v.d.Manifest().Spec().Shape, o.PackedLayout, o.Form == about.ObsPacked)
	return c, err
}

// Close releases the memory.
func (c *checker) Close() error {
	for _, r := range c.readers {
		r.Close()
	}
	return nil
}

func (c *checker) problem(err error) {
	c.bad++
	c.v.wrong(err)
}

// shard checks the files of one shard. It fails only if the context is done.
func (c *checker) shard(ctx context.Context, s about.Shard) error {
	c.bad = 0
	for _, f := range s.All() {
		sum, err := store.SumFile(ctx, c.v.d.Files, f.Path, f.Bytes)
		var size *store.SizeError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &size):
			c.problem(fmt.Errorf("%s: %d bytes, the manifest says %d", f.Path, size.Got, size.Want))
		case err != nil:
			c.problem(err)
		case sum != f.SHA256:
			c.problem(fmt.Errorf("%s: sha256 is %s, the manifest says %s", f.Path, sum, f.SHA256))
		}
	}
	if c.bad > 0 {
		return nil
	}
	if err := c.content(s); err != nil {
		c.problem(err)
	}
	return nil
}

// content checks the rows of a shard against its episodes and the manifest.
func (c *checker) content(s about.Shard) error {
	first, rules := s.First, s.Rules
	steps, err := c.readers[about.StepsTable].Open(s.Steps)
	if err != nil {
		return err
	}
	defer steps.Close()
	w := stepWalk{RowWalk: read.RowWalk{Cursor: steps}, c: c}
	if c.sampler != nil {
		if w.finals, err = c.v.d.WalkFinals(c.readers[about.FinalsTable], s.Finals); err != nil {
			return err
		}
		defer w.finals.Cursor.Close()
		c.sampler.Start()
	}
	m := c.v.d.Manifest()
	sums := about.NewCounter(m.Game.Players, about.Sidecar{Shard: s.Number, Files: s.Files})
	err = c.v.d.ShardEpisodes(c.readers[about.EpisodesTable], s.Episodes, func(e *read.Episode) error {
		if e.ID != first || e.Rules != rules {
			return fmt.Errorf("%s: episode %d with rules number %d, expected %d with %d", s.Episodes.Path, e.ID, e.Rules, first, rules)
		}
		first++
		if sums.Add(&e.Episode, e.Game); len(sums.Pairs.List) > len(m.Totals.Pairings) {
			return fmt.Errorf("%s: episode %d: more pairings of players than in the totals: %q", s.Episodes.Path, e.ID, e.Policies)
		}
		return w.episode(e)
	})
	if err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	if c.sampler != nil {
		sums.Counts.Sampled = c.sampler.Sums
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	if c.v.bad == 0 { // otherwise totals are not compared, and the queue would wait for the shards that failed
		c.v.found.Put(s.Number, sums.Sidecar())
	}
	return nil
}

// stepWalk goes through the step rows of a shard, episode by episode.
type stepWalk struct {
	read.RowWalk
	c      *checker
	finals *read.FinalWalk // nil: there are none
}

// episode checks the step rows of e.
func (w *stepWalk) episode(e *read.Episode) error {
	c, path := w.c, w.Cursor.File.Path
	c.reward, c.ret = c.reward[:0], c.ret[:0]
	c.moves.Set(&e.Searches)
	for k := range e.Turns * e.Players {
		turn, seat := k/e.Players, k%e.Players
		if more, err := w.next(); err != nil {
			return err
		} else if !more {
			return fmt.Errorf("%s: ends in episode %d, turn %d", path, e.ID, turn)
		}
		if what := w.wrong(e, turn, seat); what != "" {
			return fmt.Errorf("%s: row %d, expected episode %d, turn %d, seat %d: %s", path, w.Number(), e.ID, turn, seat, what)
		}
		c.reward = append(c.reward, w.Data.Reward[w.Row])
		c.ret = append(c.ret, w.Data.Return[w.Row])
		w.Row++
	}
	derive.Returns(c.reward, c.reward, e.Players, c.v.d.Manifest().Reward.Gamma)
	for k, want := range c.reward {
		if math.Float32bits(want) != math.Float32bits(c.ret[k]) {
			return fmt.Errorf("%s: episode %d, turn %d, seat %d: return is %v, the rewards make %v", path, e.ID, k/e.Players, k%e.Players, c.ret[k], want)
		}
	}
	if w.finals == nil {
		return nil
	}
	f, err := w.finals.Episode(e.ID)
	if err == nil && f.Turns != e.Turns {
		err = fmt.Errorf("%s: episode %d: turn %d, the episode has %d turns", w.finals.Cursor.File.Path, e.ID, f.Turns, e.Turns)
	}
	return err
}

// next is more; it also adds every batch that it reads to the statistics.
func (w *stepWalk) next() (bool, error) {
	through := w.Row == w.Data.Rows
	more, err := w.More()
	if s := w.c.sampler; more && through && s != nil {
		err = s.Batch(w.Data.Planes, w.Data.Packed, w.Data.Scalars, w.Number(), w.Data.Rows)
	}
	return more, err
}

// wrong describes the first fault in the row of a turn and seat; "" if it is right.
func (w *stepWalk) wrong(e *read.Episode, turn, seat int) string {
	d, i := &w.Data, w.Row
	last := turn == e.Turns-1
	switch {
	case d.Episode[i] != e.ID || int(d.Turn[i]) != turn || int(d.Seat[i]) != seat:
		return fmt.Sprintf("found episode %d, turn %d, seat %d", d.Episode[i], d.Turn[i], d.Seat[i])
	case d.Outcome[i] != e.Outcome[seat].Result:
		return fmt.Sprintf("outcome %v, the episode says %v", d.Outcome[i], e.Outcome[seat].Result)
	case d.Terminated[i] != about.Flag(last && e.Status == sim.Over) || d.Truncated[i] != about.Flag(last && e.Status == sim.Cut):
		return fmt.Sprintf("terminated %d, truncated %d, the game is %v after %d turns", d.Terminated[i], d.Truncated[i], e.Status, e.Turns)
	}
	if d.Chosen != nil && d.Chosen[i] != e.Chosen[turn*e.Players+seat] {
		return fmt.Sprintf("chosen by member %d, the episode says %d", d.Chosen[i], e.Chosen[turn*e.Players+seat])
	}
	if d.SearchValue != nil {
		if what := w.unlike(&e.Searches, turn*e.Players+seat); what != "" {
			return what
		}
	}
	want := e.OrdersOf(turn, sim.Player(seat))
	got := d.Orders[d.OrderEnds[i]:d.OrderEnds[i+1]]
	if len(got) != len(want) {
		return fmt.Sprintf("%d orders, the episode has %d", len(got), len(want))
	}
	for k := range want {
		if got[k] != want[k] {
			return fmt.Sprintf("order %d is %d, the episode has %d", k, got[k], want[k])
		}
	}
	return ""
}

// unlike describes how the search results of the row differ from row k of its episode;
// "" if they are equal.
func (w *stepWalk) unlike(f *rollout.SearchResults, k int) string {
	if got, want := w.Data.SearchValue[w.Row], f.Value[k]; math.Float32bits(got) != math.Float32bits(want) {
		return fmt.Sprintf("search_value %v, the episode says %v", got, want)
	}
	part := w.c.moves.Of(k, k+1)
	for name, want := range map[string][]byte{
		about.ColSearchPolicy: arrowfile.Bytes(part.Shares), about.ColSearchChoices: arrowfile.Bytes(part.Choices), about.ColSearchCounts: arrowfile.Bytes(part.Counts),
	} {
		d := w.Cursor.Reader.Table.Col(name)
		if d != nil && !bytes.Equal(d.List(w.Row), want) {
			return fmt.Sprintf("%s %s, the episode says otherwise", d.Column.Name, d.ValueText(w.Row))
		}
	}
	return ""
}

// end checks that no rows are left.
func (w *stepWalk) end() error {
	if w.finals != nil {
		if err := w.finals.End(); err != nil {
			return err
		}
	}
	return w.RowWalk.End()
}
