package towerdefence

import (
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// ParseText reads a position in the notation of AppendText and returns the
// state. Missing rows are empty, and missing values of a player are those at
// the start (score and damage 0).
//
// It is for positions that people write. It checks each building by itself, but
// not whether play can lead to the position. Buildings get the latest round of
// placement that agrees with the text; it is an error if that round is before
// round 0. Errors name line and column, or the building.
func ParseText(g *Game, text string) (s State, err error) {
	defer texts.Catch(&err)
	r := textReader{game: g}
	p := &r.position
	b := texts.ReadBoard(text)
	b.Pairs("round", map[string]any{"round": &p.Round})
	var damage [2]int32 // as the score
	for q := range sim.Player(2) {
		h := &p.Half[q]
		h.Energy, h.Health = g.rules.Start(q)
		b.Pairs("AB"[q:q+1], map[string]any{
			"energy": &h.Energy, "health": &h.Health, "hits": &h.Hits, "score": &h.Score, "damage": &damage[q],
			"curtain": &h.Curtain, "ready": &h.Available, "fails": &h.Failures,
		})
	}
	b.All("x") // for people
	for y := range Height {
		r.readRow(y, b.One(string(rune('0'+y))))
	}
	for _, words := range b.Rest() {
		words[0].Fail("round, A, B, x or a row from 0 to %d", Height-1)
	}
	r.sortTowers()
	if err := g.restore(&s, p); err != nil {
		return State{}, err
	}
	for q := range s.Half {
		s.Half[q].Ledger += ledger(int(-damage[q]), int(damage[q^1]))
	}
	return s, nil
}

// textReader holds the parts of a text that have been read.
type textReader struct {
	game     *Game
	position Position
	older    [2]int // the index of a site with a star, and one more
}

// readRow reads the cells of row y.
func (t *textReader) readRow(y int, words []texts.Word) {
	for x := range 2 * Width {
		if words[0].Line == 0 {
			return // there is no such row
		}
		if x == Width {
			if words[0].Text != "|" {
				words[0].Fail(`"|" behind %d cells`, Width)
			}
			words = words[1:]
		}
		if words[0].Text == "" || words[0].Text == "|" {
			words[0].Fail("%d cells in each half", Width)
		}
		t.readCell(x, y, words[0])
		words = words[1:]
	}
	words[0].End()
}

// readCell reads the cell in column x, counted from A's base.
func (t *textReader) readCell(x, y int, w texts.Word) {
	p, cell := cellOf(x, y)
	building := strings.TrimRight(w.Text, "><")
	missiles := w.Text[len(building):]
	t.position.Half[p].Own[cell] = strings.Count(missiles, "><"[p:p+1])
	t.position.Half[p^1].Far[cell] = strings.Count(missiles, "<>"[p:p+1])
	if building == "." {
		return
	}
	kind := Kind(255)
	for _, k := range Kinds {
		if building != "" && building[0]&^0x20 == textLetters[k] {
			kind = k
		}
	}
	if kind == 255 {
		w.Fail("a cell: . or one of D, A, E, T (lower case while unfinished), and missiles")
	}
	rest, older := strings.CutPrefix(building[1:], "*")
	digits := strings.TrimLeft(rest, "'")
	rules := &t.game.rules.Buildings[kind]
	b := Site{Cell: cell, Kind: kind, Health: rules.Health - (len(rest)-len(digits))*t.game.damage}
	number := w.Part(len(building)-len(digits), len(building))
	if building[0]&0x20 != 0 {
		b.BuildTime = number.Whole("the rounds until it acts", 1, rules.ConstructionTime-1)
	} else if digits != "" {
		b.Cooldown = number.Whole("the rounds until it may shoot", 1, rules.Cooldown)
		b.BuildTime = b.Cooldown - rules.Cooldown - 1 // it has shot: a cooldown, and one round before the next shot
	}
	h := &t.position.Half[p]
	if h.Sites = append(h.Sites, b); older {
		if kind != Tesla || b.BuildTime > 0 {
			w.Fail("* on finished tesla towers only")
		}
		t.older[p] = len(h.Sites)
	}
}

// sortTowers makes the towers with a star older than the other ones of their
// players.
func (t *textReader) sortTowers() {
	for p, older := range t.older {
		sites := t.position.Half[p].Sites
		for _, b := range sites {
			if older > 0 && b.Kind == Tesla && b.Cell != sites[older-1].Cell {
				sites[older-1].BuildTime = min(sites[older-1].BuildTime, b.BuildTime-1)
			}
		}
	}
}
