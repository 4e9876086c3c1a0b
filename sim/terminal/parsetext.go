package terminal

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/texts"
)

// ParseText reads a position in the notation of AppendText and returns the state. A missing row is
// empty, and missing values of a player are those at the start of a match. A missing next id is the
// one after the highest.
//
// It checks each value by itself, but not whether play can lead to the position. Errors contain the
// line, the column, and the expected and the found text.
func ParseText(g *Game, text string) (State, error) {
	r := textReader{game: g, seen: texts.Once{}}
	g.Reset(&r.state, 0)
	if err := texts.Lines(text, r.read); err != nil {
		return State{}, err
	}
	if err := r.setHealths(); err != nil {
		return State{}, err
	}
	if err := r.setIDs(); err != nil {
		return State{}, err
	}
	return r.state, nil
}

// textReader is the state of ParseText.
type textReader struct {
	game    *Game
	state   State
	seen    texts.Once // the first words of the lines so far
	next    texts.Word // the next id, if it was given
	pieces  []Piece    // the structures read from rows
	ids     []textValue
	healths []textValue
}

// textValue is an entry of a list.
type textValue struct {
	at     texts.Word
	piece  Pos
	number texts.Word
}

// read reads one line.
func (t *textReader) read(words []texts.Word) (err error) {
	head := words[0]
	if head.Text == "" {
		return nil
	}
	switch head.Text {
	case "id":
		t.ids, err = readList(t.ids, words[1:])
		return err
	case "health":
		t.healths, err = readList(t.healths, words[1:])
		return err
	}
	if err := t.seen.Take(head, head.Text, "line"); err != nil {
		return err
	}
	switch head.Text {
	case "turn":
		return t.readTurn(words[1:])
	case "p1", "p2":
		return texts.Pairs(words[1:], func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
			err := t.readPair(sim.Player(head.Text[1]-'1'), name, rest[0])
			return rest[1:], err
		})
	case "x":
		return readColumns(words[1:])
	}
	y, err := strconv.Atoi(head.Text)
	if err != nil || y < 0 || y >= Side || head.Text != strconv.Itoa(y) {
		return head.Wrong("turn, p1, p2, x, id, health or a row from 0 to %d", Side-1)
	}
	return t.readRow(y, words[1:])
}

// readTurn reads the turn and the next id.
func (t *textReader) readTurn(words []texts.Word) (err error) {
	if t.state.Turn, err = texts.Number[uint32](words[0], "a turn", 0, math.MaxUint32); err != nil {
		return err
	}
	if words[1].Text == "next" {
		t.next = words[2]
		if t.state.NextID, err = texts.Number[uint32](t.next, "an id", 1, MaxID+1); err != nil {
			return err
		}
		words = words[2:]
	}
	return words[1].End()
}

// readPair reads one number of player p.
func (t *textReader) readPair(p sim.Player, name, value texts.Word) (err error) {
	s := &t.state
	switch name.Text {
	case "health":
		s.Health[p], err = value.Float("a finite number", -math.MaxFloat32)
	case "cores":
		s.Cores[p], err = value.Float("a finite number from 0 on", 0)
	case "bits":
		s.Bits[p], err = value.Float("a finite number from 0 on", 0)
	case "time":
		s.Time[p], err = texts.Number[uint32](value, "milliseconds", 0, math.MaxUint32)
	default:
		return name.Wrong("health, cores, bits or time")
	}
	return err
}

// readColumns checks the line that numbers the columns.
func readColumns(words []texts.Word) error {
	for x := range Side {
		if c := strconv.Itoa(x % 10); words[x].Text != c {
			return words[x].Wrong("%q", c)
		}
	}
	return words[Side].End()
}

// readRow reads the cells of row y.
func (t *textReader) readRow(y int, words []texts.Word) error {
	for x := range Side {
		cell, ok := bitboard.DiamondCell(x, y)
		if !ok {
			continue
		}
		if words[0].Text == "" {
			return words[0].Wrong("%d cells in row %d", 2*min(y+1, Side-y), y)
		}
		if err := t.readCell(positions[cell], words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	return words[0].End()
}

// readCell reads a cell.
func (t *textReader) readCell(at Pos, w texts.Word) error {
	if w.Text == "." {
		return nil
	}
	k := slices.Index(textLetters[:], w.Text[0]|0x20)
	if k < 0 {
		return w.Wrong("a cell: . or one of w, s, t (upper case when upgraded) and the restores until it is removed")
	}
	c := Piece{At: at, Kind: Kind(k), Player: Owner(int(at.Y)), Upgraded: w.Text[0]&0x20 == 0}
	if c.Upgraded && !t.game.rules.Upgradable[k] {
		return w.Wrong("no upgraded %v under these rules", c.Kind)
	}
	if digits := w.Text[1:]; digits != "" {
		n, err := texts.Number[uint32](w.Part(1, len(w.Text)), "the restores until it is removed", 1, MaxRemoveIn)
		if err != nil {
			return err
		}
		c.RemoveIn = uint8(n)
	}
	c.Health = t.game.rules.Structure(c.Kind, c.Upgraded).Health
	t.pieces = append(t.pieces, c)
	return nil
}

// readList reads entries like 13,10=57.5.
func readList(list []textValue, words []texts.Word) ([]textValue, error) {
	for ; words[0].Text != ""; words = words[1:] {
		w := words[0]
		place, value, _ := strings.Cut(w.Text, "=")
		left, right, _ := strings.Cut(place, ",")
		x, err1 := strconv.ParseUint(left, 10, 8)
		y, err2 := strconv.ParseUint(right, 10, 8)
		if err1 != nil || err2 != nil || value == "" {
			return nil, w.Wrong("x,y=value")
		}
		e := textValue{w, Pos{uint8(x), uint8(y)}, w.Part(len(place)+1, len(w.Text))}
		if slices.ContainsFunc(list, func(other textValue) bool { return other.piece == e.piece }) {
			return nil, w.Wrong("each cell once")
		}
		list = append(list, e)
	}
	return list, nil
}

// find returns the structure on the cell of an entry.
func (t *textReader) find(e textValue) (*Piece, error) {
	for i := range t.pieces {
		if t.pieces[i].At == e.piece {
			return &t.pieces[i], nil
		}
	}
	return nil, e.at.Wrong("the cell of a structure")
}

// setHealths sets the health of the structures in the list.
func (t *textReader) setHealths() error {
	for _, e := range t.healths {
		c, err := t.find(e)
		if err != nil {
			return err
		}
		if c.Health, err = e.number.Float("a finite number above 0", math.SmallestNonzeroFloat32); err != nil {
			return err
		}
	}
	return nil
}

// setIDs sets the ids of the structures and puts them into the state, the oldest first.
func (t *textReader) setIDs() error {
	taken := map[uint32]bool{}
	for _, e := range t.ids {
		c, err := t.find(e)
		if err != nil {
			return err
		}
		if c.ID, err = texts.Number[uint32](e.number, "an id", 1, MaxID); err != nil {
			return err
		}
		if taken[c.ID] {
			return e.number.Wrong("each id once")
		}
		taken[c.ID] = true
	}
	slices.SortFunc(t.pieces, inReadingOrder)
	free := uint32(1)
	for i := range t.pieces {
		if c := &t.pieces[i]; c.ID == 0 {
			for taken[free] {
				free++
			}
			c.ID = free
			free++
		}
	}
	slices.SortFunc(t.pieces, func(a, b Piece) int { return int(a.ID) - int(b.ID) })
	for _, c := range t.pieces {
		t.state.Put(c)
	}
	if n := len(t.pieces); n > 0 {
		after := t.pieces[n-1].ID + 1
		if t.next.Text == "" {
			t.state.NextID = after
		} else if t.state.NextID < after {
			return t.next.Wrong("an id above all others, at least %d", after)
		}
	}
	return nil
}
