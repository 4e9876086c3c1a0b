package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// longEnv asks for the long form of tests.
const longEnv = "MOONFARM_LONG"

// generateArgs is a generate of some tenths of a second in small shards, less
// with -short.
func generateArgs(out string) []string {
	episodes := 1000
	if testing.Short() {
		episodes = 200
	}
	return strings.Fields(fmt.Sprintf("generate towerdefence --episodes %d --shard-episodes 10 --seed 9 --policy random,econ --out %s", episodes, out))
}

// reference makes the dataset of generateArgs without any trouble and tells how
// long that took.
func reference(t *testing.T) (dir string, took time.Duration) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "reference")
	begin := time.Now()
	if out, err := exec.Command("moonfarm", generateArgs(dir)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir, time.Since(begin)
}

func requireSame(t *testing.T, a, b string) {
	t.Helper()
	diff, err := treesDiffer(a, b)
	if err != nil || diff != "" {
		t.Fatalf("error %v, difference: %s", err, diff)
	}
}

// TestKill kills generate at random moments, each time repeating the command,
// until it was killed 5 times (20 if MOONFARM_LONG is set, 2 if -short is); whenever it comes to
// its end the dataset must be what it is without any kill.
func TestKill(t *testing.T) {
	want, took := reference(t)
	kills := 5
	switch {
	case os.Getenv(longEnv) != "":
		kills = 20
	case testing.Short():
		kills = 2
	}
	random := rand.New(rand.NewPCG(1, 2))
	dir, folders := "", 0
	begin := func() {
		folders++
		dir = filepath.Join(t.TempDir(), fmt.Sprint(folders))
	}
	begin()
	for killed := 0; killed < kills; {
		c := exec.Command("moonfarm", generateArgs(dir)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			requireSame(t, want, dir)
			begin()
			continue
		}
		if c.ProcessState.ExitCode() != -1 {
			t.Fatalf("%v", err)
		}
		killed++
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			// Killed at the very end: whatever is there must be whole.
			if out, err := exec.Command("moonfarm", generateArgs(dir)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			requireSame(t, want, dir)
			begin()
		}
	}
	if out, err := exec.Command("moonfarm", generateArgs(dir)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	requireSame(t, want, dir)
	t.Logf("killed %d times, %d datasets", kills, folders)
}

// TestInterrupt stops generate with SIGINT and SIGTERM: status 130, one line
// that says how to go on, nothing half-written; and going on works.
func TestInterrupt(t *testing.T) {
	want, _ := reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir, stdout, stderr := interrupt(t, signal)
		say := fmt.Sprintf("moonfarm: interrupted: finished shards are kept in %s; the same command continues\n", dir)
		if stdout != "" || stderr != say {
			t.Errorf("%v: said %q and %q, want %q", signal, stdout, stderr, say)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); len(left) > 0 {
			t.Errorf("%v: left %v", signal, left)
		}
		out, err := exec.Command("moonfarm", generateArgs(dir)...).Output()
		if err != nil || !strings.Contains(string(out), "of an earlier run kept") {
			t.Errorf("%v: going on: error %v, %s", signal, err, out)
		}
		requireSame(t, want, dir)
	}
}

// interrupt starts generate and signals it after its first shard; should it be
// through before the signal comes, again. The status must be 130.
func interrupt(t *testing.T, signal syscall.Signal) (dir, stdout, stderr string) {
	t.Helper()
	for range 10 {
		dir = filepath.Join(t.TempDir(), "data")
		var out, errs bytes.Buffer
		c := exec.Command("moonfarm", generateArgs(dir)...)
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, filepath.Join(dir, "shards", "*.json"), filepath.Join(dir, "manifest.json"))
		c.Process.Signal(signal)
		err := c.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == exitInterrupted {
			return dir, out.String(), errs.String()
		}
		if err != nil {
			t.Fatalf("%v: error %v, want status 130; %s%s", signal, err, &out, &errs)
		}
	}
	t.Fatalf("%v always came too late", signal)
	return "", "", ""
}

// waitFor waits until a file matches one of the patterns.
func waitFor(t *testing.T, patterns ...string) {
	t.Helper()
	for range 20_000 {
		for _, p := range patterns {
			if found, _ := filepath.Glob(p); len(found) > 0 {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no %v", patterns)
}
