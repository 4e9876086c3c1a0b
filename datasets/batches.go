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
	Validation       // a share of the episodes, the same whoever asks
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
	n := b.table.Rows
	s := newStepData(b.table)
	b.Rows = n
	b.Episode, b.Turn, b.Seat = head(s.episode, n), head(s.turn, n), head(s.seat, n)
	b.Planes, b.Packed, b.Scalars = rows(b, s.planes, ColPlanes), rows(b, s.packed, ColPacked), rows(b, s.scalars, ColScalars)
	b.Mask, b.Action = rows(b, s.mask, ColMask), rows(b, s.action, ColAction)
	b.Reward, b.Return, b.Outcome = head(s.reward, n), head(s.ret, n), head(s.outcome, n)
	b.Terminated, b.Truncated = head(s.terminated, n), head(s.truncated, n)
	if s.orders != nil {
		b.Orders, b.OrderEnds = arrowfile.View[sim.Order](s.orders.Bytes), s.orders.Ends
	}
}

func rows[T any](b *Batch, s []T, column string) []T {
	if s == nil {
		return nil
	}
	return s[:b.table.Rows*b.table.Col(column).Column.Values()]
}

func head[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	return s[:n]
}

// check tells what is wrong with the options.
func (d *Dataset) checkRead(o *ReadOptions) error {
	if o.Rows == 0 {
		o.Rows = 1024
	}
	if o.Rows < 0 || o.Shuffle < 0 || !(o.Validation >= 0 && o.Validation <= 1) || o.Split > Validation {
		return fmt.Errorf("read: %d rows, shuffle %d, split %d, validation share %g", o.Rows, o.Shuffle, o.Split, o.Validation)
	}
	for _, name := range o.Columns {
		if !slices.ContainsFunc(d.steps.Columns, func(c Column) bool { return c.Name == name }) {
			return fmt.Errorf("no column %q in the steps", name)
		}
	}
	return nil
}

// Batches reads step rows. Memory is that of two batches of the file, one of
// the reader's, and the shuffle window. The iteration ends after the first
// error: that of the options, the disk or a damaged file, which it names.
func (d *Dataset) Batches(o ReadOptions) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		g, err := d.gather(o)
		if err != nil {
			yield(nil, err)
			return
		}
		defer g.in.close()
		g.yield = yield
		if err := g.run(d.manifest.Shards); err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

// errStop ends an iteration whose consumer has left.
var errStop = fmt.Errorf("stop")

// gatherer carries rows from files through the shuffle window to batches.
type gatherer struct {
	o     ReadOptions
	seed  uint64 // of the split
	in    *tableReader
	pool  *arrowfile.Table // the shuffle window; nil: none
	out   *arrowfile.Table
	b     Batch
	rand  prng.Rand
	order []int32
	yield func(*Batch, error) bool
}

func (d *Dataset) gather(o ReadOptions) (*gatherer, error) {
	if err := d.checkRead(&o); err != nil {
		return nil, err
	}
	asked := func(name string) bool { return len(o.Columns) == 0 || slices.Contains(o.Columns, name) }
	// The split looks at the episode whether it is asked for or not.
	in, err := d.stepReader(func(name string) bool { return asked(name) || o.Split != All && name == ColEpisode })
	if err != nil {
		return nil, err
	}
	g := &gatherer{o: o, seed: d.manifest.Job.Seed, in: in}
	g.rand = prng.New(prng.Key(o.Seed, o.Epoch, 0, 0, prng.PurposeShuffle))
	if g.out, err = arrowfile.NewTable(d.steps, o.Rows, asked); err == nil && o.Shuffle > 0 {
		g.pool, err = arrowfile.NewTable(d.steps, o.Shuffle, asked)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	g.b.table = g.out
	return g, nil
}

// run reads all shards.
func (g *gatherer) run(shards []Shard) error {
	order := make([]int32, len(shards))
	for i := range order {
		order[i] = int32(i)
	}
	if g.pool != nil {
		g.shuffle(order)
	}
	for _, i := range order {
		err := g.in.read(shards[i].Steps, func(uint64) error { return g.batch() })
		if err != nil {
			return err
		}
	}
	if err := g.empty(); err != nil {
		return err
	}
	return g.flush()
}

func (g *gatherer) shuffle(s []int32) {
	for i := len(s) - 1; i > 0; i-- {
		k := g.rand.IntN(i + 1)
		s[i], s[k] = s[k], s[i]
	}
}

// batch passes on the rows of the input that are in the split.
func (g *gatherer) batch() error {
	to, full := g.out, g.flush
	if g.pool != nil {
		to, full = g.pool, g.empty
	}
	var episode []uint64
	if g.o.Split != All {
		episode = arrowfile.View[uint64](g.in.table.Col(ColEpisode).Fixed)
	}
	for i := range g.in.table.Rows {
		if episode != nil && inValidation(g.seed, episode[i], g.o.Validation) != (g.o.Split == Validation) {
			continue
		}
		appendRow(to, g.in.table, i)
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
	if !g.yield(&g.b, nil) {
		return errStop
	}
	g.out.Reset()
	return nil
}

// inValidation tells whether an episode is for validation when that share is.
// It depends on the dataset's seed, so growing the share only adds episodes.
func inValidation(seed, episode uint64, share float64) bool {
	r := prng.New(prng.Key(seed, episode, 0, 0, prng.PurposeSplit))
	return r.Float64() < share
}
