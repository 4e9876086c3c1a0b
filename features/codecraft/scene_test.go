package codecraft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/simtest"
)

// visibleEntities counts the entities of a state of which the seat sees a cell; a
// spectator sees all cells.
func visibleEntities(g *cc.Game, s *cc.State, seat int) map[featuretest.OwnedKind]int {
	seen := everywhere
	if r := g.Rules(); seat >= 0 && r.Fog {
		g.Sight(&seen, s, sim.Player(seat))
	}
	units := map[uint16]bool{}
	want := map[featuretest.OwnedKind]int{}
	for y := range cc.Side {
		for x := range cc.Side {
			if !seen.Has(x, y) {
				continue
			}
			if s.Health[cc.CellOf(x, y)] != 0 {
				want[featuretest.OwnedKind{Owner: features.Nobody, Kind: "resource"}]++
			}
			if i := s.At[cc.CellOf(x, y)]; i != 0 && !units[i] {
				units[i] = true
				u := &s.Units[i-1]
				want[featuretest.OwnedKind{Owner: int(u.Owner), Kind: kindName(u.Type)}]++
			}
		}
	}
	return want
}

// TestSceneEntities compares the entities of the scenes of all seats and of a
// spectator with those of the state, with fog and without.
func TestSceneEntities(t *testing.T) {
	for name, r := range variants(t) {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			k := Kit(g)
			var dst features.Scene
			hidden := 0
			simtest.Play(g, 4, func(turn int, s *cc.State, _ sim.Status) bool {
				if turn%20 != 0 {
					return true
				}
				for seat := features.Spectator; seat < int(r.Players); seat++ {
					k.Scene(&dst, s, seat)
					assert.Equal(t, visibleEntities(g, s, seat), featuretest.CountEntities(&dst), "turn %d seat %d", turn, seat)
					for _, a := range dst.Areas {
						if a.Hidden {
							hidden += int(a.Width)
						}
					}
				}
				return turn < 200 && !t.Failed()
			})
			assert.Equal(t, r.Fog, hidden > 0, "cells are hidden under fog alone")
		})
	}
}

// TestSceneFog checks that everything in a seat's scene is in the seat's sight,
// its own, or a place that its own orders name.
func TestSceneFog(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	s, err := cc.ParseText(g, `
		tick 3 seed 7
		20  . . . . . . . . . . . . . . . . . . . . . . . .r2
		3   . * . . . . . . . . . . .b1 . .m2 . . . . . . . *
		x3
		unit 4 r2 27,20 attack 2
		unit 2 b1 16,3 move 40,41 attack 4 repair 3
		unit 3 m2 19,3 move 16,3`)
	require.NoError(t, err)
	k := Kit(g)
	var dst features.Scene
	k.Scene(&dst, &s, features.Spectator)
	assert.Len(t, dst.Lines, 5, "a spectator sees all orders")
	k.Scene(&dst, &s, 0)
	var seen bitboard.Square
	g.Sight(&seen, &s, 0)
	for _, e := range dst.Entities {
		assert.True(t, e.Owner == 0 || seen.MeetsSquare(int(e.X), int(e.Y), int(e.Width)), "%+v is not in sight", e)
	}
	assert.Equal(t, map[featuretest.OwnedKind]int{{Owner: 0, Kind: "builder unit"}: 1, {Owner: 1, Kind: "melee unit"}: 1}, featuretest.CountEntities(&dst))
	var kinds []string
	for _, l := range dst.Lines {
		assert.EqualValues(t, 0, l.Owner, "%+v is the order of another player", l)
		kinds = append(kinds, l.Kind)
	}
	assert.Equal(t, []string{"move", "repair"}, kinds, "the target of the attack is out of sight")
	for _, n := range dst.Stats {
		assert.True(t, n.Seat == 0 || n.Name == "score" || n.Name == "resource", "%+v is not known to the seat", n)
	}
}

// TestSceneOfView compares the areas and entities of a seat's scene with those of the state that has
// only what the original's protocol tells the seat.
func TestSceneOfView(t *testing.T) {
	for _, name := range []string{"finals", "round2", "odd"} {
		t.Run(name, func(t *testing.T) {
			r := variants(t)[name]
			g := newGame(t, r)
			k := Kit(g)
			var whole, known features.Scene
			var view protocol.PlayerView
			var seen cc.State
			hidden := 0
			simtest.Play(g, 6, func(turn int, s *cc.State, _ sim.Status) bool {
				if turn%20 != 0 {
					return true
				}
				for seat := range int(r.Players) {
					var p cc.Position
					protocol.View(&view, g, s, sim.Player(seat))
					require.NoError(t, view.Position(&p, &r))
					require.NoError(t, g.Restore(&seen, &p))
					k.Scene(&whole, s, seat)
					k.Scene(&known, &seen, seat)
					assert.Equal(t, known.Entities, whole.Entities, "turn %d seat %d", turn, seat)
					assert.Equal(t, known.Areas, whole.Areas, "turn %d seat %d", turn, seat)
					hidden += int(s.N - seen.N)
				}
				return turn < 300 && !t.Failed()
			})
			assert.Positive(t, hidden, "entities out of sight")
		})
	}
}
