package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// TestBatchPlayout: the scalar game plays the games of batch-playout to the same checksum.
func TestBatchPlayout(t *testing.T) {
	g, err := newTower()
	assert.NoError(t, err)
	sum := uint64(0)
	var s towerdefence.State
	for i := range uint64(batch.Games) {
		random, ends := prng.New(i), uint64(0)
		g.Reset(&s, 0)
		for range towerRounds / batch.Games {
			if g.Play(&s, g.Playout(&s, 0, &random), g.Playout(&s, 1, &random)) != sim.Running {
				ends = towerDigest(ends, g, &s)
				g.Reset(&s, 0)
			}
		}
		sum = prng.Mix(sum ^ towerDigest(ends, g, &s))
	}
	assert.Equal(t, checksums["towerdefence batch-playout"], fmt.Sprintf("%016x", sum))
}
