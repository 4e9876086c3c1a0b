package towerdefence

import (
	"math"
	"strings"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// maxTextNumber bounds energies, scores and damage in a text, so that they and
// their sums fit the state.
const maxTextNumber = 1_000_000_000

// ParseText reads a position in the notation of AppendText and returns the
// state. Missing rows are empty, and missing values of a player are those at
// the start (score and damage 0). The round, if given, comes first.
//
// It checks each building by itself, but not whether play can lead to the
// position. Buildings get the latest round of placement that agrees with the
// text; it is an error if that round is before round 0. Errors name line and
// column, what was expected and what was found.
func ParseText(g *Game, text string) (State, error) {
	r := textReader{game: g, seen: texts.Once{}}
	g.Reset(&r.state, 0)
	if err := texts.Lines(text, r.read); err != nil {
		return State{}, err
	}
	for p := range r.towers {
		if err := r.listTowers(sim.Player(p)); err != nil {
			return State{}, err
		}
	}
	for p := range r.state.Half { // the inverse of Game.Score
		h, e := &r.state.Half[p], r.score[p^1]
		spent := r.score[p].total - r.score[p].damage - g.rules.EnergyScoreMultiplier*int(h.Energy)
		h.Ledger = ledger(spent, g.worth(h)+e.damage)
	}
	return r.state, nil
}

// textReader reads the lines of a text.
type textReader struct {
	game   *Game
	state  State
	seen   texts.Once // the first words of the lines so far
	score  [2]struct{ total, damage int }
	towers [2][]textTower
}

// textTower is a tesla tower as the text describes it.
type textTower struct {
	at       texts.Word
	cell     int
	placed   int
	building int // rounds until it acts
	idle     int // rounds until it may shoot
	first    bool
}

// read reads one line.
func (r *textReader) read(words []texts.Word) error {
	head := words[0]
	if head.Text == "" {
		return nil
	}
	if err := r.seen.Take(head, head.Text, "line"); err != nil {
		return err
	}
	switch head.Text {
	case "round":
		return r.readRound(words[1:])
	case "A", "B":
		return texts.Pairs(words[1:], func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
			err := r.readPair(sim.Player(head.Text[0]-'A'), name, rest[0])
			return rest[1:], err
		})
	case "x":
		return r.readColumns(words[1:])
	case "0", "1", "2", "3", "4", "5", "6", "7":
		return r.readRow(int(head.Text[0]-'0'), words[1:])
	}
	return head.Wrong("round, A, B, x or a row from 0 to %d", Height-1)
}

func (r *textReader) readRound(words []texts.Word) error {
	if len(r.seen) > 1 {
		return words[0].Wrong("the round before all other lines")
	}
	n, err := texts.Number(words[0], "a round", 0, int(r.game.maxRounds)+1)
	if err != nil {
		return err
	}
	r.state.Round = int32(n)
	for p := range r.state.Half {
		r.state.Half[p].Curtain = int16(n - 1)
	}
	return words[1].End()
}

// readColumns checks the line that numbers the columns.
func (r *textReader) readColumns(words []texts.Word) error {
	for i := range len(textColumns) {
		if c := textColumns[i : i+1]; words[i].Text != c {
			return words[i].Wrong("%q", c)
		}
	}
	return words[len(textColumns)].End()
}

// readPair reads one number of player p.
func (r *textReader) readPair(p sim.Player, name, value texts.Word) (err error) {
	h, n := &r.state.Half[p], 0
	switch name.Text {
	case "energy":
		n, err = texts.Number(value, "an energy", 0, maxTextNumber)
		h.Energy = int32(n)
	case "health":
		n, err = texts.Number(value, "a health", 0, MaxHealth)
		h.Base = int64(n)<<32 | int64(h.Hits())
	case "hits":
		n, err = texts.Number(value, "a number of hits", 0, maxTextNumber)
		h.Base = int64(h.Health())<<32 | int64(n)
	case "score":
		r.score[p].total, err = texts.Number(value, "a score", math.MinInt32, math.MaxInt32) // the original's score wraps around
	case "damage":
		r.score[p].damage, err = texts.Number(value, "a score", 0, maxTextNumber)
	case "curtain":
		n, err = texts.Number(value, "the rounds the curtain protects", -maxRound-1, maxNumber)
		h.Curtain = int16(n + int(r.state.Round) - 1)
	case "ready":
		if value.Text != "yes" && value.Text != "no" {
			return value.Wrong("yes or no")
		}
		h.Available = value.Text == "yes"
	case "fails":
		n, err = texts.Number(value, "a number of failures", 0, 255)
		h.Failures = uint8(n)
	default:
		return name.Wrong("energy, health, hits, score, damage, curtain, ready or fails")
	}
	return err
}

// readRow reads the cells of row y.
func (r *textReader) readRow(y int, words []texts.Word) error {
	for x := range 2 * Width {
		if x == Width {
			if words[0].Text != "|" {
				return words[0].Wrong(`"|" behind %d cells`, Width)
			}
			words = words[1:]
		}
		if words[0].Text == "" || words[0].Text == "|" {
			return words[0].Wrong("%d cells in each half", Width)
		}
		if err := r.readCell(x, y, words[0]); err != nil {
			return err
		}
		words = words[1:]
	}
	return words[0].End()
}

// readCell reads the cell in column x, counted from A's base.
func (r *textReader) readCell(x, y int, w texts.Word) error {
	p, cell, right, left := cellOf(&r.state, x, y)
	building := strings.TrimRight(w.Text, "><")
	missiles := w.Text[len(building):]
	toRight := strings.Count(missiles, ">")
	toLeft := len(missiles) - toRight
	if missiles != strings.Repeat(">", toRight)+strings.Repeat("<", toLeft) || max(toRight, toLeft) > MaxStack {
		return w.Wrong("at most %d missiles of A (>), then at most %d of B (<)", MaxStack, MaxStack)
	}
	for i := range MaxStack {
		bit := uint64(1) << cell
		if i < toRight {
			right[i] |= bit
		}
		if i < toLeft {
			left[i] |= bit
		}
	}
	if building == "." {
		return nil
	}
	return r.readBuilding(p, cell, building, w)
}

// readBuilding reads the building of player p on the cell.
func (r *textReader) readBuilding(p sim.Player, cell int, text string, w texts.Word) error {
	var kind Kind
	found, unfinished := false, false
	for _, k := range Kinds {
		if text != "" && text[0]&^0x20 == textLetters[k] {
			kind, found, unfinished = k, true, text[0]&0x20 != 0
		}
	}
	if !found {
		return w.Wrong("a cell: . or one of D, A, E, T (lower case while unfinished), and missiles")
	}
	rest, first := strings.CutPrefix(text[1:], "*")
	if first && (kind != Tesla || unfinished) {
		return w.Wrong("* on finished tesla towers only")
	}
	digits := strings.TrimLeft(rest, "'")
	taken := len(rest) - len(digits)
	if unfinished && taken > 0 || taken > r.game.extraHits[kind] {
		return w.Wrong("at most %d missiles (') taken, of a finished building", r.game.extraHits[kind])
	}
	b := &r.game.rules.Buildings[kind]
	t := textTower{at: w, cell: cell, first: first}
	var err error
	wait := w.Part(len(text)-len(digits), len(text))
	switch {
	case unfinished:
		t.building, err = texts.Number(wait, "the rounds until it acts", 1, b.ConstructionTime-1)
	case digits != "" && (kind == Attack || kind == Tesla):
		t.idle, err = texts.Number(wait, "the rounds until it may shoot", 1, b.Cooldown)
	case digits != "":
		err = wait.Wrong("no number on a building that does not shoot")
	}
	if err != nil {
		return err
	}
	t.placed = r.placedIn(kind, t.building, t.idle)
	return r.place(p, kind, t, taken)
}

// placedIn returns the latest possible round of placement of a building.
func (r *textReader) placedIn(k Kind, building, idle int) int {
	b := &r.game.rules.Buildings[k]
	placed := int(r.state.Round) + building - b.ConstructionTime
	if idle > 0 { // it has shot: a cooldown, and one round before the next shot
		placed -= b.Cooldown + 1 - idle
	}
	return placed
}

// place puts a building on the board.
func (r *textReader) place(p sim.Player, k Kind, t textTower, taken int) error {
	if t.placed < 0 {
		return t.at.Wrong("a building that can stand in round %d", r.state.Round)
	}
	h, bit := &r.state.Half[p], uint64(1)<<t.cell
	h.Occupied |= bit
	if k != Tesla {
		buy := &r.game.cheap[t.placed&3][k+1]
		h.Type2 |= bit & buy.type2
		h.Type1 |= bit & buy.type1
		h.Type0 |= bit & buy.type0
	} else {
		h.Type2, h.Type1 = h.Type2|bit, h.Type1|bit
		if len(r.towers[p]) == MaxTeslas {
			return t.at.Wrong("at most %d tesla towers of a player", MaxTeslas)
		}
		r.towers[p] = append(r.towers[p], t)
	}
	h.noteBirth(t.cell, t.placed)
	if t.building > 0 {
		if r.game.regular && k == Defense { // Half.Wait0
			h.Wait0 |= bit & -uint64(t.building>>1)
			h.Wait1 |= bit & -uint64(t.building&1)
		}
		return nil
	}
	extra := r.game.extraHits[k] - taken
	h.Live |= bit
	h.Extra0 |= bit & -uint64(extra&1)
	h.Extra1 |= bit & -uint64(extra>>1&1)
	return nil
}

// noteBirth stores the round in which the building on the cell was placed.
func (h *Half) noteBirth(cell, round int) {
	h.Born[cell] = uint8(round)
	h.BornLate = h.BornLate&^(1<<cell) | uint64(round>>8)<<cell
}

// listTowers fills in the list of p's tesla towers, the oldest first.
func (r *textReader) listTowers(p sim.Player) error {
	towers := r.towers[p]
	if len(towers) == 2 {
		a, b := &towers[0], &towers[1]
		finished := a.building+b.building == 0
		switch {
		case finished && a.first == b.first, !finished && (a.first || b.first):
			return b.at.Wrong("* on one of two tesla towers, if both are finished")
		case a.building == b.building && !finished:
			return b.at.Wrong("tesla towers of different ages")
		case finished && b.first, !finished && b.building < a.building:
			*a, *b = *b, *a
		}
		if a.placed >= b.placed {
			a.placed = b.placed - 1
		}
		if a.placed < 0 {
			return a.at.Wrong("a building that can stand in round %d", r.state.Round)
		}
		r.state.Half[p].noteBirth(a.cell, a.placed)
	}
	r.state.Half[p].addTowers(towers, int(r.state.Round))
	return nil
}

// addTowers fills in the list of tesla towers before the round, the oldest
// first.
func (h *Half) addTowers(towers []textTower, round int) {
	for _, t := range towers {
		tower := Tower{Ready: int16(round + t.building + t.idle), Due: never, Cell: uint16(t.cell)}
		if t.building > 0 {
			tower.Due = int16(round + t.building - 1)
		}
		h.Tesla[h.Teslas] = tower
		h.Teslas++
	}
	h.scheduleTeslas()
}
