package full

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
)

// TestMemoryOfFarm measures the peak memory of farm run for few and many shards. The state
// of the run grows by some 200 bytes per shard, and by buffers of some megabytes. Only the
// long form makes many shards.
func TestMemoryOfFarm(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skipf("plays 400,000 games: set %s", longEnv)
	}
	least := 0
	for _, episodes := range []int{2000, 400_000} {
		dir := t.TempDir()
		peak := commandtest.PeakOf(t, console.FullProgram, "farm", "run", "tron", "--episodes", fmt.Sprint(episodes), "--out", filepath.Join(dir, "data"), "--store", filepath.Join(dir, "store"))
		t.Logf("%d episodes: %d MB", episodes, peak)
		if least == 0 {
			least = peak
		}
		assert.Truef(t, peak != 0 && peak <= least+15, "%d episodes: a peak of %d MB, want at most 15 more than %d", episodes, peak, least)
		os.RemoveAll(dir)
	}
}
