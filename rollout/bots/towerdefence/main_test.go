package towerdefence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/bots/child"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/referee"
)

// ample is a time within which all that behaves answers, on a busy machine too.
const ample = time.Minute

// botMark is the first argument of the test's program when it is a bot.
const botMark = "bot"

func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 2 && os.Args[1] == botMark {
		os.Exit(act(os.Args[2], os.Args[3:]))
	}
	// With the race detector each process would sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(m.Run())
}

// act is the main function of the test's program as a bot.
func act(kind string, args []string) int {
	for _, kinds := range []map[string]func([]string) int{slow, hostile} {
		if does := kinds[kind]; does != nil {
			return does(args)
		}
	}
	switch kind {
	case "script": // follows the line of its round in script.txt
		return follow()
	case "seen": // the same, and keeps copies of its files
		round := fmt.Sprintf("seen-%03d-", roundOf())
		for _, name := range []string{stateFile, textFile} {
			text, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(round+name, text, 0o666)
			}
			if err != nil {
				fmt.Println(err)
				return 1
			}
		}
		return follow()
	case "counts": // its command is the number of times that it was started in its folder
		n := 1
		if text, err := os.ReadFile("count.txt"); err == nil {
			before, _ := strconv.Atoi(string(text))
			n += before
		}
		os.WriteFile("count.txt", []byte(strconv.Itoa(n)), 0o666)
		say(fmt.Sprintf("count %d", n))
		return 0
	case "empty": // answers at once
		say("")
		return 0
	}
	fmt.Println("no bot of kind", kind)
	return 2
}

// slow has bots that take time, and one that deletes its folder, by kind.
var slow = map[string]func(args []string) int{
	"sleeps": func(args []string) int { // behaves after that
		writeOrPrint("begun", nil)
		d, _ := time.ParseDuration(args[0])
		dawdle(d)
		say("")
		return 0
	},
	"leaves": func([]string) int { // deletes its folder
		dir, _ := os.Getwd()
		os.RemoveAll(dir)
		return 0
	},
}

// writeOrPrint writes a file and prints errors.
func writeOrPrint(name string, text []byte) {
	if err := os.WriteFile(name, text, 0o666); err != nil {
		fmt.Println(err)
	}
}

// say writes the command.
func say(text string) {
	if err := os.WriteFile(commandFile, []byte(text), 0o666); err != nil {
		fmt.Println(err)
	}
}

// roundOf returns the round in state.json.
func roundOf() int {
	var state struct{ GameDetails struct{ Round int } }
	text, err := os.ReadFile(stateFile)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		fmt.Println(err)
		return -1
	}
	return state.GameDetails.Round
}

// follow follows script.txt: each line is a command in quotes, "-" for no command, or an
// exit status.
func follow() int {
	text, err := os.ReadFile("script.txt")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	lines := strings.Split(string(text), "\n")
	line := lines[min(roundOf(), len(lines)-1)]
	fmt.Println("line", line)
	if status, err := strconv.Atoi(line); err == nil {
		say("")
		fmt.Fprintln(os.Stderr, "I give up")
		return status
	}
	if line == "-" {
		return 0
	}
	command, err := strconv.Unquote(line)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	say(command)
	return 0
}

// bot returns the test's program as a bot of the kind, in a folder of its own.
func bot(t testing.TB, kind string, args ...string) *Program {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return commandIn(t, t.TempDir(), strings.Join(append([]string{"'" + self + "'", botMark, kind}, args...), " "))
}

// commandIn returns a bot of a command line.
func commandIn(t testing.TB, dir, line string) *Program {
	t.Helper()
	p, err := Command(line, dir)
	require.NoError(t, err)
	return p
}

// scripted returns a bot that follows these lines and repeats the last one.
func scripted(t testing.TB, kind string, lines ...string) *Program {
	t.Helper()
	p := bot(t, kind)
	write(t, filepath.Join(p.Dir, "script.txt"), strings.Join(lines, "\n"))
	return p
}

func write(t testing.TB, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// rootOf opens a folder until the test ends.
func rootOf(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

// quoted returns commands as lines of a script.
func quoted(commands ...string) (lines []string) {
	for _, c := range commands {
		lines = append(lines, strconv.Quote(c))
	}
	return lines
}

// rules returns the rules of release 3.0.2 with another last round.
func rules(last int) towerdefence.Rules {
	r := towerdefence.DefaultRules()
	r.MaxRounds = last
	return r
}

// log collects the files of a match log.
type log struct {
	sync.Mutex
	files fstest.MapFS
}

type logFile struct {
	bytes.Buffer
	name string
	log  *log
}

func (l *logFile) Close() error {
	l.log.Lock()
	defer l.log.Unlock()
	l.log.files[l.name] = &fstest.MapFile{Data: l.Bytes()}
	return nil
}

func (l *log) create(name string) (io.WriteCloser, error) {
	return &logFile{name: name, log: l}, nil
}

// bytes returns the size of all files.
func (l *log) bytes() (n int) {
	for _, f := range l.files {
		n += len(f.Data)
	}
	return n
}

// text returns a player's file in the folder of a round.
func (l *log) text(t testing.TB, round int, player, file string) string {
	t.Helper()
	name := fmt.Sprintf("Round %03d/%s/%s", round, player, file)
	f := l.files[name]
	if f == nil {
		t.Fatalf("no %s among %q", name, slices.Sorted(maps.Keys(l.files)))
	}
	return string(f.Data)
}

// play plays a match that must not fail, and checks its log.
func play(t testing.TB, m *Match) (*Result, *log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*ample)
	defer cancel()
	l := &log{files: fstest.MapFS{}}
	m.Create = l.create
	r, err := m.Play(ctx)
	require.NoError(t, err)
	verify(t, l.files, m, r)
	return r, l
}

// verify checks that a match log agrees with the result.
func verify(t testing.TB, files fs.FS, m *Match, r *Result) {
	t.Helper()
	match, report, err := matchlog.Verify(files, m.Rules)
	switch {
	case err != nil:
		t.Fatal(err)
	case report.First != nil || report.Different != 0:
		t.Errorf("the log differs: %v", report.First)
	case report.Rounds != r.Turns || len(match.Orders) != r.Turns:
		t.Errorf("the log has %d rounds, %d were played", report.Rounds, r.Turns)
	case r.Final.End != referee.EndAborted && (match.Result.End != r.Final.End || match.Result.Winner != r.Final.Winner):
		t.Errorf("the log ends with %+v, the match with %+v", match.Result, r.Final)
	}
}

// clean checks that a bot made no faults of other kinds than the given ones.
func clean(t testing.TB, r *Record, but ...FaultKind) {
	t.Helper()
	for k, f := range r.Faults {
		assert.Truef(t, f.Count <= 0 || slices.Contains(but, FaultKind(k)), "%v: %+v; it printed %q", FaultKind(k), f, r.Lines)
	}
}
