package terminal

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// ParseText reads a position in the notation of AppendText and returns the
// state. Lines and pairs that are not there stand for empty rows and for the
// values at the start of a match; the next id, if it is not given, is the one
// after the highest.
//
// It checks each value by itself, not whether the whole can come about in play.
// Errors name line and column, what was expected and what was found.
func ParseText(g *Game, text string) (State, error) {
	r := textReader{game: g, seen: map[string]bool{}}
	g.Reset(&r.state, 0)
	for line := range strings.Lines(text) {
		r.line++
		if err := r.read(wordsOf(line, r.line)); err != nil {
			return State{}, err
		}
	}
	if err := r.setHealths(); err != nil {
		return State{}, err
	}
	if err := r.setIDs(); err != nil {
		return State{}, err
	}
	return r.state, nil
}

// textReader is a text being read.
type textReader struct {
	game    *Game
	state   State
	line    int             // from 1
	seen    map[string]bool // the first words of the lines so far
	next    word            // the next id, if it was given
	pieces  []Piece         // the structures read from rows
	ids     []textValue
	healths []textValue
}

// textValue is an entry of a list.
type textValue struct {
	at     word
	piece  Pos
	number word
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
func (w word) number(what string, least, most uint32) (uint32, error) {
	n, err := strconv.ParseUint(w.text, 10, 32)
	if err != nil || uint32(n) < least || uint32(n) > most {
		return 0, w.wrong("%s from %d to %d", what, least, most)
	}
	return uint32(n), nil
}

// float is the word as a finite float32, not below least.
func (w word) float(what string, least float32) (float32, error) {
	var f float32
	if err := parseValue(&f, w.text); err != nil || f < least {
		return 0, w.wrong("%s", what)
	}
	return f, nil
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
	if head.text == "" {
		return nil
	}
	list := head.text == "id" || head.text == "health"
	if r.seen[head.text] && !list {
		return head.wrong("each line once")
	}
	r.seen[head.text] = true
	switch head.text {
	case "turn":
		return r.readTurn(words[1:])
	case "p1", "p2":
		return r.readPlayer(sim.Player(head.text[1]-'1'), words[1:])
	case "x":
		return readColumns(words[1:])
	case "id":
		r.ids, err = readList(r.ids, words[1:])
		return err
	case "health":
		r.healths, err = readList(r.healths, words[1:])
		return err
	}
	y, err := strconv.Atoi(head.text)
	if err != nil || y < 0 || y >= Side || head.text != strconv.Itoa(y) {
		return head.wrong("turn, p1, p2, x, id, health or a row from 0 to %d", Side-1)
	}
	return r.readRow(y, words[1:])
}

func wantEnd(w word) error {
	if w.text != "" {
		return w.wrong("the end of the line")
	}
	return nil
}

// readTurn reads the turn and the next id.
func (r *textReader) readTurn(words []word) (err error) {
	if r.state.Turn, err = words[0].number("a turn", 0, math.MaxUint32); err != nil {
		return err
	}
	if words[1].text == "next" {
		r.next = words[2]
		if r.state.NextID, err = r.next.number("an id", 1, MaxID+1); err != nil {
			return err
		}
		words = words[2:]
	}
	return wantEnd(words[1])
}

// readPlayer reads the pairs of player p.
func (r *textReader) readPlayer(p sim.Player, words []word) error {
	given := map[string]bool{}
	for ; words[0].text != ""; words = words[2:] {
		if given[words[0].text] {
			return words[0].wrong("each name once")
		}
		given[words[0].text] = true
		if err := r.readPair(p, words[0], words[1]); err != nil {
			return err
		}
	}
	return nil
}

// readPair reads one number of player p.
func (r *textReader) readPair(p sim.Player, name, value word) (err error) {
	s := &r.state
	switch name.text {
	case "health":
		s.Health[p], err = value.float("a finite number", -math.MaxFloat32)
	case "cores":
		s.Cores[p], err = value.float("a finite number from 0 on", 0)
	case "bits":
		s.Bits[p], err = value.float("a finite number from 0 on", 0)
	case "time":
		s.Time[p], err = value.number("milliseconds", 0, math.MaxUint32)
	default:
		return name.wrong("health, cores, bits or time")
	}
	return err
}

// readColumns checks the line that numbers the columns.
func readColumns(words []word) error {
	for x := range Side {
		if c := strconv.Itoa(x % 10); words[x].text != c {
			return words[x].wrong("%q", c)
		}
	}
	return wantEnd(words[Side])
}

// readRow reads the cells of row y.
func (r *textReader) readRow(y int, words []word) error {
	for x := range Side {
		cell, ok := bitboard.DiamondCell(x, y)
		if !ok {
			continue
		}
		if words[0].text == "" {
			return words[0].wrong("%d cells in row %d", 2*min(y+1, Side-y), y)
		}
		if err := r.readCell(positions[cell], words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	return wantEnd(words[0])
}

// readCell reads a cell.
func (r *textReader) readCell(at Pos, w word) error {
	if w.text == "." {
		return nil
	}
	k := slices.Index(textLetters[:], w.text[0]|0x20)
	if k < 0 {
		return w.wrong("a cell: . or one of w, s, t (upper case when upgraded) and the restores until it is removed")
	}
	c := Piece{At: at, Kind: Kind(k), Player: Owner(int(at.Y)), Upgraded: w.text[0]&0x20 == 0}
	if c.Upgraded && !r.game.rules.Upgradable[k] {
		return w.wrong("no upgraded %v under these rules", c.Kind)
	}
	if digits := w.text[1:]; digits != "" {
		n, err := word{digits, w.line, w.column + 1}.number("the restores until it is removed", 1, maxRemoval)
		if err != nil {
			return err
		}
		c.RemoveIn = uint8(n)
	}
	c.Health = r.game.rules.structure(c.Kind, c.Upgraded).Health
	r.pieces = append(r.pieces, c)
	return nil
}

// readList reads entries like 13,10=57.5.
func readList(list []textValue, words []word) ([]textValue, error) {
	for ; words[0].text != ""; words = words[1:] {
		w := words[0]
		place, value, _ := strings.Cut(w.text, "=")
		left, right, _ := strings.Cut(place, ",")
		x, err1 := strconv.ParseUint(left, 10, 8)
		y, err2 := strconv.ParseUint(right, 10, 8)
		if err1 != nil || err2 != nil || value == "" {
			return nil, w.wrong("x,y=value")
		}
		e := textValue{w, Pos{uint8(x), uint8(y)}, word{value, w.line, w.column + len(place) + 1}}
		if slices.ContainsFunc(list, func(other textValue) bool { return other.piece == e.piece }) {
			return nil, w.wrong("each cell once")
		}
		list = append(list, e)
	}
	return list, nil
}

// find is the structure that an entry of a list names.
func (r *textReader) find(e textValue) (*Piece, error) {
	for i := range r.pieces {
		if r.pieces[i].At == e.piece {
			return &r.pieces[i], nil
		}
	}
	return nil, e.at.wrong("the cell of a structure")
}

// setHealths gives the structures the healths of the list.
func (r *textReader) setHealths() error {
	for _, e := range r.healths {
		c, err := r.find(e)
		if err != nil {
			return err
		}
		if c.Health, err = e.number.float("a finite number above 0", math.SmallestNonzeroFloat32); err != nil {
			return err
		}
	}
	return nil
}

// setIDs gives the structures their ids and puts them into the state, the
// oldest first.
func (r *textReader) setIDs() error {
	taken := map[uint32]bool{}
	for _, e := range r.ids {
		c, err := r.find(e)
		if err != nil {
			return err
		}
		if c.ID, err = e.number.number("an id", 1, MaxID); err != nil {
			return err
		}
		if taken[c.ID] {
			return e.number.wrong("each id once")
		}
		taken[c.ID] = true
	}
	slices.SortFunc(r.pieces, inReadingOrder)
	free := uint32(1)
	for i := range r.pieces {
		if c := &r.pieces[i]; c.ID == 0 {
			for taken[free] {
				free++
			}
			c.ID = free
			free++
		}
	}
	slices.SortFunc(r.pieces, func(a, b Piece) int { return int(a.ID) - int(b.ID) })
	for _, c := range r.pieces {
		r.put(c)
	}
	if n := len(r.pieces); n > 0 {
		after := r.pieces[n-1].ID + 1
		if r.next.text == "" {
			r.state.NextID = after
		} else if r.state.NextID < after {
			return r.next.wrong("an id above all others, at least %d", after)
		}
	}
	return nil
}

// put puts a structure into the state.
func (r *textReader) put(c Piece) {
	s := &r.state
	cell, _ := bitboard.DiamondCell(int(c.At.X), int(c.At.Y))
	mark := c.ID<<markIDShift | uint32(c.RemoveIn)*markTurn | uint32(c.Player)<<3 | uint32(c.Kind)
	if c.Upgraded {
		mark |= markUpgraded
		s.Upgraded.Add(cell)
	}
	if c.RemoveIn > 0 {
		s.Marked.Add(cell)
	}
	s.add(cell, c.Player, c.Kind, Cell{c.Health, mark})
}
