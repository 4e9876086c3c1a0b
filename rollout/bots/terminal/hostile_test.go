package terminal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim/terminal/wire/replay"
)

func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 2 && os.Args[1] == "bot" {
		os.Exit(program(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// program is the main function of the test's program as a bot.
func program(kind string, args []string) int {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	answer := "[]\n[]\n"
	switch kind {
	case "silent":
		io.Copy(io.Discard, in)
		hang()
	case "drips":
		for {
			fmt.Print("[")
			dawdle(time.Second)
		}
	case "floods":
		for {
			os.Stdout.Write(bytes.Repeat([]byte("["), 1<<16))
		}
	case "exits":
		fmt.Fprintln(os.Stderr, "last words")
		return 3
	case "closes":
		os.Stdout.Close()
		hang()
	case "deaf": // prints all its answers at once and reads nothing
		fmt.Print(strings.Repeat(answer, 200))
		hang()
	case "half":
		in.ReadString('\n')
		in.ReadString('\n')
		fmt.Println("[]")
		hang()
	case "falls": // in turn 2, with half an answer
		serve(in, &limited{left: 2*len(answer) + 3}, nil)
		return 1
	case "garbage":
		answer = "\x00\xff{[\"\n{}}\n"
	case "nested":
		answer = strings.Repeat("[", 500_000) + "\n[" + strings.Repeat(`["FF",1e400,-1e400],[[]],[null,1,2],`, 20) + "[1,2,3]]\n"
	case "twice":
		answer += answer
	case "lies": // answers with a frame of another turn
		answer = `{"turnInfo":[2,99,-1,9999],"endStats":{"winner":1}}` + "\n[]\n"
	case "gushes": // prints answers without being asked, for ever
		go io.Copy(io.Discard, in)
		for {
			if _, err := fmt.Print(strings.Repeat(answer, 1000)); err != nil {
				return 1
			}
		}
	case "shuts": // closes its standard input
		in.ReadString('\n')
		os.Stdin.Close()
		fmt.Print(answer)
		hang()
	case "screams":
		scream := func() { os.Stderr.Write(bytes.Repeat([]byte("all work and no play\n"), 5000)) }
		scream() // at least once, also in a short game
		go func() {
			for {
				scream()
			}
		}()
	case "eats":
		var kept [][]byte
		for len(kept) < 100 { // 6.4 GB, were there no limit
			kept = append(kept, bytes.Repeat([]byte{1}, 64<<20))
			dawdle(10 * time.Millisecond) // a busy machine's guard looks seldom and must find it before memory is full
		}
	case "noisy":
		for range 100 {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 50_000))
		}
	case "spawns": // leaves a process behind and writes its ID to a file
		other := exec.Command(os.Args[0], "bot", "silent")
		other.Stdout = os.Stdout
		if other.Start() != nil || os.WriteFile(args[0], []byte(strconv.Itoa(other.Process.Pid)), 0o600) != nil {
			return 9
		}
	}
	var answers []string
	for range 200 {
		answers = append(answers, answer)
	}
	if serve(in, os.Stdout, nil, answers...) != nil {
		return 2
	}
	if kind == "lingers" {
		hang()
	}
	return 5
}

// limited prints a number of bytes and then fails.
type limited struct{ left int }

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	os.Stdout.Write(b[:n])
	if n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// started returns a seat of the test's program as a bot.
func started(t testing.TB, kind string, args ...string) Seat {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return Seat{Name: kind, Program: child.Program{Args: append([]string{exe, "bot", kind}, args...)}}
}

// TestFaults: a bot that does not play loses, its crash names the fault, and the replay
// verifies.
func TestFaults(t *testing.T) {
	t.Parallel()
	const soon = 300 * time.Millisecond
	for i, c := range []struct {
		kind    string
		hard    time.Duration
		timeout bool
		turn    int // −1: any
		want    string
		output  string
	}{
		{"silent", soon, true, 0, "did not answer within 300ms", ""},
		{"drips", soon, true, 0, "did not answer", ""},
		{"half", soon, true, 0, "did not answer", ""},
		{"deaf", 2 * time.Second, true, -1, "did not", ""},
		{"floods", ample, false, 0, "answered with more than 1048576 bytes", ""},
		{"exits", ample, false, 0, "the program has ended: exit status 3", "last words"},
		{"closes", ample, false, 0, "closed its standard output", ""},
		{"shuts", ample, false, -1, "closed its standard input", ""},
		{"falls", ample, false, 2, "the program has ended: exit status 1", ""},
		{"eats", ample, false, 0, "of memory, the limit is 209.7 MB", ""}, // package child tests the other limits
	} {
		box := child.BoxKind(i / 2 % 2) // NoBox or Automatic
		t.Run(c.kind, func(t *testing.T) {
			if c.kind == "eats" && runtime.GOOS != "linux" {
				t.Skip("memory has a limit on Linux only")
			}
			t.Parallel()
			m := ruled(t, "2026", 60)
			bad, good := i%2, 1-i%2
			m.Seats[bad], m.Seats[good] = started(t, c.kind), Seat{Policy: maker(t, "starter")}
			m.Limits.Hard, m.Limits.Process.Memory, m.Limits.Process.Box = c.hard, 200<<20, box
			r, file := played(t, m)
			crash, end := r.Crashes[bad], &r.End.Players[bad]
			require.Truef(t, crash != nil && (c.turn < 0 || crash.Turn == c.turn) && crash.Turn == r.Turns-1 && strings.Contains(crash.Err.Error(), c.want), "%+v in a match of %d turns", crash, r.Turns)
			assert.Truef(t, end.Crashed && end.TimeoutDeath == c.timeout && r.End.Winner == good+1 && r.Crashes[good] == nil && !r.End.Players[good].Crashed, "%+v", r.End)
			assert.Equal(t, c.output, strings.Join(crash.Output, "|"), "output")
			lost := m.Config.Rules.StartHealth + 1
			if c.timeout {
				lost--
				if end.Time < float64(c.hard.Milliseconds()) || r.Players[bad].Longest < c.hard {
					t.Errorf("%v ms, longest %v", end.Time, r.Players[bad].Longest)
				}
			}
			if got := r.End.Players[good].Points; got < lost || c.turn == 0 && got > lost { // in later turns the other player may have hit it
				t.Errorf("it lost %v health, want %v", got, lost)
			}
			// The other player's commands of that turn count, and one frame of it is played.
			_, f, _, err := replay.FindFrame("match", bytes.NewReader(file), crash.Turn, 0)
			require.NoErrorf(t, err, "frame 0 of turn %d", crash.Turn)
			assert.Truef(t, f != nil && (c.turn != 0 || len(f.Events.Spawns) != 0), "frame 0 of turn %d, %v", crash.Turn, f)
		})
	}
}

// TestNuisances: bots that misbehave but answer every turn do not lose for that.
func TestNuisances(t *testing.T) {
	t.Parallel()
	left := filepath.Join(t.TempDir(), "pid")
	for i, c := range []struct {
		kind    string
		refused int // in a turn
		exit    string
		args    []string
	}{
		{"plays", 0, "exit status 5", nil},
		{"garbage", 2, "exit status 5", nil},
		{"nested", 62, "exit status 5", nil},
		{"twice", 0, "exit status 5", nil},
		{"lies", 1, "exit status 5", nil},
		{"gushes", 0, "signal: killed", nil},
		{"screams", 0, "exit status 5", nil},
		{"noisy", 0, "exit status 5", nil},
		{"lingers", 0, "signal: killed", nil},
		{"spawns", 0, "exit status 5", []string{left}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			m := ruled(t, "2022", 3)
			seat := i % 2
			m.Seats[seat] = started(t, c.kind, c.args...)
			if c.exit == "signal: killed" {
				m.Limits.End = 100 * time.Millisecond
			} else {
				m.Limits.End = ample
			}
			var log bytes.Buffer
			m.Seats[seat].Log = child.NewLog(&log, 1000)
			var end string
			begin := m.Seats[seat].start
			m.Seats[seat].begin = func(ctx context.Context, l child.Limits) (player, error) {
				p, err := begin(ctx, l)
				return &exiting{p, &end}, err
			}
			r, _ := played(t, m)
			p := &r.Players[seat]
			require.Truef(t, r.Crashes[seat] == nil && r.Turns == 3 && !r.End.Players[seat].Crashed && p.Longest > 0 && p.Longest <= r.Used[seat], "%+v, %+v", r.Result, r.End)
			assert.Truef(t, p.Refused.Unread.Count == 3*c.refused && p.Refused.Rules == Refusals{} && (p.Refused.Unread.Text != "") == (c.refused > 0), "refused: %+v", p.Refused)
			assert.Equal(t, c.exit, end, "it ended")
			assert.Truef(t, log.Len() <= 1200 && (c.kind != "noisy" && c.kind != "screams" || log.Len() >= 1000), "%d bytes in the log", log.Len())
			if c.kind == "spawns" && runtime.GOOS == "linux" {
				gone(t, left)
			}
		})
	}
}

// exiting records how a player ends.
type exiting struct {
	player
	exit *string
}

func (p *exiting) stop(deadline time.Time) (e bots.Ended) {
	e = p.player.stop(deadline)
	*p.exit = e.Exit
	return e
}

// gone checks that the process whose ID is in a file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(text))
	require.NoError(t, err)
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.Signal(0))
	}
	assert.ErrorIs(t, err, os.ErrProcessDone, "the process that the bot left behind")
}
