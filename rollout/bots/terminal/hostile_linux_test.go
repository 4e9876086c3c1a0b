package terminal

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim/terminal"
)

// hostile has the kinds of program for this system.
func hostile(kind string) {
	switch kind {
	case "family", "crowd": // has children that ignore signals, in groups and sessions of their own
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		for _, attr := range []*syscall.SysProcAttr{{}, {Setpgid: true}, {Setsid: true}} {
			c := exec.Command(os.Args[0], "bot", "stays")
			c.SysProcAttr = attr
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				panic(err)
			}
			bufio.NewReader(out).ReadString('\n')
		}
		if kind == "crowd" {
			hang()
		}
	case "stays":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("ready")
		hang()
	case "eats":
		var kept [][]byte
		for len(kept) < 100 { // 6.4 GB, were there no limit
			b := make([]byte, 64<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
			dawdle(10 * time.Millisecond) // a busy machine's guard looks seldom and must find it before memory is full
		}
		fmt.Println(len(kept))
	}
}

// marked returns the running processes with a mark in their environment, and their groups.
func marked(mark string) (pids, groups []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(mark)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
			if group, err := syscall.Getpgid(pid); err == nil {
				groups = append(groups, group)
			}
		}
	}
	return pids, groups
}

// TestLeftRunning: when a match has ended, no process of its bots runs, and no process group
// is left; the limits of memory and processes end a bot.
func TestLeftRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		want  string // of the crash; "": it plays to the end
		least int    // processes that run in the match
		limit func(m *Match)
	}{
		{"family", "", 4, func(*Match) {}},
		{"crowd", "processes, the limit is 3", 0, func(m *Match) { m.Limits.Process.Processes = 3 }},
		{"eats", "of memory, the limit is 209.7 MB", 0, func(m *Match) { m.Limits.Process.Memory = 200 << 20 }},
		{"silent", "did not answer within 300ms", 1, func(m *Match) { m.Limits.Hard = 300 * time.Millisecond }},
	} {
		t.Run(c.kind+c.want, func(t *testing.T) {
			t.Parallel()
			m := ruled(t, "2022", 3, Seat{Policy: maker(t, "starter")}, started(t, c.kind))
			mark := "TERMINAL_TEST_MARK=" + rand.Text()
			m.Seats[1].Program.Args = append([]string{"env", mark}, m.Seats[1].Program.Args...)
			m.Limits.End = ample
			c.limit(m)
			most, groups := 0, map[int]bool{}
			m.Watch = func(*terminal.State) error {
				if most == 0 { // on a busy machine a program begins late
					assert.Eventually(t, func() bool { pids, _ := marked(mark); return len(pids) >= c.least }, ample, time.Millisecond)
				}
				pids, seen := marked(mark)
				most = max(most, len(pids))
				for _, group := range seen {
					groups[group] = true
				}
				return nil
			}
			r, _ := played(t, m)
			if pids, _ := marked(mark); len(pids) > 0 {
				t.Errorf("left running: %v", pids)
				for _, pid := range pids { // started by this test
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			for group := range groups {
				assert.ErrorIsf(t, syscall.Kill(-group, 0), syscall.ESRCH, "the group %d", group)
			}
			assert.GreaterOrEqualf(t, most, c.least, "%d processes ran, want %d", most, c.least)
			crash := r.Crashes[1]
			assert.Truef(t, (crash != nil) == (c.want != "") && (crash == nil || strings.Contains(crash.Err.Error(), c.want)), "%+v", crash)
			assert.Truef(t, (r.End.Winner == 1 && r.End.Players[1].Crashed) == (crash != nil) && r.Crashes[0] == nil && !r.End.Players[0].Crashed, "%+v", r.End)
		})
	}
}
