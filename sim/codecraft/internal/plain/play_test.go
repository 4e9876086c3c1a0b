package plain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// TestPlay compares forty ticks in which all units move and attack, and builders build and repair,
// with the fast game: with fog and without, with wide searches and narrow ones. The tests of the
// fast game compare long random games.
func TestPlay(t *testing.T) {
	for i, preset := range []string{"round1-2", "finals", "round1-2", "finals"} {
		rules, _ := codecraft.Preset(preset)
		rules.MaxNodes = []int32{1000, 1000, 30, 30}[i]
		rules.NearestVictim, rules.RangeGates = i > 1, i > 1
		fast, err := codecraft.New(rules)
		require.NoError(t, err)
		var s, got codecraft.State
		fast.Reset(&s, 3)
		s.Resource = [sim.MaxPlayers]int32{500, 500}
		g, turn := New(rules), sim.NewTurn(fast.Info().MaxOrders)
		g.Load(&s)
		for tick := range 40 {
			to := []int{40, 40, 40, 90}[tick/10] // 90 lies outside of the map
			for p := range sim.Player(2) {
				orders := fast.AppendOrders(nil, &s, p)
				for i := range s.Units[:s.N] {
					if u := &s.Units[i]; u.Owner == p {
						orders = append(orders, codecraft.Move(u.ID, to, to, u.ID%3 > 0, u.ID%2 == 0), codecraft.And(codecraft.Auto(u.ID, 20, 0)),
							codecraft.And(codecraft.Build(u.ID, codecraft.BuilderUnit, int(u.X)+5, int(u.Y))), codecraft.And(codecraft.Repair(u.ID, u.ID-1)),
							codecraft.And(codecraft.Attack(u.ID, u.ID+uint32(tick%3))))
					}
				}
				turn.Set(p, orders)
				g.Command(int(p), orders)
			}
			want := fast.Step(&s, turn)
			if status := g.Play(); status != want {
				t.Fatalf("%s tick %d: status %v, want %v", preset, g.Tick, status, want)
			}
			if g.Store(&got); got != s {
				t.Fatalf("%s tick %d: the states differ", preset, g.Tick)
			}
			for p := range 2 {
				if o, want := g.Outcome(p), fast.Outcome(&s, sim.Player(p)); o != want {
					t.Errorf("%s tick %d: outcome %v, want %v", preset, g.Tick, o, want)
				}
			}
		}
	}
}
