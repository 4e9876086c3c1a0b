package page

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena"
)

// faulty has the faults of one kind of one player.
type faulty struct {
	kind         string
	times, games int
	last         *arena.Played
	fault        arena.Fault // the last one
}

// faultsOf returns a player's faults by kind.
func (b *builder) faultsOf(player int) (all []*faulty) {
	byKind := map[string]*faulty{}
	for i := range b.played {
		g := &b.played[i]
		for _, f := range g.Faults {
			if g.Players[f.Seat] != player {
				continue
			}
			k := byKind[f.Kind]
			if k == nil {
				k = &faulty{kind: f.Kind}
				byKind[f.Kind] = k
				all = append(all, k)
			}
			if k.last != g {
				k.games++
			}
			k.times, k.last, k.fault = k.times+max(1, f.Times), g, f
		}
	}
	slices.SortFunc(all, func(x, y *faulty) int { return strings.Compare(x.kind, y.kind) })
	return all
}

// faults shows the errors of bots and networks.
func (b *builder) faults() section {
	s := section{ID: "faults", Title: "Faults"}
	t := table{Caption: "Faults by player and kind", Head: []cell{{Text: "player"}, {Text: "kind"}, number("times"), number("in games"), {Text: "the last one"}, {Text: "files"}}}
	for _, i := range b.order {
		if len(b.r.Players[i].Faults) == 0 {
			continue
		}
		for _, k := range b.faultsOf(i) {
			said := fmt.Sprintf("game %d, %s", k.last.Number, turnText(k.fault.Turn))
			if k.fault.Text != "" {
				said += ": " + k.fault.Text
			}
			printed := ""
			if k.fault.Output != "" {
				printed = "it printed last: " + k.fault.Output
			}
			t.Rows = append(t.Rows, []cell{head(b.name(i)), {Text: k.kind}, number(strconv.Itoa(k.times)),
				number(strconv.Itoa(k.games)), {Text: said, Small: printed, Class: "long"}, filesCell(k.last.Files)})
		}
	}
	if len(t.Rows) == 0 {
		s.Text = []string{"None."}
		return s
	}
	s.Text = nonEmpty(shown("The first", mostFaults, len(t.Rows)))
	t.Rows = t.Rows[:min(len(t.Rows), mostFaults)]
	s.Tables = []table{t}
	return s
}

// turnText formats the turn of a fault.
func turnText(turn int) string {
	if turn < 0 {
		return "before the first turn"
	}
	return "turn " + strconv.Itoa(turn)
}

// games shows the last games with links to their files.
func (b *builder) games() section {
	last := b.played[max(0, len(b.played)-mostGames):]
	seats, rounds, files := 0, false, false
	for i := range last {
		g := &last[i]
		seats, rounds, files = max(seats, len(g.Players)), rounds || g.Round > 0 || g.Stage > 0, files || len(g.Files) > 0
	}
	t := table{Caption: "Games in the order in which they were played", Head: []cell{number("game")}}
	if rounds {
		t.Head = append(t.Head, number("round"))
	}
	t.Head = append(t.Head, number("seed"))
	for seat := range seats {
		t.Head = append(t.Head, cell{Text: fmt.Sprintf("seat %d", seat)})
	}
	t.Head = append(t.Head, number("turns"), cell{Text: "end"}, cell{Text: "faults"})
	if files {
		t.Head = append(t.Head, cell{Text: "files"})
	}
	for i := range last {
		t.Rows = append(t.Rows, b.game(&last[i], seats, rounds, files))
	}
	note := "Numbers, rounds, seeds and seats are as in the journal, from 0. A game ends by the rules or at the turn limit; clock: it ended by the rules, and the shorter thinking time decided who won."
	if files {
		note += " Links lead to files beside the journal: they work if this page is in the journal's folder."
	}
	return section{ID: "games", Title: "Games", Tables: []table{t}, Text: nonEmpty(note, shown("The last", mostGames, len(b.played)))}
}

// game returns a row of the table of games.
func (b *builder) game(g *arena.Played, seats int, rounds, files bool) []cell {
	row := []cell{{Text: strconv.FormatInt(g.Number, 10), Head: true, Number: true, ID: gameID(g)}}
	if rounds {
		text := strconv.Itoa(g.Round)
		if g.Stage > 0 {
			text = fmt.Sprintf("%d.%d", g.Stage, g.Round)
		}
		row = append(row, number(text))
	}
	row = append(row, number(strconv.Itoa(g.Seed)))
	for seat := range seats {
		if seat >= len(g.Players) {
			row = append(row, cell{})
			continue
		}
		place, shared := 1, false
		for other, result := range g.Results {
			if result > g.Results[seat] {
				place++
			}
			shared = shared || other != seat && result == g.Results[seat]
		}
		small := fmt.Sprintf("place %d, score %s", place, strconv.FormatFloat(g.Scores[seat]+0, 'f', -1, 64)) // no −0
		class := ""
		if place == 1 && !shared {
			class = "win"
		}
		row = append(row, cell{Text: b.name(g.Players[seat]), Small: small, Class: class})
	}
	end := "rules"
	if g.Cut {
		end = "limit"
	} else if g.Clock {
		end = "clock"
	}
	faults := cell{}
	var wrong []string
	for _, f := range g.Faults {
		wrong = append(wrong, fmt.Sprintf("seat %d: %d %s", f.Seat, max(1, f.Times), f.Kind))
	}
	if len(wrong) > 0 {
		faults = cell{Text: strings.Join(wrong, ", "), Class: "words"}
	}
	row = append(row, number(strconv.Itoa(g.Turns)), cell{Text: end}, faults)
	if files {
		row = append(row, filesCell(g.Files))
	}
	return row
}

// filesCell links to a game's files in the folder of the journal, and only names other files.
func filesCell(files []string) (c cell) {
	var others []string
	for _, name := range files {
		if !fs.ValidPath(name) {
			others = append(others, name)
			continue
		}
		c.Links = append(c.Links, link{path.Base(name), (&url.URL{Path: name}).String()})
	}
	c.Text = strings.Join(others, ", ")
	return c
}
