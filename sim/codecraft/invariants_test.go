package codecraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// soundState returns a valid state with all kinds of entities and actions, after some ticks.
func soundState(t *testing.T) (*Game, *State) {
	t.Helper()
	rules, _ := Preset("round1-2")
	g, err := New(rules)
	require.NoError(t, err)
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

// TestInvariants breaks a valid state in every way that check finds.
func TestInvariants(t *testing.T) {
	g, good := soundState(t)
	n := int(good.N)
	unit := &good.Units[1] // a builder
	x, y := int(unit.X), int(unit.Y)
	vx, vy, _ := good.Resources.First()
	vein := CellOf(vx, vy)
	simtest.Spoil(t, good, g.fault, g.check, map[string]func(s *State){
		"2049 units":                  func(s *State) { s.N = 2049 },
		"next id 16777216":            func(s *State) { s.NextID = MaxID + 1 },
		"expected the type of a unit": func(s *State) { s.Units[1].Type = Resource },
		"its player is 3":             func(s *State) { s.Units[1].Owner = 2 },
		"below the next one":          func(s *State) { s.Units[n-1].ID = s.NextID },
		"two entities have this id":   func(s *State) { s.Units[1].ID = s.Units[0].ID },
		"not in the order":            func(s *State) { s.Units[1].ID = s.Units[2].ID + 1 },
		"between those of resources":  func(s *State) { s.Units[n-2].ID = s.FirstID + 2 },
		"has that id": func(s *State) {
			x, y, _ := s.ResourceAt(s.FirstID)
			s.Resources.Drop(x, y)
			s.Health[CellOf(x, y)] = 0
			s.Units[n-2].ID = s.FirstID
		},
		"health is 0":                  func(s *State) { s.Units[1].Health = 0 },
		"health is 11":                 func(s *State) { s.Units[1].Health = 11 },
		"it is complete":               func(s *State) { s.Units[1].Active = false },
		"reaches out of the map":       func(s *State) { s.Units[1].X = 80 },
		"overlaps":                     func(s *State) { s.Units[1].X, s.Units[1].Y = s.Units[0].X, s.Units[0].Y },
		"At does not":                  func(s *State) { s.At[CellOf(x, y)] = 1 },
		"Own does not":                 func(s *State) { s.Own[0].Drop(x, y) },
		"it has no part for":           func(s *State) { s.Acts[0].Repair = 4 },
		"parts 10":                     func(s *State) { s.Acts[0] = Action{Parts: HasMove} },
		"parts 101":                    func(s *State) { s.Acts[0] = Action{Parts: Given | FindClosest} },
		"a move to (80, 0)":            func(s *State) { s.Acts[0] = Action{Parts: Given | HasMove, MoveX: 80} },
		"a build of type 1 on (80, 0)": func(s *State) { s.Acts[0] = Action{Parts: Given | HasBuild, BuildType: House, BuildX: 80} },
		"an auto attack on types 0":    func(s *State) { s.Acts[0] = Action{Parts: Given | HasAuto} },
		"from N on does not":           func(s *State) { s.Units[n].X = 1 },
		"Occupied does not":            func(s *State) { s.Occupied.Drop(x, y) },
		"Resources does not":           func(s *State) { s.Health[vein] = 0; s.Occupied.Drop(vx, vy) },
		"its health is 31":             func(s *State) { s.Health[vein] = 31 },
		"a resource where none was":    func(s *State) { s.Veins[vx][vy>>6] &^= 1 << (vy & 63); s.countVeins() },
		"column 79: ":                  func(s *State) { s.Before[79]++ },
		"veins from id":                func(s *State) { s.NextID = s.FirstID + 3; s.N = 7; tidy(s) },
		"Count does not":               func(s *State) { s.Count[0][BuilderUnit]++ },
		"PopUse does not":              func(s *State) { s.PopUse[1]++ },
		"PopProvide does not":          func(s *State) { s.PopProvide[0]-- },
		"Resource does not":            func(s *State) { s.Resource[1] = -1 },
		"veins beside the board":       func(s *State) { s.Veins[79][1] |= 1 << 16 },
	})
}

// tidy clears the units beyond N and their cells.
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
