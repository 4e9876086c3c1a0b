package codecraft_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// long reports whether MOONFARM_LONG asks for the long tests.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }

// TestTwin compares the fast game with the plain twin, tick by tick, in every scenario: the first
// steps and the possible targets of all units, the attacks in order, the dead, the status and every
// byte of the state. Half of the matches have random rules. It plays 1,000 ticks, with
// MOONFARM_LONG=1 25,000.
func TestTwin(t *testing.T) {
	ticks := 1000
	if long() {
		ticks = 25_000
	}
	shares := 0
	for _, sc := range scenarios {
		shares += sc.share
	}
	var sum tally
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			playTwins(t, sc, uint64(i), ticks*sc.share/shares, &sum)
		})
	}
	t.Logf("%+v", sum)
	if !t.Failed() && sum.ticks >= ticks-len(scenarios) { // all scenarios were wanted
		sum.demand(t)
	}
}

// TestTwinGames plays games of all presets on both: the first 40 ticks of each, with
// MOONFARM_LONG=1 the first 300.
func TestTwinGames(t *testing.T) {
	ticks := 40
	if long() {
		ticks = 300
	}
	for i, preset := range []string{"finals", "round2", "round2-2", "round2-3", "round1", "round1-3", "round1-2", "round1-1", "round2-1", "finals"} {
		t.Run(preset, func(t *testing.T) {
			rules, ok := codecraft.Preset(preset)
			require.True(t, ok, "no such preset")
			m := newMatch(t, preset, rules, new(tally))
			r := prng.New(uint64(i))
			s := fromStart(&r, m.g)
			m.begin(&s)
			c := &commander{r: &r, s: &m.s, g: m.g, far: 10, closest: 70, through: 50}
			for m.status == sim.Running && m.n.ticks < ticks {
				for p := range sim.Player(rules.Players) {
					m.orders[p] = c.campaign(m.orders[p][:0], p)
				}
				m.step()
			}
			t.Logf("scores %v, %d units: %+v", m.s.Score, m.s.N, *m.n)
		})
	}
}
