package codecraft

import "moonfarm/sim"

// paths are the units of one tick that look for a path to a place, and what
// the searches need. Units of one player that go to the same place are a
// group: they share what is found out about it.
type paths struct {
	n       int
	groups  [MaxUnits]group
	at      [2][sim.MaxPlayers][Cells]uint16 // [breaks] 1 + the group that goes to a cell; 0 between ticks
	unit    [MaxUnits]uint16                 // 1 + the next of the group
	field   field
	mirrors mirrors
	grids   grids
	detours detours
	shadows shadows
	pockets pockets
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

// prepare allocates what does not have a fixed size, so that it never grows: for
// lists that have a cell at most once, Cells; for searches with break through, the
// start and four entries for each cell, since each is closed once.
func (g *Game) prepare() {
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
	t.grids.drawn, t.mirrors.drawn = [sim.MaxPlayers]bool{}, [sim.MaxPlayers]bool{}
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
	t := &g.paths
	f := &t.field
	open, mirror := &g.open[w.player], &t.mirrors.list[w.player]
	if w.breaks != 0 {
		open, mirror = g.softFor(s, w.player, w.damage), nil
	}
	if !f.begin(open, int(w.x), int(w.y)) {
		return // no cell is open: nobody moves
	}
	low, high, left, right := f.y, f.y, false, false
	for at := w.first; at != 0; at = t.unit[at-1] {
		u := &s.Units[at-1]
		low, high = min(low, int(u.Y)), max(high, int(u.Y))
		left, right = left || int(u.X) < f.x, right || int(u.X) >= f.x
	}
	if right {
		f.right.fill(open, f.x, f.y, f.least, low, high)
	}
	if left {
		f.left.fill(t.mirrors.of(open, mirror, w.player), Side-1-f.x, f.y, f.least, low, high)
	}
	dark := 0
	for at := w.first; at != 0; at = t.unit[at-1] {
		i := int(at) - 1
		u := &s.Units[i]
		if f.distance(u) <= f.least {
			continue // nothing is nearer than where it stands
		}
		if g.steps[i] = f.straight(u); g.steps[i] != 0 {
			continue
		}
		if w.breaks != 0 {
			g.steps[i] = g.breakThrough(s, u, &s.Acts[i])
			continue
		}
		t.shadows.units[dark] = uint16(i)
		dark++
	}
	if dark > 0 {
		g.walkDark(s, w, dark)
	}
}
