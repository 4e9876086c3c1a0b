package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/rollout/arena"
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
	finish(t, generateArgs(dir)...)
	return dir, time.Since(begin)
}

// finish runs the program to its end, which must be a good one, and returns what
// it printed.
func finish(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	if err := p.Wait(); err != nil {
		t.Fatalf("%v: %s%s", err, &p.out, &p.errs)
	}
	return p.out.String()
}

// process is the program running, with what it has printed.
type process struct {
	*exec.Cmd
	out, errs bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("moonfarm", args...)}
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
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
		c := start(t, generateArgs(dir)...)
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err != nil && c.ProcessState.ExitCode() != -1 {
			t.Fatal(err)
		}
		if err != nil {
			killed++
		}
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil { // also if killed at the very end
			finish(t, generateArgs(dir)...)
			requireSame(t, want, dir)
			begin()
		}
	}
	finish(t, generateArgs(dir)...)
	requireSame(t, want, dir)
	t.Logf("killed %d times, %d datasets", kills, folders)
}

// TestInterrupt stops generate with SIGINT and SIGTERM.
func TestInterrupt(t *testing.T) {
	want, _ := reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		requireContinues(t, want, signal, generateArgs)
	}
}

// requireContinues stops a command that makes a dataset: status 130, one line that
// says how to go on, nothing half-written. It goes on when it is repeated, and
// makes what it makes without the interruption.
func requireContinues(t *testing.T, want string, signal syscall.Signal, args func(dir string) []string) {
	t.Helper()
	dir, p := interrupt(t, signal, args)
	say := fmt.Sprintf("moonfarm: interrupted: finished shards are kept in %s; the same command continues\n", dir)
	if p.out.Len() > 0 || p.errs.String() != say {
		t.Errorf("%v: said %q and %q, want %q", signal, &p.out, &p.errs, say)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); len(left) > 0 {
		t.Errorf("%v: left %v", signal, left)
	}
	wants(t, finish(t, args(dir)...), "of an earlier run kept")
	requireSame(t, want, dir)
}

// interrupt starts a command and signals it after its first shard; should it be
// through before the signal comes, again. The status must be 130.
func interrupt(t *testing.T, signal syscall.Signal, args func(dir string) []string) (dir string, p *process) {
	t.Helper()
	for range 10 {
		dir = filepath.Join(t.TempDir(), "data")
		p = start(t, args(dir)...)
		waitFor(t, filepath.Join(dir, "shards", "*.json"), filepath.Join(dir, "manifest.json"))
		p.Process.Signal(signal)
		err := p.Wait()
		if p.ProcessState.ExitCode() == exitInterrupted {
			return dir, p
		}
		if err != nil {
			t.Fatalf("%v: error %v, want status 130; %s%s", signal, err, &p.out, &p.errs)
		}
	}
	t.Fatalf("%v always came too late", signal)
	return "", nil
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

// TestStuckInterrupt interrupts commands that wait for somebody to write to a
// pipe, which cannot be interrupted.
func TestStuckInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it waits for some seconds")
	}
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("no pipes: %v: %s", err, out)
	}
	var all sync.WaitGroup
	for _, line := range []string{
		"generate terminal --out none --rules PIPE", "match codecraft --config PIPE", "eval terminal --policies random,random --rules PIPE --json",
	} {
		c := start(t, strings.Fields(strings.ReplaceAll(line, "PIPE", pipe))...)
		all.Go(func() {
			time.Sleep(300 * time.Millisecond)
			c.Process.Signal(os.Interrupt)
			kill := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
			defer kill.Stop()
			c.Wait()
			if c.ProcessState.ExitCode() != exitInterrupted || c.out.Len() > 0 || strings.Count(c.errs.String(), "\n") != 1 || !strings.Contains(c.errs.String(), "interrupted") {
				t.Errorf("%s: %v, printed %q and %q", line, c.ProcessState, &c.out, &c.errs)
			}
		})
	}
	all.Wait()
}

// TestEvalInterrupt stops eval: what was played is printed, and the same command
// goes on with it to the result of a run that nobody stopped.
func TestEvalInterrupt(t *testing.T) {
	eval := func(games int, more ...string) []string {
		return append([]string{"eval", "towerdefence", "--players", "random,econ", "--json", "--games", fmt.Sprint(games)}, more...)
	}
	var c *process
	var got arena.Report
	var out []string
	for wait := 300 * time.Millisecond; ; wait *= 2 { // until it has got somewhere
		out = []string{"--out", filepath.Join(t.TempDir(), "out")}
		c = start(t, eval(1<<18, out...)...)
		time.Sleep(wait)
		c.Process.Signal(os.Interrupt)
		c.Wait()
		code := c.ProcessState.ExitCode() // −1: killed before it had begun to listen
		if code != exitInterrupted && code != -1 || wait > 30*time.Second {
			t.Fatalf("after %v: %v; %s", wait, c.ProcessState, &c.errs)
		}
		if code == exitInterrupted && c.out.Len() > 0 {
			break
		}
	}
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || *got.Complete || got.Games < 1 {
		t.Fatalf("error %v, %d games, complete: %v; said %s", err, got.Games, *got.Complete, &c.errs)
	}
	want := fmt.Sprintf(`{"error":"interrupted: the result is that of the first %s; the same command goes on with it","usage":false,"exit_status":130}`+"\n", cli.Plural(got.Games, "game"))
	if c.errs.String() != want {
		t.Errorf("said %s, want %s", &c.errs, want)
	}
	all := got.Games + 10
	if again, whole := finish(t, eval(all, out...)...), finish(t, eval(all)...); again != whole {
		t.Errorf("%d games and 10 more: %s, want %s", got.Games, again, whole)
	}
}

// TestEvalKill kills eval at random moments, each time giving the command again,
// until it was killed 3 times (20 if MOONFARM_LONG is set): the journal and the
// result are what they are without any kill.
func TestEvalKill(t *testing.T) {
	games, kills := 400, 3
	if os.Getenv(longEnv) != "" {
		games, kills = 2000, 20
	}
	eval := func(dir string) []string {
		return strings.Fields(fmt.Sprintf("eval towerdefence --players random,econ --games %d --json --out %s", games, dir))
	}
	begin := time.Now()
	whole := filepath.Join(t.TempDir(), "whole")
	want := finish(t, eval(whole)...)
	took := time.Since(begin)
	random := rand.New(rand.NewPCG(3, 4))
	partly := 0
	for killed, n := 0, 0; killed < kills; n++ {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(n))
		for killed < kills {
			c := start(t, eval(dir)...)
			timer := time.AfterFunc(time.Duration(random.Int64N(int64(took))), func() { c.Process.Kill() })
			err := c.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			if c.ProcessState.ExitCode() != -1 {
				t.Fatalf("%v: %s", err, &c.errs)
			}
			killed++
			if text, _ := os.ReadFile(filepath.Join(dir, journalName)); bytes.Contains(text, []byte(`"seats":`)) {
				partly++
			}
		}
		if got := finish(t, eval(dir)...); got != want {
			t.Fatalf("killed %d times, it printed %s, want %s", killed, got, want)
		}
		requireSame(t, whole, dir)
	}
	t.Logf("killed %d times, %d times with games in the journal", kills, partly)
}
