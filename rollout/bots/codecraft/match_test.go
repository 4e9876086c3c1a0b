package codecraft

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/policy"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// maxLog is the limit of logs in bytes.
const maxLog = 10 << 20

// clientEnv makes the test's program a client, of the kind that it names.
const clientEnv = "MOONFARM_TEST_CLIENT"

func TestMain(m *testing.M) {
	child.Main()
	if kind := os.Getenv(clientEnv); kind != "" {
		os.Exit(program(kind, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program is the main function of the test's program as a client. args are host, port and
// token.
func program(kind string, args []string) int {
	switch {
	case kind == "fails":
		return 3
	case kind == "ends":
		return 0
	case kind == "sleeps":
		hang()
	case len(args) != 3:
		fmt.Println("arguments:", args)
		return 2
	}
	before(kind, args)
	conn, err := net.Dial("tcp", net.JoinHostPort(args[0], args[1]))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	token := args[2]
	if kind == "guesses" {
		token = "a guess"
	}
	conn.Write(protocol.AppendString(nil, token))
	fmt.Println("connected")
	switch kind {
	case "stays": // is silent after its first view
		conn.Read(make([]byte, 1))
		hang()
	case "dies", "falls", "garbles": // after its second view
		in := protocol.NewReader(conn)
		var m protocol.ServerMessage
		in.ServerMessage(&m)
		conn.Write(message(protocol.ActionMessage))
		in.ServerMessage(&m)
		fmt.Println(strings.Repeat("a line\n", 5000))
		fmt.Fprint(os.Stderr, "Traceback: \x1b[31mred\x1b[0m \xff\n\n", strings.Repeat("x", 1000), "\r\nlast words")
		switch kind {
		case "falls":
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			hang()
		case "garbles":
			conn.Write([]byte("garbage"))
			hang()
		}
		conn.Close()
		dawdle(100 * time.Millisecond) // as interpreters take until they end
		return 7
	}
	hostile(kind, conn.(*net.TCPConn))
	if err := serve(conn, orderAll); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("finished")
	if kind == "lingers" {
		hang()
	}
	return 0
}

func maker(t testing.TB, spec string) rollout.Maker {
	t.Helper()
	m, err := policy.New("codecraft", spec)
	require.NoError(t, err)
	return m
}

// episodes keeps the last episode.
type episodes struct{ last rollout.Episode }

func (e *episodes) Episode(one *rollout.Episode) error { e.last = *one; return nil }

// TestMatchOfPolicies: a match between policies plays as the episode of a rollout does.
func TestMatchOfPolicies(t *testing.T) {
	r := rules(t, "finals", 300)
	m := &Match{Rules: r, Seats: []Seat{
		{Policy: maker(t, "econ")}, {Policy: maker(t, "mix(0.7*quickstart,0.3*random)")},
	}}
	game, err := catalog.Find("codecraft")
	require.NoError(t, err)
	v, err := game.New(string(r.AppendText(nil)), env.Settings{N: 1})
	require.NoError(t, err)
	var seats []rollout.Policy
	for i := range m.Seats {
		p, err := m.Seats[i].Policy(v.Spec())
		require.NoError(t, err)
		seats = append(seats, p)
	}
	var e episodes
	require.NoError(t, rollout.Shard(t.Context(), v, seats, 3, 0, 1, &e))
	m.Seed = e.last.Seed
	got := play(t, m)
	assert.Truef(t, got.Turns == e.last.Turns && got.Status == e.last.Status, "%d ticks, %v; the episode has %d, %v", got.Turns, got.Status, e.last.Turns, e.last.Status)
	for i, score := range got.Results {
		assert.Equalf(t, e.last.Outcome[i].Score, float64(score), "seat %d: score %d, in the episode", i, score)
	}
	assert.NotEqual(t, int64(0), got.Results[0], "econ has gathered nothing")
}

// TestReplay: the replay of a match has all ticks.
func TestReplay(t *testing.T) {
	r := rules(t, "finals", 120)
	m := &Match{Rules: r, Seed: 4, Seats: []Seat{{Policy: maker(t, "econ")}, {Policy: maker(t, "quickstart")}}}
	var replay bytes.Buffer
	m.Replay = &replay
	whole := play(t, m)
	in, err := recording.NewReader("replay", bytes.NewReader(replay.Bytes()))
	require.NoError(t, err)
	ticks := 0
	for err = in.Next(); err == nil; err = in.Next() {
		ticks++
	}
	assert.Truef(t, err == io.EOF && ticks == 120 && int64(in.World.Players[0].Score) == whole.Results[0], "%d ticks, %v, score %d; want 120 and %d", ticks, err, in.World.Players[0].Score, whole.Results[0])
	broken := errors.New("disk full")
	m.Replay = failing{broken}
	_, err = m.Play(t.Context())
	assert.ErrorIs(t, err, broken)
}

// failing is a file that cannot be written.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestCommands: clients that the match starts play, or crash for a reason that is named.
func TestCommands(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct {
		kind, comment, printed string
		command                []string
	}{
		{"plays", "", "connected\nfinished\n", nil},
		{"plays", "", "connected\nfinished\n", []string{self, "{host}", "{port}", "{token}"}},
		{"lingers", "", "connected\nfinished\n", nil},
		{"fails", "Player crashed: the client ended before it was connected: exit status 3", "", nil},
		{"sleeps", "Player crashed: no client within 300ms", "", nil},
		{"guesses", "was sent away: it gave the wrong token", "connected\nbyte 0: message to a client: EOF\n", nil},
		{"stays", "Player crashed: tick 0: no answer within 100ms", "connected\n", nil},
		{"", "Player crashed: it could not be started: ", "", []string{filepath.Join(t.TempDir(), "none")}},
	} {
		for _, box := range []child.BoxKind{child.NoBox, child.Automatic} {
			t.Run(fmt.Sprint(cmp.Or(c.kind, "no program"), box), func(t *testing.T) {
				if c.command == nil {
					c.command = []string{self}
				}
				t.Setenv(clientEnv, c.kind)
				out, err := os.Create(filepath.Join(t.TempDir(), "out"))
				require.NoError(t, err)
				defer out.Close()
				limits := bots.Limits{Accept: ample, Answer: ample}
				switch c.kind {
				case "sleeps":
					limits.Accept = 300 * time.Millisecond
				case "stays":
					limits.Answer = 100 * time.Millisecond
				}
				r := play(t, &Match{Rules: rules(t, "finals-1", 20), Seats: []Seat{{Program: child.Program{Args: c.command}, Log: child.NewLog(out, maxLog), Limits: limits, Process: child.Limits{Box: box}}}})
				comment := ""
				if r.Players[0].Comment != nil {
					comment = *r.Players[0].Comment
				}
				assert.Truef(t, (c.comment == "") == (comment == "") && strings.Contains(comment, c.comment), "%s: comment %q, want %q", c.kind, comment, c.comment)
				text, _ := os.ReadFile(out.Name())
				lines := strings.SplitAfter(string(text), "\n")
				headers := len(lines)
				lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "== tick ") })
				headers -= len(lines)
				printed := strings.Join(lines, "")
				assert.Equalf(t, c.printed, printed, "%s: printed", c.kind)
				assert.Truef(t, c.kind != "plays" || headers == 2*20, "%d lines before and behind 20 ticks, want two of each", headers)
			})
		}
	}
}

// TestDeaths: the results say when and how a started client ended, and its last lines.
func TestDeaths(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range []struct{ kind, reason, exit string }{
		{"dies", "the client closed the connection", "exit status 7"},
		{"falls", "the client closed the connection", "signal: killed"},
		{"garbles", "message of a client: found tag 1651663207, expected 0 to 3", ""},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Setenv(clientEnv, c.kind)
			m := &Match{Rules: rules(t, "round1-2", 30), Seats: []Seat{{}, {Program: child.Program{Args: []string{self}}, Log: child.NewLog(failing{errors.New("disk full")}, maxLog)}}}
			r := play(t, m)
			crash := r.Crashes[1]
			require.Truef(t, r.Crashes[0] == nil && crash != nil && r.Turns == 30, "%s: %d ticks, crashes %v", c.kind, r.Turns, r.Crashes)
			assert.Truef(t, crash.Turn == 1 && strings.Contains(crash.Err.Error(), c.reason) && strings.HasPrefix(crash.Exit, c.exit) && (c.exit == "") == (crash.Exit == ""), "%s: %+v, want tick 1, %s, %s", c.kind, crash, c.reason, c.exit)
			want := "Player crashed: tick 1: " + crash.Err.Error()
			if c.exit != "" {
				want += " (" + crash.Exit + ")"
			}
			assert.Equalf(t, want, *r.Players[1].Comment, "%s: comment", c.kind)
			said := []string{"Traceback: �[31mred�[0m �", "", "…" + strings.Repeat("x", 199), "last words"}
			n := len(crash.Output)
			assert.Truef(t, n == 10 && slices.Equal(crash.Output[n-4:], said) && crash.Output[0] == "a line", "%s: last lines %q, want %q at the end", c.kind, crash.Output, said)
		})
	}
}

// TestInterruptedCommand: interrupting a match ends a started client at once.
func TestInterruptedCommand(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(clientEnv, "stays")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	m := &Match{Rules: rules(t, "finals-1", 20), Seats: []Seat{{Program: child.Program{Args: []string{self}}}}}
	begin := time.Now()
	_, err = m.Play(ctx)
	assert.Truef(t, errors.Is(err, context.DeadlineExceeded) && time.Since(begin) <= ample, "error %v after %v", err, time.Since(begin))
}
