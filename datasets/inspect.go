package datasets

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"sync"

	"moonfarm/datasets/internal/distinct"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
	"moonfarm/rollout/parallel"
)

// InspectOptions say how much Inspect reads.
type InspectOptions struct {
	Workers int  // goroutines; at least 1
	Shards  int  // how many shards to read, spread evenly; 0: all
	Sums    bool // also the sha256 of every step column, over all shards
	// Progress, if not nil, is called with the number of shards read, never by two
	// goroutines at once.
	Progress func(done, all int)
}

// Card sums up a dataset.
type Card struct {
	Manifest *Manifest `json:"manifest"`
	Shards   int       `json:"shards"` // read for the statistics
	Rows     uint64    `json:"rows"`   // read for the statistics
	Planes   []Summary `json:"planes"` // per plane, if observations are planes
	Scalars  []Summary `json:"scalars"`
	Distinct uint64    `json:"distinct"` // number of different games; in format 2 among the shards that were read, by their orders
	Turns    Summary   `json:"turns"`    // of episodes
	Reward   Summary   `json:"reward"`   // of rows
	Return   Summary   `json:"return"`   // of rows
	Choices  Summary   `json:"choices"`  // legal choices of rows, all heads together
	Labels   []Labels  `json:"labels"`   // per seat; none without an action column
	// Moves is the number of moves that a search weighed, over the rows with a search;
	// nil if no policy of the dataset searches.
	Moves *Summary `json:"moves,omitempty"`
	Value *Summary `json:"value,omitempty"` // results of the searches
	// SHA256 has the sums of the step columns, if InspectOptions.Sums is set.
	SHA256 map[string]string `json:"sha256,omitempty"`
}

// Summary sums up numbers.
type Summary = stats.Summary

// Labels counts the orders of one seat that the action column can express.
type Labels = stats.Labels

// Share is a part of a count.
type Share = stats.Share

// Inspect reads a dataset and sums it up. The outcome balance is in Manifest.Totals. It
// fails as Open does, and on a damaged file, which the error names.
func Inspect(ctx context.Context, dir string, o InspectOptions) (*Card, error) {
	d, err := OpenContext(ctx, dir)
	if err != nil {
		return nil, err
	}
	all, n := d.shards(), o.Shards
	if n <= 0 || n > all {
		n = all
	}
	sum := d.newTallies()
	ordered := parallel.Queue[tallies]{Take: func(t tallies) { sum.add(&t) }}
	var mu sync.Mutex
	done := 0
	err = parallel.Do(ctx, o.Workers, n, d.spread(n), d.inspector, func(_ context.Context, x *inspector, i int, s Shard) error {
		t := d.newTallies()
		if err := x.shard(s, &t); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		ordered.Put(i, t)
		if done++; o.Progress != nil {
			o.Progress(done, n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := sum.card(d.manifest)
	c.Shards = n
	if c.Distinct = d.manifest.Totals.Distinct; c.Distinct == 0 {
		c.Distinct = sum.games.Count()
	}
	if o.Sums {
		err = d.sums(ctx, o.Workers, c)
	}
	return c, err
}

// sums adds the sums of all step columns to the card.
func (d *Dataset) sums(ctx context.Context, workers int, c *Card) error {
	columns := d.manifest.Steps.Columns
	all := make([]string, len(columns))
	err := parallel.Each(ctx, workers, columns, func(_ context.Context, i int, col Column) (err error) {
		all[i], err = d.ColumnSHA256(stepsDir, col.Name)
		return err
	})
	c.SHA256 = map[string]string{}
	for i, s := range all {
		c.SHA256[columns[i].Name] = s
	}
	return err
}

// tallies sum up the rows of one shard, or of several added in order.
type tallies struct {
	rows                        uint64
	seen                        stats.Sums // planes and scalars
	labels                      []Labels   // per seat
	turns, reward, ret, choices stats.Tally
	moves, value                stats.Tally
	games                       distinct.Set // if the manifest does not count them
}

func (d *Dataset) newTallies() (t tallies) {
	o := d.manifest.Observation
	planes, scalars := 0, 0
	if o.Form == ObsPlanes {
		planes = o.Planes
	}
	if o.Form != ObsNone {
		scalars = o.Scalars
		t.labels = make([]Labels, d.manifest.Game.Players)
	}
	t.seen = stats.NewSums(planes, scalars)
	return t
}

func (t *tallies) add(o *tallies) {
	t.rows += o.rows
	_ = t.seen.Add(&o.seen) // cannot fail: of the same planes and scalars
	for i := range t.labels {
		t.labels[i].Add(o.labels[i])
	}
	t.turns.Add(&o.turns)
	t.reward.Add(&o.reward)
	t.ret.Add(&o.ret)
	t.choices.Add(&o.choices)
	t.moves.Add(&o.moves)
	t.value.Add(&o.value)
	_ = t.games.Merge(o.games.Sample()) // cannot fail: it was counted here
}

func (t *tallies) card(m *Manifest) *Card {
	o := m.Observation
	c := &Card{Manifest: m, Rows: t.rows, Labels: []Labels{}}
	c.Planes, c.Scalars = t.seen.Summaries(o.PlaneFields, o.ScalarFields, o.Height*o.Width)
	for i, l := range t.labels {
		l.Seat = i
		l.Close()
		c.Labels = append(c.Labels, l)
	}
	field := func(name, unit string) features.Field { return features.Field{Name: name, Unit: unit} }
	c.Turns, c.Choices = t.turns.Summary(field("turns", "turns")), t.choices.Summary(field("choices", "choices"))
	c.Reward, c.Return = t.reward.Summary(field("reward", "")), t.ret.Summary(field("return", ""))
	if m.Job.Search {
		moves, value := t.moves.Summary(field("moves", "moves")), t.value.Summary(field("value", ""))
		c.Moves, c.Value = &moves, &value
	}
	return c
}

// inspector reads shards into tallies.
type inspector struct {
	d     *Dataset
	r     *tableReader
	all   *tableReader // of episodes; nil: the manifest has the number of games
	cells int
}

func (d *Dataset) inspector() (*inspector, error) {
	want := map[string]bool{ColPlanes: true, ColScalars: true, ColMask: true, ColAction: true, ColTurn: true, ColSeat: true,
		ColReward: true, ColReturn: true, ColTerminated: true, ColTruncated: true, ColSearchValue: true, ColSearchPolicy: true}
	r, err := d.reader(stepsTable, func(name string) bool { return want[name] })
	x := &inspector{d: d, r: r, cells: d.manifest.Observation.Height * d.manifest.Observation.Width}
	if err == nil && d.manifest.Format == 2 {
		x.all, err = d.reader(episodesTable, nil)
	}
	return x, err
}

// Close releases the memory.
func (x *inspector) Close() error {
	x.r.close()
	if x.all != nil {
		x.all.close()
	}
	return nil
}

func (x *inspector) shard(s Shard, t *tallies) error {
	if x.all != nil {
		if err := x.d.shardEpisodes(x.all, s.Episodes, func(e *Episode) error {
			t.games.Add(games.ByOrders(e.Rules, &e.Episode))
			return nil
		}); err != nil {
			return err
		}
	}
	return x.r.read(s.Steps, func(uint64) error {
		x.batch(t)
		return nil
	})
}

func (x *inspector) batch(t *tallies) {
	rows, d := x.r.table.Rows, newStepData(x.r.table, x.r.table.Rows)
	t.rows += uint64(rows)
	words, heads := x.d.manifest.Action.MaskWords, len(x.d.manifest.Action.Heads)
	planes, scalars := len(t.seen.Planes)*x.cells, len(t.seen.Scalars)
	for i := range rows {
		t.seen.Row(part(d.planes, i, 1, planes), part(d.scalars, i, 1, scalars))
		t.reward.Put(float64(d.reward[i]))
		t.ret.Put(float64(d.ret[i]))
		if d.mask != nil {
			n := 0
			for _, w := range d.mask[i*words : (i+1)*words] {
				n += bits.OnesCount64(w)
			}
			t.choices.Put(float64(n))
		}
		if d.action != nil && int(d.seat[i]) < len(t.labels) {
			t.labels[d.seat[i]].Put(d.action[i*heads : (i+1)*heads])
		}
		if d.value != nil && !math.IsNaN(float64(d.value[i])) {
			moves := d.search[searchPolicy].Ends
			t.moves.Put(float64(moves[i+1] - moves[i]))
			t.value.Put(float64(d.value[i]))
		}
		if d.seat[i] == 0 && d.terminated[i]|d.truncated[i] != 0 {
			t.turns.Put(float64(d.turn[i] + 1))
		}
	}
}

// SampleBatches reads a sample of the step rows: of that many shards, spread evenly over
// the dataset, every every-th batch of their files, beginning with batch number every/2.
// The batches are counted through all these shards. All batches of all shards are all
// rows. Numbers below 1 count as 1, and there are at most all shards. With columns, the
// batches have these alone. The iteration ends after the first error, which names the
// file.
func (d *Dataset) SampleBatches(shards, every int, columns ...string) iter.Seq2[*Batch, error] {
	every = max(every, 1)
	return sequence(func(yield func(*Batch) error) error {
		_, want, err := d.find(stepsDir, columns...)
		if err != nil {
			return err
		}
		next := every / 2
		return d.eachShard(d.spread(min(max(shards, 1), d.shards())), stepsTable, want, func(r *tableReader, s Shard) error {
			c, err := r.open(s.Steps)
			if err != nil {
				return err
			}
			defer c.close()
			for ; next < c.batches; next += every {
				c.batch = next
				if _, err := c.next(); err != nil {
					return err
				}
				b := Batch{table: r.table}
				b.set()
				if err := yield(&b); err != nil {
					return err
				}
			}
			next -= c.batches
			if every > 1 {
				return nil
			}
			_, err = c.next() // compares the number of rows with the index
			return err
		})
	})
}
