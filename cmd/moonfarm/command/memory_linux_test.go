package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
)

// TestMemory measures the peak memory of generate for few and many episodes, which must be
// below 500 MB. The long form (MOONFARM_LONG) plays 100,000 episodes.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the long run of a program")
	}
	most := 4000
	if os.Getenv(longEnv) != "" {
		most = 100_000
	}
	for _, episodes := range []int{2000, most} {
		t.Run(fmt.Sprintf("%d episodes", episodes), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			c := start(t, "generate", "towerdefence", "--episodes", fmt.Sprint(episodes), "--out", dir)
			err := c.Wait()
			require.NoErrorf(t, err, "%v: %s%s", err, &c.Out, &c.Errs)
			peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1000 // kilobytes on Linux
			t.Logf("%d episodes: %d MB", episodes, peak)
			assert.Lessf(t, peak, int64(500), "%d episodes: a peak of %d MB, want less than 500", episodes, peak)
			os.RemoveAll(dir)
		})
	}
}

// TestMemoryOfShards measures the peak memory of generate for 20,000 shards: about 17 MB, where
// 2 kB for each shard would add 40. Only the long form writes that many files.
func TestMemoryOfShards(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skipf("writes 60,000 files: set %s", longEnv)
	}
	dir := filepath.Join(t.TempDir(), "data")
	peak := commandtest.PeakOf(t, "moonfarm", "generate", "towerdefence", "--max-turns", "2", "--shard-episodes", "10", "--episodes", "200000", "--out", dir)
	t.Logf("20,000 shards: %d MB", peak)
	assert.Truef(t, peak != 0 && peak <= 50, "a peak of %d MB, want at most 50", peak)
}
