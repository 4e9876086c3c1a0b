package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/view"
	"moonfarm/sim"
)

// TestLive: a game that is shown turn by turn has the scenes of the film of its episode.
func TestLive(t *testing.T) {
	for _, c := range games {
		t.Run(c.game, func(t *testing.T) {
			l := played(t, c.game, c.rules, c.policy, c.turns, 1)
			f, err := l.Film(0)
			require.NoError(t, err)
			live := view.NewLive(c.game, "", make([]string, f.Seats()), false)
			_, err = live.Answer("film.json?game=0")
			require.ErrorContains(t, err, "once the game has begun")
			v := vector(t, c.game, c.rules, c.turns)
			painter := env.Unwrap(v).(env.Painter)
			seats := []int{features.Spectator}
			for p := 0; p < f.Seats() && c.fog; p++ {
				seats = append(seats, p)
			}
			all := map[int][][]features.Scene{}
			for _, seat := range seats {
				for _, frames := range scenes(t, f, seat) { // a live game has one frame a turn
					last := frames[len(frames)-1]
					last.Events = nil
					all[seat] = append(all[seat], []features.Scene{last})
				}
			}
			at := 0
			for range f.Turns() + 1 {
				live.Show(func(dst *features.Scene, seat int) {
					if !c.fog { // all see the same
						seat = features.Spectator
					}
					*dst = all[seat][at][0]
				})
				at++
			}
			for _, seat := range seats {
				for from := 0; from <= f.Turns(); from += view.Chunk {
					text, err := live.Answer(fmt.Sprintf("frames.json?game=0&seat=%d&from=%d", seat, from))
					require.NoError(t, err)
					var k struct{ Positions []json.RawMessage }
					require.NoError(t, json.Unmarshal(text, &k))
					require.Len(t, k.Positions, min(view.Chunk, f.Turns()+1-from))
					var want struct{ Positions []json.RawMessage }
					other, err := f.Frames(seat, from)
					require.NoError(t, err)
					require.NoError(t, json.Unmarshal(other, &want))
					require.Len(t, k.Positions, len(want.Positions))
				}
			}
			stats, err := live.Answer("stats.json?game=0")
			require.NoError(t, err)
			other, err := f.Stats()
			require.NoError(t, err)
			require.Equal(t, string(other), string(stats))
			for _, wrong := range []string{"film.json?game=1", "frames.json?game=0&from=1", "frames.json?game=0&from=-32", "frames.json?game=0&seat=9", "frames.json?game=0&from=99968", "x.json?game=0"} {
				_, err := live.Answer(wrong)
				assert.Error(t, err, wrong)
			}
			var start features.Scene
			require.True(t, painter.Scene(&start, 0, features.Spectator))
			_, ok := painter.Command(sim.Order(0), 0)
			require.True(t, ok)
		})
	}
}

// TestHold: a game that is held goes on turn by turn, or freely.
func TestHold(t *testing.T) {
	live := view.NewLive("tron", "", []string{"a", "b"}, true)
	passed := make(chan int, 100)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for n := 0; live.Wait(ctx) == nil; n++ {
			passed <- n
			if n == 5 {
				live.Hold(true)
			}
		}
		close(passed)
	}()
	select {
	case <-passed:
		t.Fatal("the game was not held")
	case <-time.After(50 * time.Millisecond):
	}
	live.Step()
	require.Equal(t, 0, <-passed)
	live.Step()
	live.Step()
	require.Equal(t, 1, <-passed)
	require.Equal(t, 2, <-passed)
	live.Hold(false)
	for n := 3; n <= 5; n++ {
		require.Equal(t, n, <-passed)
	}
	cancel()
	for range passed {
	}
}
