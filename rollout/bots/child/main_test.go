package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ample is a time within which all that behaves answers, on a busy machine too.
const ample = time.Minute

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) > 2 && os.Args[1] == "bot" {
		os.Exit(bot(os.Args[2], os.Args[3:]))
	}
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") // programs with the race detector wait a second
	os.Exit(m.Run())
}

// guard starts a Guard for as long as the test runs.
func guard(t testing.TB, limits Limits) *Guard {
	t.Helper()
	g, err := Start(context.Background(), limits, Box{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, g.Close())
	})
	return g
}

func start(t testing.TB, g *Guard, c Command) *Process {
	t.Helper()
	p, err := g.Run(c)
	require.NoError(t, err)
	return p
}

func soon() time.Time { return time.Now().Add(ample) }

func readLine(t testing.TB, p *Process) string {
	t.Helper()
	line, err := p.ReadLine(soon())
	require.NoError(t, err)
	return string(line)
}

// kindOf returns the kind of an error, which must be a fault.
func kindOf(t testing.TB, err error) FaultKind {
	t.Helper()
	var f *Fault
	require.ErrorAsf(t, err, &f, "error %v, want a fault", err)
	assert.Truef(t, f.Text != "" && !strings.Contains(f.Text, "\n"), "text %q", f.Text)
	return f.Kind
}

func TestConversation(t *testing.T) {
	p := start(t, guard(t, Limits{}), talks(t, "echo"))
	for k := range 100 {
		want := strings.Repeat("x", k*k) + strconv.Itoa(k)
		require.NoError(t, p.Write([]byte(want+"\n"), soon()))
		require.Equalf(t, want, readLine(t, p), "line %d", k)
	}
	p.Write([]byte("a\n\nb\r\nc"), soon())
	p.CloseInput()
	for _, want := range []string{"a", "", "b\r", "c"} {
		require.Equal(t, want, readLine(t, p))
	}
	for range 2 {
		_, err := p.ReadLine(soon())
		assert.Truef(t, kindOf(t, err) == Exited && strings.Contains(err.Error(), "exit status 0"), "error %v", err)
	}
	r := p.End(soon())
	assert.Truef(t, r.Code == 0 && r.Status == "exit status 0" && r.Fault == nil && r.Time > 0, "%+v", r)
	assert.Error(t, p.Write([]byte("x"), soon()), "written to a process that has ended")
}

// TestOutputs: standard output goes to ReadLine or to the log; standard error to the log.
func TestOutputs(t *testing.T) {
	g := guard(t, Limits{})
	var text strings.Builder
	c := talks(t, "print", "hello", "there")
	c.Log = NewLog(&text, 1000)
	p := start(t, g, c)
	assert.Equal(t, "hello there", readLine(t, p))
	if r := p.End(soon()); text.String() != "to the log\n" || len(r.Lines) != 1 || r.Lines[0] != "to the log" {
		t.Errorf("log %q, %+v", text.String(), r)
	}
	c.Input, c.Output = false, false
	p = start(t, g, c)
	r := p.End(soon())
	assert.Truef(t, text.String() == "to the log\nhello there\nto the log\n" && len(r.Lines) == 2, "log %q, %+v", text.String(), r)
	_, err := p.ReadLine(soon())
	assert.Error(t, err, "read what goes to the log")
	assert.Error(t, p.Write(nil, soon()), "written to an empty file")
}

func TestPlace(t *testing.T) {
	t.Setenv("CHILD_TEST", "mine")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	c := talks(t, "where")
	c.Dir = dir
	p := start(t, guard(t, Limits{}), c)
	assert.Equal(t, dir, readLine(t, p), "works")
	assert.Equal(t, "mine true", readLine(t, p))
}

func TestExitStatus(t *testing.T) {
	g := guard(t, Limits{})
	for _, code := range []int{0, 1, 77} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			p := start(t, g, talks(t, "exit", strconv.Itoa(code)))
			want := fmt.Sprintf("exit status %d", code)
			_, err := p.ReadLine(soon())
			assert.Truef(t, kindOf(t, err) == Exited && strings.Contains(err.Error(), want), "error %v", err)
			r, err := p.Wait(soon())
			require.NoErrorf(t, err, "%+v", r)
			assert.Truef(t, r.Code == code && r.Status == want, "%+v", r)
		})
	}
}

func TestNeverAnswers(t *testing.T) {
	for _, kind := range []string{"sleep", "drip"} {
		t.Run(kind, func(t *testing.T) {
			p := start(t, guard(t, Limits{}), talks(t, kind))
			if kind == "sleep" {
				readLine(t, p)
			}
			for range 2 { // the deadline of one call has no effect on the next
				_, err := p.ReadLine(time.Now().Add(50 * time.Millisecond))
				assert.Equalf(t, Time, kindOf(t, err), "%s: %v", kind, err)
			}
			r := p.End(time.Now().Add(50 * time.Millisecond))
			assert.Truef(t, r.Fault != nil && r.Fault.Kind == Time && (r.Code == -1 || runtime.GOOS == "windows"), "%s: %+v", kind, r)
		})
	}
}

// TestNeverReads: a bot that does not read does not block the match.
func TestNeverReads(t *testing.T) {
	p := start(t, guard(t, Limits{}), talks(t, "sleep"))
	big := make([]byte, 1<<20)
	begin := time.Now()
	for range 2 {
		err := p.Write(big, time.Now().Add(100*time.Millisecond))
		assert.Equal(t, Time, kindOf(t, err), err)
	}
	took := time.Since(begin)
	assert.LessOrEqualf(t, took, ample, "took %v", took)
	r := p.Kill()
	assert.Nilf(t, r.Fault, "%+v", r)
}

// TestFlood: a process whose line does not end is killed.
func TestFlood(t *testing.T) {
	p := start(t, guard(t, Limits{}), talks(t, "flood", "out", ""))
	_, err := p.ReadLine(soon())
	assert.True(t, kindOf(t, err) == Output && err.Error() == "answered with more than 1048576 bytes", err)
	assert.LessOrEqualf(t, len(p.base), 8<<20, "a buffer of %d bytes", len(p.base))
	r, err := p.Wait(soon())
	require.NoErrorf(t, err, "%+v", r)
	assert.Truef(t, r.Fault != nil && r.Fault.Kind == Output, "%+v", r)
}

// TestLogFlood: output for the log is always read, and kept up to the limit.
func TestLogFlood(t *testing.T) {
	var text strings.Builder
	c := talks(t, "flood", "err", "\n")
	c.Log = NewLog(&text, 12_345)
	p := start(t, guard(t, Limits{}), c)
	require.Eventually(t, c.Log.Full, ample, time.Millisecond)
	_, err := p.ReadLine(time.Now().Add(300 * time.Millisecond))
	assert.Equal(t, Time, kindOf(t, err), err)
	r := p.Kill()
	kept, more, _ := strings.Cut(text.String(), "[")
	assert.Truef(t, len(kept) == 12_345+1 && more == "the limit of 12345 bytes is reached: the rest was dropped]\n", "%d bytes kept, then %q", len(kept), more)
	assert.Lenf(t, r.Lines, tailLines, "%d last lines", len(r.Lines))
}

func TestHalfClosed(t *testing.T) {
	t.Parallel() // this test and the next one wait
	p := start(t, guard(t, Limits{}), talks(t, "close", "out"))
	_, err := p.ReadLine(soon())
	assert.True(t, kindOf(t, err) == Closed && err.Error() == "closed its standard output and runs on", err)
	_, again := p.ReadLine(soon())
	assert.True(t, again == err, again)
}

func TestHalfClosedInput(t *testing.T) {
	t.Parallel()
	p := start(t, guard(t, Limits{}), talks(t, "close", "in"))
	assert.Equal(t, "closed", readLine(t, p))
	err := p.Write(make([]byte, 1<<20), soon())
	assert.Equal(t, Closed, kindOf(t, err), err)
	r := p.End(time.Now())
	assert.Truef(t, r.Fault != nil && r.Fault.Kind == Time, "%+v", r)
}

func TestProgramsThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	g := guard(t, Limits{})
	for _, c := range []struct {
		program Program
		want    string
	}{
		{Program{}, "expected the name of a program"},
		{Program{Args: []string{""}}, "expected the name of a program"},
		{Program{Args: []string{"no-such-program-here"}}, "not found"},
		{Program{Args: []string{"./nothing"}, Dir: dir}, "nothing"},
		{Program{Args: []string{filepath.Join(dir, "nothing")}}, "nothing"},
		{Program{Args: []string{"go"}, Dir: filepath.Join(dir, "nowhere")}, "the folder to work in: "},
		{Program{Args: []string{"go"}, Dir: file}, "is not a folder"},
		{Program{Args: []string{"go", "a\x00b"}}, "zero byte"},
	} {
		t.Run(fmt.Sprintf("%q", c.program.Args), func(t *testing.T) {
			err := c.program.Check()
			assert.ErrorContainsf(t, err, c.want, "%q", c.program.Args)
			_, err = g.Run(Command{Program: c.program})
			assert.ErrorContainsf(t, err, c.want, "%q", c.program.Args)
		})
	}
	start(t, g, self(t, "exit", "0")).End(soon()) // a guard survives all that
}

func TestMisuse(t *testing.T) {
	if _, err := Start(t.Context(), Limits{Memory: -1}, Box{}); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("error %v", err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Start(ctx, Limits{}, Box{}); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	mainCalled.Store(false)
	_, err := Start(t.Context(), Limits{}, Box{})
	mainCalled.Store(true)
	assert.ErrorIs(t, err, errNoMain)
	g := guard(t, Limits{})
	p := start(t, g, talks(t, "sleep"))
	_, err = g.Run(self(t, "exit", "0"))
	assert.ErrorContains(t, err, "has not ended")
	p.Kill()
	for range 2 {
		assert.NoError(t, g.Close())
	}
	_, err = g.Run(self(t, "exit", "0"))
	assert.ErrorIs(t, err, os.ErrClosed)
}

// TestContext: a done context ends the process and those that wait for it.
func TestContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	g, err := Start(ctx, Limits{}, Box{})
	require.NoError(t, err)
	defer g.Close()
	p := start(t, g, talks(t, "sleep"))
	readLine(t, p)
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	_, err = p.ReadLine(time.Time{})
	assert.Equalf(t, Exited, kindOf(t, err), "error %v", err)
	_, err = p.Wait(soon())
	assert.NoError(t, err)
	_, err = g.Run(self(t, "exit", "0"))
	assert.ErrorIs(t, err, cause)
}

// TestLeaks: after a match no files and goroutines of it are left in this program.
func TestLeaks(t *testing.T) {
	match := func() {
		g, err := Start(context.Background(), Limits{}, Box{})
		require.NoError(t, err)
		start(t, g, talks(t, "print", "x")).End(soon())
		g.Run(Command{Program: Program{Args: []string{"no-such-program-here"}}})
		start(t, g, self(t, "print", "x")).End(soon())
		readLine(t, start(t, g, talks(t, "sleep")))
		assert.NoError(t, g.Close())
	}
	match()                                          // opens files that stay open
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the garbage collector would close leaked files
	files, routines := openFiles(t), runtime.NumGoroutine()
	for range 3 {
		match()
	}
	end := soon()
	for range time.Tick(10 * time.Millisecond) { // timers and goroutines end later; require.Eventually starts some itself
		f, r := openFiles(t), runtime.NumGoroutine()
		if f <= files && r <= routines {
			return
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d files open, before %d; %d goroutines, before %d\n%s", f, files, r, routines, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// openFiles returns the number of this program's open files, 0 where there is no /proc.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
