//go:build !race

package datasets

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryIsFlat: more episodes in the same number of shards take no more memory at
// once, and allocate only little per episode: an episode takes about 700 bytes, and
// keeping its rows would take another 900. Under the race detector sync.Pool drops some
// of its values, so the allocations are not compared.
func TestMemoryIsFlat(t *testing.T) {
	taken := func(episodes uint64) uint64 {
		j := toyJob(2, 1)
		j.Episodes, j.ShardEpisodes = episodes, episodes/5
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		generateToy(t, j, Options{Workers: 1})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	taken(500)
	few, many := taken(500), taken(2500)
	t.Logf("500 episodes: %d bytes, 2500: %d", few, many)
	require.Less(t, (many-few)/2000, uint64(1200), "bytes per episode")
}
