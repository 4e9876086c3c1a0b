package towerdefence_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// long reports whether MOONFARM_LONG asks for long tests.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }

// TestTwin compares the fast game with the plain twin in random games with
// malformed and illegal commands, every field of the state after every round:
// 30,000 rounds, or a million with MOONFARM_LONG=1.
func TestTwin(t *testing.T) {
	rounds := 30_000
	if long() {
		rounds = 1_000_000
	}
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	assert.True(t, g.Regular(), "the default rules do not keep the rhythm of release 3.0.2")
	t.Logf("%d rounds compared", playTwins(t, g, 1, rounds))
}

// TestTwinOtherRules does the same under many random rule sets: 70,000 rounds,
// or one and a half million with MOONFARM_LONG=1.
func TestTwinOtherRules(t *testing.T) {
	rounds := 70_000
	if long() {
		rounds = 1_500_000
	}
	played, sets := 0, uint64(0)
	for ; played < rounds; sets++ {
		r := prng.New(prng.StreamSeed(sets, 0, 0, 0, prng.PurposeShuffle))
		g, err := towerdefence.New(randomRules(&r))
		require.NoError(t, err)
		played += playTwins(t, g, sets, 300)
	}
	t.Logf("%d rounds under %d rule sets compared", played, sets)
}

// TestTwinPlayouts compares the two in long games, with orders as in search and
// datasets and energy for every building.
func TestTwinPlayouts(t *testing.T) {
	games := 30
	if long() {
		games = 1000
	}
	played := 0
	for seed := range uint64(games) {
		played += playTwinPlayout(t, seed)
	}
	t.Logf("%d rounds compared", played)
}

func playTwinPlayout(t *testing.T, seed uint64) (played int) {
	t.Helper()
	r := prng.New(prng.StreamSeed(seed, 1, 0, 0, prng.PurposeGame))
	m := begin(t, "", nil)
	if seed%3 > 0 { // lightning from the first rounds on
		m = start(t, m.g, [2]int{4000, 1000}, [2]int{4000, 1000})
	}
	for m.status == 0 {
		a, b := m.g.Playout(&m.s, 0, &r), m.g.Playout(&m.s, 1, &r)
		m.play(commandText(a), commandText(b))
		played++
	}
	return played
}
