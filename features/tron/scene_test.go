package tron_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	kit "moonfarm/features/tron"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/tron"
)

// TestSceneEntities counts the cells of the trails and the cycles.
func TestSceneEntities(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	k := kit.Kit(g)
	var dst features.Scene
	for seed := range uint64(20) {
		simtest.Play(g, seed, func(_ int, s *tron.State, _ sim.Status) bool {
			k.Scene(&dst, s, features.Spectator)
			assert.Equal(t, map[featuretest.OwnedKind]int{
				{Owner: 0, Kind: "trail"}: bits.OnesCount64(s.Trail[0]), {Owner: 1, Kind: "trail"}: bits.OnesCount64(s.Trail[1]),
				{Owner: 0, Kind: "cycle"}: 1, {Owner: 1, Kind: "cycle"}: 1,
			}, featuretest.CountEntities(&dst))
			for p, e := range dst.Entities[len(dst.Entities)-2:] {
				assert.Equal(t, int(s.Head[p]), int(e.Y)*tron.Size+int(e.X), "the cell of a cycle")
			}
			return !t.Failed()
		})
	}
}
