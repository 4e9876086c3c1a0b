package recordings_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/simtest"
)

// shown returns a position of a file with its scene.
func shown(t *testing.T, file string, o recordings.ShowOptions) recordings.Position {
	t.Helper()
	in, err := recordings.Open(t.Context(), file)
	require.NoError(t, err)
	defer in.Close()
	o.Game, o.As, o.RoundName, o.Draw, o.Viewer = 1, in.Engine.Info().Views[0], "round", true, features.Spectator
	p, err := in.Show("", o)
	require.NoErrorf(t, err, "%s: %+v", file, o)
	require.NotNil(t, p.Scene, file)
	return p
}

// TestScenesOfRecordings draws the end and some rounds of the original engines' recordings: each
// scene has the board's things, and those that the text of Tower Defence shows.
func TestScenesOfRecordings(t *testing.T) {
	files := simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz")
	files = append(files, simtest.SharedFiles(t, "replays", "terminal", "20??*-001.replay.gz")...)
	files = append(files, simtest.SharedFiles(t, "replays", "terminal-edge", "*.replay.gz")...)
	files = append(files, simtest.SharedFiles(t, "traces", "codecraft", "replay-*.jsonl.gz")...)
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "renders") { // displays, of which no position is shown
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			end := shown(t, file, recordings.ShowOptions{Round: -1, Frame: -1})
			if end.Game == "towerdefence" {
				for p, line := range strings.Split(end.Text, "\n")[2:4] {
					words := strings.Fields(line)
					for i, name := range []string{"health", "energy", "score"} {
						assert.Equal(t, words[2+2*i], statOf(end.Scene, name, p), "%s at the end: %s", name, line)
					}
				}
			}
			if len(end.Commands) > 0 || end.Rounds < 3 {
				return
			}
			for _, round := range []int{0, end.Rounds / 2, end.Rounds - 1} {
				p := shown(t, file, recordings.ShowOptions{Round: round, Frame: -1})
				assert.Equal(t, end.Scene.Width, p.Scene.Width)
				if p.Frame != nil {
					shown(t, file, recordings.ShowOptions{Round: round, Frame: 0})
				}
			}
		})
	}
}

// statOf returns a number of a seat as text.
func statOf(s *features.Scene, name string, seat int) string {
	for _, n := range s.Stats {
		if n.Name == name && int(n.Seat) == seat {
			return strconv.FormatFloat(n.Value, 'f', -1, 64)
		}
	}
	return "no " + name
}
