package recordings_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	cckit "moonfarm/features/codecraft"
	tmkit "moonfarm/features/terminal"
	tdkit "moonfarm/features/towerdefence"
	"moonfarm/rollout"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/towerdefence"
)

// film draws all turns of an episode moment by moment, for a spectator and the first
// seat: the last scene of a turn is that of the state after it, and events have kinds
// and are on the board. It calls turn with the spectator's scenes of each turn, and
// returns the number of events by kind.
func film[S any](t *testing.T, g sim.Game[S], k features.Kit[S], e *rollout.Episode, turn func(i int, scenes []features.Scene)) map[string]int {
	t.Helper()
	s, orders, events := new(S), sim.NewTurn(0), map[string]int{}
	g.Reset(s, e.Seed)
	for i := range e.Turns {
		for p := range sim.Player(e.Players) {
			orders.Set(p, e.OrdersOf(i, p))
		}
		var scenes []features.Scene
		for _, seat := range []int{0, features.Spectator} {
			after := *s
			scenes = scenes[:0]
			k.Frames(&after, orders, seat, func(dst *features.Scene) { scenes = append(scenes, dst.Clone()) })
		}
		g.Step(s, orders)
		var want features.Scene
		k.Scene(&want, s, features.Spectator)
		require.NotEmpty(t, scenes)
		last := scenes[len(scenes)-1]
		last.Events = nil
		require.Equal(t, want.Clone(), last, "turn %d", i)
		for _, scene := range scenes {
			for _, e := range scene.Events {
				events[e.Kind]++
				if e.Kind == "" || !(min(e.X1, e.Y1, e.X2, e.Y2) >= 0 && max(e.X1, e.X2) <= scene.Width && max(e.Y1, e.Y2) <= scene.Height) {
					t.Fatalf("turn %d, %s: %+v", i, scene.Title, e)
				}
			}
		}
		if turn != nil {
			turn(i, scenes)
		}
	}
	return events
}

// filmRecorded draws the game of a recording.
func filmRecorded(t *testing.T, game string, recorded *recordings.RecordedGame, turn func(i int, scenes []features.Scene)) map[string]int {
	t.Helper()
	switch game {
	case "towerdefence":
		r, err := towerdefence.ParseRules([]byte(recorded.Rules))
		require.NoError(t, err)
		g, err := towerdefence.New(r)
		require.NoError(t, err)
		return film(t, g, tdkit.Kit(g), &recorded.Episode, turn)
	case "terminal":
		r, err := terminal.ParseRules([]byte(recorded.Rules))
		require.NoError(t, err)
		g, err := terminal.New(r)
		require.NoError(t, err)
		return film(t, g, tmkit.Kit(g), &recorded.Episode, turn)
	default:
		r, err := codecraft.ParseRules([]byte(recorded.Rules))
		require.NoError(t, err)
		g, err := codecraft.New(r)
		require.NoError(t, err)
		return film(t, g, cckit.Kit(g), &recorded.Episode, turn)
	}
}

// filmFile draws every n-th game of a file, and returns the number of those games. It
// adds the events to a count.
func filmFile(t *testing.T, file string, n int, events map[string]int) (games int) {
	t.Helper()
	in, err := recordings.Open(context.Background(), file)
	require.NoError(t, err)
	defer in.Close()
	read := 0
	_, err = in.Read(recordings.ReadOptions{Keep: true}, func(g *recordings.RecordedGame) error {
		if read++; g.Why != nil || (read-1)%n != 0 {
			return nil
		}
		games++
		for kind, count := range filmRecorded(t, in.Engine.Info().Game, g, nil) {
			events[kind] += count
		}
		return nil
	})
	require.NoError(t, err, file)
	return games
}

func TestFramesOfSamples(t *testing.T) {
	for _, engine := range recordings.Engines() {
		game := engine.Info().Game
		events := map[string]int{}
		assert.Equal(t, 1, filmFile(t, sampleFile(t, game), 1, events), game)
		assert.NotEmpty(t, events, game)
	}
}

// TestFramesOfRecordings draws all turns of the original engines' games moment by
// moment: of all games if MOONFARM_LONG is set, else of every thirtieth.
func TestFramesOfRecordings(t *testing.T) {
	every := 30
	if os.Getenv("MOONFARM_LONG") != "" {
		every = 1
	}
	games, events := 0, map[string]int{}
	for _, file := range simtest.SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz") {
		if !strings.HasPrefix(filepath.Base(file), "renders") { // displays
			games += filmFile(t, file, every, events)
		}
	}
	replays := append(simtest.SharedFiles(t, "replays", "terminal", "*.replay.gz"), simtest.SharedFiles(t, "replays", "terminal-edge", "*.replay.gz")...)
	for i := 0; i < len(replays); i += every {
		games += filmFile(t, replays[i], 1, events)
	}
	t.Log(games, "games", events)
	assert.Greater(t, games, 20)
	for _, kind := range []string{"attack", "breach", "self-destruct", "death", "base hit", "tesla shot", "stopped", "destroyed"} {
		assert.Positive(t, events[kind], kind)
	}
}

// TestFrameEvents compares the scenes of recorded frames with those of the game that
// plays the recording: they have the same units and the same events.
func TestFrameEvents(t *testing.T) {
	file := sampleFile(t, "terminal")
	recorded := read(t, file)
	frames := 0
	filmRecorded(t, "terminal", &recorded, func(i int, scenes []features.Scene) {
		for n := range scenes[1 : len(scenes)-1] {
			want := scenes[n+1].Clone()
			if n == 0 { // the recorded frame has the commands, too
				want.Events = append(slices.Clone(scenes[0].Events), want.Events...)
			}
			got := shown(t, file, recordings.ShowOptions{Round: i, Frame: n}).Scene
			require.Equal(t, want.Title, got.Title)
			require.Equal(t, want.Entities, got.Entities, want.Title)
			require.ElementsMatch(t, want.Events, got.Events, want.Title)
			frames++
		}
	})
	assert.Greater(t, frames, 10)
}
