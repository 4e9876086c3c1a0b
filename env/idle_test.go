package env_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim/simtest"
)

// TestIdleGames: Observe and Step leave idle games and their rows as they are, running games and
// ended ones; the others play as without idle games.
func TestIdleGames(t *testing.T) {
	for _, g := range shapes {
		v, w := pool(t, g, env.Settings{N: 3}), pool(t, g, env.Settings{N: 3})
		a, b := env.NewBatch(v.Spec(), 3, wantAll), env.NewBatch(v.Spec(), 3, wantAll)
		for turn := range 2 * simtest.ToyTurns {
			idle := turn%3 != 0 // game 1, which plays on in every third turn
			before, rows := w.AppendSnapshot(nil, 1), record(w.Spec(), b, 1)
			b.Idle = []bool{false, idle, false}
			v.Observe(a)
			w.Observe(b)
			chooseAction(v.Spec(), a)
			copy(b.Action, a.Action)
			if idle {
				rows = record(w.Spec(), b, 1) // with another action
			}
			v.Step(a)
			w.Step(b)
			same := string(before) == string(w.AppendSnapshot(nil, 1)) && rows == record(w.Spec(), b, 1)
			require.Equalf(t, idle, same, "%s: turn %d, game 1 stays", name(g), turn)
			for _, i := range []int{0, 2} {
				require.Equalf(t, record(v.Spec(), a, i), record(w.Spec(), b, i), "%s: turn %d, game %d", name(g), turn, i)
			}
		}
	}
}

// TestIdleWithAutoreset: an idle game that has ended is not restarted, and mode Disabled steps the
// other games.
func TestIdleWithAutoreset(t *testing.T) {
	for _, mode := range []env.Mode{env.NextStep, env.Disabled} {
		v := pool(t, shapes[1], env.Settings{N: 2})
		a, err := env.NewAutoreset(v, mode, func(int, uint64) uint64 { return 1 }, nil)
		require.NoError(t, err)
		b := env.NewBatch(v.Spec(), 2, wantAll)
		b.Idle = []bool{false, true}
		advance(a, b, simtest.ToyTurns)
		require.True(t, a.Terminated[0] && b.Turn[1] == 0, "%v: game 0 ends, game 1 is idle", mode)
		b.Idle = []bool{true, false}
		advance(a, b, 2)
		assert.True(t, a.Terminated[0] && a.Episode(0) == 0 && b.Turn[1] == 2, "%v: game 1 plays", mode)
	}
}
