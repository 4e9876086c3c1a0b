package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/texts"
)

// TestMeter shows progress on a terminal, and nothing elsewhere.
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
	} {
		t.Run(c.expect, func(t *testing.T) {
			m := &Meter{what: "games", base: c.base}
			assert.Equal(t, c.expect, m.line(c.passed, c.done, c.all, c.other, c.otherWhat))
		})
	}
	var terminal bytes.Buffer
	m := &Meter{w: &terminal, what: "games", start: time.Now()}
	m.Show(1, 3, 0, "")
	m.Show(2, 3, 0, "") // too soon after the first
	m.End()
	assert.Equalf(t, "\r\x1b[K1 of 3 games (33 %)\r\x1b[K", terminal.String(), "%q", &terminal)
	var file strings.Builder
	quiet := New(nil, &file).Meter("games")
	quiet.Show(1, 3, 0, "")
	quiet.Say("step")
	if quiet.End(); file.Len() > 0 {
		t.Errorf("said %q where there is no terminal", &file)
	}
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

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

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
