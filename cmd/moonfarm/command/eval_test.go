package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/bots/players"
	"moonfarm/sim/simtest"
	"moonfarm/sim/texts"
)

// terminalClient is a bot of Terminal: terminalclient KIND [MARK]. It gives no orders. The
// kind "errs" gives illegal orders, "slow" thinks for 5 ms, and "quits" leaves in turn 3.
// MARK identifies the process.
func terminalClient() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	answer := "[]\n[]\n"
	if os.Args[1] == "errs" {
		answer = "[[\"FF\",99,99]]\n[]\n"
	}
	turns := 0
	for in.Scan() {
		switch line := in.Text(); {
		case strings.Contains(line, `"turnInfo":[0,`):
			if os.Args[1] == "slow" {
				time.Sleep(5 * time.Millisecond)
			}
			if turns++; turns == 4 && os.Args[1] == "quits" {
				fmt.Fprintln(os.Stderr, "no more ideas")
				os.Exit(3)
			}
			fmt.Print(answer)
		case strings.Contains(line, `"turnInfo":[2,`):
			fmt.Fprintln(os.Stderr, "finished")
			return
		}
	}
}

// clients returns the ids of the processes with a mark in their command line.
func clients(mark string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file)
		if words := bytes.Split(line, []byte{0}); len(words) > 2 && string(words[2]) == mark {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// requireGone waits until no process has the mark.
func requireGone(t *testing.T, mark string) {
	t.Helper()
	commandtest.WaitUntil(t, "no process is left", func() bool { return len(clients(mark)) == 0 })
}

// TestEvalBotsInterrupt stops a tournament of bots: it prints the result of the finished
// games and how to continue, leaves no bot, and the same command completes it.
func TestEvalBotsInterrupt(t *testing.T) {
	mark := "mark-" + filepath.Base(filepath.Dir(t.TempDir()))
	out := filepath.Join(t.TempDir(), "out")
	eval := func(games int) []string {
		return []string{"eval", "terminal", "--player", "terminalclient plays " + mark, "--players", "starter", "--json", "--out", out, "--games", fmt.Sprint(games)}
	}
	c := start(t, eval(100_000)...)
	commandtest.WaitForLines(t, filepath.Join(out, journalName), 4) // two games
	c.Process.Signal(os.Interrupt)
	c.Wait()
	var got arena.Report
	err := json.Unmarshal(c.Out.Bytes(), &got)
	require.NoErrorf(t, err, "%v", c.ProcessState)
	require.Truef(t, c.ProcessState.ExitCode() == console.ExitInterrupted && !*got.Complete && got.Games >= 2, "%v: printed %s, said %s", c.ProcessState, &c.Out, &c.Errs)
	commandtest.Wants(t, c.Errs.String(), fmt.Sprintf("interrupted: the result covers the first %s; the same command continues", texts.Plural(got.Games, "game")))
	requireGone(t, mark)
	all := got.Games + 2 - got.Games%2
	err = json.Unmarshal([]byte(finish(t, eval(all)...)), &got)
	require.NoErrorf(t, err, "gone on with: %+v", got)
	assert.Truef(t, *got.Complete && got.Games == all, "gone on with: %+v", got)
}

// TestEvalBotsKill kills eval at random moments, 3 times (20 with MOONFARM_LONG). The same
// command continues it, to the journal and the result of a run without any kill but for the
// times of the bots' answers, and no bot is left.
func TestEvalBotsKill(t *testing.T) {
	games, kills := 4, 3
	if os.Getenv(longEnv) != "" {
		games, kills = 60, 20
	}
	mark := "mark-" + filepath.Base(filepath.Dir(t.TempDir()))
	eval := func(dir string) []string {
		return []string{"eval", "terminal", "--players", "starter,random", "--player", "terminalclient plays " + mark, "--json", "--out", dir, "--games", fmt.Sprint(games)}
	}
	begin := time.Now()
	whole := filepath.Join(t.TempDir(), "whole")
	want := untimed(t, finish(t, eval(whole)...))
	took := time.Since(begin)
	journal := untimed(t, string(simtest.Text(t, filepath.Join(whole, journalName))))
	commandtest.KillLoop(t, kills, took, eval, func(dir string) {
		require.Equal(t, want, untimed(t, finish(t, eval(dir)...)))
		require.Equal(t, journal, untimed(t, string(simtest.Text(t, filepath.Join(dir, journalName)))))
		replays, err := filepath.Glob(filepath.Join(dir, replaysDir, "*"))
		require.NoError(t, err)
		require.Len(t, replays, strings.Count(journal, `"files"`), "replays of the games of the bot")
	})
	requireGone(t, mark)
}

// untimed returns a text of JSON values without the times of bots and the checksums that
// cover them.
func untimed(t *testing.T, text string) string {
	t.Helper()
	var drop func(v any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "seconds")
			delete(v, "check")
			for _, child := range v {
				drop(child)
			}
		case []any:
			for _, child := range v {
				drop(child)
			}
		}
	}
	var all bytes.Buffer
	for in := json.NewDecoder(strings.NewReader(text)); in.More(); {
		var v any
		require.NoError(t, in.Decode(&v))
		drop(v)
		json.NewEncoder(&all).Encode(v)
	}
	return all.String()
}

// TestEvalConcurrency: by default every bot has a core, and eval warns of more bots than
// cores.
func TestEvalConcurrency(t *testing.T) {
	for _, c := range []struct {
		name               string
		cores, bots, asked int
		want               int
		warned             bool
	}{
		{"two bots a game", 8, 2, 0, 4, false},
		{"one bot a game", 8, 1, 0, 8, false},
		{"more bots than cores", 2, 4, 0, 1, false},
		{"asked for as many bots as cores", 8, 2, 4, 4, false},
		{"asked for more bots than cores", 8, 2, 5, 5, true},
		{"one game on one core", 1, 2, 1, 1, false},
		{"two games on one core", 1, 2, 2, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, warning := concurrency(c.cores, c.bots, c.asked)
			assert.Equal(t, c.want, n)
			assert.Equal(t, c.warned, warning != "", "the warning %q", warning)
		})
	}
}

// TestStrictFaults: --strict counts unreadable orders and orders that the rules refuse
// together.
func TestStrictFaults(t *testing.T) {
	illegal := func(seat, times int) arena.Fault {
		return arena.Fault{Seat: seat, Kind: players.FaultIllegal, Times: times}
	}
	for _, c := range []struct {
		name string
		list []arena.Fault
		want int
	}{
		{"none", nil, -1},
		{"99 illegal orders of each player", []arena.Fault{illegal(0, 99), illegal(1, 99)}, -1},
		{"100 illegal orders of a player in two kinds", []arena.Fault{illegal(0, 60), illegal(1, 60), illegal(0, 40)}, 2},
		{"a timeout", []arena.Fault{illegal(0, 60), {Seat: 0, Kind: players.FaultTimeout, Times: 1}}, 1},
		{"missing commands do not count", []arena.Fault{{Seat: 1, Kind: "missing", Times: 500}, illegal(1, 100)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, firstSevere(c.list)) })
	}
}
