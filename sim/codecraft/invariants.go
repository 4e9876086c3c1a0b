package codecraft

import "fmt"

// check panics if play cannot lead to s. Builds with -tags invariants call it after every tick.
// It does not check states after the end of a game, in which ticks may still be played.
func (g *Game) check(s *State) {
	if s.Tick > g.rules.MaxTurns {
		return
	}
	if fault := g.fault(s); fault != "" {
		panic("codecraft: broken state: " + fault)
	}
}

// rebuilt is the scratch memory of fault: the position of a state, and the state that Restore
// makes of it.
type rebuilt struct {
	position Position
	state    State
}

func newRebuilt() *rebuilt {
	return &rebuilt{position: Position{Units: make([]Unit, 0, MaxUnits), Acts: make([]Action, 0, MaxUnits), Veins: make([]Vein, 0, Cells)}}
}

// fault returns the first invariant that s breaks, "" if there is none. Restore must accept the
// position of s, and must derive the other fields of s from it.
func (g *Game) fault(s *State) string {
	if s.N < 0 || s.N > MaxUnits {
		return fmt.Sprintf("%d units", s.N)
	}
	if fault := veinFault(s); fault != "" {
		return fault
	}
	if g.rebuilt == nil {
		g.rebuilt = newRebuilt()
	}
	p, t := &g.rebuilt.position, &g.rebuilt.state
	s.Position(p)
	clear(p.Score[:]) // in long games it exceeds the bound of a position
	clear(p.Resource[:])
	if err := g.Restore(t, p); err != nil {
		return err.Error()
	}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		fault := actionFault(&s.Acts[i])
		if !u.Active && int32(u.Health) == g.rules.Types[u.Type].MaxHealth {
			fault = "it is complete, but not active"
		} else if x, y, ok := s.ResourceAt(u.ID); ok {
			fault = fmt.Sprintf("the resource on (%d, %d) has that id", x, y)
		}
		if fault != "" {
			return fmt.Sprintf("unit %d, %s %d: %s", i, u.Type, u.ID, fault)
		}
	}
	for _, c := range []struct {
		field string
		same  bool
	}{
		{"Resource", min(s.Resource[0], s.Resource[1], s.Resource[2], s.Resource[3]) >= 0},
		{"Units or Acts from N on", s.Units == t.Units && s.Acts == t.Acts},
		{"Occupied", s.Occupied == t.Occupied}, {"Resources", s.Resources == t.Resources}, {"Own", s.Own == t.Own},
		{"At", s.At == t.At}, {"Health", s.Health == t.Health},
		{"Count", s.Count == t.Count}, {"PopUse", s.PopUse == t.PopUse}, {"PopProvide", s.PopProvide == t.PopProvide},
	} {
		if !c.same {
			return c.field + " does not fit the entities"
		}
	}
	return ""
}

// veinFault checks the places where resources were at the start.
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

// actionFault checks a stored action.
func actionFault(a *Action) string {
	has := func(p Parts) bool { return a.Parts&p != 0 }
	rest := *a // the fields that no part has
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
