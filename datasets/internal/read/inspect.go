package read

import (
	"context"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
	"moonfarm/rollout/parallel"
	"moonfarm/sim"
)

// InspectOptions say how much Inspect reads.
type InspectOptions struct {
	Workers int  // goroutines; at least 1
	Shards  int  // how many shards to read, spread evenly; 0: all
	Sums    bool // also the sha256 of every step column, over all shards
	// Details asks for Overview.Details. Then a sample of the rows is read, in bounded time, of at most
	// Shards shards.
	Details bool
	// Orders returns orders as texts for people, for Details; nil: the game has none.
	Orders func(orders []sim.Order) []string
	// Progress, if not nil, is called with the number of shards read, never by two
	// goroutines at once.
	Progress func(done, all int)
}

// Overview sums up a dataset: what inspect prints, and with Details what a page shows.
type Overview struct {
	Manifest *about.Manifest `json:"manifest"`
	Shards   int             `json:"shards"` // read for the statistics
	Rows     uint64          `json:"rows"`   // read for the statistics
	Planes   []stats.Summary `json:"planes"` // per plane, if observations are planes
	Scalars  []stats.Summary `json:"scalars"`
	Distinct uint64          `json:"distinct"` // number of different games; by their start and all orders
	Turns    stats.Summary   `json:"turns"`    // of episodes
	Reward   stats.Summary   `json:"reward"`   // of rows
	Return   stats.Summary   `json:"return"`   // of rows
	Choices  stats.Summary   `json:"choices"`  // legal choices of rows, all heads together
	Labels   []stats.Labels  `json:"labels"`   // per seat; none without an action column
	// Moves is the number of moves that a search weighed, over the rows with a search;
	// nil if no policy of the dataset searches.
	Moves *stats.Summary `json:"moves,omitempty"`
	Value *stats.Summary `json:"value,omitempty"` // results of the searches
	// SHA256 has the sums of the step columns, if InspectOptions.Sums is set.
	SHA256  map[string]string `json:"sha256,omitempty"`
	Details *Details          `json:"details,omitempty"` // if InspectOptions.Details is set
}

// Inspect reads a dataset and sums it up.
func Inspect(ctx context.Context, dir string, o InspectOptions) (*Overview, error) {
	d, err := OpenContext(ctx, dir)
	if err != nil {
		return nil, err
	}
	return d.Overview(ctx, o)
}

// Overview is Inspect for a dataset that is open.
func (d *Dataset) Overview(ctx context.Context, o InspectOptions) (c *Overview, err error) {
	sum := d.newTallies()
	var details *Details
	shards := 0
	if o.Details {
		details, shards, err = d.details(ctx, o, &sum)
	} else {
		shards, err = d.tally(ctx, o, &sum)
	}
	if err != nil {
		return nil, err
	}
	c = sum.overview(d.manifest)
	c.Shards, c.Details = shards, details
	if o.Sums {
		err = d.sums(ctx, o.Workers, c)
	}
	return c, err
}

// tally reads all rows of some shards, and returns the number of shards.
func (d *Dataset) tally(ctx context.Context, o InspectOptions, sum *tallies) (int, error) {
	all, n := d.ShardCount(), o.Shards
	if n <= 0 || n > all {
		n = all
	}
	ordered := parallel.Queue[tallies]{Take: func(t tallies) { sum.add(&t) }}
	var mu sync.Mutex
	done := 0
	start := func() (*TableReader, error) {
		return d.Reader(about.StepsTable, func(name string) bool { return slices.Contains(inspected, name) })
	}
	return n, parallel.Do(ctx, o.Workers, n, d.Spread(n), start, func(_ context.Context, r *TableReader, i int, s about.Shard) error {
		t := d.newTallies()
		err := r.Read(s.Steps, func(uint64) error {
			b := BatchOf(r.Table, r.Table.Rows)
			t.batch(&b, d.manifest, nil, nil)
			return nil
		})
		if err != nil {
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
}

// sums adds the sums of all step columns to the Overview.
func (d *Dataset) sums(ctx context.Context, workers int, c *Overview) error {
	columns := d.manifest.Steps.Columns
	all := make([]string, len(columns))
	err := parallel.Each(ctx, workers, columns, func(_ context.Context, i int, col arrowfile.Column) (err error) {
		all[i], err = d.ColumnSHA256(about.StepsDir, col.Name)
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
	seen                        stats.Sums     // planes and scalars
	labels                      []stats.Labels // per seat
	turns, reward, ret, choices stats.Tally
	moves, value                stats.Tally
}

func (d *Dataset) newTallies() (t tallies) {
	o := d.manifest.Observation
	planes, scalars := 0, 0
	if o.Form == about.ObsPlanes {
		planes = o.Planes
	}
	if o.Form != about.ObsNone {
		scalars = o.Scalars
		t.labels = make([]stats.Labels, d.manifest.Game.Players)
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
}

func (t *tallies) overview(m *about.Manifest) *Overview {
	o := m.Observation
	c := &Overview{Manifest: m, Rows: t.rows, Distinct: m.Totals.Distinct, Labels: []stats.Labels{}}
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

// inspected lists the step columns that tallies need.
var inspected = []string{about.ColPlanes, about.ColScalars, about.ColMask, about.ColAction, about.ColTurn, about.ColSeat, about.ColReward, about.ColReturn,
	about.ColTerminated, about.ColTruncated, about.ColSearchValue, about.ColSearchPolicy}

// batch adds the rows of a batch. With unpack, packed observations are unpacked into seen.
func (t *tallies) batch(b *Batch, m *about.Manifest, unpack *features.Unpacker, seen []uint8) {
	t.rows += uint64(b.Rows)
	heads, planes, scalars := len(m.Action.Heads), len(t.seen.Planes)*m.Observation.Height*m.Observation.Width, len(t.seen.Scalars)
	for i := range b.Rows {
		if unpack == nil {
			seen = about.RowsOf(b.Planes, i, 1, planes)
		} else {
			unpack.Unpack(seen, about.RowsOf(b.Packed, i, 1, m.Observation.Words))
		}
		t.seen.Row(seen, about.RowsOf(b.Scalars, i, 1, scalars))
		t.reward.Put(float64(b.Reward[i]))
		t.ret.Put(float64(b.Return[i]))
		if b.Mask != nil {
			t.choices.Put(float64(choices(b, i)))
		}
		if b.Action != nil && int(b.Seat[i]) < len(t.labels) {
			t.labels[b.Seat[i]].Put(about.RowsOf(b.Action, i, 1, heads))
		}
		if b.SearchValue != nil && !math.IsNaN(float64(b.SearchValue[i])) {
			t.moves.Put(float64(b.SearchEnds[i+1] - b.SearchEnds[i]))
			t.value.Put(float64(b.SearchValue[i]))
		}
		if b.Seat[i] == 0 && b.Terminated[i]|b.Truncated[i] != 0 {
			t.turns.Put(float64(b.Turn[i] + 1))
		}
	}
}

// choices returns the number of legal choices of a row.
func choices(b *Batch, i int) (n int) {
	for _, w := range about.RowsOf(b.Mask, i, 1, len(b.Mask)/b.Rows) {
		n += bits.OnesCount64(w)
	}
	return n
}

// Sampled reads a sample of the step rows: of that many shards, spread evenly over the dataset, every
// every-th batch of their files, beginning with batch number every/2. The batches are counted through all
// these shards. All batches of all shards are all rows. The iteration ends after the first error, which
// names the file.
func (d *Dataset) Sampled(shards, every int) iter.Seq2[*Batch, error] {
	return sequence(func(yield func(*Batch) error) error {
		next := every / 2
		return d.eachShard(d.Spread(shards), about.StepsTable, nil, func(r *TableReader, s about.Shard) error {
			c, err := r.Open(s.Steps)
			if err != nil {
				return err
			}
			defer c.Close()
			for ; next < c.batches; next += every {
				c.batch = next
				if _, err := c.Next(); err != nil {
					return err
				}
				b := BatchOf(r.Table, r.Table.Rows)
				if err := yield(&b); err != nil {
					return err
				}
			}
			next -= c.batches
			if every > 1 {
				return nil
			}
			_, err = c.Next() // compares the number of rows with the index
			return err
		})
	})
}
