// Package report writes the results of a tournament as rows of tables, CSV and Markdown.
package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/sim/texts"
)

// Standings returns the players as a table, the best first; the first row has the heads. Only some reports have the last three columns.
func Standings(r *arena.Report) (rows [][]string) {
	shown := [...]bool{r.Seats > 2, cyclic(r), slices.ContainsFunc(r.Players, func(s arena.Standing) bool { return len(s.Faults) > 0 })}
	add := func(row []string, last ...string) {
		for k, cell := range last {
			if shown[k] {
				row = append(row, cell)
			}
		}
		rows = append(rows, row)
	}
	add([]string{"player", "elo", "95 %", "games", "score", "95 %", "wins", "draws", "losses", "at seat 0"}, "mean place", "nash", "faults")
	for _, i := range r.ByRating() {
		s := &r.Players[i]
		add([]string{s.Player, fmt.Sprintf("%+.0f", s.Elo), interval(s.EloLow, s.EloHigh), strconv.Itoa(s.Games),
			fmt.Sprintf("%.3f", s.Score), fmt.Sprintf("%.3f…%.3f", s.ScoreLow, s.ScoreHigh),
			strconv.Itoa(s.Wins), strconv.Itoa(s.Draws), strconv.Itoa(s.Losses), fmt.Sprintf("%.3f", s.First)},
			fmt.Sprintf("%.2f", s.Place), fmt.Sprintf("%.2f", s.Nash), faultText(s.Faults))
	}
	return rows
}

// cyclic reports whether the Nash equilibrium contains more than one player.
func cyclic(r *arena.Report) bool {
	n := 0
	for i := range r.Players {
		if r.Players[i].Nash > 0 {
			n++
		}
	}
	return n > 1
}

func faultText(faults map[string]int) string {
	var words []string
	for kind, n := range faults {
		words = append(words, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// unknown replaces a number that the games do not determine.
const unknown = "—"

// interval formats an interval of Elo, which may be open on a side.
func interval(low, high *float64) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf("%+.0f…%+.0f", *low, *high)
	case low != nil:
		return fmt.Sprintf("over %+.0f", *low)
	case high != nil:
		return fmt.Sprintf("under %+.0f", *high)
	}
	return unknown
}

// number formats a number, or writes unknown for nil.
func number(layout string, x *float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf(layout, *x)
}

// Pairs returns every two players that met as a table: first what follows from their own games,
// then what follows from the fit to all games.
func Pairs(r *arena.Report) [][]string {
	rows := [][]string{{"player", "against", "score", "95 %", "elo", "95 %", "superior", "elo by fit", "95 %", "wins", "draws", "losses", "turns"}}
	for _, p := range r.Pairs {
		if p.Games == 0 {
			continue
		}
		rows = append(rows, []string{p.A, p.B, fmt.Sprintf("%.3f", p.Score), fmt.Sprintf("%.3f…%.3f", p.ScoreLow, p.ScoreHigh),
			number("%+.0f", p.Elo), interval(p.EloLow, p.EloHigh), number("%.3f", p.Superior), fmt.Sprintf("%+.0f", p.FitElo), interval(p.FitLow, p.FitHigh),
			strconv.Itoa(p.Wins), strconv.Itoa(p.Draws), strconv.Itoa(p.Losses), fmt.Sprintf("%.0f", p.MeanTurns)})
	}
	return rows
}

// Stages returns the standings of a contest's stages as a table, the last stage first; the first
// row has the heads.
func Stages(r *arena.Report) [][]string {
	rows := [][]string{{"stage", "place", "player", "points", "games"}}
	for k := len(r.Stages) - 1; k >= 0; k-- {
		s := &r.Stages[k]
		for i, p := range s.Standings {
			rows = append(rows, []string{s.Stage, strconv.Itoa(i + 1), p.Player, strconv.FormatFloat(p.Points, 'f', 0, 64), strconv.Itoa(p.Games)})
		}
	}
	return rows
}

// Scales returns sentences that explain the scales of the numbers in the tables, and why some are
// missing.
func Scales(r *arena.Report) []string {
	reference := "the mean of all players is 0"
	if r.Anchor != "" {
		reference = r.Anchor + " is 0"
	}
	notes := []string{"score: (wins + draws/2) / games, not the points of the game.", "elo of a player, and elo by fit: the fit to all games (Bradley–Terry with draws, Davidson); " + reference + ".",
		"elo of a pair: by its score alone, 400·log10(score/(1−score)), the scale of sprt; superior: the likelihood that the first is stronger, by the same games."}
	if dashed(r) {
		notes = append(notes, fmt.Sprintf("%s: not determined by the games: fewer than %d seeds without repetitions, or a player won or lost everything. More --games, or --anchor PLAYER, may help.",
			unknown, arena.LeastSeeds))
	}
	return notes
}

// dashed reports whether a table lacks a number.
func dashed(r *arena.Report) bool {
	return slices.ContainsFunc(r.Players, func(s arena.Standing) bool { return s.EloLow == nil }) ||
		slices.ContainsFunc(r.Pairs, func(p arena.Pair) bool { return p.Games > 0 && (p.Elo == nil || p.FitLow == nil) })
}

// Notes returns sentences about repetitions of games and their causes, and about the clock.
func Notes(r *arena.Report) (notes []string) {
	for _, p := range r.Pairs {
		switch {
		case p.Repeats:
			notes = append(notes, fmt.Sprintf("%s against %s repeats: on all %d seeds the same orders and the same outcome; more games give no more information", p.A, p.B, r.Seeds))
		case p.Distinct < p.Games:
			notes = append(notes, fmt.Sprintf("%s against %s: %d of %d games repeat others, and have the weight of one game with these", p.A, p.B, p.Games-p.Distinct, p.Games))
		}
	}
	if r.Clock > 0 {
		notes = append(notes, fmt.Sprintf("the clock decided %d of %d games: both players had the same health at the end, and the one with the shorter thinking time won", r.Clock, r.Games))
	}
	for _, box := range slices.Sorted(maps.Keys(r.Boxes)) {
		notes = append(notes, fmt.Sprintf("box of the bots in %s: %s", texts.Plural(r.Boxes[box], "game"), box))
	}
	if r.Distinct < r.Games {
		notes = append(notes, fmt.Sprintf("%d of %d games are different; a game repeats on another seed if neither its players nor its rules use randomness", r.Distinct, r.Games))
	}
	return notes
}

// Markdown writes rows as a table of Markdown.
func Markdown(out io.Writer, rows [][]string) error {
	var text strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			text.WriteString("| " + strings.ReplaceAll(texts.Escaped(cell), "|", `\|`) + " ")
		}
		text.WriteString("|\n")
		if i == 0 {
			text.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// CSV writes the players in the order given, with all their numbers. A number that the games do not
// determine is empty.
func CSV(out io.Writer, r *arena.Report) error {
	w := csv.NewWriter(out)
	w.Write([]string{"player", "games", "wins", "draws", "losses", "score", "score_low", "score_high", "elo", "low", "high", "error",
		"score_at_seat_0", "mean_place", "nash", "faults", "seconds"})
	for i := range r.Players {
		s := &r.Players[i]
		faults := 0
		for _, n := range s.Faults {
			faults += n
		}
		cells := []string{texts.Escaped(s.Player)}
		for _, n := range []int{s.Games, s.Wins, s.Draws, s.Losses} {
			cells = append(cells, strconv.Itoa(n))
		}
		for _, x := range []*float64{&s.Score, &s.ScoreLow, &s.ScoreHigh, &s.Elo, s.EloLow, s.EloHigh, s.EloError, &s.First, &s.Place, &s.Nash} {
			text := ""
			if x != nil {
				text = strconv.FormatFloat(*x, 'g', -1, 64)
			}
			cells = append(cells, text)
		}
		w.Write(append(cells, strconv.Itoa(faults), strconv.FormatFloat(s.Seconds, 'g', -1, 64)))
	}
	w.Flush()
	return w.Error() // the first error
}

// Test describes a sequential test between two players in two lines.
func Test(s *sprt.State, first, second string) string {
	t, e := s.Test(), s.Estimate()
	low, high := s.Bounds()
	text := "undecided: more games are needed"
	switch s.Decision() {
	case sprt.H0:
		text = fmt.Sprintf("decided: %s is not %g points stronger than %s", first, t.Elo1, second)
	case sprt.H1:
		text = fmt.Sprintf("decided: %s is more than %g points stronger than %s", first, t.Elo0, second)
	}
	return fmt.Sprintf("sprt %g, %g (%s): %s\nllr %.3f in %.3f…%.3f, results %v, logistic elo of these games %+.1f (%+.1f…%+.1f), superior %.4f",
		t.Elo0, t.Elo1, t.Model, text, s.LLR(), low, high, s.Counts(), e.Elo, e.Low, e.High, e.LOS)
}
