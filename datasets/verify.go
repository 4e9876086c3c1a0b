package datasets

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
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/rows"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
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

// Verify checks a dataset: that the manifest is as it was written; that all its files
// are there and no others, with their sha256; that their schemas, row counts and totals
// are right; that episodes, turns and seats follow each other; that games end where
// they should, and returns are the discounted sums of the rewards. With Recompute it
// also makes shards again and compares every bit, and every key of the manifest that
// follows from the job. One of these keys is the version of moonfarm, so a dataset of
// another version is reported.
//
// The Report lists the problems of the dataset. Verify fails if the manifest cannot be
// read or a maker fails, with the error of the context, and if this machine lacks memory or
// file descriptors.
func Verify(ctx context.Context, dir string, m Makers, o VerifyOptions) (*Report, error) {
	d, err := OpenContext(context.WithoutCancel(ctx), dir)
	if err != nil {
		return nil, err
	}
	man := d.manifest
	v := &verifier{d: d, o: o, report: Report{
		Shards: d.shardCount(), Episodes: man.Totals.Episodes, Rows: man.Totals.Rows, Bytes: man.Totals.Bytes, Problems: []string{},
	}}
	if err := v.listing(); err != nil {
		return nil, err
	}
	v.attached()
	v.models()
	again, err := v.recompute(m)
	if err != nil {
		return nil, err
	}
	v.parts = newPartsSum()
	v.found = parallel.Queue[sidecar]{Take: func(c sidecar) {
		_ = v.sum.add(c)             // cannot fail: its games were counted here
		_ = v.sample.Add(&c.Sampled) // cannot fail: all sums have the same shape
	}}
	err = parallel.Do(ctx, o.Workers, d.shardCount(), v.shards(), v.checker, func(ctx context.Context, c *checker, _ int, s Shard) error {
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
	d *Dataset
	o VerifyOptions

	large sync.Mutex // locked by a checker with a large batch of episodes: only one may have such

	mu       sync.Mutex
	report   Report
	bad      int   // problems found
	failed   error // of this machine
	done     int
	found    parallel.Queue[sidecar] // the counts of each shard's files
	sum      Manifest                // the totals of these counts
	networks []rollout.NetworkCounts // of the shards that were made again
	sample   stats.Sums              // the sums of the samples of rows
	parts    *partsSum               // of imported shards
}

// shards lists the shards. A part of the index that cannot be read is reported and
// skipped.
func (v *verifier) shards() iter.Seq2[Shard, error] {
	return func(yield func(Shard, error) bool) {
		x, err := v.d.indexReader()
		if err != nil {
			yield(Shard{}, err)
			return
		}
		for i := 0; i < v.d.shardCount(); {
			s, err := x.shard(i)
			if err != nil {
				v.wrong(err)
				i = (i/indexShards + 1) * indexShards
				continue
			}
			v.parts.add(s.Episodes.Rows, s.Rules)
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
		v.o.Progress(v.done, v.d.shardCount())
	}
}

// totals compares the manifest's totals with the counts of the files.
func (v *verifier) totals() error {
	if v.bad > 0 {
		return nil
	}
	v.sum.close()
	got, want := v.sum.Totals, v.d.manifest.Totals
	if got.Networks = want.Networks; !v.report.Replayed && v.report.Recomputed == v.report.Shards && v.report.Shards > 0 {
		got.Networks = v.networks
	}
	if !reflect.DeepEqual(got, want) {
		v.problem("%s: totals are %+v, the files hold %+v", manifestName, want, got)
	}
	if got, want := v.parts.SHA256(), v.d.manifest.Job.ShardsSHA256; v.d.manifest.Job.imported() && got != want {
		v.problem("%s: shards_sha256 is %s, the index has %s", manifestName, want, got)
	}
	return v.sampled()
}

// checker checks shards, one after the other.
type checker struct {
	v        *verifier
	readers  []*tableReader // of each table
	sampler  *stats.Sampler // nil: there are no statistics
	encoder  *encoder       // makes shards again; nil until the first
	recorded uint64         // episodes of the shard in hand that are recordings
	bad      int            // problems of the shard in hand
	reward   []float32      // of the rows of an episode
	ret      []float32
	moves    rows.Moves // of the episode in hand
}

func (v *verifier) checker() (*checker, error) {
	c := &checker{v: v}
	for table := range v.d.tables {
		r, err := v.d.reader(table, nil)
		if err != nil {
			return nil, err
		}
		c.readers = append(c.readers, r)
	}
	c.readers[episodesTable].table.Turn = &v.large
	if !v.d.manifest.hasFinals() {
		return c, nil
	}
	o := v.d.manifest.Observation
	var err error
	c.sampler, err = stats.NewSampler(v.d.manifest.spec().Shape, o.PackedLayout, o.Form == ObsPacked)
	return c, err
}

// Close releases the memory.
func (c *checker) Close() error {
	for _, r := range c.readers {
		r.close()
	}
	return nil
}

func (c *checker) problem(err error) {
	c.bad++
	c.v.wrong(err)
}

// shard checks the files of one shard. It fails only if the context is done.
func (c *checker) shard(ctx context.Context, s Shard) error {
	c.bad = 0
	for _, f := range s.all() {
		sum, err := store.SumFile(ctx, c.v.d.files, f.Path, f.Bytes)
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
func (c *checker) content(s Shard) error {
	first, rules := s.First, s.Rules
	steps, err := c.readers[stepsTable].open(s.Steps)
	if err != nil {
		return err
	}
	defer steps.close()
	w := stepWalk{rowWalk: rowWalk{cursor: steps}, c: c}
	if c.sampler != nil {
		if w.finals, err = c.v.d.walkFinals(c.readers[finalsTable], s.Finals); err != nil {
			return err
		}
		defer w.finals.cursor.close()
		c.sampler.Start()
	}
	m := c.v.d.manifest
	sums := newCounter(m.Game.Players, sidecar{Shard: s.Number, Files: s.Files})
	err = c.v.d.shardEpisodes(c.readers[episodesTable], s.Episodes, func(e *Episode) error {
		if e.ID != first || e.Rules != rules {
			return fmt.Errorf("%s: episode %d with rules number %d, expected %d with %d", s.Episodes.Path, e.ID, e.Rules, first, rules)
		}
		first++
		if sums.add(&e.Episode, e.Game); len(sums.pairs.list) > len(m.Totals.Pairings) {
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
		sums.counts.Sampled = c.sampler.Sums
	}
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	if c.v.bad == 0 { // otherwise totals are not compared, and the queue would wait for the shards that failed
		c.v.found.Put(s.Number, sums.sidecar())
	}
	return nil
}

// stepWalk goes through the step rows of a shard, episode by episode.
type stepWalk struct {
	rowWalk
	c      *checker
	finals *finalWalk // nil: there are none
}

// episode checks the step rows of e.
func (w *stepWalk) episode(e *Episode) error {
	c, path := w.c, w.cursor.file.Path
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
			return fmt.Errorf("%s: row %d, expected episode %d, turn %d, seat %d: %s", path, w.number(), e.ID, turn, seat, what)
		}
		c.reward = append(c.reward, w.data.reward[w.row])
		c.ret = append(c.ret, w.data.ret[w.row])
		w.row++
	}
	derive.Returns(c.reward, c.reward, e.Players, c.v.d.manifest.Reward.Gamma)
	for k, want := range c.reward {
		if math.Float32bits(want) != math.Float32bits(c.ret[k]) {
			return fmt.Errorf("%s: episode %d, turn %d, seat %d: return is %v, the rewards make %v", path, e.ID, k/e.Players, k%e.Players, c.ret[k], want)
		}
	}
	if w.finals == nil {
		return nil
	}
	f, err := w.finals.episode(e.ID)
	if err == nil && f.Turns != e.Turns {
		err = fmt.Errorf("%s: episode %d: turn %d, the episode has %d turns", w.finals.cursor.file.Path, e.ID, f.Turns, e.Turns)
	}
	return err
}

// next is more; it also adds every batch that it reads to the statistics.
func (w *stepWalk) next() (bool, error) {
	through := w.row == w.rows
	more, err := w.more()
	if s := w.c.sampler; more && through && s != nil {
		err = s.Batch(w.data.planes, w.data.packed, w.data.scalars, w.number(), w.rows)
	}
	return more, err
}

// wrong describes the first fault in the row of a turn and seat; "" if it is right.
func (w *stepWalk) wrong(e *Episode, turn, seat int) string {
	d, i := &w.data, w.row
	last := turn == e.Turns-1
	switch {
	case d.episode[i] != e.ID || int(d.turn[i]) != turn || int(d.seat[i]) != seat:
		return fmt.Sprintf("found episode %d, turn %d, seat %d", d.episode[i], d.turn[i], d.seat[i])
	case d.outcome[i] != e.Outcome[seat].Result:
		return fmt.Sprintf("outcome %v, the episode says %v", d.outcome[i], e.Outcome[seat].Result)
	case d.terminated[i] != flag(last && e.Status == sim.Over) || d.truncated[i] != flag(last && e.Status == sim.Cut):
		return fmt.Sprintf("terminated %d, truncated %d, the game is %v after %d turns", d.terminated[i], d.truncated[i], e.Status, e.Turns)
	}
	if d.chosen != nil && d.chosen[i] != e.Chosen[turn*e.Players+seat] {
		return fmt.Sprintf("chosen by member %d, the episode says %d", d.chosen[i], e.Chosen[turn*e.Players+seat])
	}
	if d.value != nil {
		if what := w.unlike(&e.Searches, turn*e.Players+seat); what != "" {
			return what
		}
	}
	want := e.OrdersOf(turn, sim.Player(seat))
	got := arrowfile.View[sim.Order](d.orders.List(i))
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
	if got, want := w.data.value[w.row], f.Value[k]; math.Float32bits(got) != math.Float32bits(want) {
		return fmt.Sprintf("search_value %v, the episode says %v", got, want)
	}
	part := w.c.moves.Of(k, k+1)
	for i, want := range [searchLists][]byte{arrowfile.Bytes(part.Shares), arrowfile.Bytes(part.Choices), arrowfile.Bytes(part.Counts)} {
		d := w.data.search[i]
		if d != nil && !bytes.Equal(d.List(w.row), want) {
			return fmt.Sprintf("%s %s, the episode says otherwise", d.Column.Name, d.ListText(w.row))
		}
	}
	return ""
}

// end checks that no rows are left.
func (w *stepWalk) end() error {
	if w.finals != nil {
		if err := w.finals.end(); err != nil {
			return err
		}
	}
	return w.rowWalk.end()
}
