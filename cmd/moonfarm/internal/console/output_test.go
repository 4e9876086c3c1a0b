package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/texts"
)

// TestMeter shows progress on a terminal, and nothing on no output.
func TestMeter(t *testing.T) {
	for _, c := range []struct {
		passed            time.Duration
		base, done, all   uint64
		other             uint64
		otherWhat, expect string
	}{
		{0, 0, 1, 3, 0, "", "1 of 3 games (33 %)"},
		{2 * time.Second, 0, 500, 2000, 60_000, "rows", "500 of 2,000 games (25 %), 30,000 rows/s, 6.0 s left"},
		{2 * time.Second, 1000, 1500, 2000, 0, "", "1,500 of 2,000 games (75 %), 250/s, 2.0 s left"},
		{2 * time.Second, 0, 2000, 2000, 0, "", "2,000 of 2,000 games (100 %), 1,000/s"},
		{time.Hour, 0, 1, 4, 0, "", "1 of 4 games (25 %), 0/s, 3.0 h left"},
		{2 * time.Second, 0, 0, 4, 0, "", "0 of 4 games (0 %), 2.0 s so far"},
		{2 * time.Second, 0, 18, 0, 0, "", "18 games, 9/s"},
	} {
		t.Run(c.expect, func(t *testing.T) {
			m := &Meter{what: "games", base: c.base}
			assert.Equal(t, c.expect, m.line(c.passed, c.done, c.all, c.other, c.otherWhat, ""))
		})
	}
	var terminal bytes.Buffer
	m := &Meter{w: &terminal, what: "games", start: time.Now()}
	m.Show(1, 3, 0, "")
	m.Show(2, 3, 0, "") // too soon after the first
	m.End()
	assert.Equalf(t, "\r\x1b[K1 of 3 games (33 %)\r\x1b[K", terminal.String(), "%q", &terminal)
	m.End() // once more: nothing
	m.ShowAbout(3, func() uint64 { return 40 })
	assert.Contains(t, terminal.String(), "[K3 of about 40 games (7 %)")
	m.End()
	var file strings.Builder
	quiet := New(nil, &file).Meter("games")
	quiet.Show(1, 3, 0, "")
	quiet.Say("step")
	if quiet.End(); file.Len() > 0 {
		t.Errorf("said %q where there is no terminal", &file)
	}
}

// TestMeterTime: a command that says nothing for long shows the time that has passed.
func TestMeterTime(t *testing.T) {
	var terminal bytes.Buffer
	c := New(io.Discard, nil)
	m := c.meter(&terminal, "shards")
	says := func(what string) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return strings.Contains(terminal.String(), what)
	}
	require.Eventually(t, func() bool { return says("\r\x1b[Kshards: ") }, time.Minute, 10*time.Millisecond)
	m.Show(0, 7, 0, "")
	require.Eventually(t, func() bool { return says("[K0 of 7 shards (0 %), ") }, time.Minute, 10*time.Millisecond)
	root := &cobra.Command{Use: "moonfarm", Run: func(*cobra.Command, []string) {}}
	require.Equal(t, ExitOK, c.Run(t.Context(), root, []string{}))
	assert.True(t, strings.HasSuffix(terminal.String(), "\r\x1b[K"), "the end of the command removes the line")
}

// TestNumbers writes numbers for people.
func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		texts.Group(0):                   "0",
		texts.Group(999):                 "999",
		texts.Group(1000):                "1,000",
		texts.Group(uint64(1234567)):     "1,234,567",
		texts.Group(-1000):               "-1,000",
		texts.Group(-100):                "-100",
		texts.Plural(1, "row"):           "1 row",
		texts.Plural(2000, "row"):        "2,000 rows",
		FormatSize(1023):                 "1023 B",
		FormatSize(1536):                 "1.5 KiB",
		FormatSize(3 << 20):              "3.0 MiB",
		FormatSize(20 << 30):             "20.0 GiB",
		FormatDuration(90 * time.Second): "90 s",
		FormatDuration(30 * time.Minute): "30 min",
	} {
		t.Run(want, func(t *testing.T) { assert.Equal(t, want, got) })
	}
}

// TestTable aligns columns.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	c := New(&out, nil)
	c.Table([]string{"name", "n", "what"}, []string{"é", "10", "x"}, []string{"long", "9", ""})
	c.Out.Flush()
	assert.Equalf(t, "name   n  what\né     10  x\nlong   9\n", out.String(), "%q", &out)
}

// TestOutputError: a command whose output cannot be written fails.
func TestOutputError(t *testing.T) {
	var stderr strings.Builder
	c := New(fullDisk{}, &stderr)
	root := &cobra.Command{Use: "moonfarm", Run: func(*cobra.Command, []string) { c.Printf("a result") }}
	require.Equal(t, ExitFailure, c.Run(t.Context(), root, nil))
	require.Equal(t, "moonfarm: writing the output: no space\n", stderr.String())
}

// TestInterruptedError: after an interrupt the error of a command is printed, unless the interrupt is its only reason.
func TestInterruptedError(t *testing.T) {
	lost := errors.New("--save: no space")
	canceled, stop := context.WithCancel(t.Context())
	stop()
	_, dialed := new(net.Dialer).DialContext(canceled, "tcp", "127.0.0.1:1")
	for _, c := range []struct {
		err    error
		status int
		say    string
	}{
		{ErrInterrupted, ExitInterrupted, "interrupted: 3 games are kept"},
		{fmt.Errorf("game 4: %w", context.Canceled), ExitInterrupted, "interrupted: 3 games are kept"},
		{errors.Join(ErrInterrupted, context.Canceled), ExitInterrupted, "interrupted: 3 games are kept"},
		{dialed, ExitInterrupted, "interrupted: 3 games are kept"},
		{lost, ExitFailure, "--save: no space"},
		{errors.Join(ErrInterrupted, lost), ExitInterrupted, "interrupted\n--save: no space"},
	} {
		var stderr strings.Builder
		console := New(io.Discard, &stderr)
		ctx, stop := context.WithCancelCause(t.Context())
		root := &cobra.Command{Use: "moonfarm", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
			console.Resume = "3 games are kept"
			stop(ErrInterrupted)
			return c.err
		}}
		assert.Equal(t, c.status, console.Run(ctx, root, []string{}))
		assert.Equal(t, "moonfarm: "+c.say+"\n", stderr.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestMeterInLog: a log gets a line a minute.
func TestMeterInLog(t *testing.T) {
	var log bytes.Buffer
	m := New(nil, &log).Meter("games")
	m.Show(1, 4, 0, "")
	m.Say("something")
	m.Leave("a game")
	assert.Empty(t, log.String(), "too soon")
	for range 2 {
		m.last = m.last.Add(-logEvery)
		m.Show(2, 4, 0, "")
		m.Show(3, 4, 0, "")
		m.Say("something")
	}
	m.last = m.last.Add(-logEvery)
	m.Say("pair 3")
	m.End()
	assert.Equal(t, "2 of 4 games (50 %)\n2 of 4 games (50 %)\npair 3\n", log.String())
	assert.False(t, m.Visible())
}

// TestMeterInJSON: a program gets objects: one a second at first, then fewer, at last one a minute.
func TestMeterInJSON(t *testing.T) {
	for passed, every := range map[time.Duration]time.Duration{time.Second: quietAtMost, 100 * time.Second: 2 * time.Second, 2 * time.Hour: logEvery} {
		var out bytes.Buffer
		c := New(nil, &out)
		c.JSON = true
		m := c.Meter("games")
		for _, early := range []time.Duration{time.Second / 10, 0} {
			m.start, m.last = time.Now().Add(-passed), time.Now().Add(early-every)
			m.Say("pair 3")
			m.Show(2, 4, 0, "")
		}
		m.End()
		assert.Equal(t, `{"progress":"games","done":2,"all":4}`+"\n", out.String(), passed)
	}
}

// nasty has characters that control a terminal, end a line or turn its direction, and bytes that are not UTF-8.
const nasty = "Nope\x1b]0;x\x07\x00\x7f\u009b2J\u202e\u2028\xff\t\r\nmoonfarm: ok"

// TestForeignTexts: whatever texts contain, a terminal sees the lines of moonfarm alone.
func TestForeignTexts(t *testing.T) {
	const shown = `Nope\u001b]0;x\u0007\u0000\u007f\u009b2J\u202e\u2028\xff\t\r\nmoonfarm: ok`
	assert.Equal(t, shown, texts.Escaped(nasty))
	assert.Equal(t, "naïve 日本 \u200d \ufffd \\ \"x\"", texts.Escaped("naïve 日本 \u200d \ufffd \\ \"x\""))
	inner := errors.New(nasty)
	for _, c := range []struct {
		err   error
		lines int
	}{
		{inner, 1},
		{fmt.Errorf("file %s: %w, and %s", nasty, inner, nasty), 1},
		{fmt.Errorf("%w: %w", WrongUse("--x %s: %w", nasty, inner), inner), 1},
		{errors.Join(inner, nil, fmt.Errorf("%s: %w", nasty, inner)), 2},
		{fmt.Errorf("game 1: %w (%s)", errors.Join(inner, errors.Join(inner, errors.New(""))), nasty), 3},
		{Unknown(&fs.PathError{Op: "open", Path: nasty, Err: inner}, nasty, []string{nasty + "x"}), 1},
	} {
		text := failureOf(c.err).Error
		assert.Equal(t, c.lines, strings.Count(text, "\n")+1, text)
		assert.Contains(t, text, shown)
		harmless(t, text)
		var asJSON bytes.Buffer
		failureOf(c.err).print(&asJSON, true)
		harmless(t, asJSON.String())
		var back failure
		require.NoError(t, json.Unmarshal(asJSON.Bytes(), &back))
		assert.Equal(t, text, back.Error)
	}
	assert.Equal(t, "one\ntwo: three", message(errors.Join(errors.New("one"), fmt.Errorf("two: %w", errors.New("three")))))
	var out, stderr bytes.Buffer
	c := New(&out, &stderr)
	c.Printf("%s|%q|%-3v|%d|%s\n", nasty, nasty, inner, 7, []string{nasty})
	c.Table([]string{"name", nasty}, []string{nasty, "1"})
	c.Text(nasty + "\n")
	c.Warn(nasty)
	c.Tell("%s\n", nasty)
	c.JSON = true
	require.NoError(t, c.Print(map[string]string{nasty: nasty}, nil))
	require.NoError(t, c.Out.Flush())
	harmless(t, out.String())
	harmless(t, stderr.String())
	assert.Equal(t, 1, strings.Count(out.String(), "\nmoonfarm: ok"), "Text alone keeps the lines: %s", out.String())
	assert.Equal(t, 2, strings.Count(stderr.String(), "\n"))
}

// harmless checks that a text has no characters that control a terminal, but ends of lines.
func harmless(t *testing.T, text string) {
	t.Helper()
	assert.True(t, utf8.ValidString(text))
	assert.Equal(t, -1, strings.IndexFunc(text, func(c rune) bool {
		return c != '\n' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028'
	}), "%q", text)
}

// TestFewAddresses: a small limit of virtual memory is named before the Go runtime may fail.
func TestFewAddresses(t *testing.T) {
	var stderr strings.Builder
	c := New(&stderr, &stderr)
	c.warnLimit(unlimited)
	c.warnLimit(2 << 30)
	require.Empty(t, stderr.String())
	c.warnLimit(1 << 30)
	require.Equal(t, "moonfarm: warning: virtual memory is limited to 1024.0 MiB (ulimit -v), expected at least 2048.0 MiB: "+
		"where it does not suffice, the program ends with a crash text of Go\n", stderr.String())
	require.Positive(t, addressLimit())
}
