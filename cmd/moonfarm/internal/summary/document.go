package summary

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/redact"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// Inspect reads a sample of a dataset, of at most that number of shards (0: as many as its own bounds allow), and
// returns its summary and what a page says of it. It fails as datasets.Inspect does.
func Inspect(ctx context.Context, dir string, shards int) (*datasets.Overview, *overview.Document, error) {
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	game := d.Manifest().Job.Game
	o, err := d.Overview(ctx, datasets.InspectOptions{Workers: 1, Shards: shards, Details: true,
		Orders: func(orders []sim.Order) []string { return recordings.OrderTexts(game, orders) }})
	if err != nil {
		return nil, nil, err
	}
	return o, document(redact.Text(dir), o), nil
}

// mostListed bounds the rows of tables that could have many.
const mostListed = 200

// document returns what a page says of a dataset, whose summary has details.
func document(dir string, o *datasets.Overview) *overview.Document {
	m, d := o.Manifest, o.Details
	head := Head(dir, o)
	if o.Rows < m.Totals.Rows {
		head = append(head, "The figures below are those of a sample: "+Read(o)+".")
	}
	all := []overview.Section{
		{Title: "Dataset", Text: append(head, fmt.Sprintf("The reward %s is: %s. Returns are discounted by %s.", m.Reward.Name, m.Reward.Doc, strconv.FormatFloat(m.Reward.Gamma, 'g', -1, 64)),
			"This command plays all episodes again and compares every bit:"), Code: "moonfarm verify " + texts.Quote(dir) + " --recompute all"},
		outcomeSection(o), overview.Lengths(d.Turns),
	}
	if d.Actions != nil {
		all = append(all, actionSection(o), overview.Section{Title: "What the choices mean", Folded: true, Text: strings.Split(m.Action.Doc, "\n")})
	}
	all = append(all, orderSection(o))
	charts := func(title string, charts ...[]overview.Chart) {
		s := overview.Section{Title: title, Folded: true}
		for _, c := range charts {
			s.Charts = append(s.Charts, c...)
		}
		if len(s.Charts) > 0 {
			all = append(all, s)
		}
	}
	charts("Rows", d.Returns.Charts("Rows by their return", "return"), d.Choices.Charts("Rows by their legal choices", "legal choices"))
	charts("Searches", d.Moves.Charts("Rows by the moves that a search weighed", "moves"), d.Values.Charts("Rows by the value that a search found", "value"))
	table := func(title string, rows [][]string) {
		if len(rows) > 1 {
			all = append(all, overview.Section{Title: title, Folded: true, Tables: []overview.Table{overview.TableOf("", rows)}})
		}
	}
	table("Members of mixtures", members(o))
	table("Rows in which "+m.Job.Ask+" would act alike", asked(o))
	table("Labels", Labels(o))
	table("Networks", Networks(o))
	columns := overview.Section{Title: "Columns", Folded: true}
	for _, rows := range Columns(o) {
		columns.Tables = append(columns.Tables, overview.TableOf("Columns of "+rows[0][0], rows))
	}
	all = append(all, overview.Section{Title: "Statistics", Folded: true, Text: []string{Read(o)}, Tables: []overview.Table{overview.TableOf("", Statistics(o))}}, columns)
	return &overview.Document{Sections: all}
}

// outcomeSection shows the results of each pairing and seat.
func outcomeSection(o *datasets.Overview) overview.Section {
	rows := Outcomes(o)
	s := overview.Section{Title: "Outcomes", Text: []string{Ends(o), "In the bar, blue is ahead (a result above 0), grey even and orange behind."}}
	if n := len(rows) - 1; n > mostListed {
		s.Text = append(s.Text, fmt.Sprintf("The first %d of %d are listed.", mostListed, n))
		rows = rows[:mostListed+1]
	}
	t := overview.TableOf("", rows)
	t.Columns[3].Number = false
	t.Columns = slices.Insert(t.Columns, 2, overview.Column{Name: "shares"})
	for i, x := range outcomes(o)[:len(t.Rows)] {
		var sides [3]uint64 // ahead, even, behind
		for _, r := range x.Results {
			switch v, _ := strconv.ParseFloat(r.Result, 64); { // the results are numbers
			case v > 0:
				sides[0] += r.Episodes
			case v < 0:
				sides[2] += r.Episodes
			default:
				sides[1] += r.Episodes
			}
		}
		t.Rows[i] = slices.Insert(t.Rows[i], 2, overview.Cell{Bar: overview.Shares(sides[:], overview.Ahead, overview.Even, overview.Behind)})
	}
	s.Tables = []overview.Table{t}
	return s
}

// shared returns a table whose rows end in the number of rows of counts, in their share of all, and in a bar of it.
func shared(rows [][]string, counts []uint64, all uint64) overview.Table {
	rows[0] = append(rows[0], "number", "share")
	for i, n := range counts {
		rows[i+1] = append(rows[i+1], texts.Group(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(all, 1))))
	}
	t := overview.TableOf("", rows)
	t.Columns = append(t.Columns, overview.Column{})
	for i, n := range counts {
		t.Rows[i] = append(t.Rows[i], overview.Cell{Bar: overview.Shares([]uint64{n, all - min(n, all)}, overview.Ahead, "")})
	}
	return t
}

// actionSection shows the frequencies of choices.
func actionSection(o *datasets.Overview) overview.Section {
	a := o.Details.Actions
	s := overview.Section{Title: "Actions", Folded: true, Text: []string{fmt.Sprintf("%s occur in %s; the commonest, with the orders of a row that has this choice alone:", texts.Plural(a.Different, "choice"), texts.Plural(o.Rows, "row"))}}
	rows, counts := [][]string{{"head", "choice", "orders"}}, []uint64{}
	for _, c := range a.Choices {
		orders := strings.Join(c.Orders, "; ")
		if c.Orders != nil && orders == "" {
			orders = "no order"
		}
		rows, counts = append(rows, []string{strconv.Itoa(c.Head), strconv.Itoa(c.Choice), orders}), append(counts, c.Rows)
	}
	s.Tables = []overview.Table{shared(rows, counts, o.Rows)}
	s.Charts = a.Used.Charts("Rows by the heads that they use", "heads")
	return s
}

// orderSection shows the numbers and the kinds of orders.
func orderSection(o *datasets.Overview) overview.Section {
	d := o.Details
	s := overview.Section{Title: "Orders", Charts: d.Orders.Charts("Rows by their orders", "orders")}
	turns := overview.Chart{Title: "Orders of a row over the turns, mean", X: "turn", Lines: []overview.Line{}}
	seats := [][]string{{"seat", "rows", "without orders", "orders: mean", "median", "most"}}
	for seat, x := range d.Seats {
		l := overview.Line{Name: seatName(seat), Points: [][2]float64{}}
		for i, mean := range x.ByTurn {
			if mean >= 0 {
				l.Points = append(l.Points, [2]float64{float64(i * d.TurnWidth), mean})
			}
		}
		turns.Lines = append(turns.Lines, l)
		seats = append(seats, []string{seatName(seat), texts.Group(x.Rows), texts.Group(x.Idle), console.FormatFloat(x.Orders.Mean), fmt.Sprint(x.Orders.Median), fmt.Sprint(x.Orders.Max)})
	}
	s.Charts = append(s.Charts, turns)
	kinds, counts, all := [][]string{{"kind"}}, []uint64{}, uint64(0)
	for _, k := range d.Kinds {
		kinds, counts, all = append(kinds, []string{k.Name}), append(counts, k.Orders), all+k.Orders
	}
	s.Tables = []overview.Table{overview.TableOf("Orders of a seat in a turn", seats)}
	if len(counts) > 0 {
		t := shared(kinds, counts, all)
		t.Caption = "The commonest kinds of orders"
		s.Tables = append(s.Tables, t)
	}
	return s
}

// members returns how often each member of a mixture chose, or only the heads.
func members(o *datasets.Overview) [][]string {
	rows := [][]string{{"seat", "member", "rows", "of all"}}
	for seat, x := range o.Details.Seats {
		for k, n := range x.Chosen {
			rows = append(rows, []string{seatName(seat), o.Manifest.Job.Members[seat][k], texts.Group(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(x.Rows, 1)))})
		}
	}
	return rows
}

// asked returns how often the policy that was asked agrees, or only the heads.
func asked(o *datasets.Overview) [][]string {
	rows := [][]string{{"seat", "rows", "alike", "share"}}
	for seat, x := range o.Details.Seats {
		if x.Asked != nil {
			rows = append(rows, []string{seatName(seat), texts.Group(x.Asked.All), texts.Group(x.Asked.Said), fmt.Sprintf("%.1f %%", 100*x.Asked.Share)})
		}
	}
	return rows
}
