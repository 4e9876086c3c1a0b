package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/arena"
	"moonfarm/sim/texts"
)

const longEnv = commandtest.LongEnv

// What follows runs moonfarm.

type process = commandtest.Process

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return commandtest.Start(t, "moonfarm", args...)
}

func finish(t *testing.T, args ...string) string {
	t.Helper()
	return commandtest.Finish(t, "moonfarm", args...)
}

func run(args []string, stdout, stderr io.Writer) int {
	return Program{}.Run(context.Background(), args, stdout, stderr)
}

// TestKill kills generate at random moments, each time repeating the command,
// until it was killed 5 times (20 if MOONFARM_LONG is set, 2 if -short is); whenever it comes to
// its end the dataset must be what it is without any kill.
func TestKill(t *testing.T) {
	want, took := commandtest.Reference(t)
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
		c := start(t, commandtest.GenerateArgs(dir)...)
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
			finish(t, commandtest.GenerateArgs(dir)...)
			commandtest.RequireSame(t, want, dir)
			begin()
		}
	}
	finish(t, commandtest.GenerateArgs(dir)...)
	commandtest.RequireSame(t, want, dir)
	t.Logf("killed %d times, %d datasets", kills, folders)
}

// TestInterrupt stops generate with SIGINT and SIGTERM.
func TestInterrupt(t *testing.T) {
	want, _ := commandtest.Reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		requireContinues(t, want, signal, commandtest.GenerateArgs)
	}
}

// requireContinues stops a command that makes a dataset: status 130, one line that
// says how to go on, nothing half-written. It goes on when it is repeated, and
// makes what it makes without the interruption.
func requireContinues(t *testing.T, want string, signal syscall.Signal, args func(dir string) []string) {
	t.Helper()
	dir, p := interrupt(t, signal, args)
	say := fmt.Sprintf("moonfarm: interrupted: finished shards are kept in %s; the same command continues\n", dir)
	if p.Out.Len() > 0 || p.Errs.String() != say {
		t.Errorf("%v: said %q and %q, want %q", signal, &p.Out, &p.Errs, say)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); len(left) > 0 {
		t.Errorf("%v: left %v", signal, left)
	}
	commandtest.Wants(t, finish(t, args(dir)...), "of an earlier run kept")
	commandtest.RequireSame(t, want, dir)
}

// interrupt starts a command and signals it after its first shard; should it be
// through before the signal comes, again. The status must be 130.
func interrupt(t *testing.T, signal syscall.Signal, args func(dir string) []string) (dir string, p *process) {
	t.Helper()
	for range 10 {
		dir = filepath.Join(t.TempDir(), "data")
		p = start(t, args(dir)...)
		commandtest.WaitFor(t, filepath.Join(dir, "shards", "*.json"), filepath.Join(dir, "manifest.json"))
		p.Process.Signal(signal)
		err := p.Wait()
		if p.ProcessState.ExitCode() == console.ExitInterrupted {
			return dir, p
		}
		if err != nil {
			t.Fatalf("%v: error %v, want status 130; %s%s", signal, err, &p.Out, &p.Errs)
		}
	}
	t.Fatalf("%v always came too late", signal)
	return "", nil
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
			if c.ProcessState.ExitCode() != console.ExitInterrupted || c.Out.Len() > 0 || strings.Count(c.Errs.String(), "\n") != 1 || !strings.Contains(c.Errs.String(), "interrupted") {
				t.Errorf("%s: %v, printed %q and %q", line, c.ProcessState, &c.Out, &c.Errs)
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
		if code != console.ExitInterrupted && code != -1 || wait > 30*time.Second {
			t.Fatalf("after %v: %v; %s", wait, c.ProcessState, &c.Errs)
		}
		if code == console.ExitInterrupted && c.Out.Len() > 0 {
			break
		}
	}
	if err := json.Unmarshal(c.Out.Bytes(), &got); err != nil || *got.Complete || got.Games < 1 {
		t.Fatalf("error %v, %d games, complete: %v; said %s", err, got.Games, *got.Complete, &c.Errs)
	}
	want := fmt.Sprintf(`{"error":"interrupted: the result is that of the first %s; the same command goes on with it","usage":false,"exit_status":130}`+"\n", texts.Plural(got.Games, "game"))
	if c.Errs.String() != want {
		t.Errorf("said %s, want %s", &c.Errs, want)
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
				t.Fatalf("%v: %s", err, &c.Errs)
			}
			killed++
			if text, _ := os.ReadFile(filepath.Join(dir, journalName)); bytes.Contains(text, []byte(`"seats":`)) {
				partly++
			}
		}
		if got := finish(t, eval(dir)...); got != want {
			t.Fatalf("killed %d times, it printed %s, want %s", killed, got, want)
		}
		commandtest.RequireSame(t, whole, dir)
	}
	t.Logf("killed %d times, %d times with games in the journal", kills, partly)
}
