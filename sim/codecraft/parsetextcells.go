package codecraft

import (
	"bytes"
	"slices"
	"strconv"

	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// readRow reads the cells of row y. It stores them from column 0 on; placeRows moves them.
func (r *textReader) readRow(y int, words []texts.Word) error {
	x := 0
	for _, w := range words {
		r.rows[y] = w // at last the end of the line
		for i := 0; i < len(w.Text); i++ {
			m, at := textMark{letter: w.Text[i]}, w.Part(i, i+1)
			if x >= Side {
				return at.Wrong("at most %d cells in a row", Side)
			}
			switch m.letter {
			case '.', ':', textLetters[Resource]:
			default:
				if bytes.IndexByte(textLetters[:], m.letter) < 0 {
					return at.Wrong("a cell: . : * or one of W, H, T, B, b, M, m, R, r and a player")
				}
				if i++; i == len(w.Text) || w.Text[i] < '1' || w.Text[i] >= '1'+byte(r.game.rules.Players) {
					return w.Part(i, min(i+1, len(w.Text))).Wrong("a player from 1 to %d", r.game.rules.Players)
				}
				m.owner = w.Text[i] - '1'
			}
			r.marks[y][x] = m
			x++
		}
	}
	return nil
}

// placeRows moves the rows to their first column, and collects the units and the resources.
func (r *textReader) placeRows() error {
	for y := range Side {
		for x := Side - 1; x >= 0; x-- {
			m := r.marks[y][x]
			if m.letter != 0 && x+r.from >= Side {
				return r.rows[y].Wrong("at most %d cells in row %d from column %d on", Side-r.from, y, r.from)
			}
			r.marks[y][x] = textMark{}
			if x+r.from < Side {
				r.marks[y][x+r.from] = m
			}
		}
	}
	r.veins = map[cell]int16{}
	for y := range Side { // upwards and to the right, so that lowest corners come first
		for x := range Side {
			switch m := &r.marks[y][x]; {
			case m.letter == 0 || m.letter == '.' || m.taken:
			case m.letter == ':':
				r.had = append(r.had, cell{x, y})
			case m.letter == textLetters[Resource]:
				r.had = append(r.had, cell{x, y})
				r.veins[cell{x, y}] = int16(r.game.rules.Types[Resource].MaxHealth)
			default:
				if err := r.placeUnit(x, y, *m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// placeUnit adds the unit with its lowest corner on (x, y).
func (r *textReader) placeUnit(x, y int, m textMark) error {
	kind := Type(bytes.IndexByte(textLetters[:], m.letter))
	t := &r.game.rules.Types[kind]
	size := int(t.Size)
	for cy := y; cy < y+size; cy++ {
		for cx := x; cx < x+size; cx++ {
			if cy >= Side || cx >= Side || r.marks[cy][cx] != m {
				return r.rows[y].Wrong("%d by %d cells of %c%c from %d,%d on", size, size, m.letter, m.owner+'1', x, y)
			}
			r.marks[cy][cx].taken = true
		}
	}
	r.units[cell{x, y}] = &textUnit{Unit: Unit{
		X: uint8(x), Y: uint8(y), Health: int16(t.MaxHealth), Type: kind, Owner: sim.Player(m.owner), Active: true,
	}}
	return nil
}

// placeUnits reads the lines of units.
func (r *textReader) placeUnits() error {
	ids := map[uint64]bool{}
	for _, l := range r.lines {
		u := r.units[l.at]
		mark := l.rest[0]
		switch {
		case u == nil || string(appendMark(nil, u.Unit)) != mark.Text:
			return mark.Wrong("the letter and player of an entity with its lowest corner on %d,%d", l.at.x, l.at.y)
		case u.ID != 0:
			return l.word.Wrong("each entity once")
		}
		id, err := texts.Number[uint64](l.word, "an id", 1, MaxID)
		if err != nil {
			return err
		}
		if ids[id] {
			return l.word.Wrong("each id once")
		}
		ids[id], u.ID = true, uint32(id)
		if err := u.read(r.game, l.rest[2:]); err != nil {
			return err
		}
	}
	return nil
}

// read reads the words after the cell in the line of a unit.
func (t *textUnit) read(g *Game, words []texts.Word) error {
	return texts.Pairs(words, func(name texts.Word, rest []texts.Word) ([]texts.Word, error) {
		switch name.Text {
		case "health":
			n, err := texts.Number[uint64](rest[0], "health", 1, uint64(g.rules.Types[t.Type].MaxHealth))
			t.Health = int16(n)
			return rest[1:], err
		case "inactive":
			t.Active = false
			return rest, nil
		}
		o, rest, err := readOrder(t.ID, name, rest)
		if err == nil {
			t.act.Take(And(o))
		}
		return rest, err
	})
}

// readOrder reads the part of an action that has that name, for entity id.
func readOrder(id uint32, name texts.Word, words []texts.Word) (o sim.Order, rest []texts.Word, err error) {
	arg := words[0]
	n := uint64(0)
	switch name.Text {
	case "stop":
		return Stop(id), words, nil
	case "move":
		at, err := readCell(arg, "a cell", 1<<16-1)
		o := Move(id, at.x, at.y, false, false)
		for words = words[min(1, len(words)-1):]; moveFlags[words[0].Text] != 0; words = words[1:] {
			o |= moveFlags[words[0].Text]
		}
		return o, words, err
	case "build":
		t, ok := TypeNamed(arg.Text)
		if !ok {
			n, err := texts.Number[uint64](arg, "the name of a type, or a number", Types, 15)
			if err != nil {
				return 0, nil, err
			}
			t = Type(n)
		}
		at, err := readCell(words[1], "a cell", 1<<16-1)
		if err != nil {
			return 0, nil, err
		}
		return Build(id, t, at.x, at.y), words[2:], nil
	case "attack":
		n, err = texts.Number[uint64](arg, "an id", 0, 1<<32-1)
		o = Attack(id, uint32(n))
	case "auto":
		return readAuto(id, words)
	case "repair":
		n, err = texts.Number[uint64](arg, "an id", 0, 1<<32-1)
		o = Repair(id, uint32(n))
	default:
		err = name.Wrong("health, inactive, stop, move, build, attack, auto or repair")
	}
	if err != nil {
		return 0, nil, err
	}
	return o, words[1:], nil
}

// readAuto reads the pathfind range and the valid types of an auto attack.
func readAuto(id uint32, words []texts.Word) (o sim.Order, rest []texts.Word, err error) {
	n, err := texts.Number[uint64](words[0], "a pathfind range", 0, 1<<16-1)
	if err != nil {
		return 0, nil, err
	}
	if words[1].Text == anyTarget {
		return Auto(id, int(n), 0), words[2:], nil
	}
	var list TypeList
	if err := list.ParseText(words[1].Text); err != nil || list.N == 0 {
		return 0, nil, words[1].Wrong("types with commas between, or any")
	}
	return Auto(id, int(n), list.Set()), words[2:], nil
}

// giveIDs gives ids to the units without a line, and adds all units to the position.
func (r *textReader) giveIDs() error {
	all := make([]*textUnit, 0, len(r.units))
	taken := map[uint32]bool{}
	for _, u := range r.units {
		all = append(all, u)
		taken[u.ID] = true
	}
	slices.SortFunc(all, func(a, b *textUnit) int {
		if a.Owner != b.Owner {
			return int(a.Owner) - int(b.Owner)
		}
		return cell{int(a.X), int(a.Y)}.before(cell{int(b.X), int(b.Y)})
	})
	free := uint32(r.game.rules.Players) + 1
	for _, u := range all {
		if u.ID == 0 {
			for taken[free] {
				free++
			}
			u.ID, taken[free] = free, true
		}
	}
	slices.SortFunc(all, func(a, b *textUnit) int { return int(a.ID) - int(b.ID) })
	for _, u := range all {
		r.state.Units = append(r.state.Units, u.Unit)
		r.state.Acts = append(r.state.Acts, u.act)
	}
	return nil
}

// firstID returns the id of the first resource.
func (r *textReader) firstID() uint32 {
	if n, err := strconv.ParseUint(r.first.Text, 10, 32); err == nil {
		return uint32(n)
	}
	if n := len(r.state.Units); n > 0 {
		return r.state.Units[n-1].ID + 1
	}
	return uint32(r.game.rules.Players) + 1
}

// placeVeins sets the health and the ids of the resources. Used up resources also have ids.
func (r *textReader) placeVeins() error {
	for _, l := range r.health {
		if _, ok := r.veins[l.at]; !ok {
			return l.word.Wrong("the cell of a resource")
		}
		n, err := texts.Number[uint64](l.rest[0], "health", 1, uint64(r.game.rules.Types[Resource].MaxHealth))
		if err != nil {
			return err
		}
		r.veins[l.at] = int16(n)
	}
	for _, l := range r.gone {
		if m := r.marks[l.at.y][l.at.x]; !m.taken {
			return l.word.Wrong("the cell of an entity that is no resource")
		}
		r.had = append(r.had, l.at)
	}
	slices.SortFunc(r.had, cell.before)
	id := r.firstID()
	for _, u := range r.state.Units {
		if u.ID >= id && u.ID-id < uint32(len(r.had)) {
			return r.first.Wrong("an id with which none of the %d resources gets the id %d of another entity", len(r.had), u.ID)
		}
	}
	for _, c := range r.had {
		if h, ok := r.veins[c]; ok {
			r.state.Veins = append(r.state.Veins, Vein{ID: id, Health: h, X: uint8(c.x), Y: uint8(c.y)})
		}
		id++
	}
	if r.next.Text == "" {
		if n := len(r.state.Units); n > 0 {
			id = max(id, r.state.Units[n-1].ID+1)
		}
		r.state.NextID = id
	} else if r.state.NextID < id {
		return r.next.Wrong("an id above all others, at least %d", id)
	}
	return nil
}

// moveFlags has the words that may follow the target of a move.
var moveFlags = map[string]sim.Order{"closest": orderClosest, "break": orderBreak, "outside": orderOutside}
