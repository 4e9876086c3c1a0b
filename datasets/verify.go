package datasets

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"sort"
	"sync"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/sim"
)

// VerifyOptions say how thoroughly to look.
type VerifyOptions struct {
	Workers int // goroutines; at least 1
	// Recompute shards are made anew and compared; -1: all. They are spread
	// evenly over the dataset. If policies can be made the episodes are played
	// by them from the seed, else the recorded orders are played again.
	Recompute int
	// Progress, if not nil, is told how many shards are done, one call at a
	// time.
	Progress func(done, all int)
}

// Report tells what Verify found.
type Report struct {
	Shards     int      `json:"shards"`
	Episodes   uint64   `json:"episodes"`
	Rows       uint64   `json:"rows"`
	Bytes      uint64   `json:"bytes"`
	Recomputed int      `json:"recomputed"` // shards made anew and equal
	Replayed   bool     `json:"replayed"`   // only the orders were played again, not chosen again
	Problems   []string `json:"problems"`   // one line each; none: the dataset is what it says
}

// maxProblems bounds the problems that are listed.
const maxProblems = 100

// Verify checks a dataset: that the manifest is as it was written, that all
// its files are there and no others, with their sha256; that their schemas,
// row counts and totals are right, episodes, turns and seats follow each other,
// games end where they should and returns are the sums of the rewards. With
// Recompute it also makes shards anew and compares every bit.
//
// What is wrong with the dataset is in the Report. Errors are a manifest that
// cannot be read or used, makers that fail, and the context's.
func Verify(ctx context.Context, dir string, m Makers, o VerifyOptions) (*Report, error) {
	d, err := Open(dir)
	if err != nil {
		return nil, err
	}
	man := d.manifest
	v := &verifier{d: d, o: o, report: Report{
		Shards: len(man.Shards), Episodes: man.Totals.Episodes, Rows: man.Totals.Rows, Bytes: man.Totals.Bytes, Problems: []string{},
	}}
	if err := v.listing(); err != nil {
		return nil, err
	}
	anew, err := v.chosen(m)
	if err != nil {
		return nil, err
	}
	v.sums = make([]sidecar, len(man.Shards))
	err = parallel(ctx, o.Workers, len(man.Shards), v.checker, func(c *checker, i int) error {
		c.shard(i)
		if c.bad == 0 && anew != nil && anew.shards[i] {
			if err := c.again(ctx, anew, i); err != nil {
				return err
			}
		}
		v.tick()
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	v.totals()
	sort.Strings(v.report.Problems)
	return &v.report, nil
}

// verifier is one Verify.
type verifier struct {
	d    *Dataset
	o    VerifyOptions
	sums []sidecar // what the files hold, per shard

	mu     sync.Mutex
	report Report
	bad    int // problems found
	done   int
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
		v.o.Progress(v.done, len(v.d.manifest.Shards))
	}
}

// listing compares the names in the folder with those of the manifest.
func (v *verifier) listing() error {
	want := map[string]bool{manifestName: true, stepsDir: true, episodesDir: true}
	for _, s := range v.d.manifest.Shards {
		want[s.Steps.Path], want[s.Episodes.Path] = true, true
	}
	return filepath.WalkDir(v.d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(v.d.dir, path)
		if err != nil || name == "." {
			return err
		}
		if name = filepath.ToSlash(name); !want[name] {
			v.problem("%s: does not belong to the dataset", name)
		}
		return nil
	})
}

// totals compares the manifest's totals with what the files hold.
func (v *verifier) totals() {
	if v.bad > 0 {
		return
	}
	var got Manifest
	for _, c := range v.sums {
		got.add(c)
	}
	if !reflect.DeepEqual(got.Totals, v.d.manifest.Totals) {
		v.problem("%s: totals are %+v, the files hold %+v", manifestName, v.d.manifest.Totals, got.Totals)
	}
}

// checker checks shards, one after the other.
type checker struct {
	v        *verifier
	steps    *tableReader
	episodes *tableReader
	anew     *encoder
	bad      int // problems of the shard in hand
	reward   []float32
	ret      []float32
	sum      []float32
}

func (v *verifier) checker() (*checker, error) {
	c := &checker{v: v}
	var err error
	if c.steps, err = v.d.stepReader(nil); err != nil {
		return nil, err
	}
	c.episodes, err = v.d.episodeReader()
	return c, err
}

func (c *checker) close() {
	c.steps.close()
	c.episodes.close()
}

func (c *checker) problem(err error) {
	c.bad++
	c.v.problem("%v", err)
}

// shard checks the files of one shard.
func (c *checker) shard(i int) {
	c.bad = 0
	s := c.v.d.manifest.Shards[i]
	for _, f := range []File{s.Steps, s.Episodes} {
		sum, n, err := sumFile(filepath.Join(c.v.d.dir, filepath.FromSlash(f.Path)))
		switch {
		case err != nil:
			c.problem(err)
		case n != f.Bytes:
			c.problem(fmt.Errorf("%s: %d bytes, the manifest says %d", f.Path, n, f.Bytes))
		case sum != f.SHA256:
			c.problem(fmt.Errorf("%s: sha256 is %s, the manifest says %s", f.Path, sum, f.SHA256))
		}
	}
	if c.bad > 0 {
		return
	}
	if err := c.content(i, s); err != nil {
		c.problem(err)
	}
}

// content checks that the rows of a shard are what they must be.
func (c *checker) content(i int, s Shard) error {
	first, _, rules := c.v.d.manifest.Job.shard(i)
	steps, err := c.steps.open(s.Steps)
	if err != nil {
		return err
	}
	defer steps.close()
	w := stepWalk{c: c, cursor: steps}
	sums := counter{counts: sidecar{Shard: i, Steps: s.Steps, Episodes: s.Episodes}, players: c.v.d.manifest.Game.Players}
	err = c.v.d.shardEpisodes(c.episodes, s.Episodes, func(e *Episode) error {
		if e.ID != first || e.Rules != rules {
			return fmt.Errorf("%s: episode %d with rules number %d, expected %d with %d", s.Episodes.Path, e.ID, e.Rules, first, rules)
		}
		first++
		sums.add(&e.Episode)
		return w.episode(e)
	})
	if err != nil {
		return err
	}
	c.v.sums[i] = sums.counts
	return w.end()
}

// stepWalk goes through the step rows of a shard, episode by episode.
type stepWalk struct {
	c      *checker
	cursor *fileCursor
	data   stepData
	row    int // next in the batch
	rows   int // in the batch
}

// episode checks the step rows of e.
func (w *stepWalk) episode(e *Episode) error {
	c := w.c
	n := e.Turns * e.Players
	c.reward, c.ret = c.reward[:0], c.ret[:0]
	for k := range n {
		if w.row == w.rows {
			if more, err := w.next(); err != nil {
				return err
			} else if !more {
				return fmt.Errorf("%s: ends in episode %d, turn %d", w.cursor.file.Path, e.ID, k/e.Players)
			}
		}
		if what := w.wrong(e, k/e.Players, k%e.Players); what != "" {
			return fmt.Errorf("%s: row %d, expected episode %d, turn %d, seat %d: %s",
				w.cursor.file.Path, w.number(), e.ID, k/e.Players, k%e.Players, what)
		}
		c.reward = append(c.reward, w.data.reward[w.row])
		c.ret = append(c.ret, w.data.ret[w.row])
		w.row++
	}
	if cap(c.sum) < n {
		c.sum = make([]float32, 2*n)
	}
	c.sum = c.sum[:n]
	sumReturns(c.sum, c.reward, e.Players)
	for k, want := range c.sum {
		if math.Float32bits(want) != math.Float32bits(c.ret[k]) {
			return fmt.Errorf("%s: episode %d, turn %d, seat %d: return is %v, the rewards sum to %v",
				w.cursor.file.Path, e.ID, k/e.Players, k%e.Players, c.ret[k], want)
		}
	}
	return nil
}

func (w *stepWalk) next() (bool, error) {
	more, err := w.cursor.next()
	if more {
		w.data, w.row, w.rows = newStepData(w.c.steps.table), 0, w.c.steps.table.Rows
	}
	return more, err
}

// number of the row in the file.
func (w *stepWalk) number() uint64 { return w.cursor.rows - uint64(w.rows) + uint64(w.row) }

// wrong tells what is wrong with the row of a turn and seat.
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

// end checks that no rows are left.
func (w *stepWalk) end() error {
	if w.row < w.rows {
		return fmt.Errorf("%s: row %d belongs to no episode", w.cursor.file.Path, w.number())
	}
	more, err := w.next()
	if more {
		return fmt.Errorf("%s: row %d belongs to no episode", w.cursor.file.Path, w.number())
	}
	return err
}
