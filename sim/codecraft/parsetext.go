package codecraft

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// ParseText reads a state in the notation of AppendText. Missing lines and values mean empty
// cells and 0; an empty text is an empty map. If the text does not have the id of the first resource,
// this id follows the greatest id of the other entities. If it does not have the next id, this
// follows all ids.
//
// Errors name line and column, what was expected and what was found. Errors of Restore, which
// checks the whole state, have no line.
func ParseText(g *Game, text string) (State, error) {
	r := textReader{game: g, seen: texts.Once{}, units: map[cell]*textUnit{}}
	if err := texts.Lines(text, r.read); err != nil {
		return State{}, err
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

// before compares places by column, then by row, which is the order of resource ids.
func (c cell) before(d cell) int { return cmp.Or(c.x-d.x, c.y-d.y) }

// textReader holds the parts of a text that have been read.
type textReader struct {
	game   *Game
	state  Position
	seen   texts.Once       // the first words of the lines so far
	next   texts.Word       // the next id, if it was given
	first  texts.Word       // the id of the first resource, if it was given
	from   int              // column of the first cell of rows
	rows   [Side]texts.Word // the last word of each row, for errors
	marks  [Side][Side]textMark
	units  map[cell]*textUnit
	lines  []textLine
	health []textLine
	gone   []textLine
	had    []cell // the cells that have or had resources
	veins  map[cell]int16
}

// textMark is the mark of a cell in a row: '.', ':', '*' or a letter and a player.
type textMark struct {
	letter byte
	owner  byte
	taken  bool // part of a unit that has been placed
}

// textUnit is a unit read from rows.
type textUnit struct {
	Unit
	act Action
}

// textLine is a line of a unit, or an entry of a list: a cell and the words after it.
type textLine struct {
	at   cell
	word texts.Word
	rest []texts.Word
}

// readCell reads the word as coordinates, each up to most.
func readCell(w texts.Word, what string, most uint64) (cell, error) {
	left, right, _ := strings.Cut(w.Text, ",")
	x, err1 := strconv.ParseUint(left, 10, 64)
	y, err2 := strconv.ParseUint(right, 10, 64)
	if err1 != nil || err2 != nil || x > most || y > most {
		return cell{}, w.Wrong("%s as x,y up to %d,%d", what, most, most)
	}
	return cell{int(x), int(y)}, nil
}

// read reads one line.
func (r *textReader) read(words []texts.Word) (err error) {
	head := words[0]
	name := head.Text
	if name == "" {
		return nil
	}
	switch name {
	case "unit":
		return r.readUnit(words)
	case "health":
		r.health, err = readList(r.health, words[1:], true)
		return err
	case "gone":
		r.gone, err = readList(r.gone, words[1:], false)
		return err
	}
	if name[0] == 'x' {
		name = "x"
	}
	if err := r.seen.Take(head, name, "line"); err != nil {
		return err
	}
	switch name {
	case "tick":
		return r.readTick(words)
	case "p1", "p2", "p3", "p4":
		return r.readPlayer(sim.Player(name[1]-'1'), words)
	case "x":
		return r.readColumns(words)
	}
	y, err := strconv.Atoi(name)
	if err != nil || y < 0 || y >= Side || name != strconv.Itoa(y) {
		return head.Wrong("tick, p1 to p4, unit, health, gone, x and a column, or a row from 0 to %d", Side-1)
	}
	return r.readRow(y, words[1:])
}

// readTick reads the pairs of the first line.
func (r *textReader) readTick(words []texts.Word) error {
	return texts.Pairs(words, func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
		n, err, value := uint64(0), error(nil), rest[0]
		switch name.Text {
		case "tick":
			n, err = texts.Number[uint64](value, "a tick", 0, math.MaxInt32)
			r.state.Tick = int32(n)
		case "seed":
			r.state.Seed, err = texts.Number[uint64](value, "a seed", 0, math.MaxUint64)
		case "next":
			r.next = value
			n, err = texts.Number[uint64](value, "an id", 1, MaxID+1)
			r.state.NextID = uint32(n)
		case "first":
			r.first = value
			_, err = texts.Number[uint64](value, "an id", 1, MaxID)
		default:
			err = name.Wrong("tick, seed, next or first")
		}
		return rest[1:], err
	})
}

// readPlayer reads the pairs of player p.
func (r *textReader) readPlayer(p sim.Player, words []texts.Word) error {
	if int32(p) >= r.game.rules.Players {
		return words[0].Wrong("one of %d players", r.game.rules.Players)
	}
	return texts.Pairs(words[1:], func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
		n, err := texts.Number[uint64](rest[0], "a whole number", 0, math.MaxInt32)
		switch name.Text {
		case "score":
			r.state.Score[p] = int32(n)
		case "resource":
			r.state.Resource[p] = int32(n)
		default:
			err = name.Wrong("score or resource")
		}
		return rest[1:], err
	})
}

// readColumns reads the column with which rows begin, and checks the digits.
func (r *textReader) readColumns(words []texts.Word) error {
	from, err := texts.Number[uint64](words[0].Part(1, len(words[0].Text)), "a column", 0, Side-1)
	if err != nil {
		return err
	}
	r.from = int(from)
	for x, w := range words[1:] {
		if c := strconv.Itoa((r.from + x) % 10); w.Text != "" && (w.Text != c || r.from+x >= Side) {
			return w.Wrong("%q or the end of the line", c)
		}
	}
	return nil
}

// readUnit stores the line of a unit.
func (r *textReader) readUnit(words []texts.Word) error {
	if len(words) < 5 {
		return words[len(words)-1].Wrong("an id, a letter and player, and a cell")
	}
	if _, err := texts.Number[uint64](words[1], "an id", 1, MaxID); err != nil {
		return err
	}
	at, err := readCell(words[3], "a cell", Side-1)
	if err != nil {
		return err
	}
	r.lines = append(r.lines, textLine{at, words[1], words[2:]})
	return nil
}

// readList reads entries like 13,10=5, or without values like 13,10.
func readList(list []textLine, words []texts.Word, values bool) ([]textLine, error) {
	for ; words[0].Text != ""; words = words[1:] {
		w := words[0]
		place, value, found := strings.Cut(w.Text, "=")
		at, err := readCell(w.Part(0, len(place)), "a cell", Side-1)
		switch {
		case err != nil:
			return nil, err
		case found != values && values:
			return nil, w.Wrong("x,y=value")
		case found != values:
			return nil, w.Wrong("x,y")
		case slices.ContainsFunc(list, func(l textLine) bool { return l.at == at }):
			return nil, w.Wrong("each cell once")
		}
		list = append(list, textLine{at, w, []texts.Word{w.Part(len(w.Text)-len(value), len(w.Text))}})
	}
	return list, nil
}

// restore returns the state of the text.
func (r *textReader) restore() (s State, err error) {
	p := &r.state
	if err := r.game.Restore(&s, p); err != nil {
		return State{}, fmt.Errorf("the position: %w", err)
	}
	s.Veins = [Side][2]uint64{} // Restore only knows the remaining resources
	for _, c := range r.had {
		s.setVein(c.x, c.y)
	}
	s.FirstID = r.firstID()
	s.countVeins()
	return s, nil
}
