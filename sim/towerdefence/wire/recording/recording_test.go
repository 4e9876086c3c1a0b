package recording

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// recordings returns the recorded games of the original engine.
func recordings(t *testing.T) []string {
	t.Helper()
	files := simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz")
	return slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "renders.jsonl.gz" })
}

// replay reads a recording and plays its commands. The recording of that must
// have the bytes of the original.
func replay(t *testing.T, name string, text []byte) (games, rounds, exact int) {
	t.Helper()
	in, err := NewReader(name, bytes.NewReader(text))
	require.NoError(t, err)
	var out bytes.Buffer
	w := NewWriter(&out)
	var match *referee.Referee
	for {
		kind, err := in.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		out.Reset()
		switch kind {
		case HeaderLine:
			games++
			match = startingWith(in.Header.Energy, in.Header.Health)
			err = w.Header(in.Header)
		case RoundLine:
			rounds++
			match.Play(in.Round.Commands[0], in.Round.Commands[1])
			p := match.Position()
			r := RoundOf(p, in.Round.Commands)
			err = w.Round(&r)
			exact += compareInferred(t, name, in.Line(), p, in.Round.Position(p.Rules, display.SeatA))
		case ResultLine:
			err = w.Result(match.Result())
		}
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if err != nil || out.String() != string(line)+"\n" {
			t.Fatalf("%s line %d (error %v)\n got %swant %s", name, in.Line(), err, out.String(), line)
		}
	}
	return games, rounds, exact
}

// compareInferred compares the order of the lists inferred from a recorded
// round with the true one, and returns 1 if they are equal. The order of
// buildings must be equal.
func compareInferred(t *testing.T, name string, line int, want, got *display.Position) int {
	t.Helper()
	for i, b := range want.Buildings {
		require.Truef(t, got.Buildings[i] == b, "%s line %d: building %d is %+v, want %+v", name, line, i, got.Buildings[i], b)
	}
	require.Equalf(t, len(want.Missiles), len(got.Missiles), "%s line %d: %d missiles, want %d", name, line, len(got.Missiles), len(want.Missiles))
	for i, m := range want.Missiles {
		m.ID = got.Missiles[i].ID
		if got.Missiles[i] != m {
			return 0
		}
	}
	return 1
}

// TestRecordings reads every recording of the original engine, plays its
// commands, and writes the same bytes; Verify finds no difference.
func TestRecordings(t *testing.T) {
	var games, rounds, exact int
	for _, file := range recordings(t) {
		name, text := filepath.Base(file), simtest.Text(t, file)
		g, r, e := replay(t, name, text)
		games, rounds, exact = games+g, rounds+r, exact+e
		report, err := Verify(name, bytes.NewReader(text), towerdefence.DefaultRules())
		require.NoErrorf(t, err, "%s", name)
		assert.Truef(t, report == (Report{Games: g, Rounds: r}), "%s, report %+v, first difference %v", name, report, report.First)
	}
	t.Logf("%d games, %d rounds written as recorded; missile order worked out in %d", games, rounds, exact)
	assert.True(t, games == 603 && rounds == 42607, "the recordings hold 603 games and 42607 rounds")
}
