package codecraft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// framesOf returns the scene of a tick.
func framesOf(t *testing.T, k *features.Kit[cc.State], before *cc.State, turn *sim.Turn, seat int) (dst features.Scene, after *cc.State) {
	t.Helper()
	after = new(cc.State)
	*after = *before
	n := 0
	k.Frames(after, turn, seat, func(s *features.Scene) { dst, n = *s, n+1 })
	dst.Events = append([]features.Event(nil), dst.Events...)
	require.Equal(t, 1, n, "moments")
	return dst, after
}

// crowded calls visit with states of crowds under each variant of the rules, and with
// orders of all seats to build and to repair.
func crowded(t *testing.T, visit func(g *cc.Game, k *features.Kit[cc.State], s *cc.State, turn *sim.Turn)) {
	for _, r := range variants(t) {
		g := newGame(t, r)
		k := Kit(g)
		turn := sim.NewTurn(0)
		var s cc.State
		crowd(t, g, &s, 5, 700)
		var p cc.Position
		s.Position(&p)
		require.NoError(t, g.Restore(&s, &p)) // crowd has changed the population that is provided, and play must not
		for range 12 {
			turn.Clear()
			for p := range sim.Player(r.Players) {
				for _, o := range g.AppendOrders(nil, &s, p) {
					if op := cc.Decode(o).Op; op == cc.OpBuild || op == cc.OpRepair {
						turn.Add(p, o)
					}
				}
			}
			visit(g, &k, &s, turn)
			if g.Step(&s, turn) != sim.Running {
				break
			}
		}
	}
}

// healthOf returns the health of all entities.
func healthOf(s *cc.State) (sum int) {
	for _, u := range s.Units[:s.N] {
		sum += int(u.Health)
	}
	for _, h := range s.Health {
		sum += int(h)
	}
	return sum
}

// yields returns the sum of the resource that the types give for a point of health.
func yields(r *cc.Rules) (sum int32) {
	for _, t := range r.Types {
		sum += t.Yield
	}
	return sum
}

// TestFrames balances the events of ticks with the states before and after them: the
// damage and the repairs with the healths, and each new, dead or complete entity with
// an event.
func TestFrames(t *testing.T) {
	kinds, balanced := map[string]int{}, 0
	crowded(t, func(g *cc.Game, k *features.Kit[cc.State], s *cc.State, turn *sim.Turn) {
		dst, after := framesOf(t, k, s, turn, features.Spectator)
		want := *s
		var record cc.Record
		g.Record(&record)
		g.Step(&want, turn)
		g.Record(nil)
		require.Equal(t, "", simtest.Diff(&want, after))
		dealt, collected, repaired, n := 0, 0, 0, map[string]int{}
		for _, e := range dst.Events {
			n[e.Kind]++
			kinds[e.Kind]++
			switch e.Kind {
			case "attack":
				dealt += int(e.Amount)
			case "collect":
				collected += int(e.Amount)
			case "repair":
				repaired += int(e.Amount)
			}
		}
		r := g.Rules()
		require.Equal(t, len(record.Attacks), n["attack"]+n["collect"])
		if yields(&r) == 1 { // then the collected resource is the damage
			for _, w := range record.Builds {
				repaired += int(w.Health)
			}
			require.Equal(t, healthOf(s)-dealt-collected+repaired, healthOf(after), "health")
			balanced++
		}
		require.Equal(t, len(record.Builds), n["build"])
		require.Equal(t, len(record.Died), n["death"])
		complete, began := 0, 0
		for _, u := range after.Units[:after.N] {
			i := s.Find(u.ID)
			if i < 0 {
				began++
			} else if u.Active && !s.Units[i].Active {
				complete++
			}
		}
		require.Equal(t, began, n["build"])
		require.Equal(t, complete, n["complete"])
	})
	t.Log(kinds)
	assert.Positive(t, balanced)
	for _, kind := range []string{"attack", "collect", "build", "repair", "death", "complete"} {
		assert.Positive(t, kinds[kind], kind)
	}
}

// TestFramesFog: under fog a seat has exactly the events of a spectator of which it
// sees both ends: an end at an own entity, or on a cell of an entity in its sight.
func TestFramesFog(t *testing.T) {
	seen, hidden := 0, 0
	crowded(t, func(g *cc.Game, k *features.Kit[cc.State], s *cc.State, turn *sim.Turn) {
		r := g.Rules()
		all, after := framesOf(t, k, s, turn, features.Spectator)
		for seat := range int(r.Players) {
			var before, now bitboard.Square
			g.Sight(&before, s, sim.Player(seat))
			g.Sight(&now, after, sim.Player(seat))
			sees := func(in *cc.State, sight *bitboard.Square, x, y float32) bool {
				if i := in.At[cc.CellOf(int(x), int(y))]; i != 0 {
					u := &in.Units[i-1]
					return int(u.Owner) == seat || sight.MeetsSquare(int(u.X), int(u.Y), int(r.Types[u.Type].Size))
				}
				return sight.Has(int(x), int(y))
			}
			var want []features.Event
			for _, e := range all.Events {
				first := sees(s, &before, e.X1, e.Y1)
				second := sees(s, &before, e.X2, e.Y2)
				switch e.Kind {
				case "build":
					second = sees(after, &now, e.X2, e.Y2)
				case "complete":
					first = sees(after, &now, e.X1, e.Y1)
					second = first
				}
				if !r.Fog || first && second {
					want = append(want, e)
					seen++
				} else {
					hidden++
				}
			}
			dst, _ := framesOf(t, k, s, turn, seat)
			require.Equal(t, want, dst.Events, "seat %d", seat)
		}
	})
	t.Logf("%d events seen, %d hidden", seen, hidden)
	assert.True(t, seen > 100 && hidden > 100, "too few events seen or hidden")
}

// TestFramesText compares the events of a tick with those that its position means.
// Player 2 does not see the builder of player 1.
func TestFramesText(t *testing.T) {
	g := newGame(t, rules(t, "finals"))
	s, err := cc.ParseText(g, `
		tick 3 seed 7 next 200 first 100
		3   b1 * . . . . . . . . . . . . . . .m2m1 . . . . . .
		x3
		unit 2 b1 3,3 attack 100
		unit 3 m2 20,3 attack 4
		unit 4 m1 21,3 health 5`)
	require.NoError(t, err)
	k := Kit(g)
	all := []features.Event{
		{Kind: "collect", X1: 3.5, Y1: 3.5, X2: 4.5, Y2: 3.5, Amount: 1, Note: "builder unit"},
		{Kind: "attack", Owner: 1, X1: 20.5, Y1: 3.5, X2: 21.5, Y2: 3.5, Amount: 5, Note: "melee unit"},
		{Kind: "death", X1: 21.5, Y1: 3.5, X2: 21.5, Y2: 3.5, Amount: 1, Note: "melee unit"},
	}
	for seat, want := range [][]features.Event{all, all[1:]} {
		dst, _ := framesOf(t, &k, &s, sim.NewTurn(0), seat)
		assert.ElementsMatch(t, want, dst.Events, "seat %d", seat)
	}
}
