package report

import (
	"fmt"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/sim/texts"
)

// totals shows the counts of the dataset.
func (b *builder) totals() []section {
	t := b.m.Totals
	x := table{Caption: "Counts", Head: heads("what", "#number")}
	add := func(what, number string) {
		x.Rows = append(x.Rows, []cell{head(what), {Text: number, Number: true}})
	}
	add("episodes", texts.Group(t.Episodes))
	if t.Distinct > 0 {
		add("different games, by their start and all orders", texts.Group(t.Distinct))
	}
	add("ended by the rules", texts.Group(t.Over))
	add("cut by a limit", texts.Group(t.Cut))
	add("turns", texts.Group(t.Turns))
	add("step rows", texts.Group(t.Rows))
	add("shards", texts.Group(t.Shards))
	add("bytes of the Arrow files", texts.Group(t.Bytes))
	s := section{ID: "totals", Title: "Totals", Tables: []table{x}}
	if t.Distinct > 0 && t.Distinct < t.Episodes {
		s.Text = append(s.Text, fmt.Sprintf("%s of the episodes repeat the game of another one.", percent(t.Episodes-t.Distinct, t.Episodes)))
	}
	return []section{s}
}

// outcomes shows the results of each pairing and seat.
func (b *builder) outcomes() []section {
	t := b.m.Totals
	x := table{Caption: "Results by pairing and seat", Head: heads("seat", "policy", "#episodes", "share", "#ahead", "#even", "#behind", "results")}
	for _, p := range t.Pairings[:min(len(t.Pairings), mostListed)] {
		for seat, results := range p.Results {
			name := "all others"
			if seat < len(p.Policies) {
				name = p.Policies[seat]
			}
			x.Rows = append(x.Rows, outcome(seatName(seat), name, p.Episodes, results))
		}
	}
	s := section{ID: "outcomes", Title: "Outcomes", Tables: []table{x},
		Text: []string{"A result is ahead above 0, even at 0 and behind below 0. In the bar, blue is ahead, grey even and orange behind."}}
	if n := len(t.Pairings); n > mostListed {
		s.Text = append(s.Text, fmt.Sprintf("The first %d of %d pairings are listed.", mostListed, n))
	}
	return []section{s}
}

// outcome returns the row of one seat of a pairing.
func outcome(seat, name string, episodes uint64, results map[string]uint64) []cell {
	var sides [3]uint64 // ahead, even, behind
	byResult := map[float64]uint64{}
	var order []float64
	for key, n := range results {
		v, _ := strconv.ParseFloat(key, 64) // the keys are numbers
		if byResult[v] == 0 {
			order = append(order, v)
		}
		byResult[v] += n
		switch {
		case v > 0:
			sides[0] += n
		case v < 0:
			sides[2] += n
		default:
			sides[1] += n
		}
	}
	descending(order)
	var said []string
	for _, v := range order {
		text := strings.Replace(strconv.FormatFloat(v, 'g', -1, 32), "-", "−", 1)
		if v > 0 {
			text = "+" + text
		}
		said = append(said, fmt.Sprintf("%s: %s", text, texts.Group(byResult[v])))
	}
	row := []cell{{Text: seat}, head(name), number(texts.Group(episodes)), {Bars: shares(sides[:], []string{"ahead", "even", "behind"})}}
	for _, n := range sides {
		row = append(row, number(percent(n, sides[0]+sides[1]+sides[2])))
	}
	return append(row, cell{Text: strings.Join(said, ", "), Long: true})
}

// shares returns the parts of a bar, in proportion to some counts.
func shares(counts []uint64, classes []string) (bars []bar) {
	all, before := uint64(0), uint64(0)
	for _, n := range counts {
		all += n
	}
	for k, n := range counts {
		if n > 0 {
			at := func(n uint64) int { return int(float64(n) / float64(all) * 10000) }
			bars = append(bars, bar{classes[k], at(before), at(before + n)})
		}
		before += n
	}
	return bars
}

// lengths shows the lengths of the episodes.
func (b *builder) lengths() []section {
	l, t := &b.lengthsOf, b.m.Totals
	if b.manyShards() {
		l = &b.rows.lengths
	}
	s := section{ID: "lengths", Title: "Lengths of games"}
	if l.episodes < t.Episodes {
		s.Text = append(s.Text, fmt.Sprintf("Of the %s of %s whose last row is in the sample of the rows.", texts.Group(l.episodes), texts.Plural(t.Episodes, "episode")))
	}
	switch x := l.turns.spread(); {
	case x.n > 0 && x.low == x.high:
		s.Text = append(s.Text, fmt.Sprintf("All have %s.", texts.Plural(x.low, "turn")))
	case x.n > 0:
		s.Text = append(s.Text, fmt.Sprintf("From %d to %s, the mean is %s, the median %d. The middle half of the games: %d to %d.",
			x.low, texts.Plural(x.high, "turn"), figure(x.mean), x.median, x.quarter, x.threeQuarters))
	}
	s.Plots = l.turns.plots("plot-lengths", "Lengths of games", "turns", "games")
	return []section{s}
}

// masks shows the numbers of legal choices.
func (b *builder) masks() []section {
	r := &b.rows
	if len(r.masks) == 0 {
		return nil
	}
	s := section{ID: "masks", Title: "Legal choices", Text: []string{r.text(b)}}
	x := r.masks.spread()
	masked := 0
	for _, n := range b.m.Action.Heads[:max(0, len(b.m.Action.Heads)-b.m.Action.Unmasked)] {
		masked += n
	}
	s.Text = append(s.Text, fmt.Sprintf("The masks of a row allow %s of %s on average, all heads together; from %d to %d, the median is %d.",
		figure(x.mean), texts.Plural(masked, "choice"), x.low, x.high, x.median))
	s.Plots = r.masks.plots("plot-masks", "Legal choices of rows", "legal choices", "rows")
	return []section{s}
}

// rewards shows rewards and returns.
func (b *builder) rewards() []section {
	r := &b.rows
	x := table{Caption: "Rewards and returns of rows", Head: heads("what", "#mean", "#least", "#most", "#zeros")}
	for _, c := range []struct {
		name string
		sum  datasets.Summary
	}{{"reward", r.reward.Summary(named("reward"))}, {"return", r.ret.Summary(named("return"))}} {
		x.Rows = append(x.Rows, summaryRow(c.name, c.sum))
	}
	s := section{ID: "rewards", Title: "Rewards and returns", Tables: []table{x},
		Text: []string{r.text(b), fmt.Sprintf("The reward %s is: %s. A return is the sum of the rewards to come, each turn discounted by %s.",
			b.m.Reward.Name, b.m.Reward.Doc, strconv.FormatFloat(b.m.Reward.Gamma, 'g', -1, 64))}}
	s.Plots = plotNumbers("plot-returns", "Returns of rows", "return", r.returns)
	return []section{s}
}

// summaryRow returns a row of a table of summaries.
func summaryRow(name string, s datasets.Summary) []cell {
	return []cell{head(name), number(figure(s.Mean)), number(figure(s.Min)), number(figure(s.Max)), number(share(1 - s.Nonzero))}
}

// labels shows the shares of labels that say no choice.
func (b *builder) labels() []section {
	r := &b.rows
	if r.taken == nil {
		return nil
	}
	x := table{Caption: "Labels by seat", Head: heads("seat", "#rows", "#rows with a −1", "#share", "#heads with orders", "#heads that are −1", "#share")}
	for seat := range r.seats {
		l := r.seats[seat].labels
		row := []cell{head(b.policyOf(seat))}
		for _, s := range []datasets.Share{l.Rows, l.Heads} {
			row = append(row, number(texts.Group(s.All)), number(texts.Group(s.All-s.Said)), number(percent(s.All-s.Said, s.All)))
		}
		x.Rows = append(x.Rows, row)
	}
	return []section{{ID: "labels", Title: "Labels", Tables: []table{x},
		Text: []string{r.text(b), "A head of the action is −1 where no choice of the head stands for the orders: a learner of labels leaves out such heads or rows."}}}
}

// mixtures shows how often each member of a mixture chose.
func (b *builder) mixtures() []section {
	x := table{Caption: "Rows by the member that chose", Head: heads("seat", "member", "#rows", "share", "#percent")}
	for seat, members := range b.m.Job.Members {
		if seat >= len(b.rows.seats) {
			break
		}
		for k, name := range members {
			n, all := b.rows.seats[seat].chosen[k], b.rows.seats[seat].rows
			x.Rows = append(x.Rows, []cell{{Text: seatName(seat)}, head(name), number(texts.Group(n)), {Bars: shares([]uint64{n, all - min(n, all)}, []string{"ahead", "none"})}, number(percent(n, all))})
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return []section{{ID: "members", Title: "Members of mixtures", Tables: []table{x}, Text: []string{b.rows.text(b)}}}
}

// asked shows how often the policy that was asked agrees.
func (b *builder) asked() []section {
	if b.m.Job.Ask == "" {
		return nil
	}
	s := section{ID: "asked", Title: "The policy that was asked", Text: []string{b.rows.text(b),
		fmt.Sprintf("The column %s has what %s would choose in each row.", datasets.ColAsked, b.m.Job.Ask)}}
	x := table{Caption: "Rows in which it chooses as the policy that played", Head: heads("seat", "#rows", "#the same action", "#share")}
	for seat := range b.rows.seats {
		if a := b.rows.seats[seat].asked; a.All > 0 {
			x.Rows = append(x.Rows, []cell{head(b.policyOf(seat)), number(texts.Group(a.All)), number(texts.Group(a.Said)), number(percent(a.Said, a.All))})
		}
	}
	if len(x.Rows) > 0 {
		s.Tables = []table{x}
	}
	return []section{s}
}

// searches shows figures of the searches.
func (b *builder) searches() []section {
	if !b.m.Job.Search {
		return nil
	}
	r := &b.rows
	s := section{ID: "searches", Title: "Searches", Text: []string{r.text(b)}}
	x := r.moves.spread()
	if x.n == 0 {
		s.Text = append(s.Text, "No row of the sample has a search.")
		return []section{s}
	}
	s.Text = append(s.Text, fmt.Sprintf("%s of the rows have a search. It weighed %s moves on average, from %d to %d.", percent(x.n, r.rows), figure(x.mean), x.low, x.high))
	t := table{Caption: "Results of searches", Head: heads("what", "#mean", "#least", "#most", "#zeros")}
	t.Rows = append(t.Rows, summaryRow("moves weighed", r.nMoves.Summary(named("moves"))), summaryRow("value", r.value.Summary(named("value"))))
	s.Tables = []table{t}
	s.Plots = append(r.moves.plots("plot-moves", "Moves weighed by searches", "moves", "rows"), plotNumbers("plot-values", "Values found by searches", "value", r.values)...)
	return []section{s}
}

// networks shows the counts of networks.
func (b *builder) networks() []section {
	x := table{Caption: "Networks by seat", Head: heads("seat", "#evaluations", "#not finite", "#choices", "#likeliest one illegal", "#share")}
	for seat, n := range b.m.Totals.Networks {
		if n.Evaluations > 0 {
			x.Rows = append(x.Rows, []cell{head(b.policyOf(seat)), number(texts.Group(n.Evaluations)), number(texts.Group(n.NotFinite)), number(texts.Group(n.Choices)),
				number(texts.Group(n.Illegal)), number(percent(n.Illegal, n.Choices))})
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return []section{{ID: "networks", Title: "Networks", Tables: []table{x}, Text: []string{
		"Counted while all episodes were played. Where the likeliest choice is illegal, the mask alone kept the network from it. Logits or values that are NaN or infinite are not finite."}}}
}
