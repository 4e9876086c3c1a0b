package codecraft

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moonfarm/sim"
)

// ParseText reads a position in the notation of AppendText and returns the
// state. What is not there is empty and 0: there need be no lines at all. The
// first resource, if not given, has the id after the last of the other entities,
// and the next id is then the one after all.
//
// Errors name line and column, what was expected and what was found; those of
// Restore, which looks at the whole, only what is wrong.
func ParseText(g *Game, text string) (State, error) {
	r := textReader{game: g, seen: map[string]bool{}, units: map[cell]*textUnit{}}
	for line := range strings.Lines(text) {
		r.line++
		if err := r.read(wordsOf(line, r.line)); err != nil {
			return State{}, err
		}
	}
	for _, step := range []func() error{r.placeRows, r.placeUnits, r.giveIDs, r.placeVeins} {
		if err := step(); err != nil {
			return State{}, err
		}
	}
	return r.restore()
}

// cell is a place on the map.
type cell struct{ x, y int }

// before compares places by column, then by row: the order of ids.
func (c cell) before(d cell) int { return cmp.Or(c.x-d.x, c.y-d.y) }

// textReader is a text being read.
type textReader struct {
	game   *Game
	state  Position
	line   int             // from 1
	seen   map[string]bool // the first words of the lines so far
	next   word            // the next id, if it was given
	first  word            // the id of the first resource, if it was given
	from   int             // column of the first cell of rows
	rows   [Side]word      // what is behind the label
	marks  [Side][Side]textMark
	units  map[cell]*textUnit
	lines  []textLine
	health []textLine
	gone   []textLine
	had    []cell // where resources are or were
	veins  map[cell]int16
}

// textMark is what a row shows on a cell: '.', ':', '*' or a letter and a player.
type textMark struct {
	letter byte
	owner  byte
	taken  bool // part of a unit that is known
}

// textUnit is a unit read from rows.
type textUnit struct {
	Unit
	act Action
}

// textLine is a line of a unit, or an entry of a list: a cell and what follows.
type textLine struct {
	at   cell
	word word
	rest []word
}

// word is a part of a line.
type word struct {
	text         string
	line, column int // from 1, the column in characters
}

// wrong is the error of a word that is not what it should be.
func (w word) wrong(want string, values ...any) error {
	found := strconv.Quote(w.text)
	if w.text == "" {
		found = "the end of the line"
	}
	return fmt.Errorf("line %d, column %d: want %s, found %s", w.line, w.column, fmt.Sprintf(want, values...), found)
}

// number is the word as a whole number from least to most.
func (w word) number(what string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(w.text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, w.wrong("%s from %d to %d", what, least, most)
	}
	return n, nil
}

// pair is the word as coordinates up to most.
func (w word) pair(what string, most uint64) (cell, error) {
	left, right, _ := strings.Cut(w.text, ",")
	x, err1 := strconv.ParseUint(left, 10, 64)
	y, err2 := strconv.ParseUint(right, 10, 64)
	if err1 != nil || err2 != nil || x > most || y > most {
		return cell{}, w.wrong("%s as x,y up to %d,%d", what, most, most)
	}
	return cell{int(x), int(y)}, nil
}

// wordsOf splits a line at its blanks; the last word is empty and stands for
// the end.
func wordsOf(text string, line int) (words []word) {
	text, _, _ = strings.Cut(strings.TrimRight(text, "\r\n"), "#")
	column := 1
	for {
		rest := strings.TrimLeft(text, " \t")
		column += len(text) - len(rest)
		end := strings.IndexAny(rest+" ", " \t")
		words = append(words, word{rest[:end], line, column})
		if rest == "" {
			return words
		}
		column += utf8.RuneCountInString(rest[:end])
		text = rest[end:]
	}
}

// read reads one line.
func (r *textReader) read(words []word) (err error) {
	head := words[0]
	name := head.text
	if name == "" {
		return nil
	}
	if name[0] == 'x' {
		name = "x"
	}
	list := name == "unit" || name == "health" || name == "gone"
	if r.seen[name] && !list {
		return head.wrong("each line once")
	}
	r.seen[name] = true
	switch name {
	case "tick":
		return r.readTick(words)
	case "p1", "p2", "p3", "p4":
		return r.readPlayer(sim.Player(name[1]-'1'), words)
	case "x":
		return r.readColumns(words)
	case "unit":
		return r.readUnit(words)
	case "health":
		r.health, err = readList(r.health, words[1:], true)
		return err
	case "gone":
		r.gone, err = readList(r.gone, words[1:], false)
		return err
	}
	y, err := strconv.Atoi(name)
	if err != nil || y < 0 || y >= Side || name != strconv.Itoa(y) {
		return head.wrong("tick, p1 to p4, unit, health, gone, x and a column, or a row from 0 to %d", Side-1)
	}
	return r.readRow(y, words[1:])
}

// readTick reads the pairs of the first line.
func (r *textReader) readTick(words []word) error {
	given := map[string]bool{}
	for ; words[0].text != ""; words = words[2:] {
		name, value := words[0], words[1]
		if given[name.text] {
			return name.wrong("each name once")
		}
		given[name.text] = true
		n, err := uint64(0), error(nil)
		switch name.text {
		case "tick":
			n, err = value.number("a tick", 0, math.MaxInt32)
			r.state.Tick = int32(n)
		case "seed":
			r.state.Seed, err = value.number("a seed", 0, math.MaxUint64)
		case "next":
			r.next = value
			n, err = value.number("an id", 1, MaxID+1)
			r.state.NextID = uint32(n)
		case "first":
			r.first = value
			_, err = value.number("an id", 1, MaxID)
		default:
			return name.wrong("tick, seed, next or first")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readPlayer reads the pairs of player p.
func (r *textReader) readPlayer(p sim.Player, words []word) error {
	if int32(p) >= r.game.rules.Players {
		return words[0].wrong("one of %d players", r.game.rules.Players)
	}
	given := map[string]bool{}
	for words = words[1:]; words[0].text != ""; words = words[2:] {
		name := words[0]
		if given[name.text] {
			return name.wrong("each name once")
		}
		given[name.text] = true
		n, err := words[1].number("a whole number", 0, math.MaxInt32)
		switch name.text {
		case "score":
			r.state.Score[p] = int32(n)
		case "resource":
			r.state.Resource[p] = int32(n)
		default:
			return name.wrong("score or resource")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readColumns reads with which column rows begin, and checks the digits.
func (r *textReader) readColumns(words []word) error {
	from, err := word{words[0].text[1:], words[0].line, words[0].column + 1}.number("a column", 0, Side-1)
	if err != nil {
		return err
	}
	r.from = int(from)
	for x, w := range words[1:] {
		if c := strconv.Itoa((r.from + x) % 10); w.text != "" && (w.text != c || r.from+x >= Side) {
			return w.wrong("%q or the end of the line", c)
		}
	}
	return nil
}

// readUnit notes the line of a unit.
func (r *textReader) readUnit(words []word) error {
	if len(words) < 5 {
		return words[len(words)-1].wrong("an id, a letter and player, and a cell")
	}
	if _, err := words[1].number("an id", 1, MaxID); err != nil {
		return err
	}
	at, err := words[3].pair("a cell", Side-1)
	if err != nil {
		return err
	}
	r.lines = append(r.lines, textLine{at, words[1], words[2:]})
	return nil
}

// readList reads entries like 13,10=5, or without values like 13,10.
func readList(list []textLine, words []word, values bool) ([]textLine, error) {
	for ; words[0].text != ""; words = words[1:] {
		w := words[0]
		place, value, found := strings.Cut(w.text, "=")
		at, err := word{place, w.line, w.column}.pair("a cell", Side-1)
		switch {
		case err != nil:
			return nil, err
		case found != values && values:
			return nil, w.wrong("x,y=value")
		case found != values:
			return nil, w.wrong("x,y")
		case slices.ContainsFunc(list, func(l textLine) bool { return l.at == at }):
			return nil, w.wrong("each cell once")
		}
		list = append(list, textLine{at, w, []word{{value, w.line, w.column + len(place) + 1}}})
	}
	return list, nil
}

// restore makes the state of what was read.
func (r *textReader) restore() (s State, err error) {
	p := &r.state
	if err := r.game.Restore(&s, p); err != nil {
		return State{}, fmt.Errorf("the position: %w", err)
	}
	s.Veins = [Side][2]uint64{} // Restore knows only those that are left
	for _, c := range r.had {
		s.setVein(c.x, c.y)
	}
	s.FirstID = r.firstID()
	s.countVeins()
	return s, nil
}
