package commandtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is the time after which a wait fails.
const patience = 2 * time.Minute

// WaitUntil waits until a condition holds, and fails the test after two minutes.
func WaitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for begin := time.Now(); !holds(); <-poll.C {
		if time.Since(begin) > patience {
			t.Fatalf("after %v: not yet: %s", patience, what)
		}
	}
}

// WaitFor waits until a file matches one of the patterns.
func WaitFor(t *testing.T, patterns ...string) {
	t.Helper()
	WaitUntil(t, fmt.Sprintf("a file matches %v", patterns), func() bool {
		for _, p := range patterns {
			if found, _ := filepath.Glob(p); len(found) > 0 {
				return true
			}
		}
		return false
	})
}

// WaitForLines waits until a file has a number of lines.
func WaitForLines(t *testing.T, file string, lines int) {
	t.Helper()
	WaitUntil(t, fmt.Sprintf("%s has %d lines", file, lines), func() bool {
		text, _ := os.ReadFile(file)
		return bytes.Count(text, []byte("\n")) >= lines
	})
}

// WaitForWork waits until the process has used some processor time, or has ended. Where the
// system does not tell the processor time, it waits for that time.
func (p *Process) WaitForWork(t *testing.T, work time.Duration) {
	t.Helper()
	if _, known := processorTime(p.Process.Pid); !known {
		time.Sleep(work)
		return
	}
	WaitUntil(t, fmt.Sprintf("%v has used %v of processor time", p.Args, work), func() bool {
		used, known := processorTime(p.Process.Pid)
		return used >= work || !known
	})
}

// processorTime returns the processor time of a running process; known is false if the
// process or /proc does not exist.
func processorTime(pid int) (used time.Duration, known bool) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, behind, _ := strings.Cut(string(text), ") ") // the name of the program
	fields := strings.Fields(behind)
	if len(fields) < 13 || fields[0] == "Z" {
		return 0, false
	}
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	const tick = time.Second / 100 // USER_HZ of Linux
	return time.Duration(user+system) * tick, err == nil && err2 == nil
}
