package stepper

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSizes: the parts of a block have all its games, each has one at least, none is larger than one
// before it, and there is one for each worker if there are enough games. The last parts are small.
func TestSizes(t *testing.T) {
	for workers := 1; workers <= 9; workers++ {
		for _, least := range []int{1, 3, 25, 1000} {
			for _, games := range []int{1, 2, 3, 7, 15, 16, 17, 64, 256, 1000, 1024, 65536} {
				sizes := sizesOf(games, workers, least)
				sum := 0
				for k, n := range sizes {
					require.Truef(t, n >= 1 && (k == 0 || n <= sizes[k-1] || k >= len(sizes)-workers), "%d games, %d workers, at least %d: %v", games, workers, least, sizes)
					sum += n
				}
				require.Equalf(t, games, sum, "%d workers, at least %d: %v", workers, least, sizes)
				require.Truef(t, len(sizes) >= min(games, workers) && len(sizes) <= workers*rounds, "%d games, %d workers, at least %d: %v", games, workers, least, sizes)
				if last := slices.Max(sizes[max(0, len(sizes)-workers):]); last > 2*least {
					require.LessOrEqualf(t, last, games/(workers*(1<<(rounds-1)))+2, "%d games, %d workers, at least %d: %v", games, workers, least, sizes)
				}
			}
		}
	}
	assert.Equal(t, []int{64, 64, 32, 32, 16, 16, 8, 8, 4, 4, 4, 4}, sizesOf(256, 2, 3))
	assert.Equal(t, []int{4, 4, 2, 2, 1, 1, 1, 1}, sizesOf(16, 2, 1))
	assert.Equal(t, []int{8, 8}, sizesOf(16, 2, 25))
}
