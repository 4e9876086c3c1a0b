package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
	"moonfarm/rollout/arena/report/chart"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Bounds of the tables of actions and orders.
const (
	mostChoices = 30
	mostHeads   = 20
	mostRowsOf  = 30 // kinds of orders
	mostLinesOf = 4  // texts of the orders of a choice
	turnBins    = 40 // most points of a line in the plot of orders
)

// named returns the description of a number.
func named(name string) features.Field { return features.Field{Name: name} }

// descending sorts numbers, the largest first.
func descending(list []float64) {
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
}

// commonest returns the commonest choices by their places in rowSample.taken. Of several heads it
// leaves out choice 0, which orders nothing.
func (r *rowSample) commonest() (list []int) {
	taken := map[int]uint64{}
	for h, first := range r.offsets {
		end := len(r.taken)
		if h+1 < len(r.offsets) {
			end = r.offsets[h+1]
		}
		if len(r.offsets) > 1 {
			first++
		}
		for k := first; k < end; k++ {
			if r.taken[k] > 0 {
				taken[k] = r.taken[k]
			}
		}
	}
	return byCount(taken)
}

// actions shows the frequencies of choices.
func (b *builder) actions() []section {
	r, heads := &b.rows, b.m.Action.Heads
	if r.taken == nil {
		return nil
	}
	s := section{ID: "actions", Title: "Actions", Text: []string{r.text(b)}}
	all := r.commonest()
	switch {
	case len(heads) == 1:
		s.Text = append(s.Text, fmt.Sprintf("The action is one of %s; %s of them occur.", texts.Plural(heads[0], "choice"), texts.Group(len(all))))
	default:
		x := r.used.spread()
		s.Text = append(s.Text, fmt.Sprintf("The action is a choice of each of %s. A row uses %s of them on average, from %d to %d: the others choose 0, which orders nothing. %s different choices of heads occur.",
			texts.Plural(len(heads), "head"), figure(x.mean), x.low, x.high, texts.Group(len(all))))
	}
	s.Tables = append(s.Tables, b.choices(all))
	if len(heads) > 1 {
		s.Tables = append(s.Tables, b.byHead())
		s.Plots = r.used.plots("plot-used", "Heads used by a row", "heads used", "rows")
	}
	doc := table{Caption: "What the choices mean", Closed: true, Head: []cell{{Text: "in the words of the game"}}}
	for _, line := range strings.Split(b.m.Action.Doc, "\n") {
		doc.Rows = append(doc.Rows, []cell{{Text: line, Long: true}})
	}
	s.Tables = append(s.Tables, doc)
	return []section{s}
}

// headOf returns the head and the choice of a place in rowSample.taken.
func (r *rowSample) headOf(k int) (head, choice int) {
	head, found := slices.BinarySearch(r.offsets, k)
	if !found {
		head--
	}
	return head, k - r.offsets[head]
}

// choices returns the table of the commonest choices.
func (b *builder) choices(all []int) table {
	r := &b.rows
	t := table{Caption: "Commonest choices", Head: heads("#head", "#choice", "orders, in one of the rows", "#rows", "share", "#of all rows")}
	if len(r.offsets) == 1 {
		t.Head = t.Head[1:]
	}
	if len(all) > mostChoices {
		t.Caption = fmt.Sprintf("The commonest %d of %s choices", mostChoices, texts.Group(len(all)))
		all = all[:mostChoices]
	}
	for _, k := range all {
		h, c := r.headOf(k)
		row := []cell{number(strconv.Itoa(h)), {Text: strconv.Itoa(c), Head: true, Number: true}, {Text: b.nameOfChoice(k), Long: true}, number(texts.Group(r.taken[k])),
			{Bars: shares([]uint64{r.taken[k], r.rows - min(r.rows, r.taken[k])}, []string{"ahead", "none"})}, number(percent(r.taken[k], r.rows))}
		if len(r.offsets) == 1 {
			row = row[1:]
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// nameOfChoice returns the orders that a choice stood for in a row; "" if none is known.
func (b *builder) nameOfChoice(k int) string {
	names := b.drawn.names[k]
	if len(b.rows.offsets) == 1 {
		orders := slices.DeleteFunc(slices.Clone(b.rows.first[k]), func(o sim.Order) bool { return o == 0 })
		if len(orders) == 0 {
			return "no order"
		}
		if b.o.Orders == nil {
			return ""
		}
		names = b.o.Orders(orders)
	}
	if len(names) > mostLinesOf {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostLinesOf], "; "), len(names)-mostLinesOf)
	}
	return strings.Join(names, "; ")
}

// byHead returns the table of the heads that are used most.
func (b *builder) byHead() table {
	r, sizes := &b.rows, b.m.Action.Heads
	used, kinds := map[int]uint64{}, map[int]int{}
	for h, first := range r.offsets {
		for _, n := range r.taken[first+1 : first+sizes[h]] {
			if used[h] += n; n > 0 {
				kinds[h]++
			}
		}
	}
	list := byCount(used)
	t := table{Caption: fmt.Sprintf("Heads that are used most, of %d", len(sizes)), Closed: true, Head: heads("#head", "#choices", "#choices that occur", "#rows that use it", "share", "#of all rows", "first choices by number")}
	for _, h := range list[:min(len(list), mostHeads)] {
		row := []cell{{Text: strconv.Itoa(h), Head: true, Number: true}, number(strconv.Itoa(sizes[h])), number(strconv.Itoa(kinds[h])), number(texts.Group(used[h])),
			{Bars: shares([]uint64{used[h], r.rows - min(r.rows, used[h])}, []string{"ahead", "none"})}, number(percent(used[h], r.rows)), {Spark: spark(r.taken[r.offsets[h]+1 : r.offsets[h]+min(sizes[h], 33)])}}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// orders shows the numbers and the kinds of orders.
func (b *builder) orders() []section {
	r := &b.rows
	s := section{ID: "orders", Title: "Orders", Text: []string{r.text(b)}}
	x := table{Caption: "Orders of a seat in a turn", Head: heads("seat", "#mean", "#median", "#most", "#rows without orders")}
	every := counts{}
	for seat := range r.seats {
		p := r.seats[seat].orders.spread()
		for n, times := range r.seats[seat].orders {
			every[n] += times
		}
		x.Rows = append(x.Rows, []cell{head(b.policyOf(seat)), number(figure(p.mean)), number(strconv.Itoa(p.median)), number(strconv.Itoa(p.high)), number(percent(r.seats[seat].orders[0], p.n))})
	}
	s.Tables = append(s.Tables, x)
	if t, ok := b.kinds(); ok {
		s.Tables = append(s.Tables, t)
	}
	s.Plots = every.plots("plot-orders", "Orders of a seat in a turn", "orders", "rows")
	if len(every) > 1 { // else the lines would lie on each other
		s.Plots = append(s.Plots, b.plotTurns())
	}
	return []section{s}
}

// kinds returns the table of the kinds of orders; false if orders have no texts.
func (b *builder) kinds() (table, bool) {
	r := &b.rows
	if b.o.Orders == nil {
		return table{}, false
	}
	names := []string{"kind", "#orders", "share", "#of all"}
	for seat := range r.seats {
		names = append(names, "#"+seatName(seat)+", a turn")
	}
	t := table{Caption: "Kinds of orders", Head: heads(names...)}
	all, sum := map[string]uint64{}, uint64(0)
	for _, seat := range r.kinds {
		for kind, n := range seat {
			all[kind] += n
			sum += n
		}
	}
	list := byCount(all)
	if len(list) > mostRowsOf {
		t.Caption = fmt.Sprintf("The commonest %d of %s kinds of orders", mostRowsOf, texts.Group(len(list)))
		list = list[:mostRowsOf]
	}
	for _, kind := range list {
		row := []cell{head(kind), number(texts.Group(all[kind])), {Bars: shares([]uint64{all[kind], sum - all[kind]}, []string{"ahead", "none"})}, number(percent(all[kind], sum))}
		for seat := range r.seats {
			row = append(row, number(figure(float64(r.kinds[seat][kind])/float64(max(1, r.seats[seat].rows)))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, len(list) > 0
}

// plotTurns draws the mean number of orders over the turns of a game, seat by seat.
func (b *builder) plotTurns() template.HTML {
	var lines []chart.Line
	var said []string
	last := 0
	for seat := range b.rows.seats {
		last = max(last, b.rows.seats[seat].inTurn.spread().high)
	}
	width := last/turnBins + 1
	for seat := range b.rows.seats {
		s := &b.rows.seats[seat]
		l := chart.Line{Label: seatName(seat), Name: strings.TrimPrefix(strings.TrimPrefix(b.policyOf(seat), seatName(seat)), ": ")}
		for from := 0; from <= last; from += width {
			orders, rows := uint64(0), uint64(0)
			for turn := from; turn < from+width; turn++ {
				orders, rows = orders+s.byTurn[turn], rows+s.inTurn[turn]
			}
			if rows > 0 {
				l.Points = append(l.Points, chart.Point{X: float64(from) + float64(width-1)/2, Y: float64(orders) / float64(rows)})
			}
		}
		if n := len(l.Points); n > 0 {
			said = append(said, fmt.Sprintf("seat %s from %s to %s", seatName(seat), figure(l.Points[0].Y), figure(l.Points[n-1].Y)))
		}
		lines = append(lines, l)
	}
	h := chart.Head{ID: "plot-turns", Title: "Orders over the turns of a game", Description: "Mean orders of a row, by turn: " + cmp.Or(strings.Join(said, "; "), "no rows") + "."}
	return template.HTML(chart.Lines(h, chart.Axis{Label: "turn", Whole: true}, chart.Axis{Label: "orders of a row, mean"}, lines))
}

// observations shows the statistics of planes and scalars.
func (b *builder) observations() (list []section) {
	o := &b.m.Observation
	if b.planes.rows > 0 {
		s := section{ID: "planes", Title: "Planes"}
		rows, kept := b.planes.rows, b.kept != nil && b.kept.Rows > b.planes.rows && len(b.kept.Planes) == o.Planes
		all := b.planes.sums.Statistics(o.PlaneFields, nil, o.Height*o.Width).Planes
		if kept {
			rows, all = b.kept.Rows, b.kept.Planes
		}
		s.Text = append(b.statisticsText(rows, kept, b.planes.rows), "The histograms of planes leave out zeros; planes with a single other number have none.")
		t := table{Caption: "Planes, over all cells", Head: heads("plane", "unit", "#mean", "#least", "#most", "#zeros", "not zero", "what it is")}
		for k, x := range all {
			t.Rows = append(t.Rows, b.field(stats.Field(o.PlaneFields, k), x, planeSpark(&b.planes.values[k])))
		}
		s.Tables = []table{t}
		list = append(list, s)
	}
	if n := len(b.rows.numbers); n > 0 && b.rows.rows > 0 {
		s := section{ID: "scalars", Title: "Scalars"}
		rows, kept := b.rows.rows, b.kept != nil && b.kept.Rows > b.rows.rows && len(b.kept.Scalars) == n
		all := b.rows.scalars.Statistics(nil, o.ScalarFields, 1).Scalars
		if kept {
			rows, all = b.kept.Rows, b.kept.Scalars
		}
		s.Text = b.statisticsText(rows, kept, uint64(len(b.rows.numbers[0])))
		t := table{Caption: "Scalars", Head: heads("scalar", "unit", "#mean", "#least", "#most", "#zeros", "histogram", "what it is")}
		for k, x := range all {
			heights, _, _ := bins(b.rows.numbers[k], sparkBars)
			t.Rows = append(t.Rows, b.field(stats.Field(o.ScalarFields, k), x, spark(heights)))
		}
		s.Tables = []table{t}
		list = append(list, s)
	}
	return list
}

// statisticsText says of which rows statistics and small histograms are.
func (b *builder) statisticsText(rows uint64, kept bool, inHistograms uint64) []string {
	what := "a sample of "
	if kept {
		what = fmt.Sprintf("every %dth row of each shard, as in statistics.json: ", b.kept.Every)
	}
	if rows == b.m.Totals.Rows {
		what = "all "
	}
	return []string{fmt.Sprintf("Mean, least, most and zeros are of %s%s, the histograms of %s. A histogram goes from the least number to the most; its highest bar has the full height.",
		what, texts.Plural(rows, "row"), texts.Plural(inHistograms, "row"))}
}

// field returns the row of a plane or a scalar.
func (b *builder) field(f features.Field, x datasets.Statistic, spark string) []cell {
	return []cell{head(f.Name), {Text: f.Unit, Long: len(f.Unit) > 16}, number(figure(x.Mean)), number(figure(x.Min)), number(figure(x.Max)), number(share(1 - x.Nonzero)), {Spark: spark}, {Text: f.Doc, Long: true}}
}

// planeSpark returns the small histogram of the values of a plane that are not 0; "" if there is at
// most one.
func planeSpark(values *[256]uint64) string {
	low, high := 0, 0
	for v := 1; v < len(values); v++ {
		if values[v] > 0 {
			if low == 0 {
				low = v
			}
			high = v
		}
	}
	if low == high {
		return ""
	}
	width := (high - low + sparkBars) / sparkBars
	heights := make([]uint64, (high-low)/width+1)
	for v := low; v <= high; v++ {
		heights[(v-low)/width] += values[v]
	}
	return spark(heights)
}
