package view_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view"
)

// heatJSON is the JSON of heat.json.
type heatJSON struct {
	Turns, Bucket, Width int
	Kinds                []struct {
		Kind string
		Sums [][]float64
	}
}

// TestHeat: heat.json has the sums of the events of all frames, by kind, bucket and cell.
func TestHeat(t *testing.T) {
	for _, c := range games {
		t.Run(c.game, func(t *testing.T) {
			d := view.NewResponder(played(t, c.game, c.rules, c.policy, c.turns, 1))
			f, err := played(t, c.game, c.rules, c.policy, c.turns, 1).Film(0)
			require.NoError(t, err)
			want, events := map[string]float64{}, 0
			head, err := f.Head()
			require.NoError(t, err)
			require.Contains(t, string(head), `"heat":true`)
			size := (f.Turns() + 63) / 64
			for n, frames := range scenes(t, f, features.Spectator) {
				for _, s := range frames {
					for _, e := range s.Events {
						x := math.Min(math.Max(math.Floor(float64(e.X2)), 0), float64(s.Width)-1)
						y := math.Min(math.Max(math.Floor(float64(e.Y2)), 0), float64(s.Height)-1)
						amount := float64(e.Amount)
						if amount == 0 {
							amount = 1
						}
						want[fmt.Sprint(e.Kind, (n-1)/size, x, y)] += amount
						events++
					}
				}
			}
			require.Positive(t, events)
			text, err := d.Answer("heat.json?game=0")
			require.NoError(t, err)
			var h heatJSON
			require.NoError(t, json.Unmarshal(text, &h))
			assert.Equal(t, f.Turns(), h.Turns)
			assert.Equal(t, size, h.Bucket)
			got, last := map[string]float64{}, ""
			for _, k := range h.Kinds {
				assert.Less(t, last, k.Kind, "the kinds are sorted")
				last = k.Kind
				require.LessOrEqual(t, len(k.Sums), 64)
				for b, sums := range k.Sums {
					for i := 0; i < len(sums); i += 2 {
						at := int(sums[i])
						got[fmt.Sprint(k.Kind, b, float64(at%h.Width), float64(at/h.Width))] = sums[i+1]
					}
				}
			}
			require.Len(t, got, len(want))
			for key, v := range want {
				require.InDelta(t, v, got[key], 0.001, key)
			}
			all, err := d.Everything(100 << 20)
			require.NoError(t, err)
			require.JSONEq(t, string(text), string(all["heat.json?game=0"]))
			t.Logf("%d events, %d bytes", events, len(text))
		})
	}
}

// TestNoHeat: a game that is being played offers no sums, and a question about no game gets an error.
func TestNoHeat(t *testing.T) {
	l := played(t, "tron", "", "random", 20, 1)
	f, err := l.Film(0)
	require.NoError(t, err)
	live := view.NewLive("tron", "", []string{"a", "b"}, false)
	live.Show(func(dst *features.Scene, _ int) { *dst = scenes(t, f, features.Spectator)[0][0] })
	head, err := live.Answer("film.json?game=0")
	require.NoError(t, err)
	assert.Contains(t, string(head), `"heat":false`)
	var unknown *view.UnknownError
	_, err = live.Answer("heat.json?game=0")
	assert.ErrorAs(t, err, &unknown)
	for _, wrong := range []string{"heat.json", "heat.json?game=x", "heat.json?game=7"} {
		_, err = view.NewResponder(l).Answer(wrong)
		assert.Error(t, err, wrong)
	}
}
