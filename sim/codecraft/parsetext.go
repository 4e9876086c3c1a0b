package codecraft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// ParseText reads a state in the notation of AppendText. Missing lines and values mean empty
// cells and 0; an empty text is an empty map. If the text does not have the id of the first resource,
// this id follows the greatest id of the other entities. If it does not have the next id, this
// follows all ids.
//
// It is for positions that people write. Errors name line and column, what was expected and what was
// found. Errors of Restore, which checks the whole state, have no line.
func ParseText(g *Game, text string) (s State, err error) {
	defer texts.Catch(&err)
	r := textReader{game: g, cells: map[cell]*textUnit{}, veins: map[cell]int16{}}
	p, first := &r.position, uint32(0)
	b := texts.ReadBoard(text)
	b.Pairs("tick", map[string]any{"tick": &p.Tick, "seed": &p.Seed, "next": &p.NextID, "first": &first})
	for q := range g.rules.Players {
		b.Pairs(fmt.Sprint("p", q+1), map[string]any{"score": &p.Score[q], "resource": &p.Resource[q]})
	}
	from := 0
	for x := range Side {
		if len(b.All(fmt.Sprint("x", x))) > 0 {
			from = x
		}
	}
	for y := range Side { // upwards and to the right, so that lowest corners come first
		r.readRow(from, y, b.One(strconv.Itoa(y)))
	}
	for _, u := range r.units {
		if size := int(g.rules.Types[u.Type].Size); u.found != size*size {
			u.first.Fail("%d by %d cells of an entity with the lowest corner on %d,%d", size, size, u.X, u.Y)
		}
	}
	for _, words := range b.All("unit") {
		r.readUnit(words)
	}
	r.readVeins(texts.Entries(b.All("health"), Side-1), texts.Entries(b.All("gone"), Side-1))
	for _, words := range b.Rest() {
		words[0].Fail("tick, p1 to p%d, unit, health, gone, x and a column, or a row from 0 to %d", g.rules.Players, Side-1)
	}
	after := r.giveIDs()
	first = cmp.Or(first, after)
	r.placeVeins(first)
	p.NextID = cmp.Or(p.NextID, max(after, first+uint32(len(r.had))))
	if err := g.Restore(&s, p); err != nil {
		return State{}, fmt.Errorf("the position: %w", err)
	}
	s.Veins = [Side][2]uint64{} // Restore only knows the remaining resources
	for _, c := range r.had {
		s.setVein(c.x, c.y)
	}
	s.FirstID = first
	s.countVeins()
	if id := first + uint32(len(r.had)); first > MaxID || s.NextID < id {
		return State{}, fmt.Errorf("the next id is %d, expected at least %d, above those of all resources", s.NextID, id)
	}
	for _, u := range p.Units {
		if u.ID >= first && u.ID-first < uint32(len(r.had)) {
			return State{}, fmt.Errorf("an entity has id %d, expected none of the ids of the %d resources, from %d on", u.ID, len(r.had), first)
		}
	}
	return s, nil
}

// cell is a place on the map.
type cell struct{ x, y int }

// before compares places by column, then by row, which is the order of resource ids.
func (c cell) before(d cell) int { return cmp.Or(c.x-d.x, c.y-d.y) }

// textReader holds the parts of a text that have been read.
type textReader struct {
	game     *Game
	position Position
	units    []*textUnit
	cells    map[cell]*textUnit // the units by all their cells
	had      []cell             // the cells that have or had resources
	veins    map[cell]int16     // the health of the resources
}

// textUnit is a unit read from rows.
type textUnit struct {
	Unit
	act   Action
	found int        // cells in the rows
	first texts.Word // the first of them
}

// readRow reads the cells of row y, which begins with the given column.
func (r *textReader) readRow(from, y int, words []texts.Word) {
	x := from
	for _, w := range words {
		for i := 0; i < len(w.Text); i++ {
			if x >= Side {
				w.Fail("at most %d cells in row %d from column %d on", Side-from, y, from)
			}
			switch at := (cell{x, y}); w.Text[i] {
			case '.':
			case ':':
				r.had = append(r.had, at)
			case textLetters[Resource]:
				r.had = append(r.had, at)
				r.veins[at] = int16(r.game.rules.Types[Resource].MaxHealth)
			default:
				r.readMark(at, w.Part(i, min(i+2, len(w.Text))))
				i++
			}
			x++
		}
	}
}

// readMark reads the letter and the player on a cell of a unit.
func (r *textReader) readMark(at cell, w texts.Word) {
	kind, owner := slices.Index(textLetters[:], w.Text[0]), 0
	if kind < 0 {
		w.Fail("a cell: . : * or one of W, H, T, B, b, M, m, R, r and a player")
	}
	owner = w.Part(1, len(w.Text)).Whole("a player", 1, int(r.game.rules.Players)) - 1
	u, t := r.cells[at], &r.game.rules.Types[kind]
	if u == nil {
		u = &textUnit{Unit: Unit{
			X: uint8(at.x), Y: uint8(at.y), Health: int16(t.MaxHealth), Type: Type(kind), Owner: sim.Player(owner), Active: true,
		}, first: w}
		r.units = append(r.units, u)
		for i := range int(t.Size * t.Size) {
			r.cells[cell{at.x + i%int(t.Size), at.y + i/int(t.Size)}] = u
		}
	}
	if int(u.Type) == kind && int(u.Owner) == owner {
		u.found++
	}
}

// readUnit reads the words after the first one of the line of a unit.
func (r *textReader) readUnit(words []texts.Word) {
	if len(words) < 4 {
		words[len(words)-1].Fail("an id, a letter and player, and a cell")
	}
	x, y := words[2].Cell(Side - 1)
	u := r.cells[cell{x, y}]
	if u == nil || int(u.X) != x || int(u.Y) != y || string(appendMark(nil, u.Unit)) != words[1].Text || u.ID != 0 {
		words[1].Fail("the letter and player of an entity with its lowest corner on %d,%d, and one line for each", x, y)
	}
	u.ID = uint32(words[0].Whole("an id", 1, MaxID))
	texts.Pairs(words[3:], func(name texts.Word, rest []texts.Word) []texts.Word {
		switch name.Text {
		case "health":
			u.Health = int16(rest[0].Whole("health", 1, int(r.game.rules.Types[u.Type].MaxHealth)))
			return rest[1:]
		case "inactive":
			u.Active = false
			return rest
		}
		o, rest := readOrder(u.ID, name, rest)
		u.act.Take(And(o))
		return rest
	})
}

// moveFlags has the words that may follow the target of a move.
var moveFlags = map[string]sim.Order{"closest": orderClosest, "break": orderBreak, "outside": orderOutside}

// readOrder reads the part of an action that has that name, for entity id.
func readOrder(id uint32, name texts.Word, words []texts.Word) (o sim.Order, rest []texts.Word) {
	arg, rest, target := words[0], words[min(1, len(words)-1):], uint32(0)
	switch name.Text {
	case "stop":
		return Stop(id), words
	case "move":
		x, y := arg.Cell(1<<16 - 1)
		for o = Move(id, x, y, false, false); moveFlags[rest[0].Text] != 0; rest = rest[1:] {
			o |= moveFlags[rest[0].Text]
		}
		return o, rest
	case "build":
		t, ok := TypeNamed(arg.Text)
		if !ok {
			t = Type(arg.Whole("the name of a type, or a number", Types, 15))
		}
		x, y := rest[0].Cell(1<<16 - 1)
		return Build(id, t, x, y), rest[1:]
	case "attack":
		arg.Set(&target)
		return Attack(id, target), rest
	case "auto":
		n := arg.Whole("a pathfind range", 0, maxPathfindRange)
		var list TypeList
		if rest[0].Text != anyTarget && (list.ParseText(rest[0].Text) != nil || list.N == 0) {
			rest[0].Fail("types with commas between, or any")
		}
		return Auto(id, n, list.Set()), rest[1:]
	case "repair":
		arg.Set(&target)
		return Repair(id, target), rest
	}
	name.Fail("health, inactive, stop, move, build, attack, auto or repair")
	return 0, nil
}

// readVeins reads the lists of resources without full health, and of entities where a resource was.
func (r *textReader) readVeins(healths, gone []texts.Entry) {
	for _, e := range healths {
		if r.veins[cell{e.X, e.Y}] == 0 {
			e.Fail("the cell of a resource")
		}
		r.veins[cell{e.X, e.Y}] = int16(e.Value.Whole("health", 1, int(r.game.rules.Types[Resource].MaxHealth)))
	}
	for _, e := range gone {
		if r.cells[cell{e.X, e.Y}] == nil || e.Value.Text != "" {
			e.Fail("the cell of an entity that is no resource")
		}
		r.had = append(r.had, cell{e.X, e.Y})
	}
	slices.SortFunc(r.had, cell.before)
}

// giveIDs gives ids to the units without a line, and adds all units to the position. It returns the
// id after those of all units.
func (r *textReader) giveIDs() uint32 {
	slices.SortFunc(r.units, func(a, b *textUnit) int {
		return cmp.Or(int(a.Owner)-int(b.Owner), cell{int(a.X), int(a.Y)}.before(cell{int(b.X), int(b.Y)}))
	})
	after := uint32(r.game.rules.Players) + 1
	texts.GiveIDs(r.units, func(u **textUnit) *uint32 { return &(*u).ID }, after)
	slices.SortFunc(r.units, func(a, b *textUnit) int { return int(a.ID) - int(b.ID) })
	for _, u := range r.units {
		r.position.Units = append(r.position.Units, u.Unit)
		r.position.Acts = append(r.position.Acts, u.act)
		after = u.ID + 1
	}
	return after
}

// placeVeins adds the resources to the position. Used up resources also have ids.
func (r *textReader) placeVeins(id uint32) {
	for i, c := range r.had {
		if h := r.veins[c]; h > 0 {
			r.position.Veins = append(r.position.Veins, Vein{ID: id + uint32(i), Health: h, X: uint8(c.x), Y: uint8(c.y)})
		}
	}
}
