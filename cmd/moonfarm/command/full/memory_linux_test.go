package full

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
)

// TestMemoryOfFarm measures the peak memory of farm run for many shards: about 26 MB. The
// state of the run grows by some 200 bytes per shard. Only the long form makes many shards.
func TestMemoryOfFarm(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skipf("plays 400,000 games: set %s", longEnv)
	}
	dir := t.TempDir()
	peak := commandtest.PeakOf(t, console.FullProgram, "farm", "run", "tron", "--episodes", "400000", "--out", filepath.Join(dir, "data"), "--store", filepath.Join(dir, "store"))
	t.Logf("%d MB", peak)
	assert.Truef(t, peak != 0 && peak <= 75, "a peak of %d MB, want at most 75", peak)
}
