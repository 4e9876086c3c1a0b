package commandtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// PeakOf runs the program to its end, and is the most memory in MB that was seen in it,
// without the pages of its file, of which the system keeps as many as it likes.
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
