package codecraft

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// check panics if s is not what play can lead to. Builds with -tags invariants
// call it after every tick. Ticks played after the end of a game are allowed and
// mean nothing.
func (g *Game) check(s *State) {
	if s.Tick > g.rules.MaxTurns {
		return
	}
	if fault := g.fault(s); fault != "" {
		panic("codecraft: broken state: " + fault)
	}
}

// fault names the first thing that must hold and does not.
func (g *Game) fault(s *State) string {
	if s.N < 0 || s.N > MaxUnits {
		return fmt.Sprintf("%d units", s.N)
	}
	if s.NextID > MaxID {
		return fmt.Sprintf("next id %d", s.NextID)
	}
	if fault := veinFault(s); fault != "" {
		return fault
	}
	for i := range s.Units[:s.N] {
		if fault := g.unitFault(s, i); fault != "" {
			return fmt.Sprintf("unit %d, %s %d: %s", i, s.Units[i].Type, s.Units[i].ID, fault)
		}
		if fault := actionFault(&s.Acts[i]); fault != "" {
			return fmt.Sprintf("action of unit %d, %s %d: %s", i, s.Units[i].Type, s.Units[i].ID, fault)
		}
	}
	for i := int(s.N); i < MaxUnits; i++ {
		if s.Units[i] != (Unit{}) || s.Acts[i] != (Action{}) {
			return fmt.Sprintf("unit %d is not in use, but holds %+v, %+v", i, s.Units[i], s.Acts[i])
		}
	}
	if fault := g.boardFault(s); fault != "" {
		return fault
	}
	return g.countFault(s)
}

// unitFault looks at one unit and at the cells it covers.
func (g *Game) unitFault(s *State, i int) string {
	u := &s.Units[i]
	switch {
	case u.Type >= Types || u.Type == Resource:
		return "no type of units"
	case int32(u.Owner) >= g.rules.Players:
		return fmt.Sprintf("it says it is player %d's", u.Owner+1)
	case u.ID == 0 || u.ID >= s.NextID:
		return fmt.Sprintf("the next id is %d", s.NextID)
	case i > 0 && u.ID <= s.Units[i-1].ID:
		return fmt.Sprintf("it comes after %d", s.Units[i-1].ID)
	}
	if x, y, ok := s.ResourceAt(u.ID); ok {
		return fmt.Sprintf("the resource on (%d, %d) has that id", x, y)
	}
	p := &g.rules.Types[u.Type]
	size := int(p.Size)
	switch x, y := int(u.X), int(u.Y); {
	case u.Health <= 0 || int32(u.Health) > p.MaxHealth:
		return fmt.Sprintf("health %d", u.Health)
	case !u.Active && int32(u.Health) == p.MaxHealth:
		return "it is complete, but not active"
	case x+size > Side || y+size > Side:
		return fmt.Sprintf("it lies on (%d, %d)", x, y)
	}
	for y := int(u.Y); y < int(u.Y)+size; y++ {
		for x := int(u.X); x < int(u.X)+size; x++ {
			if at := s.At[CellOf(x, y)]; int(at) != i+1 {
				return fmt.Sprintf("At of its cell (%d, %d) is %d", x, y, at)
			}
			if !s.Own[u.Owner].Has(x, y) {
				return fmt.Sprintf("its cell (%d, %d) is not its player's", x, y)
			}
		}
	}
	return ""
}

// actionFault looks at a stored action.
func actionFault(a *Action) string {
	has := func(p Parts) bool { return a.Parts&p != 0 }
	rest := *a // what no part accounts for
	rest.Parts = 0
	if has(HasMove) {
		rest.MoveX, rest.MoveY = 0, 0
	}
	if has(HasBuild) {
		rest.BuildType, rest.BuildX, rest.BuildY = 0, 0, 0
	}
	if has(HasTarget) {
		rest.Target = 0
	}
	if has(HasAuto) {
		rest.Valid, rest.Range = 0, 0
	}
	if has(HasRepair) {
		rest.Repair = 0
	}
	outside := a.BuildX == 255 && a.BuildY == 255
	switch {
	case rest != (Action{}):
		return fmt.Sprintf("it has no part for %+v", rest)
	case a.Parts >= HasRepair<<1 || a.Parts != 0 && !has(Given) || !has(HasMove) && has(FindClosest|BreakThrough|MoveOutside):
		return fmt.Sprintf("parts %b", a.Parts)
	case a.MoveX >= Side || a.MoveY >= Side:
		return fmt.Sprintf("a move to (%d, %d)", a.MoveX, a.MoveY)
	case (a.BuildX >= Side || a.BuildY >= Side) && !outside || a.BuildType > 15:
		return fmt.Sprintf("a build of type %d on (%d, %d)", a.BuildType, a.BuildX, a.BuildY)
	case has(HasAuto) && (a.Valid == 0 || a.Valid&^EveryType != 0):
		return fmt.Sprintf("an auto attack on types %b", a.Valid)
	}
	return ""
}

// boardFault looks at the boards, one against the other and against the cells.
func (g *Game) boardFault(s *State) string {
	var all bitboard.Square
	for p := range s.Own {
		if int32(p) >= g.rules.Players && s.Own[p].Any() {
			return fmt.Sprintf("cells of player %d, who does not play", p+1)
		}
		all.Or(&s.Own[p])
	}
	all.Or(&s.Resources)
	if all != s.Occupied {
		return "the occupied cells are not those of the players and of the resources"
	}
	for y := range Side {
		for x := range Side {
			owners := 0
			for p := range s.Own {
				if s.Own[p].Has(x, y) {
					owners++
				}
			}
			cell, vein := CellOf(x, y), s.Resources.Has(x, y)
			switch at, h := s.At[cell], s.Health[cell]; {
			case int32(at) > s.N || (at != 0) != (owners == 1) || owners > 1:
				return fmt.Sprintf("(%d, %d): unit %d, %d owners", x, y, int(at)-1, owners)
			case at != 0 && !g.covers(&s.Units[at-1], x, y):
				return fmt.Sprintf("(%d, %d): unit %d is elsewhere", x, y, at-1)
			case vein != (h > 0) || int32(h) > g.rules.Types[Resource].MaxHealth || vein && at != 0:
				return fmt.Sprintf("(%d, %d): a resource: %v, health %d, unit %d", x, y, vein, h, int(at)-1)
			}
		}
	}
	for _, b := range []*bitboard.Square{&s.Occupied, &s.Resources, &s.Own[0], &s.Own[1], &s.Own[2], &s.Own[3]} {
		clean := *b
		for y := range Side {
			low, high := b.Row(y)
			clean.SetRow(y, low, high)
		}
		if clean != *b || b[0]|b[1]|b[len(b)-2]|b[len(b)-1] != 0 {
			return "bits beside the board"
		}
	}
	return ""
}

// covers tells whether a unit covers a cell.
func (g *Game) covers(u *Unit, x, y int) bool {
	size := int(g.rules.Types[u.Type].Size)
	return x >= int(u.X) && x < int(u.X)+size && y >= int(u.Y) && y < int(u.Y)+size
}

// veinFault looks at where resources were.
func veinFault(s *State) string {
	n := 0
	for x := range Side {
		if int(s.Before[x]) != n {
			return fmt.Sprintf("column %d: %d veins before, counted %d", x, s.Before[x], n)
		}
		if s.Veins[x][1]>>(Side-64) != 0 {
			return fmt.Sprintf("column %d: veins beside the board", x)
		}
		for y := range Side {
			was := s.Veins[x][y>>6]>>(y&63)&1 != 0
			if was {
				n++
			} else if s.Resources.Has(x, y) {
				return fmt.Sprintf("(%d, %d): a resource where none was", x, y)
			}
		}
	}
	if n > 0 && (s.FirstID == 0 || s.FirstID+uint32(n) > s.NextID) {
		return fmt.Sprintf("%d veins from id %d on, the next is %d", n, s.FirstID, s.NextID)
	}
	return ""
}

// countFault counts the units.
func (g *Game) countFault(s *State) string {
	var count [sim.MaxPlayers][Types]int16
	var use, provide [sim.MaxPlayers]int32
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		p := &g.rules.Types[u.Type]
		count[u.Owner][u.Type]++
		use[u.Owner] += p.PopUse
		if u.Active {
			provide[u.Owner] += p.PopProvide
		}
	}
	for p := range count {
		for t := range count[p] {
			if count[p][t] != s.Count[p][t] {
				return fmt.Sprintf("player %d: %d of type %s, counted %d", p+1, s.Count[p][t], Type(t), count[p][t])
			}
		}
		if use[p] != s.PopUse[p] || provide[p] != s.PopProvide[p] {
			return fmt.Sprintf("player %d: population %d of %d, counted %d of %d", p+1, s.PopUse[p], s.PopProvide[p], use[p], provide[p])
		}
		if s.Resource[p] < 0 {
			return fmt.Sprintf("player %d: resource %d", p+1, s.Resource[p])
		}
	}
	return ""
}
