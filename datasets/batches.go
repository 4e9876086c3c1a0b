package datasets

import (
	"fmt"
	"iter"
	"slices"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Split is a part of the episodes.
type Split uint8

const (
	All        Split = iota
	Train            // all but the validation part
	Validation       // a share of the episodes, the same for every reader
)

// ReadOptions say what to read and in which order. The zero value reads all
// rows in their order.
type ReadOptions struct {
	Columns []string // step columns wanted; none: all
	Rows    int      // rows in a batch; the last may have fewer; 0: 1024

	// Shuffle > 0 reads the shards in random order and shuffles rows within
	// windows of so many. Seed and Epoch choose the order.
	Shuffle     int
	Seed, Epoch uint64

	Split      Split
	Validation float64 // share of the episodes that are for validation, 0 … 1
}

// Batch holds some step rows, slab by slab: a column of shape [A, B] is one
// slice of Rows×A×B values, row-major. Columns not asked for, or not in the
// dataset, are nil. It is valid until the next one is asked for.
type Batch struct {
	Rows int

	Episode    []uint64  // [Rows]
	Turn       []int32   // [Rows]
	Seat       []uint8   // [Rows]
	Planes     []uint8   // [Rows, P, H, W]
	Packed     []uint64  // [Rows, Words]
	Scalars    []float32 // [Rows, S]
	Mask       []uint64  // [Rows, MaskWords]
	Action     []int32   // [Rows, heads]
	Orders     []sim.Order
	OrderEnds  []int32   // [Rows+1]: the orders of row i are Orders[OrderEnds[i]:OrderEnds[i+1]]
	Reward     []float32 // [Rows]
	Return     []float32 // [Rows]
	Outcome    []float32 // [Rows]
	Terminated []uint8   // [Rows] 0 or 1
	Truncated  []uint8   // [Rows] 0 or 1
	Chosen     []uint8   // [Rows] which member of the policy chose; where Job.Members has lists

	table *arrowfile.Table
}

// Shape is the shape of a column of the batch: the rows, then the shape of a
// row. It is nil for lists and columns not asked for.
func (b *Batch) Shape(column string) []int {
	d := b.table.Col(column)
	if d == nil || d.Column.List {
		return nil
	}
	return append([]int{b.Rows}, d.Column.Shape...)
}

// set points the slices at the rows of the table.
func (b *Batch) set() {
	s := newStepData(b.table, b.table.Rows)
	b.Rows = b.table.Rows
	b.Episode, b.Turn, b.Seat = s.episode, s.turn, s.seat
	b.Planes, b.Packed, b.Scalars = s.planes, s.packed, s.scalars
	b.Mask, b.Action = s.mask, s.action
	b.Reward, b.Return, b.Outcome = s.reward, s.ret, s.outcome
	b.Terminated, b.Truncated, b.Chosen = s.terminated, s.truncated, s.chosen
	if s.orders != nil {
		b.Orders, b.OrderEnds = arrowfile.View[sim.Order](s.orders.Bytes), s.orders.Ends
	}
}

// checkRead fills in defaults. It fails if an option is out of range or names a
// column that is not there.
func (d *Dataset) checkRead(o *ReadOptions) error {
	if o.Rows == 0 {
		o.Rows = 1024
	}
	if o.Rows < 0 || o.Shuffle < 0 || !(o.Validation >= 0 && o.Validation <= 1) || o.Split > Validation {
		return fmt.Errorf("read: %d rows, shuffle %d, split %d, validation share %g", o.Rows, o.Shuffle, o.Split, o.Validation)
	}
	_, _, err := d.find(stepsDir, o.Columns...)
	return err
}

// Batches reads step rows. It takes the memory of two batches of the file, of one
// batch of ReadOptions.Rows, and of the shuffle window. The iteration ends after the first
// error: that of the options, the disk or a damaged file, which it names.
func (d *Dataset) Batches(o ReadOptions) iter.Seq2[*Batch, error] {
	return sequence(func(yield func(*Batch) error) error {
		g, err := d.gather(o)
		if err != nil {
			return err
		}
		g.yield = yield
		shards := d.Shards()
		if g.pool != nil {
			if shards, err = g.shuffled(shards, d.shards()); err != nil {
				return err
			}
		}
		// The split needs the episode numbers even if they are not asked for.
		want := func(name string) bool { return g.asked(name) || o.Split != All && name == ColEpisode }
		err = d.eachShard(shards, stepsTable, want, func(r *tableReader, s Shard) error {
			return r.read(s.Steps, func(uint64) error { return g.batch(r.table) })
		})
		if err == nil {
			err = g.empty()
		}
		if err == nil {
			err = g.flush()
		}
		return err
	})
}

// gatherer copies rows from the batches of files to the shuffle window, if there
// is one, and from there to the batches that are yielded.
type gatherer struct {
	o     ReadOptions
	seed  uint64 // of the split
	asked func(column string) bool
	pool  *arrowfile.Table // the shuffle window; nil: none
	out   *arrowfile.Table
	b     Batch
	rand  prng.Rand
	order []int32
	yield func(*Batch) error
}

func (d *Dataset) gather(o ReadOptions) (*gatherer, error) {
	if err := d.checkRead(&o); err != nil {
		return nil, err
	}
	g := &gatherer{o: o, seed: d.manifest.Job.Seed}
	g.asked = func(name string) bool { return len(o.Columns) == 0 || slices.Contains(o.Columns, name) }
	g.rand = prng.New(prng.Key(o.Seed, o.Epoch, 0, 0, prng.PurposeShuffle))
	var err error
	if g.out, err = arrowfile.NewTable(d.tables[stepsTable].schema, o.Rows, g.asked); err == nil && o.Shuffle > 0 {
		g.pool, err = arrowfile.NewTable(d.tables[stepsTable].schema, o.Shuffle, g.asked)
	}
	g.b.table = g.out
	return g, err
}

// shuffled lists n shards in random order, with their files of steps alone. Of
// each file it holds the numbers: its name follows from the place in the list.
func (g *gatherer) shuffled(shards iter.Seq2[Shard, error], n int) (iter.Seq2[Shard, error], error) {
	rows, bytes := make([]uint64, 0, n), make([]uint64, 0, n)
	order := make([]int32, 0, n)
	for s, err := range shards {
		if err != nil {
			return nil, err
		}
		order = append(order, int32(len(order)))
		rows, bytes = append(rows, s.Steps.Rows), append(bytes, s.Steps.Bytes)
	}
	g.shuffle(order)
	return func(yield func(Shard, error) bool) {
		for _, i := range order {
			if !yield(Shard{Files: Files{Steps: File{Path: pathOf(stepsDir, int(i)), Rows: rows[i], Bytes: bytes[i]}}}, nil) {
				return
			}
		}
	}, nil
}

func (g *gatherer) shuffle(s []int32) {
	for i := len(s) - 1; i > 0; i-- {
		k := g.rand.IntN(i + 1)
		s[i], s[k] = s[k], s[i]
	}
}

// batch passes on the rows of a batch of a file that are in the split.
func (g *gatherer) batch(in *arrowfile.Table) error {
	to, full := g.out, g.flush
	if g.pool != nil {
		to, full = g.pool, g.empty
	}
	var episode []uint64
	if g.o.Split != All {
		episode = arrowfile.View[uint64](in.Col(ColEpisode).Fixed)
	}
	for i := range in.Rows {
		if episode != nil && inValidation(g.seed, episode[i], g.o.Validation) != (g.o.Split == Validation) {
			continue
		}
		appendRow(to, in, i)
		if to.Rows == to.Cap {
			if err := full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendRow copies row i of from to the end of to, which may have fewer
// columns.
func appendRow(to, from *arrowfile.Table, i int) {
	for k, d := range to.Data {
		if d != nil {
			d.AppendRow(to.Rows, from.Data[k], i)
		}
	}
	to.Rows++
}

// empty passes on the rows of the shuffle window in random order.
func (g *gatherer) empty() error {
	if g.pool == nil {
		return nil
	}
	g.order = g.order[:0]
	for i := range g.pool.Rows {
		g.order = append(g.order, int32(i))
	}
	g.shuffle(g.order)
	for _, i := range g.order {
		appendRow(g.out, g.pool, int(i))
		if g.out.Rows == g.out.Cap {
			if err := g.flush(); err != nil {
				return err
			}
		}
	}
	g.pool.Reset()
	return nil
}

// flush hands over the rows gathered so far.
func (g *gatherer) flush() error {
	if g.out.Rows == 0 {
		return nil
	}
	g.b.set()
	if err := g.yield(&g.b); err != nil {
		return err
	}
	g.out.Reset()
	return nil
}

// inValidation reports whether an episode is in the validation part when this
// part has the given share. A larger share adds episodes and removes none.
func inValidation(seed, episode uint64, share float64) bool {
	r := prng.New(prng.Key(seed, episode, 0, 0, prng.PurposeSplit))
	return r.Float64() < share
}
