package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/arena"
	"moonfarm/sim/texts"
)

const longEnv = commandtest.LongEnv

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

// TestKill kills generate at random moments, 5 times (20 with MOONFARM_LONG, 2 with -short).
// The same command continues it, to the dataset of a run without any kill.
func TestKill(t *testing.T) {
	want, took := commandtest.Reference(t)
	kills := 5
	switch {
	case os.Getenv(longEnv) != "":
		kills = 20
	case testing.Short():
		kills = 2
	}
	commandtest.KillLoop(t, kills, took, commandtest.GenerateArgs, func(dir string) {
		finish(t, commandtest.GenerateArgs(dir)...)
		commandtest.RequireSame(t, want, dir)
	})
}

// TestInterrupt stops generate with SIGINT and SIGTERM.
func TestInterrupt(t *testing.T) {
	want, _ := commandtest.Reference(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { requireContinues(t, want, signal, commandtest.GenerateArgs) })
	}
}

// requireContinues interrupts a command that makes a dataset: it ends with status 130, one
// line that says how to continue and no partly written file. The same command completes the
// dataset, with the same bytes as without the interruption.
func requireContinues(t *testing.T, want string, signal syscall.Signal, args func(dir string) []string) {
	t.Helper()
	dir, p := interrupt(t, signal, args)
	say := fmt.Sprintf("moonfarm: interrupted: finished shards are kept in %s; the same command continues\n", dir)
	assert.Truef(t, p.Out.Len() == 0 && p.Errs.String() == say, "%v: said %q and %q, want %q", signal, &p.Out, &p.Errs, say)
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp"))
	assert.Emptyf(t, left, "%v: left", signal)
	commandtest.Wants(t, finish(t, args(dir)...), "of an earlier run kept")
	commandtest.RequireSame(t, want, dir)
}

// interrupt starts a command and signals it after its first shard, again if it completes
// before the signal arrives. The status must be 130.
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
		require.NoErrorf(t, err, "%v: error %v, want status 130; %s%s", signal, err, &p.Out, &p.Errs)
	}
	t.Fatalf("%v always came too late", signal)
	return "", nil
}

// TestStuckInterrupt interrupts commands that read a pipe without input, which cannot be
// interrupted.
func TestStuckInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it waits for some seconds")
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("left out: the open files of a process are not known here")
	}
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i, line := range []string{
		"generate terminal --out none --rules PIPE", "match codecraft --rules PIPE --player empty", "eval terminal --policies random,random --rules PIPE --json",
	} {
		pipe := filepath.Join(dir, fmt.Sprint(i))
		if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
			t.Skipf("no pipes: %v: %s", err, out)
		}
		writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // it writes nothing; a pipe without a writer is refused
		require.NoError(t, err)
		c := start(t, strings.Fields(strings.ReplaceAll(line, "PIPE", pipe))...)
		commandtest.WaitUntil(t, "the command reads the pipe", func() (read bool) {
			opened, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", c.Process.Pid))
			return slices.ContainsFunc(opened, func(fd string) bool { to, _ := os.Readlink(fd); return to == pipe })
		})
		all.Go(func() {
			defer writer.Close()
			c.Process.Signal(os.Interrupt)
			kill := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
			defer kill.Stop()
			c.Wait()
			assert.Truef(t, c.ProcessState.ExitCode() == console.ExitInterrupted && c.Out.Len() == 0 && strings.Count(c.Errs.String(), "\n") == 1 && strings.Contains(c.Errs.String(), "interrupted"), "%s: %v, printed %q and %q", line, c.ProcessState, &c.Out, &c.Errs)
		})
	}
	all.Wait()
}

// TestEvalInterrupt stops eval: it prints the result of the finished games, and the same
// command continues to the result of a run without interruption.
func TestEvalInterrupt(t *testing.T) {
	eval := func(games int, more ...string) []string {
		return append([]string{"eval", "towerdefence", "--players", "random,econ", "--json", "--games", fmt.Sprint(games)}, more...)
	}
	dir := filepath.Join(t.TempDir(), "out")
	out := []string{"--out", dir}
	c := start(t, eval(1<<18, out...)...)
	commandtest.WaitForLines(t, filepath.Join(dir, journalName), 200)
	c.Process.Signal(os.Interrupt)
	c.Wait()
	require.Equal(t, console.ExitInterrupted, c.ProcessState.ExitCode(), "%v: %s", c.ProcessState, &c.Errs)
	var got arena.Report
	if err := json.Unmarshal(c.Out.Bytes(), &got); err != nil || *got.Complete || got.Games < 1 {
		t.Fatalf("error %v, %d games, complete: %v; said %s", err, got.Games, *got.Complete, &c.Errs)
	}
	want := fmt.Sprintf(`{"error":"interrupted: the result covers the first %s; the same command continues","usage":false,"exit_status":130}`+"\n", texts.Plural(got.Games, "game"))
	assert.Equalf(t, want, c.Errs.String(), "said %s", &c.Errs)
	all := got.Games + 10
	again, whole := finish(t, eval(all, out...)...), finish(t, eval(all)...)
	assert.Equalf(t, whole, again, "%d games and 10 more", got.Games)
}
