package report

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/stats"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Bounds of what a page reads.
const (
	mostShards  = 64        // whose rows are sampled
	mostRows    = 200_000   // read without their planes
	mostBytes   = 192 << 20 // of the rows that are read, uncompressed
	leastBatch  = 16        // batches to read, although they have more bytes
	mostKept    = 4000      // rows whose numbers make the small histograms
	mostLengths = 1000      // shards whose episodes are all counted
	mostTexts   = 1 << 19   // different orders whose kinds are remembered
	anyKind     = "order"   // the kind of orders without a text
	planeBytes  = 96 << 20  // of the planes that are summed
	mostKinds   = 1000      // of orders; the others count as anyKind
)

// sampled says which part of the rows a pass read.
type sampled struct {
	shards, every int
	rows          uint64
	stride        int // distance of the rows of which numbers are kept
}

// plan chooses the batches of a pass that reads some columns.
func (b *builder) plan(columns []string, keep uint64) sampled {
	t := b.m.Totals
	n := min(t.Shards, mostShards)
	if b.o.Shards > 0 {
		n = min(n, uint64(b.o.Shards))
	}
	width := 1
	for _, c := range b.m.Steps.Columns {
		if slices.Contains(columns, c.Name) && !c.List {
			width += c.Width()
		}
	}
	rows := t.Rows
	if n < t.Shards {
		rows = t.Rows / t.Shards * n
	}
	s, most := sampled{shards: int(n), every: 1}, min(mostRows, mostBytes/uint64(width))
	if rows > most {
		batch := max(1, min(uint64(b.m.Steps.BatchRows), rows/n)) // rows in most batches
		want := max(most/batch, leastBatch)
		s.every = int(max(1, (rows/batch+want-1)/want))
	}
	keep = max(keep, 1)
	s.stride = int(max(1, (rows/uint64(s.every)+keep-1)/keep))
	return s
}

// text says what a pass read.
func (s *sampled) text(b *builder) string {
	t := b.m.Totals
	if s.rows == t.Rows {
		return fmt.Sprintf("These figures are of all %s.", texts.Plural(t.Rows, "row"))
	}
	which := "all"
	if s.every > 1 {
		which = fmt.Sprintf("one of %d batches", s.every)
	}
	in := fmt.Sprintf("%s of %s", texts.Group(s.shards), texts.Plural(t.Shards, "shard"))
	if uint64(s.shards) == t.Shards {
		in = "the " + texts.Plural(t.Shards, "shard")
	}
	return fmt.Sprintf("These figures are of a sample of %s of %s: %s in %s, spread evenly.", texts.Group(s.rows), texts.Plural(t.Rows, "row"), which, in)
}

// counts has the number of times of each number.
type counts map[int]uint64

// seatSample has figures of the rows of one seat.
type seatSample struct {
	rows   uint64
	orders counts // of rows
	labels stats.Labels
	asked  stats.Share // rows in which the policy that was asked chooses as the one that played
	chosen map[int]uint64
	byTurn counts // orders of each turn
	inTurn counts // rows of each turn
}

// rowSample has figures of a sample of rows, without their planes.
type rowSample struct {
	sampled
	seats                      []seatSample
	masks, used, moves         counts
	offsets                    []int               // of each head in taken
	taken                      []uint64            // by choice
	first                      map[int][]sim.Order // the orders of the first row with a choice, in games of one head
	kinds                      []map[string]uint64 // orders of each seat
	lengths                    lengthSample        // in a dataset of many shards
	reward, ret, value, nMoves stats.Tally
	scalars                    stats.Sums
	numbers                    [][]float32 // scalars of some rows, scalar by scalar
	returns, values            []float32   // of some rows
	kindOf                     map[sim.Order]string
}

// rowColumns are the columns that a pass without planes reads.
var rowColumns = []string{datasets.ColTurn, datasets.ColSeat, datasets.ColScalars, datasets.ColMask, datasets.ColAction, datasets.ColAsked, datasets.ColOrders,
	datasets.ColReward, datasets.ColReturn, datasets.ColChosen, datasets.ColTerminated, datasets.ColTruncated, datasets.ColSearchValue, datasets.ColSearchPolicy}

// readRows reads a sample of the rows without their planes.
func (b *builder) readRows() error {
	r := &b.rows
	var columns []string
	for _, c := range rowColumns {
		if b.has(c) {
			columns = append(columns, c)
		}
	}
	r.begin(b)
	r.sampled = b.plan(columns, mostKept)
	for batch, err := range b.d.SampleBatches(r.shards, r.every, columns...) {
		if err == nil {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		for i := range batch.Rows {
			if err := b.row(batch, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin makes the memory of the sample.
func (r *rowSample) begin(b *builder) {
	players := b.m.Game.Players
	*r = rowSample{masks: counts{}, used: counts{}, moves: counts{}, first: map[int][]sim.Order{}, kindOf: map[sim.Order]string{},
		lengths: lengthSample{turns: counts{}}}
	for range players {
		r.seats = append(r.seats, seatSample{orders: counts{}, chosen: map[int]uint64{}, byTurn: counts{}, inTurn: counts{}})
		r.kinds = append(r.kinds, map[string]uint64{})
	}
	if b.has(datasets.ColAction) {
		n := 0
		for _, size := range b.m.Action.Heads {
			r.offsets = append(r.offsets, n)
			n += size
		}
		r.taken = make([]uint64, n)
	}
	scalars := 0
	if b.has(datasets.ColScalars) {
		scalars = b.m.Observation.Scalars
	}
	r.scalars, r.numbers = stats.NewSums(0, scalars), make([][]float32, scalars)
}

// row adds one row. Rows of seats that the game lacks are left out.
func (b *builder) row(x *datasets.Batch, i int) error {
	r, seat := &b.rows, int(x.Seat[i])
	if seat >= len(r.seats) {
		return nil
	}
	kept := r.rows%uint64(r.stride) == 0
	r.rows++
	s := &r.seats[seat]
	s.rows++
	r.reward.Put(float64(x.Reward[i]))
	r.ret.Put(float64(x.Return[i]))
	if kept {
		r.returns = append(r.returns, x.Return[i])
	}
	if n := b.m.Observation.Scalars; x.Scalars != nil {
		v := x.Scalars[i*n : (i+1)*n]
		r.scalars.Row(nil, v)
		for k := range v {
			if kept {
				r.numbers[k] = append(r.numbers[k], v[k])
			}
		}
	}
	if n := b.m.Action.MaskWords; x.Mask != nil {
		legal := 0
		for _, w := range x.Mask[i*n : (i+1)*n] {
			legal += bits.OnesCount64(w)
		}
		r.masks[legal]++
	}
	if x.Chosen != nil {
		s.chosen[int(x.Chosen[i])]++
	}
	if x.SearchValue != nil && !math.IsNaN(float64(x.SearchValue[i])) {
		n := int(x.SearchEnds[i+1] - x.SearchEnds[i])
		r.moves[n]++
		r.nMoves.Put(float64(n))
		r.value.Put(float64(x.SearchValue[i]))
		r.values = append(r.values, x.SearchValue[i])
	}
	orders := x.Orders[x.OrderEnds[i]:x.OrderEnds[i+1]]
	b.action(x, i, s, orders)
	b.given(s, r.kinds[seat], int(x.Turn[i]), orders)
	if b.manyShards() && seat == 0 && x.Terminated[i]|x.Truncated[i] != 0 {
		return r.lengths.add(b, int(x.Turn[i])+1)
	}
	return nil
}

// action adds the action of a row.
func (b *builder) action(x *datasets.Batch, i int, s *seatSample, orders []sim.Order) {
	if x.Action == nil {
		return
	}
	r, n := &b.rows, len(b.m.Action.Heads)
	action := x.Action[i*n : (i+1)*n]
	s.labels.Put(action)
	used := 0
	for h, c := range action {
		if c == 0 && n > 1 {
			continue
		}
		used++
		if c >= 0 && int(c) < b.m.Action.Heads[h] {
			k := r.offsets[h] + int(c)
			if r.taken[k]++; n == 1 && r.taken[k] == 1 {
				r.first[k] = slices.Clone(orders)
			}
		}
	}
	r.used[used]++
	if x.Asked != nil {
		s.asked.All++
		if slices.Equal(action, x.Asked[i*n:(i+1)*n]) {
			s.asked.Said++
		}
	}
}

// given adds the orders of a row.
func (b *builder) given(s *seatSample, kinds map[string]uint64, turn int, orders []sim.Order) {
	given := 0 // orders other than the one that does nothing
	for _, o := range orders {
		if o != 0 {
			given++
		}
	}
	s.orders[given]++
	if turn >= 0 && turn < b.m.Game.MaxTurns {
		s.byTurn[turn] += uint64(given)
		s.inTurn[turn]++
	}
	for _, o := range orders {
		if o == 0 {
			continue
		}
		kind := b.kind(o)
		if kinds[kind] == 0 && len(kinds) >= mostKinds {
			kind = anyKind
		}
		kinds[kind]++
	}
}

// kind returns the kind of an order, by its text.
func (b *builder) kind(o sim.Order) string {
	if b.o.Orders == nil {
		return anyKind
	}
	if k, ok := b.rows.kindOf[o]; ok {
		return k
	}
	kind := kindOf(strings.Join(b.o.Orders([]sim.Order{o}), " "))
	if len(b.rows.kindOf) < mostTexts {
		b.rows.kindOf[o] = kind
	}
	return kind
}

// kindOf returns the kind of an order with that text: its words without digits, up to a bracket or a
// colon. A text without such words is a kind of its own.
func kindOf(text string) string {
	var words []string
	before := text
	if k := strings.IndexAny(text, "(:"); k >= 0 {
		before = text[:k]
	}
	for _, w := range strings.Fields(before) {
		if w != "and" && w != "within" && !strings.ContainsAny(w, "0123456789") {
			words = append(words, w)
		}
	}
	return cmp.Or(strings.Join(words, " "), text, anyKind)
}

// planeSample has figures of the planes of a sample of rows.
type planeSample struct {
	sampled
	sums   stats.Sums
	values [][256]uint64 // how often each plane has each value
}

// readPlanes reads the planes of a sample of the rows, or unpacks them.
func (b *builder) readPlanes() error {
	p, o := &b.planes, &b.m.Observation
	size := o.Planes * o.Height * o.Width
	column := datasets.ColPlanes
	if b.has(datasets.ColPacked) {
		column = datasets.ColPacked
	}
	if !b.has(column) || size == 0 || column == datasets.ColPacked && o.PackedLayout == nil {
		return nil
	}
	p.sampled = b.plan([]string{column}, uint64(max(16, min(mostKept, planeBytes/size))))
	p.sums, p.values = stats.NewSums(o.Planes, 0), make([][256]uint64, o.Planes)
	var unpack func(dst []uint8, words []uint64)
	row := make([]uint8, size)
	if column == datasets.ColPacked {
		u, err := b.m.Unpacker()
		if err != nil {
			return err
		}
		unpack = u.Unpack
	}
	seen := 0
	for x, err := range b.d.SampleBatches(p.shards, p.every, column) {
		if err == nil {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		for i := range x.Rows {
			if seen++; (seen-1)%p.stride != 0 {
				continue
			}
			if unpack != nil {
				unpack(row, x.Packed[i*o.Words:(i+1)*o.Words])
			} else {
				row = x.Planes[i*size : (i+1)*size]
			}
			p.add(row)
		}
	}
	return nil
}

// add adds the planes of one row.
func (p *planeSample) add(row []uint8) {
	p.rows++
	p.sums.Row(row, nil)
	cells := len(row) / len(p.values)
	for k := range p.values {
		for _, v := range row[k*cells : (k+1)*cells] {
			p.values[k][v]++
		}
	}
}

// lengthSample has the lengths of episodes.
type lengthSample struct {
	turns    counts
	episodes uint64
}

// add adds the length of an episode, unless the game cannot have it.
func (l *lengthSample) add(b *builder, turns int) error {
	if turns < 0 || turns > b.m.Game.MaxTurns {
		return fmt.Errorf("an episode of %d turns, the game has at most %d", turns, b.m.Game.MaxTurns)
	}
	l.turns[turns]++
	l.episodes++
	return nil
}

// readLengths reads the lengths of all episodes. In a dataset of many shards it leaves them to
// readRows, whose sample has the last rows of some episodes.
func (b *builder) readLengths() error {
	b.lengthsOf = lengthSample{turns: counts{}}
	if b.manyShards() {
		return nil
	}
	for r, err := range b.d.Records("episodes", datasets.ColTurns) {
		if err == nil {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		column, ok := r.Column(0).(*array.Int32)
		if !ok {
			return fmt.Errorf("the column %s is of another type than expected", datasets.ColTurns)
		}
		for _, turns := range column.Int32Values() {
			if err := b.lengthsOf.add(b, int(turns)); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyShards reports whether there are too many shards to read from each.
func (b *builder) manyShards() bool { return b.m.Totals.Shards > mostLengths }
