package codecraft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// restored returns the position of a start of round 1.
func restored(t *testing.T) (*Game, *State, *Position) {
	t.Helper()
	r, ok := Preset("round1-3")
	require.True(t, ok, "no such preset")
	g, err := New(r)
	require.NoError(t, err)
	s, p := new(State), new(Position)
	g.Reset(s, 5)
	s.Position(p)
	return g, s, p
}

// TestRestoreGaps removes random resources: the ids of the others stay.
func TestRestoreGaps(t *testing.T) {
	g, _, p := restored(t)
	r := prng.New(7)
	for _, keep := range []int{2, 5, 90} {
		kept := *p
		kept.Veins = nil
		for _, v := range p.Veins {
			if r.IntN(keep) == 0 {
				kept.Veins = append(kept.Veins, v)
			}
		}
		s, back := new(State), new(Position)
		require.NoError(t, g.Restore(s, &kept))
		s.Position(back)
		require.Truef(t, len(back.Veins) == len(kept.Veins) && len(kept.Veins) != 0, "%d resources, want %d", len(back.Veins), len(kept.Veins))
		for i, v := range kept.Veins {
			if back.Veins[i] != v {
				t.Fatalf("resource %d is %+v, want %+v", i, back.Veins[i], v)
			}
			if x, y, ok := s.ResourceAt(v.ID); !ok || x != int(v.X) || y != int(v.Y) {
				t.Fatalf("resource %d is found at (%d, %d) %v", v.ID, x, y, ok)
			}
		}
		_, _, ok := s.ResourceAt(kept.Veins[len(kept.Veins)-1].ID + 1)
		assert.False(t, ok, "a resource beyond the last")
	}
}

// TestRestoreErrors restores positions that no game has.
func TestRestoreErrors(t *testing.T) {
	for want, change := range map[string]func(p *Position){
		"not in the order of their ids":      func(p *Position) { p.Units[0], p.Units[1] = p.Units[1], p.Units[0] },
		"21 actions of 20 entities":          func(p *Position) { p.Units = p.Units[:20] },
		"tick 1001, expected 0 to 1000":      func(p *Position) { p.Tick = 1001 },
		"next id 16777215 is too great":      func(p *Position) { p.NextID = MaxID },
		"player 2 has score -1":              func(p *Position) { p.Score[1] = -1 },
		"two entities have this id":          func(p *Position) { p.Units[1].ID = p.Units[0].ID },
		"entity 0: expected an id from 1":    func(p *Position) { p.Units[0].ID = 0 },
		"its id lies between":                func(p *Position) { p.Units[20].ID = p.Veins[2].ID },
		"it is a Resource":                   func(p *Position) { p.Units[0].Type = Resource },
		"it is a type 10":                    func(p *Position) { p.Units[0].Type = Types },
		"its player is 4, expected 1 to 3":   func(p *Position) { p.Units[0].Owner = 3 },
		"a BuilderBase at (76, 5) reaches":   func(p *Position) { p.Units[0].X = 76 },
		"at (5, 5) overlaps another":         func(p *Position) { p.Units[1].X, p.Units[1].Y = 5, 5 },
		"its health is 0, expected 1 to 10":  func(p *Position) { p.Units[1].Health = 0 },
		"its health is 11, expected 1 to 10": func(p *Position) { p.Units[1].Health = 11 },
		"its health is 31, expected 1 to 30": func(p *Position) { p.Veins[0].Health = 31 },
		"(5, 5) overlaps another entity":     func(p *Position) { p.Veins[0].X, p.Veins[0].Y = 5, 5 },
		"(80, 5) lies outside":               func(p *Position) { p.Veins[0].X, p.Veins[0].Y = 80, 5 },
		"below the next one":                 func(p *Position) { p.NextID = p.Veins[len(p.Veins)-1].ID },
		"cannot have that id after":          func(p *Position) { p.Veins, p.NextID = p.Veins[:2], 9000; p.Veins[1].ID = 7000 },
		"entity 25: two entities have":       func(p *Position) { p.Veins[1].ID = p.Veins[0].ID },
		"2049 entities that are no resource": func(p *Position) { p.Units = make([]Unit, 2049) },
	} {
		t.Run(want, func(t *testing.T) {
			g, s, p := restored(t)
			change(p)
			err := g.Restore(s, p)
			assert.ErrorContains(t, err, want)
		})
	}
}
