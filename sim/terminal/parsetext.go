package terminal

import (
	"fmt"
	"slices"
	"strconv"

	"moonfarm/sim/texts"
)

// ParseText reads a position in the notation of AppendText and returns the state. A missing row is
// empty, and missing values of a player are those at the start of a match. A missing next id is the
// one after the highest. In place of rows a text may have lines like "w2 13,10 14,10": a structure as
// it is in a row, and its cells.
//
// It is for positions that people write. It does not check whether play can lead to the position.
// Errors contain the line, the column, and the expected and the found text, except those of ids and
// resources that no state of a game has.
func ParseText(g *Game, text string) (s State, err error) {
	defer texts.Catch(&err)
	r := textReader{game: g}
	g.Reset(&r.state, 0)
	b := texts.ReadBoard(text)
	b.Pairs("turn", map[string]any{"turn": &r.state.Turn, "next": &r.state.NextID})
	for p := range r.state.Health {
		b.Pairs(fmt.Sprint("p", p+1), map[string]any{
			"health": &r.state.Health[p], "cores": &r.state.Cores[p], "bits": &r.state.Bits[p], "time": &r.state.Time[p],
		})
	}
	b.All("x") // the digits are for people
	healths, ids := texts.Entries(b.All("health"), Side-1), texts.Entries(b.All("id"), Side-1)
	for y := range Side {
		r.readRow(y, b.One(strconv.Itoa(y)))
	}
	for _, words := range b.Rest() {
		c := r.structure(words[0])
		for _, at := range words[1 : len(words)-1] {
			x, y := at.Cell(Side - 1)
			r.place(c, Pos{uint8(x), uint8(y)}, at)
		}
	}
	for _, e := range healths {
		if e.Value.Set(&r.at(e).Health); r.at(e).Health <= 0 {
			e.Value.Fail("a number above 0")
		}
	}
	for _, e := range ids {
		id := uint32(e.Value.Whole("an id", 1, MaxID))
		if slices.ContainsFunc(r.pieces, func(c Piece) bool { return c.ID == id }) {
			e.Value.Fail("each id once")
		}
		r.at(e).ID = id
	}
	r.put()
	if fault := g.purseFault(&r.state); fault != "" {
		return s, fmt.Errorf("%s: no state of a game has it", fault)
	}
	return r.state, nil
}

// textReader holds the parts of a text that have been read.
type textReader struct {
	game   *Game
	state  State
	pieces []Piece
}

// readRow reads the cells of row y.
func (t *textReader) readRow(y int, words []texts.Word) {
	for x := 0; x < Side && words[0].Line > 0; x++ {
		if !Inside(x, y) {
			continue
		}
		switch w := words[0]; w.Text {
		case "":
			w.Fail("%d cells in row %d", 2*min(y+1, Side-y), y)
		case ".":
		default:
			t.place(t.structure(w), Pos{uint8(x), uint8(y)}, w)
		}
		words = words[1:]
	}
	words[0].End()
}

// structure reads a structure as it is in a row.
func (t *textReader) structure(w texts.Word) Piece {
	k := slices.Index(textLetters[:], w.Text[0]|0x20)
	if k < 0 {
		w.Fail("turn, p1, p2, x, id, health, a row from 0 to %d, or a cell: . or one of w, s, t (upper case when upgraded) and the restores until it is removed", Side-1)
	}
	c := Piece{Kind: Kind(k), Upgraded: w.Text[0]&0x20 == 0}
	if c.Upgraded && !t.game.rules.Upgradable[k] {
		w.Fail("no upgraded %v under these rules", c.Kind)
	}
	if w.Text[1:] != "" {
		c.RemoveIn = uint8(w.Part(1, len(w.Text)).Whole("the restores until it is removed", 1, MaxRemoveIn))
	}
	c.Health = t.game.rules.Structure(c.Kind, c.Upgraded).Health
	return c
}

// place puts a structure on a cell, which the word w names.
func (t *textReader) place(c Piece, at Pos, w texts.Word) {
	if !Inside(int(at.X), int(at.Y)) || slices.ContainsFunc(t.pieces, func(c Piece) bool { return c.At == at }) {
		w.Fail("a free cell of the arena")
	}
	c.At, c.Player = at, Owner(int(at.Y))
	t.pieces = append(t.pieces, c)
}

// at returns the structure on the cell of an entry.
func (t *textReader) at(e texts.Entry) *Piece {
	i := slices.IndexFunc(t.pieces, func(c Piece) bool { return c.At == Pos{uint8(e.X), uint8(e.Y)} })
	if i < 0 {
		e.Fail("the cell of a structure")
	}
	return &t.pieces[i]
}

// put gives ids to the structures and puts them into the state, the oldest first.
func (t *textReader) put() {
	slices.SortFunc(t.pieces, inReadingOrder)
	texts.GiveIDs(t.pieces, func(c *Piece) *uint32 { return &c.ID }, 1)
	slices.SortFunc(t.pieces, func(a, b Piece) int { return int(a.ID) - int(b.ID) })
	for _, c := range t.pieces {
		t.state.Put(c)
		t.state.NextID = max(t.state.NextID, c.ID+1)
	}
}
