package terminal

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
)

// TestSceneEntities compares the structures of random games with the entities,
// which also tell upgrades, removals and ranges.
func TestSceneEntities(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	k := Kit(g)
	var dst features.Scene
	upgraded, leaving := 0, 0
	check := func(s *tm.State) {
		k.Scene(&dst, s, features.Spectator)
		want := map[featuretest.OwnedKind]int{}
		ranges := 0
		for p := range sim.Player(2) {
			for _, c := range s.AppendStructures(nil, p) {
				want[featuretest.OwnedKind{Owner: int(p), Kind: c.Kind.String()}]++
				if c.Kind != tm.Wall {
					ranges++
				}
			}
		}
		assert.Equal(t, want, featuretest.CountEntities(&dst))
		assert.Len(t, dst.Ranges, ranges, "each turret and each support has a range")
		for _, e := range dst.Entities {
			c, ok := s.At(int(e.X), int(e.Y))
			assert.True(t, ok && c.Upgraded == e.Upgraded && int(c.RemoveIn) == e.Number && e.Leaving == (c.RemoveIn > 0), "%+v", e)
			if e.Upgraded {
				upgraded++
			}
			if e.Leaving {
				leaving++
			}
		}
	}
	visit(g, 3, 60, check)
	simtest.Play(g, 3, func(_ int, s *tm.State, _ sim.Status) bool { // with removals
		check(s)
		return !t.Failed()
	})
	assert.Positive(t, upgraded, "upgraded structures")
	assert.Positive(t, leaving, "structures marked for removal")
}

// TestAddMobile compares the mobile units of the frames of a few turns with the
// entities.
func TestAddMobile(t *testing.T) {
	r := rules(t, "2026")
	g := newGame(t, r)
	random, turn := prng.New(5), sim.NewTurn(tm.PlayoutOrders)
	var s tm.State
	var dst features.Scene
	g.Reset(&s, 0)
	frames := 0
	for range 8 {
		for p := range sim.Player(2) {
			turn.Set(p, g.Playout(nil, &s, p, &random))
		}
		for g.Deploy(&s, turn); g.Frame(&s); {
			mobile := g.AppendMobile(g.AppendMobile(nil, 0), 1)
			want := map[featuretest.OwnedKind]int{}
			for _, c := range mobile {
				want[featuretest.OwnedKind{Owner: int(c.Player), Kind: c.Kind.String()}]++
			}
			scene(&dst, g, &r, &s)
			structures := len(dst.Entities)
			AddMobile(&dst, &r, mobile)
			dst.Entities = dst.Entities[structures:]
			assert.Equal(t, want, featuretest.CountEntities(&dst, "scout", "demolisher", "interceptor"))
			frames++
		}
		g.Restore(&s)
	}
	assert.Positive(t, frames, "frames with mobile units")
}

// TestNextTurn: the numbers of the next turn are those of the state after a turn without commands in
// which nothing is destroyed.
func TestNextTurn(t *testing.T) {
	r := rules(t, "2022")
	g := newGame(t, r)
	compared := 0
	visit(g, 3, 60, func(s *tm.State) {
		var now, then features.Scene
		scene(&now, g, &r, s)
		after := *s
		if g.Step(&after, sim.NewTurn(0)) != sim.Running || after.Built() != s.Built() {
			return
		}
		scene(&then, g, &r, &after)
		for p := range 2 {
			for _, name := range []string{"cores", "bits"} {
				assert.Equal(t, statOf(&then, name, p), statOf(&now, name+"_next_turn", p), "turn %d", s.Turn)
				compared++
			}
		}
	})
	assert.Greater(t, compared, 100)
}

// statOf returns a number of a seat.
func statOf(s *features.Scene, name string, seat int) float64 {
	for _, n := range s.Stats {
		if n.Name == name && int(n.Seat) == seat {
			return n.Value
		}
	}
	return math.NaN()
}
