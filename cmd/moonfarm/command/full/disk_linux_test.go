//go:build !race

// Without the race detector: when JetStream starts again, NATS replaces its queue of requests without
// a lock, while a connection may still read the old one.

package full

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/rollout/farm/farmtest"
)

// TestFarmFullOutput: while the disk of the output is full, each worker of farm run prints
// one line about it. As soon as there is room the run continues and makes the same dataset.
func TestFarmFullOutput(t *testing.T) {
	disk, here := farmtest.SmallDisk(t, "16m")
	if !here {
		return
	}
	filler := filepath.Join(disk, "filler")
	require.NoError(t, os.WriteFile(filler, make([]byte, 16<<20-300<<10), 0o666))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	args := strings.Fields("towerdefence --episodes 200 --shard-episodes 10 --seed 9 --policy random,econ --out")
	want, out := filepath.Join(t.TempDir(), "want"), filepath.Join(disk, "data")
	commandtest.Finish(t, "moonfarm", append(append([]string{"generate"}, args...), want)...)
	p := start(t, append(append([]string{"farm", "run"}, args...), out, "--workers", "2")...)
	time.Sleep(5 * time.Second) // many retries, of which nothing may be printed
	made, _ := filepath.Glob(filepath.Join(out, "shards", "*.json"))
	require.NotEqual(t, 20, len(made), "the disk was never full")
	require.NoError(t, os.Remove(filler))
	err := p.Wait()
	require.NoErrorf(t, err, "%v: %s", err, &p.Errs)
	commandtest.RequireSame(t, want, out)
	lines := strings.Split(strings.TrimSpace(p.Errs.String()), "\n")
	for _, line := range lines {
		assert.Contains(t, line, "no space left on device", "it says")
	}
	if len(lines) > 4 { // two of each worker: its own, and the coordinator's
		t.Errorf("%d lines, want 4 at most:\n%s", len(lines), &p.Errs)
	}
}

// TestFullDiskImport: a full disk ends an import with its error, and is no fault of a recording. Once
// there is room, the same command makes the whole dataset.
func TestFullDiskImport(t *testing.T) {
	disk, here := farmtest.SmallDisk(t, "4m")
	if !here {
		return
	}
	filler := farmtest.Fill(t, disk)
	require.NoError(t, os.Truncate(filler, 4<<20-4<<10)) // room for some of the games
	args := []string{"import", "towerdefence", "--out", filepath.Join(disk, "data"), "--workers", "1"}
	for range 40 {
		args = append(args, filepath.Join(top, "sim", "towerdefence", "wire", "testdata", "game.jsonl"))
	}
	p := start(t, args...)
	require.Error(t, p.Wait())
	commandtest.Wants(t, p.Errs.String(), "moonfarm: episodes cannot be kept until their shards are written: ", "no space left on device")
	assert.NotContains(t, p.Errs.String(), "skipped")
	require.NoError(t, os.Remove(filler))
	commandtest.Wants(t, finish(t, args...), "40 episodes")
}
