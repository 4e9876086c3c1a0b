package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMemory measures the peak of generate's memory for few and many episodes:
// below 500 MB, and the same. The long form (MOONFARM_LONG) plays 100,000.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the long run of a program")
	}
	most := 4000
	if os.Getenv(longEnv) != "" {
		most = 100_000
	}
	for _, episodes := range []int{2000, most} {
		dir := filepath.Join(t.TempDir(), "data")
		c := start(t, "generate", "towerdefence", "--episodes", fmt.Sprint(episodes), "--out", dir)
		if err := c.Wait(); err != nil {
			t.Fatalf("%v: %s%s", err, &c.out, &c.errs)
		}
		peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1000 // kilobytes on Linux
		t.Logf("%d episodes: %d MB", episodes, peak)
		if peak >= 500 {
			t.Errorf("%d episodes: a peak of %d MB, want less than 500", episodes, peak)
		}
		os.RemoveAll(dir)
	}
}

// TestMemoryOfShards measures the peak of generate's memory for many shards: no
// more than 32 MB, and about as much as for few. The long form alone makes so many files.
func TestMemoryOfShards(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skipf("writes 60,000 files: set %s", longEnv)
	}
	most := 32
	for _, episodes := range []int{2000, 200_000} {
		dir := filepath.Join(t.TempDir(), "data")
		peak := peakOf(t, "generate", "towerdefence", "--max-turns", "2", "--shard-episodes", "10", "--episodes", fmt.Sprint(episodes), "--out", dir)
		t.Logf("%d episodes: %d MB", episodes, peak)
		if peak == 0 || peak > most {
			t.Errorf("%d episodes: a peak of %d MB, want at most %d", episodes, peak, most)
		}
		most = min(most, peak+10)
		os.RemoveAll(dir)
	}
}

// TestMemoryOfFarm measures the peak of farm run's memory for few and many shards: what
// keeps the state of the run grows by some 200 bytes for each shard, and by buffers of
// some megabytes. The long form alone makes so many.
func TestMemoryOfFarm(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skipf("plays 400,000 games: set %s", longEnv)
	}
	least := 0
	for _, episodes := range []int{2000, 400_000} {
		dir := t.TempDir()
		peak := peakOf(t, "farm", "run", "tron", "--episodes", fmt.Sprint(episodes), "--out", filepath.Join(dir, "data"), "--store", filepath.Join(dir, "store"))
		t.Logf("%d episodes: %d MB", episodes, peak)
		if least == 0 {
			least = peak
		}
		if peak == 0 || peak > least+15 {
			t.Errorf("%d episodes: a peak of %d MB, want at most 15 more than %d", episodes, peak, least)
		}
		os.RemoveAll(dir)
	}
}

// peakOf runs the program to its end, and is the most memory in MB that was seen in it,
// without the pages of its file, of which the system keeps as many as it likes.
func peakOf(t *testing.T, args ...string) (peak int) {
	t.Helper()
	c := start(t, args...)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &c.errs)
			}
			return peak
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, memoryOf(c.Process.Pid, "RssAnon:"))
		}
	}
}

// memoryOf is a figure in MB from the status of a running process; 0 if it has ended.
func memoryOf(pid int, figure string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), figure)
	kilobytes := 0
	_, _ = fmt.Sscan(after, &kilobytes)
	return kilobytes / 1000
}
