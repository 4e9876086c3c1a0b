package commandtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy/neural/neuraltest"
)

// NaN returns a network for a game whose logits are all NaN.
func NaN(t *testing.T, game string) []byte {
	return neuraltest.Ending(specOf(t, game), 1, false, "Exp", "Neg", "Log")
}

// Recurrent returns a recurrent network for a game.
func Recurrent(t *testing.T, game string) []byte { return neuraltest.Recurrent(specOf(t, game), 1) }

func specOf(t *testing.T, game string) env.Spec {
	g, err := catalog.Find(game)
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: 1})
	require.NoError(t, err)
	return v.Spec()
}
