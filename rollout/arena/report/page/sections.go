package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
)

// builder makes the sections of a page.
type builder struct {
	r      *arena.Report
	played []arena.Played
	order  []int // players, the best first
}

func newBuilder(r *arena.Report, games []arena.Played) *builder {
	return &builder{r: r, played: games, order: r.ByRating()}
}

// name returns the name of a player.
func (b *builder) name(i int) string { return b.r.Players[i].Player }

// ranked returns a player's name with its rank before it.
func (b *builder) ranked(rank int) string {
	return strconv.Itoa(rank+1) + " " + b.name(b.order[rank])
}

// count returns "1 game", "2 games".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// shown returns a sentence if a table or a plot is not complete, otherwise "".
func shown(what string, most, all int) string {
	if all <= most {
		return ""
	}
	return fmt.Sprintf("%s %d of %d are shown.", what, most, all)
}

// nonEmpty returns the non-empty texts.
func nonEmpty(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// number returns a cell with a number, or several.
func number(text string) cell { return cell{Text: text, Number: true} }

// longName is the largest number of letters of a name that fits one line, also on a phone.
const longName = 16

// head returns a cell that names its row.
func head(name string) cell {
	c := cell{Text: name, Head: true}
	if utf8.RuneCountInString(name) > longName {
		c.Class = "long"
	}
	return c
}

func (b *builder) title() string {
	return fmt.Sprintf("%s: %s, %s", b.r.Game, count(len(b.r.Players), "player"), count(b.r.Games, "game"))
}

// facts returns the lines of the heading.
func (b *builder) facts() []fact {
	r := b.r
	complete := "not known: a journal does not record how many games were requested"
	switch {
	case r.Complete != nil && *r.Complete:
		complete = "yes: all requested games"
	case r.Complete != nil:
		complete = "no: interrupted before the last game"
	}
	least, most := r.Seats, r.Seats
	for i := range b.played { // stages of a contest have their own numbers of seats
		n := len(b.played[i].Players)
		least, most = min(least, n), max(most, n)
	}
	seats := strconv.Itoa(most)
	if least < most {
		seats = fmt.Sprintf("%d to %d", least, most)
	}
	played := strconv.Itoa(r.Games)
	if r.Distinct < r.Games {
		played += fmt.Sprintf(", %d of them different", r.Distinct)
	}
	return []fact{
		{"Game", r.Game}, {"Rules", r.Rules}, {"Seed", strconv.FormatUint(r.Seed, 10)}, {"Schedule", r.Schedule},
		{"Players", fmt.Sprintf("%d, %s in a game", len(r.Players), seats)},
		{"Games", played}, {"Game seeds", strconv.Itoa(r.Seeds)}, {"Complete", complete},
	}
}

// ratings shows the strengths of the players.
func (b *builder) ratings() section {
	reference := "The mean of all players is 0."
	if b.r.Anchor != "" {
		reference = b.r.Anchor + " is 0."
	}
	rows := report.Standings(b.r)
	t := table{Caption: "Ratings and results, the best first"}
	for k, row := range rows {
		rank := "#"
		if k > 0 {
			rank = strconv.Itoa(k)
		}
		cells := []cell{number(rank)}
		for i, text := range row {
			if i == 0 {
				cells = append(cells, head(text))
			} else {
				cells = append(cells, cell{Text: text, Number: rows[0][i] != "faults"})
			}
		}
		if k == 0 {
			t.Head = cells
		} else {
			t.Rows = append(t.Rows, cells)
		}
	}
	return section{ID: "ratings", Title: "Ratings", Tables: []table{t}, Notes: b.caveats(), Plot: b.plotRatings(),
		Text: nonEmpty("Elo with 95 % intervals, by the fit to all games (Bradley–Terry with draws): 400 points more are odds of ten to one. "+reference,
			missing(b.r),
			shown("In the plot the best", mostShown, len(b.order)))}
}

// missing returns a sentence on why the tables lack numbers, or "" if they have all.
func missing(r *arena.Report) string {
	if notes := report.Scales(r); len(notes) > 3 {
		return notes[3]
	}
	return ""
}

// caveats returns notes on ratings besides their intervals.
func (b *builder) caveats() (notes []string) {
	var unbounded []string
	groups := map[int][]string{}
	var heads []int
	for _, i := range b.order {
		p := &b.r.Players[i]
		if !p.Bounded && p.Player != b.r.Anchor {
			unbounded = append(unbounded, p.Player)
		}
		if groups[p.Group] == nil {
			heads = append(heads, p.Group)
		}
		groups[p.Group] = append(groups[p.Group], p.Player)
	}
	switch {
	case len(unbounded) == 0:
	case len(unbounded) == len(b.order): // so the mean of all players is unbounded, too
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

// test shows a sequential test.
func (b *builder) test() section {
	s := b.r.Test
	t, e := s.Test(), s.Estimate()
	low, high := s.Bounds()
	said, _, _ := strings.Cut(report.Test(s, b.name(0), b.name(1)), "\n")
	rows := [][2]string{
		{"points tested", fmt.Sprintf("%g or %g (%s)", t.Elo0, t.Elo1, t.Model)},
		{"error rates", fmt.Sprintf("%g and %g", t.Alpha, t.Beta)},
		{"log-likelihood ratio", fmt.Sprintf("%.3f", s.LLR())},
		{"bounds", fmt.Sprintf("%.3f and %.3f", low, high)},
		{"results in half points, from 0 up", strings.Trim(fmt.Sprint(s.Counts()), "[]")},
		{"logistic elo of " + b.name(0) + " by these games", fmt.Sprintf("%+.1f (%+.1f…%+.1f)", e.Elo, e.Low, e.High)},
		{"likelihood that it is stronger", fmt.Sprintf("%.4f", e.LOS)},
	}
	all := table{Caption: "State of the test", Head: []cell{{Text: "value"}, number("state")}}
	for _, row := range rows {
		all.Rows = append(all.Rows, []cell{head(row[0]), number(row[1])})
	}
	return section{ID: "test", Title: "Sequential test", Text: []string{said}, Tables: []table{all}}
}

// stages shows the standings of a contest's stages.
func (b *builder) stages() section {
	rows := report.Stages(b.r)
	t := table{Caption: "Standings of the stages, the last stage first"}
	for k, row := range rows {
		var cells []cell
		for i, text := range row {
			switch {
			case k > 0 && rows[0][i] == "player":
				cells = append(cells, head(text))
			default:
				cells = append(cells, cell{Text: text, Number: i == 1 || i > 2})
			}
		}
		if k == 0 {
			t.Head = cells
		} else {
			t.Rows = append(t.Rows, cells)
		}
	}
	return section{ID: "stages", Title: "Stages", Tables: []table{t}}
}

// heats is the number of colours of a matrix on each side of ½.
const heats = 5

// matrix shows the scores of all players against each other.
func (b *builder) matrix() section {
	matrix := report.Matrix(b.r, mostShown)
	t := table{Caption: "Score of the row's player against the column's, from 0 to 1", Class: "heat", Head: []cell{{Text: "player"}}}
	for row, meetings := range matrix {
		me := b.name(b.order[row])
		t.Head = append(t.Head, cell{Text: strconv.Itoa(row + 1), Hint: me})
		cells := []cell{head(b.ranked(row))}
		for column, m := range meetings {
			if m.Pair == nil {
				cells = append(cells, cell{Text: "–"})
				continue
			}
			cells = append(cells, b.linked(m.Pair, heat(me, b.name(b.order[column]), m.Pair.Games, m.Score, m.Low, m.High)))
		}
		t.Rows = append(t.Rows, cells)
	}
	return section{ID: "scores", Title: "Scores against each other", Tables: []table{t},
		Text: nonEmpty("Columns are numbered like rows. Blue: the row's player is ahead; orange: it is behind; –: they did not meet. A cell links to the games of the two.",
			shown("The best", mostShown, len(b.order)))}
}

// heat returns a cell of the matrix.
func heat(me, other string, games int, score, low, high float64) cell {
	shade := heats
	if score != 0.5 {
		away := max(1, int(math.Round(math.Abs(score-0.5)*2*heats)))
		shade += int(math.Copysign(float64(away), score-0.5))
	}
	return cell{Text: fmt.Sprintf("%.2f", score), Class: "h" + strconv.Itoa(shade),
		Hint: fmt.Sprintf("%s against %s: %.3f (%.3f…%.3f), %s", me, other, score, low, high, count(games, "game"))}
}

// course shows the ratings over the games.
func (b *builder) course() (section, error) {
	ends, rounds := parts(b.played)
	anchor := slices.IndexFunc(b.r.Players, func(p arena.Standing) bool { return p.Player == b.r.Anchor })
	course, err := arena.RatingHistory(len(b.r.Players), b.played, anchor, ends)
	if err != nil {
		return section{}, err
	}
	when := "by the games so far"
	if rounds {
		when = "by the games up to the end of a round"
	}
	t := table{Caption: "Elo by number of games", Head: []cell{{Text: "player"}}}
	for _, end := range ends {
		t.Head = append(t.Head, number(strconv.Itoa(end)))
	}
	for rank := range min(len(b.order), mostShown) {
		row := []cell{head(b.ranked(rank))}
		for k := range ends {
			text := "–"
			if elo := course[k][b.order[rank]]; !math.IsNaN(elo) {
				text = fmt.Sprintf("%+.0f", elo)
			}
			row = append(row, number(text))
		}
		t.Rows = append(t.Rows, row)
	}
	return section{ID: "course", Title: "Ratings over the games", Tables: []table{t}, Plot: b.plotCourse(ends, course),
		Text: nonEmpty("Each rating is "+when+". –: the player had not played yet.",
			shown("In the plot the best", mostLines, len(b.order)), shown("In the table the best", mostShown, len(b.order)))}, nil
}

// mostRounds is the largest number of rounds for which the page shows ratings after each round.
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

// lengths shows the distribution of the games' lengths.
func (b *builder) lengths() section {
	turns, cut := make([]int, 0, len(b.played)), 0
	for i := range b.played {
		turns = append(turns, b.played[i].Turns)
		if b.played[i].Cut {
			cut++
		}
	}
	s := section{ID: "lengths", Title: "Lengths of games"}
	if len(turns) == 0 {
		return s
	}
	slices.Sort(turns)
	n := len(turns)
	s.Text = nonEmpty(fmt.Sprintf("From %d to %s, the median is %d. The middle half of the games: %d to %d.",
		turns[0], count(turns[n-1], "turn"), turns[n/2], turns[n/4], turns[(3*n-1)/4]))
	if cut > 0 {
		s.Text = append(s.Text, fmt.Sprintf("The turn limit ended %s, the rules the others.", count(cut, "game")))
	}
	s.Plot = plotLengths(turns)
	return s
}

// repeats shows the games that repeat others.
func (b *builder) repeats() section {
	s := section{ID: "repeats", Title: "Games that repeat"}
	all := report.Notes(b.r)
	if len(all) == 0 {
		s.Text = []string{"None: no game has the same orders, length and outcome as another between the same players at the same seats."}
		return s
	}
	s.Text = nonEmpty("Games with the same orders, length and outcome have the weight of one game.", shown("Of the notes the last", mostNotes, len(all)))
	s.Notes = all[max(0, len(all)-mostNotes):]
	return s
}

// pairs shows every two players that met.
func (b *builder) pairs() section {
	rows := report.Pairs(b.r)
	t := table{Caption: "Players that met, with numbers of the first player"}
	for _, text := range rows[0] {
		t.Head = append(t.Head, cell{Text: text, Number: len(t.Head) > 1})
	}
	t.Head = append(t.Head, cell{Text: "games"})
	for k, row := range rows[1:min(len(rows), mostPairs+1)] {
		other, me := head(row[1]), head(row[0])
		other.Head, me.ID = false, pairID(k)
		cells := []cell{me, other}
		for _, text := range row[2:] {
			cells = append(cells, number(text))
		}
		t.Rows = append(t.Rows, append(cells, b.gamesOf(row[0], row[1])))
	}
	return section{ID: "pairs", Title: "Pairs of players", Tables: []table{t}, Text: nonEmpty(
		"Score, elo and superior are by the games of these two alone: elo is 400·log10(score/(1−score)), superior the likelihood that the player is stronger than the other. "+
			"Elo by fit is the difference of their ratings. Turns are the mean length of the games.", missing(b.r),
		shown("The first", mostPairs, len(rows)-1))}
}
