package squads

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
)

// ordered returns the actions of the units of seat 0 after its orders, by id, on a board under
// the finals' rules.
func ordered(t testing.TB, board string) (s *codecraft.State, acts map[uint32]codecraft.Action) {
	t.Helper()
	g, err := codecraft.New(codecraft.DefaultRules())
	require.NoError(t, err)
	state, err := codecraft.ParseText(g, strings.ReplaceAll(board, "\t", ""))
	require.NoError(t, err)
	s, acts = &state, map[uint32]codecraft.Action{}
	for _, u := range s.Units[:s.N] {
		if u.Owner == 0 {
			acts[u.ID] = s.Acts[s.Find(u.ID)]
		}
	}
	for _, o := range New(false).AppendOrders(nil, g, s, 0) {
		id := codecraft.Decode(o).ID
		a, there := acts[id]
		if !there {
			t.Fatalf("order %+v for an entity that is not the seat's", codecraft.Decode(o))
		}
		a.Take(o)
		acts[id] = a
	}
	return s, acts
}

// at returns the unit on a cell.
func at(t testing.TB, s *codecraft.State, x, y int) *codecraft.Unit {
	t.Helper()
	i := int(s.At[codecraft.CellOf(x, y)]) - 1
	require.GreaterOrEqualf(t, i, 0, "nothing at (%d, %d)", x, y)
	return &s.Units[i]
}

// Each builder goes to the nearest place that is not another builder's; a builder beside a
// resource gathers it.
func TestBuildersSpread(t *testing.T) {
	s, acts := ordered(t, `
	33  . . . . . . . .
	32  * . .b1b1 . . *
	31  . . . . . . . .
	30  *b1 . . . . . .
	x30`)
	want := map[[2]int]int{{33, 32}: 32, {34, 32}: 35}
	for from, x := range want {
		a := acts[at(t, s, from[0], from[1]).ID]
		assert.Truef(t, a.Parts == codecraft.Given|codecraft.HasMove && int(a.MoveX) == x && a.MoveY == 32, "builder at %v: %+v, want a step to (%d, 32)", from, a, x)
	}
	a := acts[at(t, s, 31, 30).ID]
	assert.Truef(t, a.Parts == codecraft.Given|codecraft.HasAuto && a.Valid == 1<<codecraft.Resource, "the builder beside a resource: %+v", a)
}

// A builder pushes a gathering builder on its path onwards to the free place.
func TestBuildersPush(t *testing.T) {
	s, acts := ordered(t, `
	3 H1H1H1 *H1H1H1 *
	2 H1H1H1 *H1H1H1 *
	1 H1H1H1 *H1H1H1 *
	0  . .b1b1 . . . *`)
	for _, x := range []int{2, 3} {
		a := acts[at(t, s, x, 0).ID]
		assert.Truef(t, a.Parts == codecraft.Given|codecraft.HasMove && int(a.MoveX) == x+1 && a.MoveY == 0, "builder at (%d, 0): %+v, want a step to (%d, 0)", x, a, x+1)
	}
}

// The first house is begun when the population limit is reached, by a builder beside its
// site, and not before.
func TestHouseInTime(t *testing.T) {
	const rows = `p1 resource 60
	33 B1B1B1B1B1** .
	32 B1B1B1B1B1b1 .
	31 B1B1B1B1B1b1 .
	30 B1B1B1B1B1b1 .
	29 B1B1B1B1B1b1 .
	x30`
	for _, c := range []struct {
		name, cell string
		want       bool
	}{{"limit reached", "b1", true}, {"one below the limit", " .", false}} {
		t.Run(c.name, func(t *testing.T) {
			_, acts := ordered(t, strings.ReplaceAll(rows, "**", c.cell))
			builds := slices.ContainsFunc(values(acts), func(a codecraft.Action) bool {
				return a.Parts&codecraft.HasBuild != 0 && a.BuildType == codecraft.House
			})
			require.Equal(t, c.want, builds, "a house is begun")
		})
	}
}

// A house is built without a lane to another building if the nearest site with a lane is far
// away.
func TestHouseWithoutLane(t *testing.T) {
	_, acts := ordered(t, `p1 resource 60
	10 . . . . . . . . .
	9  . * * * * * * * *
	8  . * * * * * * * *
	7  . * * * * * * * *
	6  . * * * * * * * *
	5  . * * * * * * * *
	4 b1b1b1B1B1B1B1B1 *
	3 b1b1 .B1B1B1B1B1 *
	2  . . .B1B1B1B1B1 *
	1  . . .B1B1B1B1B1 *
	0  . . .B1B1B1B1B1 *`)
	for _, a := range acts {
		if a.Parts&codecraft.HasBuild != 0 && a.BuildType == codecraft.House {
			assert.Truef(t, a.BuildX == 0 && a.BuildY == 0, "a house at (%d, %d), want (0, 0)", a.BuildX, a.BuildY)
			return
		}
	}
	t.Error("no house")
}

func values(acts map[uint32]codecraft.Action) (list []codecraft.Action) {
	for _, a := range acts {
		list = append(list, a)
	}
	return list
}

// A shot that kills is worth most, also if it leaves exactly nothing; one at an enemy that earlier shots kill is worth least.
func TestWorthOfShots(t *testing.T) {
	c := New(false)
	for left, want := range map[int16]int{-2: -2, 0: 0, 4: 1 << 16, 5: 1 << 16, 6: 1<<15 - 6, 100: 1<<15 - 100} {
		c.shots.left[1] = left
		assert.Equal(t, want, c.worthShot(1, 5), "health %d", left)
	}
}

// Each enemy gets the two shots that kill it, and no third one.
func TestShotsAreShared(t *testing.T) {
	s, acts := ordered(t, `
	32 r1 . . . .r2
	31  .r1 . . . .
	30 r1r1 . . .r2
	x30`)
	shots := map[uint32]int{}
	for _, a := range acts {
		require.Equalf(t, codecraft.Given|codecraft.HasTarget, a.Parts, "%+v, want an attack", a)
		shots[a.Target]++
	}
	for _, y := range []int{30, 32} {
		n := shots[at(t, s, 35, y).ID]
		assert.Equalf(t, 2, n, "%d shots at the enemy in row %d", n, y)
	}
}

// Fighters advance towards enemies that they outnumber, wait at a distance from enemies that
// outnumber them, and retreat when these come near.
func TestStrength(t *testing.T) {
	for name, c := range map[string]struct {
		board string
		x     int // where the unit at (30, 30) goes; 30: it stays
	}{
		"advance": {"31 r1 . . . . . . . .\n30 r1 . . . . . . .r2\nx30", 31},
		"wait":    {"31 . . . . . . .r2 .\n30 r1 . . . . . .r2 .\nx30", 30},
		"leave":   {"31 . . . . . .r2 . .\n30 r1 . . . . .r2 . .\nx30", 29},
	} {
		t.Run(name, func(t *testing.T) {
			s, acts := ordered(t, c.board)
			a := acts[at(t, s, 30, 30).ID]
			moved := a.Parts&codecraft.HasMove != 0
			assert.Truef(t, moved == (c.x != 30) && (!moved || int(a.MoveX) == c.x), "%+v, want x %d", a, c.x)
		})
	}
}

// Builders leave enemy fighters that come near.
func TestBuildersEscape(t *testing.T) {
	s, acts := ordered(t, `
	30 *b1 . . . . .r2
	x30`)
	a := acts[at(t, s, 31, 30).ID]
	assert.Truef(t, a.Parts&codecraft.HasMove != 0 && a.MoveX == 31 && a.MoveY != 30, "%+v, want a step to the side", a)
}

// Builders nearby repair an unfinished building.
func TestRepair(t *testing.T) {
	s, acts := ordered(t, `
	32 H1H1H1 . .
	31 H1H1H1b1b1
	30 H1H1H1 . .
	x30
	unit 3 H1 30,30 health 5 inactive`)
	house := at(t, s, 30, 30).ID
	a := acts[at(t, s, 33, 31).ID]
	assert.Truef(t, a.Parts == codecraft.Given|codecraft.HasRepair && a.Repair == house, "the builder beside the house: %+v", a)
	a = acts[at(t, s, 34, 31).ID]
	assert.NotEqualf(t, codecraft.Parts(0), a.Parts&codecraft.HasMove, "the other builder: %+v, want a step", a)
}

// A builder heals a hurt fighter beside it.
func TestHeal(t *testing.T) {
	s, acts := ordered(t, `
	30 *b1r1 . .
	x30
	unit 1 r1 32,30 health 5`)
	hurt := at(t, s, 32, 30).ID
	a := acts[at(t, s, 31, 30).ID]
	assert.Truef(t, a.Parts == codecraft.Given|codecraft.HasRepair && a.Repair == hurt, "the builder: %+v, want a repair of %d", a, hurt)
}

// An army goes to units rather than to a building that is nearer.
func TestUnitsFirst(t *testing.T) {
	s, acts := ordered(t, `
	37  . . . . . . . .r1 . . . . . . . .
	36  . . . . . . . .r1 . . . . . . . .
	35  . . . . . . . .r1 . . . . . . . .
	34  . . . . . . . .r1 . . . . .H2H2H2
	33 b2 . . . . . . .r1 . . . . .H2H2H2
	32  . . . . . . . .r1 . . . . .H2H2H2
	31  . . . . . . . .r1 . . . . . . . .
	30  . . . . . . . .r1 . . . . . . . .
	x30`)
	a := acts[at(t, s, 38, 33).ID]
	assert.Truef(t, a.Parts&codecraft.HasMove != 0 && a.MoveX == 37, "%+v, want a step to (37, 33)", a)
}
