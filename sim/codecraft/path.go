package codecraft

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// paths are the units of one tick that look for a path to a place, and what
// the searches need. Units of one player that go to the same place are a
// group: they share what is found out about it.
type paths struct {
	n       int
	groups  [MaxUnits]group
	at      [2][sim.MaxPlayers][Cells]uint16 // [breaks] 1 + the group that goes to a cell; 0 between ticks
	unit    [MaxUnits]uint16                 // 1 + the next of the group
	field   field
	search  search
	grids   grids
	detours detours
	shadows shadows
	breaks  breaks
	soft    [maxSoft]soft
	softs   int // soft in use
}

// group are units of a player with the same target.
type group struct {
	player sim.Player
	x, y   uint8
	breaks uint8  // 1: they break through, with
	damage int32  // … so much damage each
	first  uint16 // 1 + its first unit
}

// prepare allocates what does not have a fixed size.
func (g *Game) prepare() {
	g.paths.search.best = make([]uint16, 0, Cells)
	g.paths.detours.best = make([]uint16, 0, Cells)
	g.paths.detours.entered = make([]uint16, 0, Cells)
	b := &g.paths.breaks
	b.entries, b.far, b.best = make([]breakEntry, 0, 4*Cells+1), make([]uint32, 0, 4*Cells+1), make([]uint16, 0, Cells)
}

func (t *paths) clear() {
	for i := range t.groups[:t.n] {
		w := &t.groups[i]
		t.at[w.breaks][w.player][CellOf(int(w.x), int(w.y))] = 0
	}
	t.n, t.softs = 0, 0
	t.grids.drawn = [sim.MaxPlayers]bool{}
}

// towards returns the first steps of a unit by its move action, or puts it into
// a group, for walk to find them.
func (g *Game) towards(s *State, i int, u *Unit, a *Action) Steps {
	outside := a.Parts&MoveOutside != 0
	if outside && g.rules.OutsideIgnored {
		return 0
	}
	dx, dy := int(a.MoveX)-int(u.X), int(a.MoveY)-int(u.Y)
	switch {
	case dx == 0 && dy == 0:
		return 0
	case dx*dx+dy*dy == 1 && !outside:
		return stepTo(dx, dy)
	}
	x, y := int(a.MoveX), int(a.MoveY)
	w := group{player: u.Owner, x: a.MoveX, y: a.MoveY}
	if a.Parts&BreakThrough != 0 {
		w.breaks, w.damage = 1, g.rules.Types[u.Type].Damage
		if outside || !g.softFor(s, w.player, w.damage).Has(x, y) {
			return g.breakThrough(s, u, a)
		}
	} else {
		reachable := !outside && g.open[u.Owner].Has(x, y)
		if !reachable && a.Parts&FindClosest == 0 || g.freeSteps(u) == 0 {
			return 0
		}
	}
	return g.join(s, i, w)
}

// join puts a unit into a group like w. Those that break through with another
// damage than the group of their target search for themselves.
func (g *Game) join(s *State, i int, w group) Steps {
	t := &g.paths
	at := &t.at[w.breaks][w.player][CellOf(int(w.x), int(w.y))]
	if *at == 0 {
		t.groups[t.n] = w
		t.n++
		*at = uint16(t.n)
	}
	to := &t.groups[*at-1]
	if to.damage != w.damage {
		return g.breakThrough(s, &s.Units[i], &s.Acts[i])
	}
	t.unit[i], to.first = to.first, uint16(i+1)
	return 0
}

// stepTo is the direction to a neighbour cell.
func stepTo(dx, dy int) Steps {
	switch {
	case dx > 0:
		return 1
	case dx < 0:
		return 2
	case dy > 0:
		return 4
	}
	return 8
}

// freeSteps are the directions in which the neighbour cells are open.
func (g *Game) freeSteps(u *Unit) (set Steps) {
	open := &g.open[u.Owner]
	for d := range 4 {
		x, y := int(u.X)+stepX[d], int(u.Y)+stepY[d]
		if uint(x) < Side && uint(y) < Side && open.Has(x, y) {
			set |= 1 << d
		}
	}
	return set
}

// walk finds the first steps of all groups.
func (g *Game) walk(s *State) {
	for i := range g.paths.groups[:g.paths.n] {
		g.walkGroup(s, &g.paths.groups[i])
	}
}

// walkGroup finds the first steps of a group. Most of its units can go straight
// to the target, each step nearer by one: the field tells them all at once.
func (g *Game) walkGroup(s *State, w *group) {
	f := &g.paths.field
	open := &g.open[w.player]
	if w.breaks != 0 {
		open = g.softFor(s, w.player, w.damage)
	}
	if !f.begin(open, int(w.x), int(w.y)) {
		return // no cell is open: nobody moves
	}
	f.fill(open)
	g.paths.detours.drawn = false
	dark := 0
	for at := w.first; at != 0; {
		i := int(at) - 1
		at = g.paths.unit[i]
		u := &s.Units[i]
		x, y := int(u.X), int(u.Y)
		h := max(x-f.x, f.x-x) + max(y-f.y, f.y-y)
		if h <= f.least {
			continue // nothing is nearer than where it stands
		}
		set := Steps(0)
		if x < f.x && f.board.Has(x+1, y) {
			set = 1
		} else if x > f.x && f.board.Has(x-1, y) {
			set = 2
		}
		if y < f.y && f.board.Has(x, y+1) {
			set |= 4
		} else if y > f.y && f.board.Has(x, y-1) {
			set |= 8
		}
		if g.steps[i] = set; set != 0 {
			continue
		}
		if w.breaks != 0 {
			g.steps[i] = g.breakThrough(s, u, &s.Acts[i])
		} else {
			g.paths.shadows.units[dark] = uint16(i)
			dark++
		}
	}
	if dark > 1 {
		g.shadow(s, w, dark)
	} else if dark == 1 {
		i := g.paths.shadows.units[0]
		u := &s.Units[i]
		h := max(int(u.X)-f.x, f.x-int(u.X)) + max(int(u.Y)-f.y, f.y-int(u.Y))
		g.steps[i] = g.detour(u, s.Acts[i].Parts&FindClosest != 0, h)
	}
}

// field is the field of a target: the cells from which a straight way leads to
// it, or to the open cells nearest to it, each step nearer by one.
type field struct {
	x, y  int
	least int             // distance of the nearest open cells
	board bitboard.Square // the field
}

// begin looks for the open cells nearest to the target.
func (f *field) begin(open *bitboard.Square, x, y int) bool {
	f.x, f.y = x, y
	for f.least = 0; f.least < 2*Side; f.least++ {
		for dy := -f.least; dy <= f.least; dy++ {
			dx := f.least - max(dy, -dy)
			if f.openAt(open, dx, dy) || f.openAt(open, -dx, dy) {
				return true
			}
		}
	}
	return false
}

// openAt tells whether the cell at that offset from the target is open.
func (f *field) openAt(open *bitboard.Square, dx, dy int) bool {
	x, y := f.x+dx, f.y+dy
	return uint(x) < Side && uint(y) < Side && open.Has(x, y)
}

// fill makes the board. Rows go away from the target; within a row a carry
// spreads the cells away from its column.
func (f *field) fill(open *bitboard.Square) {
	f.board = bitboard.Square{}
	r0, r1 := rowMask(f.x, Side-1)
	for _, dir := range [2]int{1, -1} {
		n0, n1 := uint64(0), uint64(0) // the row before
		for y := f.y; uint(y) < Side; y += dir {
			o0, o1 := open.Row(y)
			s0, s1 := n0&o0, n1&o1
			if away := f.least - max(y-f.y, f.y-y); away >= 0 {
				for _, x := range [2]int{f.x - away, f.x + away} {
					if uint(x) < Side && open.Has(x, y) {
						m0, m1 := rowMask(x, x)
						s0, s1 = s0|m0, s1|m1
					}
				}
			}
			n0, n1 = spreadUp(o0&r0, o1&r1, s0&r0, s1&r1)
			l0, l1 := o0&(^r0|bitAt(f.x)), o1&(^r1|bitAt(f.x-64))
			a0, a1 := spreadDown(l0, l1, s0&l0, s1&l1)
			n0, n1 = n0|a0, n1|a1
			b0, b1 := f.board.Row(y)
			f.board.SetRow(y, b0|n0, b1|n1)
		}
	}
}

// bitAt is bit n, none outside of a word.
func bitAt(n int) uint64 {
	if uint(n) < 64 {
		return 1 << n
	}
	return 0
}

// spreadUp spreads seeds, which must be open, through open cells to higher x: a
// carry runs through them.
func spreadUp(o0, o1, s0, s1 uint64) (uint64, uint64) {
	t0, carry := bits.Add64(o0, s0, 0)
	t1, _ := bits.Add64(o1, s1, carry)
	return (t0^o0)&o0 | s0, (t1^o1)&o1 | s1
}

// spreadDown spreads seeds to lower x: spreadUp in a mirror.
func spreadDown(o0, o1, s0, s1 uint64) (uint64, uint64) {
	if s0|s1 == 0 {
		return 0, 0
	}
	t1, t0 := spreadUp(bits.Reverse64(o1), bits.Reverse64(o0), bits.Reverse64(s1), bits.Reverse64(s0))
	return bits.Reverse64(t0), bits.Reverse64(t1)
}

// rowMask are the bits of a row from x = from to x = to.
func rowMask(from, to int) (low, high uint64) {
	return ^uint64(0) << from &^ (^uint64(0) << (to + 1)), bitsFrom(from-64) &^ bitsFrom(to-63)
}

// bitsFrom are the bits from n on; all for n below 0.
func bitsFrom(n int) uint64 { return ^uint64(0) << max(n, 0) }
