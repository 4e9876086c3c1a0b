package codecraft

import (
	"strings"
	"testing"

	"moonfarm/sim"
)

// soundState is a state with something of everything, after some ticks.
func soundState(t *testing.T) (*Game, *State) {
	t.Helper()
	rules, _ := Preset("round1-2")
	g, err := New(rules)
	if err != nil {
		t.Fatal(err)
	}
	s := new(State)
	g.Reset(s, 5)
	s.Resource[0] = 500
	turn := sim.NewTurn(16)
	for p := range sim.Player(2) {
		for i := range s.Units[:s.N] {
			if u := &s.Units[i]; u.Owner == p {
				turn.Add(p, Move(u.ID, 40, 40, true, true))
				turn.Add(p, And(Auto(u.ID, 20, 0)))
			}
		}
	}
	turn.Add(0, And(Build(s.Units[1].ID, House, int(s.Units[1].X)-3, int(s.Units[1].Y))))
	turn.Add(0, And(Build(s.Units[0].ID, BuilderUnit, 10, 7)))
	turn.Add(0, And(Repair(s.Units[1].ID, 9)))
	turn.Add(0, And(Attack(s.Units[3].ID, 9)))
	for range 3 {
		g.Step(s, turn)
		g.check(s)
		turn.Clear()
	}
	return g, s
}

// TestInvariants breaks a good state in every way that check looks for.
func TestInvariants(t *testing.T) {
	g, good := soundState(t)
	n := int(good.N)
	unit := &good.Units[1] // a builder
	x, y := int(unit.X), int(unit.Y)
	vx, vy, _ := good.Resources.First()
	vein := CellOf(vx, vy)
	for want, spoil := range map[string]func(s *State){
		"2049 units":                   func(s *State) { s.N = 2049 },
		"next id 16777216":             func(s *State) { s.NextID = MaxID + 1 },
		"no type of units":             func(s *State) { s.Units[1].Type = Resource },
		"it says it is player 3's":     func(s *State) { s.Units[1].Owner = 2 },
		"the next id is":               func(s *State) { s.Units[n-1].ID = s.NextID },
		"it comes after":               func(s *State) { s.Units[1].ID = s.Units[0].ID },
		"has that id":                  func(s *State) { s.Units[n-2].ID = s.FirstID + 2 },
		"health 0":                     func(s *State) { s.Units[1].Health = 0 },
		"health 11":                    func(s *State) { s.Units[1].Health = 11 },
		"it is complete":               func(s *State) { s.Units[1].Active = false },
		"it lies on (80, ":             func(s *State) { s.Units[1].X = 80 },
		"At of its cell":               func(s *State) { s.At[CellOf(x, y)] = 1 },
		"is not its player's":          func(s *State) { s.Own[0].Drop(x, y) },
		"it has no part for":           func(s *State) { s.Acts[0].Repair = 4 },
		"parts 10":                     func(s *State) { s.Acts[0] = Action{Parts: HasMove} },
		"parts 101":                    func(s *State) { s.Acts[0] = Action{Parts: Given | FindClosest} },
		"a move to (80, 0)":            func(s *State) { s.Acts[0] = Action{Parts: Given | HasMove, MoveX: 80} },
		"a build of type 1 on (80, 0)": func(s *State) { s.Acts[0] = Action{Parts: Given | HasBuild, BuildType: House, BuildX: 80} },
		"an auto attack on types 0":    func(s *State) { s.Acts[0] = Action{Parts: Given | HasAuto} },
		"is not in use":                func(s *State) { s.Units[n].X = 1 },
		"who does not play":            func(s *State) { s.Own[3].Add(0, 0) },
		"the occupied cells are not":   func(s *State) { s.Occupied.Drop(x, y) },
		"2 owners":                     func(s *State) { s.Own[1].Add(x, y) },
		"unit 1, 0 owners":             func(s *State) { s.At[CellOf(40, 40)] = 2 },
		"unit 1 is elsewhere": func(s *State) {
			s.At[CellOf(40, 40)] = 2
			s.Own[0].Add(40, 40)
			s.Occupied.Add(40, 40)
		},
		"a resource: true, health 0":  func(s *State) { s.Health[vein] = 0 },
		"a resource: true, health 31": func(s *State) { s.Health[vein] = 31 },
		"bits beside the board": func(s *State) {
			s.Resources[3] |= 1 << 40
			s.Occupied[3] |= 1 << 40
		},
		"a resource where none was":    func(s *State) { s.Veins[vx][vy>>6] &^= 1 << (vy & 63); s.countVeins() },
		"column 79: ":                  func(s *State) { s.Before[79]++ },
		"veins from id":                func(s *State) { s.NextID = s.FirstID + 3; s.N = 7; tidy(s) },
		"of type BuilderUnit, counted": func(s *State) { s.Count[0][BuilderUnit]++ },
		"player 2: population":         func(s *State) { s.PopUse[1]++ },
		"player 1: population":         func(s *State) { s.PopProvide[0]-- },
		"player 2: resource -1":        func(s *State) { s.Resource[1] = -1 },
		"veins beside the board":       func(s *State) { s.Veins[79][1] |= 1 << 16 },
	} {
		s := *good
		spoil(&s)
		if fault := g.fault(&s); !strings.Contains(fault, want) {
			t.Errorf("found %q, want %q", fault, want)
		}
		if !panics(func() { g.check(&s) }) {
			t.Errorf("%s: check does not panic", want)
		}
	}
}

// tidy takes away what a smaller N leaves behind, boards aside.
func tidy(s *State) {
	clear(s.Units[s.N:])
	clear(s.Acts[s.N:])
	for i, at := range s.At {
		if int32(at) > s.N {
			s.At[i] = 0
			x, y := i%Side, i/Side
			s.Occupied.Drop(x, y)
			for p := range s.Own {
				s.Own[p].Drop(x, y)
			}
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
