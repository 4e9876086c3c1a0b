package command

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"moonfarm/cmd/moonfarm/internal/cli"
)

// TestMeter shows progress as a terminal would, and nothing elsewhere.
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
		m := &meter{what: "games", base: c.base}
		if got := m.line(c.passed, c.done, c.all, c.other, c.otherWhat); got != c.expect {
			t.Errorf("%q, want %q", got, c.expect)
		}
	}
	var terminal bytes.Buffer
	m := &meter{w: &terminal, what: "games", start: time.Now()}
	m.show(1, 3, 0, "")
	m.show(2, 3, 0, "") // too soon after the first
	m.end()
	if want := "\r\x1b[K1 of 3 games (33 %)\r\x1b[K"; terminal.String() != want {
		t.Errorf("%q, want %q", &terminal, want)
	}
	var file strings.Builder
	quiet := (&app{stderr: &file}).meter("games")
	quiet.show(1, 3, 0, "")
	quiet.say("step")
	if quiet.end(); file.Len() > 0 {
		t.Errorf("said %q where there is no terminal", &file)
	}
}

// TestNumbers writes numbers for people.
func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		cli.Group(0):               "0",
		cli.Group(999):             "999",
		cli.Group(1000):            "1,000",
		cli.Group(uint64(1234567)): "1,234,567",
		cli.Group(-1000):           "-1,000",
		cli.Group(-100):            "-100",
		cli.Plural(1, "row"):       "1 row",
		cli.Plural(2000, "row"):    "2,000 rows",
		cli.Size(1023):             "1023 B",
		cli.Size(1536):             "1.5 KiB",
		cli.Size(3 << 20):          "3.0 MiB",
		cli.Size(20 << 30):         "20.0 GiB",
		lasting(90 * time.Second):  "90 s",
		lasting(30 * time.Minute):  "30 min",
		shape([]int{9, 8, 16}):     "9×8×16",
		shape(nil):                 "",
		heads([]int{322}):          "322",
		heads([]int{8, 8, 8, 4}):   "3 of 8, 1 of 4",

		headsInShort([]int{8, 8, 4}, 0):                        "2 of 8, 1 of 4",
		headsInShort([]int{8, 8, 4}, 1):                        "2 of 8 and 1 more head",
		balance(map[string]uint64{"-1": 1, "1": 2, "0": 1}, 4): "+1: 50.0 %, 0: 25.0 %, −1: 25.0 %",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTable aligns columns.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	a := &app{out: bufio.NewWriter(&out)}
	a.table([]string{"name", "n", "what"}, []string{"é", "10", "x"}, []string{"long", "9", ""})
	a.out.Flush()
	if want := "name   n  what\né     10  x\nlong   9\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// TestOutputError: a command whose output cannot be written has failed.
func TestOutputError(t *testing.T) {
	var stderr strings.Builder
	if status := run([]string{"version"}, fullDisk{}, &stderr); status != exitFailure || stderr.String() != "moonfarm: writing the output: no space\n" {
		t.Errorf("status %d, %q", status, &stderr)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }
