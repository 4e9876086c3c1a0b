package codecraft

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"moonfarm/rollout/bots/child"
)

// hostile is what some clients do besides playing.
func hostile(kind string) {
	switch kind {
	case "leaves": // a process that is not in its group or session
		c := exec.Command("/bin/sh", "-c", "trap '' TERM HUP; while :; do sleep 100; done")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
	case "eats": // memory, until it is killed
		var all [][]byte
		for len(all) < 1000 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			time.Sleep(time.Millisecond)
		}
	case "floods":
		line := strings.Repeat("x", 1<<20)
		for range 30 {
			fmt.Println(line)
		}
	}
}

// A client that does too much of something beside its game does no harm to the
// match, and nothing of it is left running.
func TestHostileClients(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mark := "MOONFARM_TEST_MARK=" + rand.Text()
	name, value, _ := strings.Cut(mark, "=")
	t.Setenv(name, value)
	for _, c := range []struct{ kind, exit string }{
		{"leaves", ""}, {"floods", ""}, {"eats", "the limit is 104.9 MB"},
	} {
		t.Setenv(clientEnv, c.kind)
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		seat := Seat{Command: []string{self}, Output: out}
		if c.kind == "eats" {
			seat.Uses = child.Limits{Memory: 100 << 20}
		}
		r := play(t, &Match{Rules: rules(t, "round1-2", 30), Seats: []Seat{{}, seat}})
		exit := ""
		if r.Crashes[1] != nil {
			exit = r.Crashes[1].Exit
		}
		if (r.Crashes[1] != nil) != (c.exit != "") || !strings.Contains(exit, c.exit) || r.Turns != 30 {
			t.Errorf("%s: %d ticks, crash %+v", c.kind, r.Turns, r.Crashes[1])
		}
		if info, err := out.Stat(); err != nil || info.Size() > maxLog+100 || c.kind == "floods" && info.Size() < maxLog {
			t.Errorf("%s: a log of %d bytes, %v", c.kind, info.Size(), err)
		}
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			if environ, _ := os.ReadFile(file); bytes.Contains(environ, []byte(mark+"\x00")) {
				t.Errorf("%s: %s is left", c.kind, file)
			}
		}
	}
}
