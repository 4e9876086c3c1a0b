package commandtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// PeakOf runs the program to its end and returns the highest memory in MB that samples of
// it had, without the pages of the program's file, which the system may keep or drop.
func PeakOf(t *testing.T, program string, args ...string) (peak int) {
	t.Helper()
	c := Start(t, program, args...)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &c.Errs)
			}
			return peak
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, memoryOf(c.Process.Pid))
		}
	}
}

// memoryOf returns the memory of a running process in MB, or 0 if it has ended.
func memoryOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(text), "RssAnon:")
	kilobytes := 0
	_, _ = fmt.Sscan(after, &kilobytes)
	return kilobytes / 1000
}
