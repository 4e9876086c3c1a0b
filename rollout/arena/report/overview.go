package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim/texts"
)

// Bounds of an Overview, so that browsers can open a page of many games or players.
const (
	mostRanked = 200 // players in the table of ratings
	mostMatrix = 40  // players in the matrix
	mostLines  = 8   // players in the plot of ratings over the games
	mostPairs  = 500
	mostNotes  = 100
	mostFaults = 100 // the latest
)

// Overview returns what a page says of a tournament and its games, which are in the order in which they ended. It
// fails if there are more players than can be rated.
func Overview(r *arena.Report, games []arena.Played) (*overview.Document, error) {
	course, err := course(r, games)
	if err != nil {
		return nil, err
	}
	o := &overview.Document{Sections: []overview.Section{ratings(r)}}
	add := func(sections ...overview.Section) { o.Sections = append(o.Sections, sections...) }
	if r.Test != nil {
		add(test(r))
	}
	if len(r.Stages) > 0 {
		add(overview.Section{Title: "Stages", Tables: []overview.Table{overview.TableOf("Standings of the stages, the last stage first", Stages(r))}})
	}
	if len(r.Players) > 1 {
		add(scores(r))
	}
	if faults := faults(r, games); len(faults.Tables[0].Rows) > 0 {
		add(faults)
	}
	add(course, lengths(games), repeats(r), pairs(r), overview.Section{Title: "What the numbers mean", Folded: true, Text: Scales(r)})
	return o, nil
}

// shown returns a sentence if a list is not complete, otherwise none.
func shown(what string, most, all int) []string {
	if all <= most {
		return nil
	}
	return []string{fmt.Sprintf("%s %d of %d are shown.", what, most, all)}
}

func ratings(r *arena.Report) overview.Section {
	rows := Standings(r)
	t := overview.TableOf("Players by rating", rows[:min(len(rows), mostRanked+1)])
	t.Columns = slices.Insert(t.Columns, 0, overview.Column{Name: "rank", Number: true})
	t.Columns = slices.Insert(t.Columns, 3, overview.Column{Name: "interval"})
	low, high := span(r)
	for k, i := range r.ByRating()[:len(t.Rows)] {
		t.Rows[k][0].To = overview.ToGames(r.Players[i].Player, "")
		row := slices.Insert(t.Rows[k], 2, overview.Cell{Bar: bar(&r.Players[i], low, high)})
		t.Rows[k] = slices.Insert(row, 0, overview.Cell{Text: strconv.Itoa(k + 1)})
	}
	played := fmt.Sprintf("%s %s, seed %d, %s: %s on %s", r.Game, r.Rules, r.Seed, r.Schedule, texts.Plural(r.Games, "game"), texts.Plural(r.Seeds, "seed"))
	if r.Complete != nil && !*r.Complete {
		played += "; interrupted before the last game"
	}
	return overview.Section{Title: "Ratings", Tables: []overview.Table{t}, Text: slices.Concat([]string{played + "."}, caveats(r), shown("The best", mostRanked, len(r.Players)))}
}

// span returns the least and the greatest number of the intervals of all ratings.
func span(r *arena.Report) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range r.Players {
		p := &r.Players[i]
		for _, x := range []*float64{&p.Elo, p.EloLow, p.EloHigh} {
			if x != nil {
				low, high = min(low, *x), max(high, *x)
			}
		}
	}
	return low, high
}

// bar returns a bar from low to high on which a player's interval lies, with two looks that meet at the rating. An end
// that the games do not determine is that of the bar, which is nil if they determine none.
func bar(p *arena.Standing, low, high float64) []overview.Part {
	if p.EloLow == nil && p.EloHigh == nil || high <= low {
		return nil
	}
	from, to := low, high
	if p.EloLow != nil {
		from = *p.EloLow
	}
	if p.EloHigh != nil {
		to = *p.EloHigh
	}
	part := func(of float64, look overview.Look) overview.Part {
		return overview.Part{Share: max(0, of/(high-low)), Look: look}
	}
	return []overview.Part{part(from-low, ""), part(p.Elo-from, overview.Even), part(to-p.Elo, overview.Ahead)}
}

// caveats returns notes on ratings besides their intervals.
func caveats(r *arena.Report) (notes []string) {
	var unbounded []string
	groups := map[int][]string{}
	var heads []int
	for _, i := range r.ByRating() {
		p := &r.Players[i]
		if !p.Bounded && p.Player != r.Anchor {
			unbounded = append(unbounded, p.Player)
		}
		if groups[p.Group] == nil {
			heads = append(heads, p.Group)
		}
		groups[p.Group] = append(groups[p.Group], p.Player)
	}
	switch {
	case len(unbounded) == 0:
	case len(unbounded) == len(r.Players): // so the mean of all players is unbounded, too
		notes = append(notes, "A player won or lost everything, so the games do not bound the mean of all, nor both ends of the intervals. "+
			"--anchor PLAYER rates against a player instead.")
	default:
		notes = append(notes, "A player won or lost everything, so the games do not bound both ends of these intervals: "+strings.Join(unbounded, ", "))
	}
	if len(heads) > 1 {
		notes = append(notes, "No games connect the players of these lists, so ratings do not compare one list with another:")
		for _, g := range heads {
			notes = append(notes, strings.Join(groups[g], ", "))
		}
	}
	return notes
}

func test(r *arena.Report) overview.Section {
	s, name := r.Test, r.Players[0].Player
	t, e := s.Test(), s.Estimate()
	low, high := s.Bounds()
	said, _, _ := strings.Cut(Test(s, name, r.Players[1].Player), "\n")
	return overview.Section{Title: "Sequential test", Text: []string{said}, Tables: []overview.Table{overview.TableOf("State of the test", [][]string{
		{"value", "state"},
		{"points tested", fmt.Sprintf("%g or %g (%s)", t.Elo0, t.Elo1, t.Model)},
		{"error rates", fmt.Sprintf("%g and %g", t.Alpha, t.Beta)},
		{"log-likelihood ratio", fmt.Sprintf("%.3f", s.LLR())},
		{"bounds", fmt.Sprintf("%.3f and %.3f", low, high)},
		{"results in half points, from 0 up", strings.Trim(fmt.Sprint(s.Counts()), "[]")},
		{"logistic elo of " + name + " by these games", fmt.Sprintf("%+.1f (%+.1f…%+.1f)", e.Elo, e.Low, e.High)},
		{"likelihood that it is stronger", fmt.Sprintf("%.4f", e.LOS)},
	})}}
}

// scores shows the scores of the players against each other, the best first.
func scores(r *arena.Report) overview.Section {
	t := overview.Table{Caption: "Scores of the row against the column", Grid: true, Columns: []overview.Column{{Name: "player"}}, Rows: [][]overview.Cell{}}
	pairs := map[[2]string]arena.Pair{} // from the side of either player
	for _, p := range r.Pairs {
		if p.Games > 0 {
			pairs[[2]string{p.A, p.B}] = p
			p.Score, p.ScoreLow, p.ScoreHigh = 1-p.Score, 1-p.ScoreHigh, 1-p.ScoreLow
			pairs[[2]string{p.B, p.A}] = p
		}
	}
	order := r.ByRating()
	order = order[:min(len(order), mostMatrix)]
	for row, i := range order {
		me := r.Players[i].Player
		t.Columns = append(t.Columns, overview.Column{Name: strconv.Itoa(row + 1), Hint: me, Number: true})
		cells := []overview.Cell{{Text: fmt.Sprintf("%d %s", row+1, me)}}
		for column, k := range order {
			other := r.Players[k].Player
			p, met := pairs[[2]string{me, other}]
			switch {
			case met:
				cells = append(cells, overview.Cell{Text: fmt.Sprintf("%.2f", p.Score), Small: strconv.Itoa(p.Games), Heat: &p.Score, To: overview.ToGames(me, other),
					Hint: fmt.Sprintf("%s against %s: score %.3f (%.3f…%.3f) in %s", me, other, p.Score, p.ScoreLow, p.ScoreHigh, texts.Plural(p.Games, "game"))})
			case row == column:
				cells = append(cells, overview.Cell{})
			default:
				cells = append(cells, overview.Cell{Text: "–"})
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return overview.Section{Title: "Scores against each other", Tables: []overview.Table{t}, Text: append([]string{
		"The row’s score against the column’s player, and the number of games, which a click or Enter lists. Arrow keys move."},
		shown("The best", mostMatrix, len(r.Players))...)}
}

func faults(r *arena.Report, games []arena.Played) overview.Section {
	t := overview.Table{Caption: "List of faults", Rows: [][]overview.Cell{},
		Columns: []overview.Column{{Name: "game"}, {Name: "turn", Number: true}, {Name: "seat"}, {Name: "player"}, {Name: "kind"}, {Name: "text"}}}
	all := 0
	for i := range slices.Backward(games) {
		g := &games[i]
		for _, f := range g.Faults {
			if all++; all > mostFaults {
				continue
			}
			turn, kind, printed := "–", f.Kind, strings.TrimRight(f.Output, "\n")
			if f.Turn >= 0 {
				turn = strconv.Itoa(f.Turn)
			}
			if f.Times > 1 {
				kind += fmt.Sprintf(" × %d", f.Times)
			}
			t.Rows = append(t.Rows, []overview.Cell{{Text: strconv.FormatInt(g.Number, 10), To: overview.ToTurn(uint64(g.Number), max(f.Turn, 0))}, {Text: turn},
				{Text: string(rune('A' + f.Seat))}, {Text: r.Players[g.Players[f.Seat]].Player}, {Text: kind}, {Text: f.Text, Small: printed[strings.LastIndexByte(printed, '\n')+1:]}})
		}
	}
	return overview.Section{Title: "Faults", Tables: []overview.Table{t}, Text: shown("The latest", mostFaults, all)}
}

// course shows the ratings of the best players over the games.
func course(r *arena.Report, games []arena.Played) (overview.Section, error) {
	ends, rounds := parts(games)
	anchor := slices.IndexFunc(r.Players, func(p arena.Standing) bool { return p.Player == r.Anchor })
	course, err := arena.RatingHistory(len(r.Players), games, anchor, ends)
	if err != nil {
		return overview.Section{}, err
	}
	c := overview.Chart{Title: "Elo by the games so far", X: "games", Lines: []overview.Line{}}
	if rounds {
		c.Title = "Elo by the games up to the end of a round"
	}
	order := r.ByRating()
	for rank, i := range order[:min(len(order), mostLines)] {
		l := overview.Line{Name: fmt.Sprintf("%d %s", rank+1, r.Players[i].Player), Points: [][2]float64{}}
		for k, end := range ends {
			if elo := course[k][i]; !math.IsNaN(elo) { // it has played
				l.Points = append(l.Points, [2]float64{float64(end), elo})
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return overview.Section{Title: "Ratings over the games", Charts: []overview.Chart{c}, Text: shown("The best", mostLines, len(order))}, nil
}

// mostRounds is the largest number of rounds for which ratings are shown after each round.
const mostRounds = 20

// parts returns the numbers of games after which ratings are shown: after each round, if there are
// at most mostRounds, otherwise after each tenth of the games.
func parts(games []arena.Played) (ends []int, rounds bool) {
	for i := 1; i <= len(games); i++ {
		if i == len(games) || games[i].Round != games[i-1].Round || games[i].Stage != games[i-1].Stage {
			ends = append(ends, i)
		}
	}
	if len(ends) > 1 && len(ends) <= mostRounds {
		return ends, true
	}
	ends = ends[:0]
	for k := 1; k <= 10; k++ {
		if end := (len(games)*k + 9) / 10; end > 0 && (len(ends) == 0 || end > ends[len(ends)-1]) {
			ends = append(ends, end)
		}
	}
	return ends, false
}

func lengths(games []arena.Played) overview.Section {
	turns, cut := overview.Counts{}, 0
	for i := range games {
		turns.Put(float64(games[i].Turns))
		if games[i].Cut {
			cut++
		}
	}
	s := overview.Lengths(turns.Histogram())
	if cut > 0 {
		s.Text = append(s.Text, fmt.Sprintf("The turn limit ended %s, the rules the others.", texts.Plural(cut, "game")))
	}
	return s
}

// repeats shows the games that repeat others.
func repeats(r *arena.Report) overview.Section {
	s := overview.Section{Title: "Games that repeat", Folded: true}
	all := Notes(r)
	if len(all) == 0 {
		s.Text = []string{"None: no game has the same orders, length and outcome as another between the same players at the same seats."}
		return s
	}
	s.Text = append(shown("Of the notes the last", mostNotes, len(all)), all[max(0, len(all)-mostNotes):]...)
	return s
}

func pairs(r *arena.Report) overview.Section {
	rows := Pairs(r)
	t := overview.TableOf("Players that met, with numbers of the first player", rows[:min(len(rows), mostPairs+1)])
	for i, row := range rows[1 : len(t.Rows)+1] {
		t.Rows[i][0].To = overview.ToGames(row[0], row[1])
	}
	return overview.Section{Title: "Pairs of players", Folded: true, Tables: []overview.Table{t}, Text: shown("The first", mostPairs, len(rows)-1)}
}
