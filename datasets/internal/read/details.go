package read

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
	"moonfarm/sim"
)

// Bounds of what is read for Details, and of their lists.
const (
	detailShards  = 64        // whose rows are sampled
	detailBytes   = 192 << 20 // of the rows that are read, uncompressed
	detailBatches = 16        // to read, although they have more bytes
	detailNumbers = 4000      // rows whose planes and numbers make histograms
	detailLengths = 1000      // shards whose episodes are all counted
	detailList    = 30        // choices, heads and kinds of orders that are listed
	detailKinds   = 1000      // of orders; the others count as anyKind
	detailTexts   = 1 << 19   // different orders whose kinds are remembered
	detailTurns   = 40        // points of SeatDetails.ByTurn
	anyKind       = "order"   // the kind of orders without a text
)

// Details are what a page shows of a dataset beside the figures of inspect: frequencies and
// histograms. They are of the rows that the Overview counts, but Turns.
type Details struct {
	Title     string            `json:"title"`    // the game and its policies
	Outcomes  []about.Outcome   `json:"outcomes"` // of each pairing and seat
	Turns     stats.Histogram   `json:"turns"`    // of episodes: of all, or in a dataset of many shards of those of some
	Choices   stats.Histogram   `json:"choices"`  // legal choices of rows, all heads together
	Orders    stats.Histogram   `json:"orders"`   // of rows, without the order that does nothing
	Kinds     []Kind            `json:"kinds"`    // the commonest kinds of orders; none without InspectOptions.Orders
	Returns   stats.Histogram   `json:"returns"`  // of some rows, as all histograms below
	Moves     stats.Histogram   `json:"moves"`    // weighed by searches
	Values    stats.Histogram   `json:"values"`   // found by searches
	Planes    []stats.Histogram `json:"planes"`   // numbers of cells that are not 0
	Scalars   []stats.Histogram `json:"scalars"`
	Actions   *Actions          `json:"actions,omitempty"` // nil without an action column
	Seats     []SeatDetails     `json:"seats"`
	TurnWidth int               `json:"turn_width"` // turns of a point of SeatDetails.ByTurn
}

// Kind counts the orders of a kind: "build" for the texts "build 1,2" and "build 3,4".
type Kind struct {
	Name   string   `json:"name"`
	Orders uint64   `json:"orders"`
	Seats  []uint64 `json:"seats"` // of each seat
}

// SeatDetails are the details of the rows of one seat.
type SeatDetails struct {
	Rows   uint64          `json:"rows"`
	Orders stats.Histogram `json:"orders"`          // of rows
	Idle   uint64          `json:"idle"`            // rows without orders
	Asked  *stats.Share    `json:"asked,omitempty"` // rows in which the policy that is asked would act alike
	Chosen []uint64        `json:"chosen"`          // rows by the member that chose; of a mixture
	ByTurn []float64       `json:"by_turn"`         // mean orders of a row, over turns; -1: no rows
}

// Actions count what rows choose. Of several heads the choice 0, which orders nothing, is left out.
type Actions struct {
	Different int             `json:"different"` // choices that occur
	Choices   []Choice        `json:"choices"`   // the commonest
	Heads     []HeadUse       `json:"heads"`     // that are used most; none if there is one
	Used      stats.Histogram `json:"used"`      // heads that a row uses
}

// Choice counts the rows with a choice.
type Choice struct {
	Head   int    `json:"head"`
	Choice int    `json:"choice"`
	Rows   uint64 `json:"rows"`
	// Orders are those of the first row that has this choice and no other; null if there is none.
	Orders []string `json:"orders"`
}

// HeadUse counts the rows that use a head.
type HeadUse struct {
	Head      int      `json:"head"`
	Size      int      `json:"size"`
	Different int      `json:"different"` // choices that occur
	Rows      uint64   `json:"rows"`
	First     []uint64 `json:"first"` // rows with each of the choices 1 to 32
}

// detailer counts rows for Details.
type detailer struct {
	m      *about.Manifest
	texts  func([]sim.Order) []string
	stride uint64 // distance of the rows whose planes and numbers are counted
	rows   uint64

	turns, choices, orders, used stats.Counts
	returns, moves, values       stats.Counts
	planes                       [][256]uint64
	scalars                      []stats.Counts
	offsets                      []int               // of each head in taken
	taken                        []uint64            // rows by choice
	alone                        map[int][]sim.Order // the orders of the first row with that choice alone
	kindOf                       map[sim.Order]string
	kinds                        []map[string]uint64 // orders of each seat
	seats                        []SeatDetails
	seatOrders                   []stats.Counts
	byTurn                       []map[int][2]uint64 // rows and orders of each turn, by seat
	unpack                       *features.Unpacker
	seen                         []uint8 // planes of a packed observation
}

// details reads a sample of the rows into tallies and Details.
func (d *Dataset) details(ctx context.Context, o InspectOptions, t *tallies) (*Details, int, error) {
	x := d.detailer(o)
	shards, every, rows := d.sample(o.Shards)
	x.stride = max(1, rows/detailNumbers)
	if form := d.manifest.Observation; form.Form == about.ObsPacked && form.PackedLayout != nil {
		var err error
		if x.unpack, err = d.manifest.Unpacker(); err != nil {
			return nil, 0, err
		}
		size := form.Planes * form.Height * form.Width
		x.seen, x.planes = make([]uint8, size), make([][256]uint64, form.Planes)
		t.seen = stats.NewSums(form.Planes, form.Scalars)
	}
	for b, err := range d.Sampled(shards, every) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, 0, err
		}
		t.batch(b, d.manifest, x.unpack, x.seen)
		for i := range b.Rows {
			x.row(b, i)
		}
	}
	lengths := min(detailLengths, d.ShardCount())
	t.turns = stats.Tally{}
	err := d.eachShard(d.Spread(lengths), about.EpisodesTable, func(c string) bool { return c == about.ColTurns }, func(r *TableReader, s about.Shard) error {
		return r.Read(s.Episodes, func(uint64) error {
			for _, n := range arrowfile.View[int32](r.Table.Col(about.ColTurns).Fixed)[:r.Table.Rows] {
				if n < 0 || int(n) > d.manifest.Game.MaxTurns {
					return fmt.Errorf("%s: an episode of %d turns, the game has at most %d", s.Episodes.Path, n, d.manifest.Game.MaxTurns)
				}
				t.turns.Put(float64(n))
				x.turns.Put(float64(n))
			}
			return context.Cause(ctx)
		})
	})
	return x.details(), shards, err
}

// sample chooses which batches are read for Details: every every-th of some shards, which have about that
// number of rows.
func (d *Dataset) sample(most int) (shards, every int, rows uint64) {
	t := d.manifest.Totals
	n := min(t.Shards, detailShards)
	if most > 0 {
		n = min(n, uint64(most))
	}
	width := 1
	for _, c := range d.manifest.Steps.Columns {
		if !c.List {
			width += c.Width()
		}
	}
	rows = t.Rows / max(t.Shards, 1) * n
	batch := max(1, min(uint64(d.manifest.Steps.BatchRows), rows/max(n, 1))) // rows in most batches
	want := max(detailBytes/uint64(width)/batch, detailBatches)
	every = int(max(1, (rows/batch+want-1)/want))
	return int(n), every, rows / uint64(every)
}

// detailer makes the memory for Details.
func (d *Dataset) detailer(o InspectOptions) *detailer {
	m := d.manifest
	x := &detailer{m: m, texts: o.Orders, turns: stats.Counts{}, choices: stats.Counts{}, orders: stats.Counts{}, used: stats.Counts{},
		returns: stats.Counts{}, moves: stats.Counts{}, values: stats.Counts{}, alone: map[int][]sim.Order{}, kindOf: map[sim.Order]string{}}
	for seat := range m.Game.Players {
		x.kinds, x.seatOrders, x.byTurn = append(x.kinds, map[string]uint64{}), append(x.seatOrders, stats.Counts{}), append(x.byTurn, map[int][2]uint64{})
		s := SeatDetails{Chosen: []uint64{}}
		if seat < len(m.Job.Members) {
			s.Chosen = make([]uint64, len(m.Job.Members[seat]))
		}
		x.seats = append(x.seats, s)
	}
	if m.Observation.Form == about.ObsNone {
		return x
	}
	n := 0
	for _, size := range m.Action.Heads {
		x.offsets = append(x.offsets, n)
		n += size
	}
	x.taken = make([]uint64, n)
	for range m.Observation.Scalars {
		x.scalars = append(x.scalars, stats.Counts{})
	}
	if m.Observation.Form == about.ObsPlanes {
		x.planes = make([][256]uint64, m.Observation.Planes)
	}
	return x
}

// row counts one row. Rows of seats that the game lacks are left out.
func (x *detailer) row(b *Batch, i int) {
	seat := int(b.Seat[i])
	if seat >= len(x.seats) {
		return
	}
	s := &x.seats[seat]
	if x.rows%x.stride == 0 {
		x.numbers(b, i)
	}
	x.rows, s.Rows = x.rows+1, s.Rows+1
	if b.Mask != nil {
		x.choices.Put(float64(choices(b, i)))
	}
	if b.Chosen != nil && int(b.Chosen[i]) < len(s.Chosen) {
		s.Chosen[b.Chosen[i]]++
	}
	given := slices.DeleteFunc(slices.Clone(b.Orders[b.OrderEnds[i]:b.OrderEnds[i+1]]), func(o sim.Order) bool { return o == 0 })
	x.orders.Put(float64(len(given)))
	x.seatOrders[seat].Put(float64(len(given)))
	if len(given) == 0 {
		s.Idle++
	}
	if turn := int(b.Turn[i]); turn >= 0 && turn < x.m.Game.MaxTurns {
		n := x.byTurn[seat][turn]
		x.byTurn[seat][turn] = [2]uint64{n[0] + 1, n[1] + uint64(len(given))}
	}
	for _, o := range given {
		kind := x.kind(o)
		if kinds := x.kinds[seat]; kinds[kind] == 0 && len(kinds) >= detailKinds {
			kind = anyKind
		}
		x.kinds[seat][kind]++
	}
	if b.Action != nil {
		x.action(b, i, s, given)
	}
}

// numbers counts the planes and numbers of a row for the histograms.
func (x *detailer) numbers(b *Batch, i int) {
	x.returns.Put(float64(b.Return[i]))
	for k, v := range about.RowsOf(b.Scalars, i, 1, len(x.scalars)) {
		x.scalars[k].Put(float64(v))
	}
	if b.SearchValue != nil && b.SearchEnds[i+1] > b.SearchEnds[i] {
		x.values.Put(float64(b.SearchValue[i]))
		x.moves.Put(float64(b.SearchEnds[i+1] - b.SearchEnds[i]))
	}
	o := x.m.Observation
	seen := about.RowsOf(b.Planes, i, 1, o.Planes*o.Height*o.Width)
	if x.unpack != nil {
		seen = x.seen
		x.unpack.Unpack(seen, about.RowsOf(b.Packed, i, 1, o.Words))
	}
	for k, v := range seen {
		x.planes[k/(o.Height*o.Width)][v]++
	}
}

// action counts the action of a row.
func (x *detailer) action(b *Batch, i int, s *SeatDetails, given []sim.Order) {
	heads := len(x.offsets)
	action := about.RowsOf(b.Action, i, 1, heads)
	used, last := 0, 0
	for h, c := range action {
		if c == 0 && heads > 1 {
			continue
		}
		used++
		if c >= 0 && int(c) < x.m.Action.Heads[h] {
			last = x.offsets[h] + int(c)
			x.taken[last]++
		}
	}
	if x.used.Put(float64(used)); used == 1 && x.alone[last] == nil {
		x.alone[last] = given
	}
	if b.Asked != nil {
		if s.Asked == nil {
			s.Asked = new(stats.Share)
		}
		s.Asked.Put(slices.Equal(action, about.RowsOf(b.Asked, i, 1, heads)))
	}
}

// kind returns the kind of an order, by its text.
func (x *detailer) kind(o sim.Order) string {
	if x.texts == nil {
		return anyKind
	}
	if k, ok := x.kindOf[o]; ok {
		return k
	}
	kind := kindOf(strings.Join(x.texts([]sim.Order{o}), " "))
	if len(x.kindOf) < detailTexts {
		x.kindOf[o] = kind
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

// details returns the Details of all rows that were counted.
func (x *detailer) details() *Details {
	d := &Details{
		Title: x.m.Title(), Turns: x.turns.Histogram(), Choices: x.choices.Histogram(), Orders: x.orders.Histogram(), Kinds: []Kind{},
		Returns: x.returns.Histogram(), Moves: x.moves.Histogram(), Values: x.values.Histogram(), Planes: []stats.Histogram{}, Scalars: []stats.Histogram{},
		Outcomes: []about.Outcome{}, TurnWidth: 1,
	}
	for _, p := range x.m.Totals.Pairings {
		d.Outcomes = append(d.Outcomes, p.Outcomes()...)
	}
	for k := range x.planes {
		c := stats.Counts{}
		for v, n := range x.planes[k] {
			if v > 0 && n > 0 {
				c[float64(v)] = n
			}
		}
		d.Planes = append(d.Planes, c.Histogram())
	}
	for _, c := range x.scalars {
		d.Scalars = append(d.Scalars, c.Histogram())
	}
	if x.texts != nil {
		d.Kinds = x.commonKinds()
	}
	if x.taken != nil {
		d.Actions = x.actions()
	}
	last := 0
	for _, turns := range x.byTurn {
		for turn := range turns {
			last = max(last, turn)
		}
	}
	d.TurnWidth = last/detailTurns + 1
	for seat, s := range x.seats {
		s.Orders = x.seatOrders[seat].Histogram()
		if s.Asked != nil {
			s.Asked.Close()
		}
		for from := 0; from <= last; from += d.TurnWidth {
			s.ByTurn = append(s.ByTurn, mean(x.byTurn[seat], from, from+d.TurnWidth))
		}
		d.Seats = append(d.Seats, s)
	}
	return d
}

// mean returns the mean orders of a row of some turns, given the rows and orders of each; -1 without rows.
func mean(turns map[int][2]uint64, from, to int) float64 {
	rows, orders := uint64(0), uint64(0)
	for turn := from; turn < to; turn++ {
		rows, orders = rows+turns[turn][0], orders+turns[turn][1]
	}
	if rows == 0 {
		return -1
	}
	return float64(orders) / float64(rows)
}

// commonKinds returns the commonest kinds of orders.
func (x *detailer) commonKinds() []Kind {
	all := map[string]uint64{}
	for _, kinds := range x.kinds {
		for kind, n := range kinds {
			all[kind] += n
		}
	}
	list := []Kind{}
	for _, name := range commonest(all) {
		k := Kind{Name: name, Orders: all[name]}
		for _, kinds := range x.kinds {
			k.Seats = append(k.Seats, kinds[name])
		}
		list = append(list, k)
	}
	return list
}

// actions returns the commonest choices and the heads that are used most.
func (x *detailer) actions() *Actions {
	a := &Actions{Choices: []Choice{}, Heads: []HeadUse{}, Used: x.used.Histogram()}
	taken, used := map[int]uint64{}, map[int]uint64{}
	different := make([]int, len(x.offsets))
	none := min(1, len(x.offsets)-1) // of several heads, choice 0 orders nothing
	for h, first := range x.offsets {
		for k := first + none; k < first+x.m.Action.Heads[h]; k++ {
			if n := x.taken[k]; n > 0 {
				taken[k] = n
				used[h] += n
				different[h]++
				a.Different++
			}
		}
	}
	for _, k := range commonest(taken) {
		h := sort.SearchInts(x.offsets, k+1) - 1
		c := Choice{Head: h, Choice: k - x.offsets[h], Rows: taken[k]}
		if orders := x.alone[k]; orders != nil && x.texts != nil {
			c.Orders = append([]string{}, x.texts(orders)...)
		}
		a.Choices = append(a.Choices, c)
	}
	if len(x.offsets) == 1 {
		return a
	}
	for _, h := range commonest(used) {
		size, first := x.m.Action.Heads[h], x.offsets[h]
		a.Heads = append(a.Heads, HeadUse{h, size, different[h], used[h], slices.Clone(x.taken[first+1 : first+min(size, 33)])})
	}
	return a
}

// commonest returns the keys of the largest counts, equal ones by their order.
func commonest[K cmp.Ordered](counts map[K]uint64) []K {
	keys := slices.Collect(maps.Keys(counts))
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return keys[:min(len(keys), detailList)]
}
