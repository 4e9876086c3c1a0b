package plain_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// TestRecordings replays all games recorded from the official engine and
// compares every field of every round and of every end.
func TestRecordings(t *testing.T) {
	games, rounds := 0, 0
	for _, file := range simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz") {
		if filepath.Base(file) != "renders.jsonl.gz" {
			g, r := replay(t, file)
			games, rounds = games+g, rounds+r
		}
	}
	assert.Truef(t, games == 603 && rounds == 42607, "replayed %d games and %d rounds; the recordings hold 603 and 42607", games, rounds)
}

// TestGoldenGame replays the small game kept with the wire formats, also where
// there are no recordings.
func TestGoldenGame(t *testing.T) {
	games, rounds := replay(t, "../../wire/testdata/game.jsonl")
	assert.Truef(t, games == 1 && rounds == 48, "replayed %d games and %d rounds, want 1 and 48", games, rounds)
}

// replay replays all games of one file with package referee, which plays this
// game, and stops at the first difference.
func replay(t *testing.T, file string) (games, rounds int) {
	t.Helper()
	in, err := recording.NewReader(file, bytes.NewReader(simtest.Text(t, file)))
	require.NoError(t, err)
	var match *referee.Referee
	for {
		kind, err := in.Next()
		switch {
		case err == io.EOF:
			return games, rounds
		case err != nil:
			t.Fatal(err)
		case kind == recording.HeaderLine:
			games++
			rules := towerdefence.DefaultRules()
			rules.SetStart(in.Header.Energy, in.Header.Health)
			match = referee.New(rules)
		case kind == recording.RoundLine:
			rounds++
			match.Play(in.Round.Commands[0], in.Round.Commands[1])
			played := recording.RoundOf(match.Position(), in.Round.Commands)
			if got, want := played.AppendLine(nil), in.Round.AppendLine(nil); !bytes.Equal(got, want) {
				t.Fatalf("%s line %d: game %s\n got %s\nwant %s", file, in.Line(), in.Header.Game, got, want)
			}
		case match.Result() != in.Result:
			t.Fatalf("%s line %d: game %s: end\n got %+v\nwant %+v", file, in.Line(), in.Header.Game, match.Result(), in.Result)
		}
	}
}
