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
	"moonfarm/rollout/view/overview"
	"moonfarm/sim"
)

// Bounds of what is read for Details, and of their lists.
const (
	detailShards  = 64        // whose rows are sampled
	detailBytes   = 192 << 20 // of the rows that are read, uncompressed
	detailBatches = 16        // to read, although they have more bytes
	detailNumbers = 4000      // rows whose returns and searches make histograms
	detailLengths = 1000      // shards whose episodes are all counted
	detailList    = 30        // choices and kinds of orders that are listed
	detailKinds   = 1000      // of orders; the others count as anyKind
	detailTexts   = 1 << 19   // different orders whose kinds are remembered
	detailTurns   = 40        // points of SeatDetails.ByTurn
	anyKind       = "order"   // the kind of orders without a text
)

// Details are what a page shows of a dataset beside the figures of inspect: frequencies and
// histograms. They are of the rows that the Overview counts, but Turns.
type Details struct {
	Turns     overview.Histogram `json:"turns"`             // of episodes: of all, or in a dataset of many shards of those of some
	Choices   overview.Histogram `json:"choices"`           // legal choices of rows, all heads together
	Orders    overview.Histogram `json:"orders"`            // of rows, without the order that does nothing
	Kinds     []Kind             `json:"kinds"`             // the commonest kinds of orders; none without InspectOptions.Orders
	Returns   overview.Histogram `json:"returns"`           // of some rows, as Moves and Values
	Moves     overview.Histogram `json:"moves"`             // weighed by searches
	Values    overview.Histogram `json:"values"`            // found by searches
	Actions   *Actions           `json:"actions,omitempty"` // nil without an action column
	Seats     []SeatDetails      `json:"seats"`
	TurnWidth int                `json:"turn_width"` // turns of a point of SeatDetails.ByTurn
}

// Kind counts the orders of a kind: "build" for the texts "build 1,2" and "build 3,4".
type Kind struct {
	Name   string `json:"name"`
	Orders uint64 `json:"orders"`
}

// SeatDetails are the details of the rows of one seat.
type SeatDetails struct {
	Rows   uint64             `json:"rows"`
	Orders overview.Histogram `json:"orders"`          // of rows
	Idle   uint64             `json:"idle"`            // rows without orders
	Asked  *stats.Share       `json:"asked,omitempty"` // rows in which the policy that is asked would act alike
	Chosen []uint64           `json:"chosen"`          // rows by the member that chose; of a mixture
	ByTurn []float64          `json:"by_turn"`         // mean orders of a row, over turns; -1: no rows
}

// Actions count what rows choose. Of several heads the choice 0, which orders nothing, is left out.
type Actions struct {
	Different int                `json:"different"` // choices that occur
	Choices   []Choice           `json:"choices"`   // the commonest
	Used      overview.Histogram `json:"used"`      // heads that a row uses
}

// Choice counts the rows with a choice.
type Choice struct {
	Head   int    `json:"head"`
	Choice int    `json:"choice"`
	Rows   uint64 `json:"rows"`
	// Orders are those of the first row that has this choice and no other; null if there is none.
	Orders []string `json:"orders"`
}

// detailer counts rows for Details.
type detailer struct {
	m      *about.Manifest
	texts  func([]sim.Order) []string
	stride uint64 // distance of the rows whose returns and searches are counted
	rows   uint64

	turns, choices, orders, used overview.Counts
	returns, moves, values       overview.Counts
	offsets                      []int               // of each head in taken
	taken                        []uint64            // rows by choice
	alone                        map[int][]sim.Order // the orders of the first row with that choice alone
	kindOf                       map[sim.Order]string
	kinds                        map[string]uint64 // orders
	seats                        []SeatDetails
	seatOrders                   []overview.Counts
	byTurn                       []map[int][2]uint64 // rows and orders of each turn, by seat
}

// details reads a sample of the rows into tallies and Details.
func (d *Dataset) details(ctx context.Context, o InspectOptions, t *tallies) (*Details, int, error) {
	x := d.detailer(o)
	shards, every, rows := d.sample(o.Shards)
	x.stride = max(1, rows/detailNumbers)
	var unpack *features.Unpacker
	var seen []uint8 // planes of a packed observation
	if form := d.manifest.Observation; form.Form == about.ObsPacked && form.PackedLayout != nil {
		var err error
		if unpack, err = d.manifest.Unpacker(); err != nil {
			return nil, 0, err
		}
		seen, t.seen = make([]uint8, form.Planes*form.Height*form.Width), stats.NewSums(form.Planes, form.Scalars)
	}
	for b, err := range d.Sampled(shards, every) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, 0, err
		}
		t.batch(b, d.manifest, unpack, seen)
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
	x := &detailer{m: m, texts: o.Orders, turns: overview.Counts{}, choices: overview.Counts{}, orders: overview.Counts{}, used: overview.Counts{},
		returns: overview.Counts{}, moves: overview.Counts{}, values: overview.Counts{}, alone: map[int][]sim.Order{}, kindOf: map[sim.Order]string{},
		kinds: map[string]uint64{}}
	for seat := range m.Game.Players {
		x.seatOrders, x.byTurn = append(x.seatOrders, overview.Counts{}), append(x.byTurn, map[int][2]uint64{})
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
		if x.kinds[kind] == 0 && len(x.kinds) >= detailKinds {
			kind = anyKind
		}
		x.kinds[kind]++
	}
	if b.Action != nil {
		x.action(b, i, s, given)
	}
}

// numbers counts the return and the search of a row.
func (x *detailer) numbers(b *Batch, i int) {
	x.returns.Put(float64(b.Return[i]))
	if b.SearchValue != nil && b.SearchEnds[i+1] > b.SearchEnds[i] {
		x.values.Put(float64(b.SearchValue[i]))
		x.moves.Put(float64(b.SearchEnds[i+1] - b.SearchEnds[i]))
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
		Turns: x.turns.Histogram(), Choices: x.choices.Histogram(), Orders: x.orders.Histogram(), Kinds: []Kind{},
		Returns: x.returns.Histogram(), Moves: x.moves.Histogram(), Values: x.values.Histogram(), TurnWidth: 1,
	}
	if x.texts != nil {
		for _, name := range commonest(x.kinds) {
			d.Kinds = append(d.Kinds, Kind{name, x.kinds[name]})
		}
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

// actions returns the commonest choices.
func (x *detailer) actions() *Actions {
	a := &Actions{Choices: []Choice{}, Used: x.used.Histogram()}
	taken := map[int]uint64{}
	none := min(1, len(x.offsets)-1) // of several heads, choice 0 orders nothing
	for h, first := range x.offsets {
		for k := first + none; k < first+x.m.Action.Heads[h]; k++ {
			if n := x.taken[k]; n > 0 {
				taken[k] = n
			}
		}
	}
	a.Different = len(taken)
	for _, k := range commonest(taken) {
		h := sort.SearchInts(x.offsets, k+1) - 1
		c := Choice{Head: h, Choice: k - x.offsets[h], Rows: taken[k]}
		if orders := x.alone[k]; orders != nil && x.texts != nil {
			c.Orders = append([]string{}, x.texts(orders)...)
		}
		a.Choices = append(a.Choices, c)
	}
	return a
}

// commonest returns the keys of the largest counts, equal ones by their order.
func commonest[K cmp.Ordered](counts map[K]uint64) []K {
	keys := slices.Collect(maps.Keys(counts))
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return keys[:min(len(keys), detailList)]
}
