package recordings

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// TestEveryFrameIsDrawn draws the frames of Terminal's recordings, also of those that differ when they are
// played here: a scene has as many structures and units of each owner and kind as its frame. It takes all
// recordings if MOONFARM_LONG is set, else every fortieth, and of damaged ones the frames before the damage.
func TestEveryFrameIsDrawn(t *testing.T) {
	var names []string
	for _, folder := range []string{"terminal", "terminal-edge", "terminal-more"} {
		names = append(names, simtest.SharedFiles(t, "replays", folder, "*.replay.gz")...)
	}
	frames, files, damaged := 0, 0, 0
	for i, name := range names {
		if i%40 != 0 && os.Getenv("MOONFARM_LONG") == "" {
			continue
		}
		n, whole := drawn(t, name)
		frames += n
		if files++; !whole {
			damaged++
		}
	}
	t.Logf("%d frames of %d recordings, %d of which cannot be read to the end", frames, files, damaged)
	assert.Positive(t, frames)
	assert.Less(t, damaged*20, files)
}

// drawn draws the frames of a recording. It returns their number, and whether all could be read.
func drawn(t *testing.T, name string) (frames int, whole bool) {
	in, err := replay.NewReader(filepath.Base(name), bytes.NewReader(simtest.Text(t, name)))
	if err != nil {
		return 0, false
	}
	rules := in.Config.Rules
	for {
		var f frame.Frame
		err := in.Next(&f)
		if errors.Is(err, io.EOF) {
			return frames, true
		}
		if err != nil {
			return frames, false
		}
		s, err := terminalScene(&f, rules)
		require.NoError(t, err, name)
		want := map[featuretest.OwnedKind]int{}
		for p := range f.Units {
			for k, units := range f.Units[p][:terminal.Kinds] {
				if len(units) > 0 {
					want[featuretest.OwnedKind{Owner: p, Kind: terminal.Kind(k).String()}] = len(units)
				}
			}
		}
		if got := featuretest.CountEntities(s, "scout", "demolisher", "interceptor"); !maps.Equal(want, got) {
			require.Failf(t, "other entities", "%s, %s, phase %d frame %d: %v, recorded %v", name, s.Title, f.Phase, f.Number, got, want)
		}
		frames++
	}
}

// TestTurnsAfterTheEnd: a recording that goes on after the game is over is no episode.
func TestTurnsAfterTheEnd(t *testing.T) {
	g := &RecordedGame{Episode: rollout.Episode{Turns: 3}}
	g.settle(false, 3, nil, func(*rollout.Episode) (sim.Status, int) { return sim.Over, 2 })
	require.ErrorContains(t, g.Why, "the game is over after turn 1, but 3 turns are recorded")
}
