package datasets

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"moonfarm/datasets/internal/distinct"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
	"moonfarm/rollout/parallel"
)

// InspectOptions say how much to look at.
type InspectOptions struct {
	Workers int  // goroutines; at least 1
	Shards  int  // how many shards to read, spread evenly; 0: all
	Sums    bool // also the sha256 of every step column, over all shards
}

// Card sums up a dataset.
type Card struct {
	Manifest *Manifest `json:"manifest"`
	Shards   int       `json:"shards"` // read for the statistics
	Rows     uint64    `json:"rows"`   // read for the statistics
	Planes   []Stat    `json:"planes"` // per plane, if observations are planes
	Scalars  []Stat    `json:"scalars"`
	Distinct uint64    `json:"distinct"` // different games among the episodes; of format 2, whose manifest does not tell, those of the shards that were read, by their orders
	Turns    Stat      `json:"turns"`    // of episodes
	Reward   Stat      `json:"reward"`   // of rows
	Return   Stat      `json:"return"`   // of rows
	Choices  Stat      `json:"choices"`  // legal choices of rows, all heads together
	Labels   []Labels  `json:"labels"`   // per seat; none without an action column
	// Of the rows for which a policy searched; nil if none does in the dataset.
	Moves *Stat `json:"moves,omitempty"` // that the search weighed
	Value *Stat `json:"value,omitempty"` // that it found
	// SHA256 are the sums of the step columns, if they are asked for.
	SHA256 map[string]string `json:"sha256,omitempty"`
}

// Stat sums up numbers.
type Stat struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Mean    float64 `json:"mean"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Nonzero float64 `json:"nonzero"` // share of the numbers that are not 0
}

// Inspect reads a dataset and sums it up. The outcome balance is in
// Manifest.Totals. It fails as Open does, and on a damaged file, which the
// error names.
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
	ordered := inOrder[tallies]{take: func(t tallies) { sum.add(&t) }}
	var mu sync.Mutex
	err = parallel.Do(ctx, o.Workers, n, d.spread(n), d.inspector, func(_ context.Context, x *inspector, i int, s Shard) error {
		t := d.newTallies()
		if err := x.shard(s, &t); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		ordered.put(i, t)
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

// tally sums up numbers one by one, and counts them.
type tally[T uint64 | float64] struct {
	stats.Sum[T]
	n uint64
}

func (t *tally[T]) put(v T) {
	if t.n == 0 {
		t.Min, t.Max = v, v
	}
	t.n++
	t.Sum.Put(v)
}

// putCells adds the cells of one plane.
func putCells(t *tally[uint64], b []uint8) {
	if t.n == 0 {
		t.Min = math.MaxUint8
	}
	t.n += uint64(len(b))
	stats.AddCells(&t.Sum, b)
}

func (t *tally[T]) add(o *tally[T]) {
	switch {
	case t.n == 0:
		*t = *o
	case o.n > 0:
		t.n += o.n
		t.Sum.Add(&o.Sum)
	}
}

func (t *tally[T]) stat(f features.Field) Stat {
	s := t.Statistic(f.Name, float64(t.n))
	return Stat{f.Name, f.Unit, s.Mean, s.Min, s.Max, s.Nonzero}
}

// tallies are those of one shard, or of several added up in order.
type tallies struct {
	rows                        uint64
	planes                      []tally[uint64]
	scalars                     []tally[float64]
	labels                      []Labels // per seat
	turns, reward, ret, choices tally[float64]
	moves, value                tally[float64]
	games                       distinct.Set // if the manifest does not tell
}

func (d *Dataset) newTallies() (t tallies) {
	o := d.manifest.Observation
	if o.Form == ObsPlanes {
		t.planes = make([]tally[uint64], o.Planes)
	}
	if o.Form != ObsNone {
		t.scalars = make([]tally[float64], o.Scalars)
		t.labels = make([]Labels, d.manifest.Game.Players)
	}
	return t
}

func (t *tallies) add(o *tallies) {
	t.rows += o.rows
	for i := range t.planes {
		t.planes[i].add(&o.planes[i])
	}
	for i := range t.scalars {
		t.scalars[i].add(&o.scalars[i])
	}
	for i := range t.labels {
		t.labels[i].add(o.labels[i])
	}
	t.turns.add(&o.turns)
	t.reward.add(&o.reward)
	t.ret.add(&o.ret)
	t.choices.add(&o.choices)
	t.moves.add(&o.moves)
	t.value.add(&o.value)
	_ = t.games.Merge(o.games.Sample()) // it was counted here: cannot fail
}

func (t *tallies) card(m *Manifest) *Card {
	c := &Card{Manifest: m, Rows: t.rows, Planes: []Stat{}, Scalars: []Stat{}, Labels: []Labels{}}
	for i := range t.planes {
		c.Planes = append(c.Planes, t.planes[i].stat(stats.Field(m.Observation.PlaneFields, i)))
	}
	for i := range t.scalars {
		c.Scalars = append(c.Scalars, t.scalars[i].stat(stats.Field(m.Observation.ScalarFields, i)))
	}
	for i, l := range t.labels {
		l.Seat = i
		l.close()
		c.Labels = append(c.Labels, l)
	}
	c.Turns, c.Choices = t.turns.stat(features.Field{Name: "turns", Unit: "turns"}), t.choices.stat(features.Field{Name: "choices", Unit: "choices"})
	c.Reward, c.Return = t.reward.stat(features.Field{Name: "reward"}), t.ret.stat(features.Field{Name: "return"})
	if m.Job.Search {
		moves, value := t.moves.stat(features.Field{Name: "moves", Unit: "moves"}), t.value.stat(features.Field{Name: "value"})
		c.Moves, c.Value = &moves, &value
	}
	return c
}

// inspector reads shards into tallies.
type inspector struct {
	d     *Dataset
	r     *tableReader
	all   *tableReader // of episodes; nil: the manifest tells how many games there are
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

// Close lets go of the memory.
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
	for i := range rows {
		if d.planes != nil {
			for p := range t.planes {
				at := (i*len(t.planes) + p) * x.cells
				putCells(&t.planes[p], d.planes[at:at+x.cells])
			}
		}
		for k := range t.scalars {
			t.scalars[k].put(float64(d.scalars[i*len(t.scalars)+k]))
		}
		t.reward.put(float64(d.reward[i]))
		t.ret.put(float64(d.ret[i]))
		if d.mask != nil {
			n := 0
			for _, w := range d.mask[i*words : (i+1)*words] {
				n += bits.OnesCount64(w)
			}
			t.choices.put(float64(n))
		}
		if d.action != nil && int(d.seat[i]) < len(t.labels) {
			t.labels[d.seat[i]].put(d.action[i*heads : (i+1)*heads])
		}
		if d.value != nil && !math.IsNaN(float64(d.value[i])) {
			moves := d.search[searchPolicy].Ends
			t.moves.put(float64(moves[i+1] - moves[i]))
			t.value.put(float64(d.value[i]))
		}
		if d.seat[i] == 0 && d.terminated[i]|d.truncated[i] != 0 {
			t.turns.put(float64(d.turn[i] + 1))
		}
	}
}

// Labels counts the orders of one seat that the action column can express. A head
// of an action is used if its choice is not 0, and always if it is the only head,
// which has a choice for doing nothing. It is said if its choice is not -1, which
// stands for orders that are none of its choices.
type Labels struct {
	Seat  int   `json:"seat"`
	Heads Share `json:"heads"` // of the used heads of all rows, those that are said
	Rows  Share `json:"rows"`  // of all rows, those in which every head is said
	Told  Share `json:"told"`  // of the rows with a used head, those in which every head is said
}

// Share is a part of a number.
type Share struct {
	All   uint64  `json:"all"`
	Said  uint64  `json:"said"`
	Share float64 `json:"share"` // Said / All; 1 if there are none
}

func (s *Share) put(said bool) {
	s.All++
	if said {
		s.Said++
	}
}

func (s *Share) add(o Share) {
	s.All += o.All
	s.Said += o.Said
}

func (s *Share) close() {
	if s.Share = 1; s.All > 0 {
		s.Share = float64(s.Said) / float64(s.All)
	}
}

// put counts one row.
func (l *Labels) put(action []int32) {
	told, missing := uint64(0), uint64(0)
	for _, c := range action {
		if c != 0 {
			told++
		}
		if c < 0 {
			missing++
		}
	}
	if len(action) == 1 {
		told = 1
	}
	l.Heads.add(Share{All: told, Said: told - missing})
	l.Rows.put(missing == 0)
	if told > 0 {
		l.Told.put(missing == 0)
	}
}

func (l *Labels) add(o Labels) {
	l.Heads.add(o.Heads)
	l.Rows.add(o.Rows)
	l.Told.add(o.Told)
}

// close computes the shares.
func (l *Labels) close() {
	l.Heads.close()
	l.Rows.close()
	l.Told.close()
}

// inOrder passes values, which are put in any order, to take in the order of their
// numbers, from 0. It holds those whose turn has not come. It is not safe for
// concurrent use.
type inOrder[T any] struct {
	take  func(T)
	next  int
	early map[int]T
}

func (o *inOrder[T]) put(i int, v T) {
	if i != o.next {
		if o.early == nil {
			o.early = map[int]T{}
		}
		o.early[i] = v
		return
	}
	for ok := true; ok; v, ok = o.early[o.next] {
		delete(o.early, o.next)
		o.take(v)
		o.next++
	}
}
