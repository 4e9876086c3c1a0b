package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
		c := exec.Command("moonfarm", strings.Fields(fmt.Sprintf("generate towerdefence --episodes %d --out %s", episodes, dir))...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		peak := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1000 // kilobytes on Linux
		t.Logf("%d episodes: %d MB", episodes, peak)
		if peak >= 500 {
			t.Errorf("%d episodes: a peak of %d MB, want less than 500", episodes, peak)
		}
		os.RemoveAll(dir)
	}
}
