package codecraft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 2.

// alone returns the text of an empty map with one unit of a type, such as "B1", with its lowest
// corner on (x, y); more is appended to its line.
func alone(mark string, size, x, y int, more string) string {
	var b strings.Builder
	for dy := range size {
		fmt.Fprintf(&b, "%d %s\n", y+dy, strings.Repeat(mark, size))
	}
	return b.String() + fmt.Sprintf("x%d\nunit 9 %s %d,%d %s\n", x, mark, x, y, more)
}

func TestClause_2_1_Cells(t *testing.T) {
	for _, c := range []struct {
		mark string
		size int
	}{{"W1", 1}, {"H2", 3}, {"B3", 5}, {"b4", 1}, {"M1", 5}, {"m1", 1}, {"R1", 5}, {"r1", 1}, {"T1", 2}} {
		t.Run(c.mark, func(t *testing.T) {
			far := codecraft.Side - c.size
			for _, at := range [][2]int{{0, 0}, {far, 0}, {0, far}, {far, far}, {62, 33}} {
				m := begin(t, alone(c.mark, c.size, at[0], at[1], ""), nil).tick(1)
				var want bitboard.Square
				for y := range codecraft.Side {
					for x := range codecraft.Side {
						if x >= at[0] && x < at[0]+c.size && y >= at[1] && y < at[1]+c.size {
							want.Add(x, y)
						}
					}
				}
				if m.s.Occupied != want {
					t.Errorf("%s at %v covers\n%s", c.mark, at, m.text())
				}
			}
		})
	}
	// Entities cannot be put on occupied cells.
	g := mustGame(t, "round1", nil)
	var s codecraft.State
	p := codecraft.Position{NextID: 9, Units: []codecraft.Unit{
		{ID: 7, Health: 10, X: 12, Y: 14, Type: codecraft.BuilderUnit, Active: true},
		{ID: 8, Health: 50, X: 10, Y: 12, Type: codecraft.House, Active: true},
	}}
	err := g.Restore(&s, &p)
	assert.ErrorContains(t, err, "overlaps", "a house over a builder")
	p.Units[1].X = 78
	err = g.Restore(&s, &p)
	assert.ErrorContains(t, err, "reaches out of the map", "a house over the edge")
}

func TestClause_2_2_Distance(t *testing.T) {
	// Ranged units of player 1 attack entities within a distance of 5; the numbers are the
	// distances to the house of player 2.
	for _, c := range []struct {
		x, y int
		hits bool
	}{
		{20, 17, true},  // 5 below
		{22, 17, true},  // 5 below its right end
		{23, 17, false}, // 1 + 5
		{23, 18, true},  // 1 + 4
		{16, 19, false}, // 4 + 3
		{18, 19, true},  // 2 + 3
		{17, 19, false}, // 3 + 3
		{15, 23, true},  // 5 to the left
		{14, 23, false}, // 6
		{23, 25, true},  // 1 + 1
		{27, 22, true},  // 5 to the right
		{25, 26, true},  // 3 + 2
		{26, 26, false}, // 4 + 2
	} {
		t.Run(fmt.Sprintf("%d,%d", c.x, c.y), func(t *testing.T) {
			g := mustGame(t, "round1", nil)
			p := codecraft.Position{NextID: 9, Units: []codecraft.Unit{
				{ID: 7, Health: 10, X: uint8(c.x), Y: uint8(c.y), Type: codecraft.RangedUnit, Active: true},
				{ID: 8, Health: 50, X: 20, Y: 22, Type: codecraft.House, Owner: 1, Active: true},
			}, Acts: make([]codecraft.Action, 2)}
			p.Acts[0].Take(codecraft.Auto(7, 0, 0))
			var s codecraft.State
			require.NoError(t, g.Restore(&s, &p))
			m := resume(t, g, s)
			if c.hits {
				m.may(7, "", 8).tick(1).attacks("7>8")
			} else {
				m.may(7, "").tick(1).attacks("")
			}
		})
	}
	// Builders reach adjacent squares, but not diagonal ones.
	const text = `
		12  . * .
		11  *b1 .
		10  . . *
		x10
		unit 5 b1 11,11 auto 1 Resource`
	begin(t, text, nil).may(5, "", 6, 7)
	begin(t, strings.ReplaceAll(text, "*b1", ".b1"), nil).may(5, "", 6)
	begin(t, strings.ReplaceAll(strings.ReplaceAll(text, "*b1", ".b1"), ". * .", ". . ."), nil).may(5, "")
}

func TestClause_2_3_Frames(t *testing.T) {
	// Each player sees its first base at (5, 5), and orders use the same frame.
	g := mustGame(t, "round1", nil)
	var s codecraft.State
	g.Reset(&s, 1)
	corners := [4]string{"5,5", "70,70", "70,5", "5,70"}
	for p := range sim.Player(4) {
		u := s.Units[slices.IndexFunc(s.Units[:s.N], func(u codecraft.Unit) bool { return u.Owner == p && u.Type == codecraft.BuilderBase })]
		assert.Equalf(t, corners[p], fmt.Sprintf("%d,%d", u.X, u.Y), "the base of player %d is at", p+1)
	}
	// The formulas of RULES.md.
	for size := 1; size <= 5; size++ {
		last := codecraft.Side - size
		for i := range (last + 1) * (last + 1) {
			x, y := i%(last+1), i/(last+1)
			for p, want := range [][2]int{{x, y}, {last - x, last - y}, {y, last - x}, {last - y, x}} {
				gotX, gotY := codecraft.Turn(sim.Player(p), x, y, size)
				backX, backY := codecraft.TurnBack(sim.Player(p), gotX, gotY, size)
				if gotX != want[0] || gotY != want[1] || backX != x || backY != y {
					t.Fatalf("player %d sees size %d at %d,%d at %d,%d, and that comes from %d,%d", p+1, size, x, y, gotX, gotY, backX, backY)
				}
			}
		}
	}
}

func TestClause_2_4_Resources(t *testing.T) {
	m := begin(t, "5  *b1\nx5", nil)
	assert.Equal(t, uint8(30), m.s.Health[codecraft.CellOf(5, 5)], "a resource has health")
	for p := range m.s.Own {
		assert.Truef(t, !m.s.Own[p].Has(5, 5) && m.s.Resources.Has(5, 5), "player %d owns a resource", p+1)
	}
}

func TestClause_2_5_Start(t *testing.T) {
	for name, players := range map[string]int{"round1": 4, "round1-3": 3, "round2": 4, "finals": 2, "finals-1": 1} {
		t.Run(name, func(t *testing.T) {
			g := mustGame(t, name, nil)
			var s codecraft.State
			g.Reset(&s, 5)
			assert.Truef(t, s.Tick == 0 && s.Score == [4]int32{} && s.Resource == [4]int32{} && s.Acts == [codecraft.MaxUnits]codecraft.Action{}, "%s: tick %d, points %v, resource %v", name, s.Tick, s.Score, s.Resource)
			var got []string
			for _, u := range s.Units[:s.N] {
				rules := g.Rules()
				p := rules.Types[u.Type]
				x, y := codecraft.Turn(u.Owner, int(u.X), int(u.Y), int(p.Size))
				assert.Truef(t, u.Active && int32(u.Health) == p.MaxHealth, "%s: %+v", name, u)
				got = append(got, fmt.Sprintf("%d %v %d,%d", u.Owner, u.Type, x, y))
			}
			var want []string
			for p := range players {
				want = append(want, fmt.Sprintf("%d BuilderBase 5,5", p), fmt.Sprintf("%d BuilderUnit 4,4", p))
				if strings.HasPrefix(name, "round1") {
					want = append(want, fmt.Sprintf("%d MeleeBase 5,15", p), fmt.Sprintf("%d MeleeUnit 4,14", p),
						fmt.Sprintf("%d RangedBase 15,5", p), fmt.Sprintf("%d RangedUnit 14,4", p), fmt.Sprintf("%d Turret 15,15", p))
				}
			}
			assert.Truef(t, slices.Equal(got, want), "%s: the start", name)
		})
	}
}

func TestClause_2_6_IDs(t *testing.T) {
	for name, first := range map[string]uint32{"round1-3": 25, "finals": 7, "round2": 13, "round1-1": 9} {
		t.Run(name, func(t *testing.T) {
			g := mustGame(t, name, nil)
			var s codecraft.State
			g.Reset(&s, 9)
			for i, u := range s.Units[:s.N] {
				assert.Equalf(t, uint32(int(g.Rules().Players)+1+i), u.ID, "%s: entity %d has id", name, i)
				assert.Truef(t, i <= 0 || u.Owner >= s.Units[i-1].Owner, "%s: players are not one after the other", name)
			}
			id := first
			for x := range codecraft.Side {
				for y := range codecraft.Side {
					if !s.Resources.Has(x, y) {
						continue
					}
					if got := s.ResourceID(x, y); got != id {
						t.Fatalf("%s: the resource on %d,%d has id %d, want %d", name, x, y, got, id)
					}
					if ax, ay, ok := s.ResourceAt(id); !ok || ax != x || ay != y {
						t.Fatalf("%s: resource %d is on %d,%d", name, id, ax, ay)
					}
					id++
				}
			}
			assert.Truef(t, s.NextID == id && s.FirstID == first, "%s: next id %d, first %d; want %d, %d", name, s.NextID, s.FirstID, id, first)
		})
	}
}

// TestClause_2_7_Symmetry checks one map of each kind; TestMaps checks many.
func TestClause_2_7_Symmetry(t *testing.T) {
	for _, name := range []string{"round1-1", "round1-2", "round1-3", "round1-4", "finals", "round2"} {
		g := mustGame(t, name, nil)
		var s, again codecraft.State
		g.Reset(&s, 77)
		players := int(g.Rules().Players)
		cleared := clearedCells(players, startArea(name))
		checkSymmetry(t, name, &s, players, &cleared)
		mustGame(t, name, nil).Reset(&again, 77)
		assert.Truef(t, s == again, "%s: two maps of one seed", name)
		// Cells next to the cleared areas can have resources: with a share of 1000 all of
		// them do.
		full := mustGame(t, name, func(r *codecraft.Rules) { r.Generator.MinShare, r.Generator.MaxShare = 1000, 1000 })
		full.Reset(&s, 77)
		var want bitboard.Square
		want.Flip(&cleared)
		assert.Truef(t, s.Resources == want, "%s: resources are not all but the cleared cells", name)
	}
}

func TestClause_2_8_Shares(t *testing.T) {
	// Shares are drawn evenly: each tenth of the range gets its part of 400 maps.
	g := mustGame(t, "finals", nil)
	cleared := clearedCells(2, 11)
	cells := codecraft.Cells - cleared.Count()
	var parts [10]int
	var s codecraft.State
	for seed := range uint64(400) {
		g.Reset(&s, seed)
		share := 1000 * s.Resources.Count() / cells
		parts[min(max(share-220, 0)*10/281, 9)]++
	}
	for i, n := range parts {
		assert.Truef(t, n >= 15 && n <= 70, "%d of 400 maps have a share in part %d of 10, want about 40: %v", n, i, parts)
	}
	// Longer waves make larger patches, with fewer borders between cells.
	borders := func(change func(m *codecraft.Generator)) (n int) {
		g := mustGame(t, "finals", func(r *codecraft.Rules) {
			r.Generator.MinShare, r.Generator.MaxShare = 350, 350
			change(&r.Generator)
		})
		for seed := range uint64(20) {
			g.Reset(&s, seed)
			for y := range codecraft.Side {
				for x := range codecraft.Side - 1 {
					if s.Resources.Has(x, y) != s.Resources.Has(x+1, y) {
						n++
					}
				}
			}
		}
		return n
	}
	short := borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves = 40, 40, 1 })
	long := borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves = 320, 320, 1 })
	rough := borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves, m.Persistence = 320, 320, 4, 900 })
	smooth := borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves, m.Persistence = 320, 320, 4, 100 })
	assert.Truef(t, short >= 4*long && rough >= 2*smooth && smooth >= long*9/10, "borders: short waves %d, long ones %d; with rough octaves %d, with smooth ones %d", short, long, rough, smooth)
	// Octaves shorter than two cells are left out.
	a, b := borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves = 39, 39, 1 }),
		borders(func(m *codecraft.Generator) { m.MinWave, m.MaxWave, m.Octaves = 39, 39, 8 })
	assert.Equalf(t, b, a, "borders %d with one octave of 3.9 cells, %d with eight", a, b)
}

func TestClause_2_9_Sight(t *testing.T) {
	// The sight of a builder is 10, of a house 5, of a wall 2; each cell of a house counts.
	for _, c := range []struct {
		mark        string
		size, reach int
	}{{"b1", 1, 10}, {"H1", 3, 5}, {"W1", 1, 2}, {"T1", 2, 10}, {"B1", 5, 5}, {"m1", 1, 10}} {
		t.Run(c.mark, func(t *testing.T) {
			for _, more := range []string{"", "health 1 inactive"} {
				m := begin(t, alone(c.mark, c.size, 70, 3, more), fog)
				var got, want bitboard.Square
				m.g.Sight(&got, &m.s, 0)
				for y := range codecraft.Side {
					for x := range codecraft.Side {
						dx, dy := max(70-x, x-(70+c.size-1), 0), max(3-y, y-(3+c.size-1), 0)
						if dx+dy <= c.reach {
							want.Add(x, y)
						}
					}
				}
				assert.Truef(t, got == want, "%s %s sees other cells", c.mark, more)
				if m.g.Sight(&got, &m.s, 1); got.Count() != 0 {
					t.Errorf("player 2 sees something by %s", c.mark)
				}
			}
		})
	}
	// One cell of the house is in sight of a wall, so units of the wall's player can chase the
	// house. Without the wall they cannot, except without fog.
	const text = `
		24 . . . . . . . . . . . .H2H2H2
		23 . . . . . . . . . . . .H2H2H2
		22 r1 . . . . . . . . .W1 .H2H2H2
		x20
		unit 5 r1 20,22 auto 40 House`
	begin(t, text, fog).may(5, "+x")
	begin(t, strings.ReplaceAll(text, "W1 .", " . ."), fog).may(5, "")
	begin(t, strings.ReplaceAll(text, "W1 .", "W3 ."), fog).may(5, "")
	begin(t, strings.ReplaceAll(text, "W1 .", " . ."), nil).may(5, "+x")
}

// TestClause_2_10_Chance plays one position under many seeds. The tests of other clauses check that
// draws are even.
func TestClause_2_10_Chance(t *testing.T) {
	// Two builders have the same place in two groups: their draws are independent.
	m := begin(t, `
		14  . . . . . . . . . .
		13  . . . . . . . . . .
		12 b1 . . . .b1 . . . .
		x10
		unit 5 b1 10,12 move 13,14
		unit 6 b1 15,12 move 18,14`, nil)
	m.even(func(m *match) string { return where(5)(m) + " " + where(6)(m) }, "11,12 16,12", "11,12 15,13", "10,13 16,12", "10,13 15,13")
	// Entities elsewhere do not change the draw.
	first := resume(t, m.g, m.s).tick(1)
	other := begin(t, `
		14  . . . . . . . . . .
		13  . . . . . . . . . .
		12 b1 . . . .b1 . .b2 .
		x10
		unit 5 b1 10,12 move 13,14
		unit 6 b1 15,12 move 18,14
		unit 7 b2 18,12 move 19,14`, nil).tick(1)
	if where(5)(first) != where(5)(other) || where(6)(first) != where(6)(other) {
		t.Errorf("a third unit changes what the others draw:\n%s%s", first.text(), other.text())
	}
	// A rotated position has other draws.
	differ := 0
	for seed := range uint64(40) {
		a := begin(t, fmt.Sprintf("tick 0 seed %d\n11 b1\nx11\nunit 5 b1 11,11 move 50,50", seed), nil).tick(1)
		b := begin(t, fmt.Sprintf("tick 0 seed %d\n11 b3\nx68\nunit 5 b3 68,11 move 29,50", seed), nil).tick(1)
		u := b.s.Units[0]
		x, y := codecraft.Turn(2, int(u.X), int(u.Y), 1)
		if where(5)(a) != fmt.Sprintf("%d,%d", x, y) {
			differ++
		}
	}
	assert.GreaterOrEqualf(t, differ, 8, "of 40 turned positions only %d drew otherwise", differ)
}
