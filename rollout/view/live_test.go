package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			require.True(t, v.Scene(&start, 0, features.Spectator))
			_, ok := v.Command(sim.Order(0), 0)
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

// drawnGame returns a game with fog of two seats. show adds a position.
func drawnGame() (live *view.Live, show func()) {
	live = view.NewLive("game", "", []string{"a", "b"}, false)
	return live, func() {
		live.Show(func(dst *features.Scene, seat int) {
			dst.Begin(8, 8)
			dst.Areas = append(dst.Areas, features.Area{Width: 8, Height: 8, Hidden: seat == 0})
		})
	}
}

// drawingsIn returns the drawings in frames.json, one text for each position.
func drawingsIn(t *testing.T, live *view.Live, seat, from int) []string {
	t.Helper()
	text, err := live.Answer(fmt.Sprintf("frames.json?game=0&seat=%d&from=%d", seat, from))
	require.NoError(t, err)
	var k struct{ Positions, Drawings []json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &k))
	var list []string
	for _, d := range k.Drawings {
		list = append(list, string(d))
	}
	if list != nil {
		require.Len(t, list, len(k.Positions))
	}
	return list
}

// TestLiveDrawings: the frames of a game have the drawings of their positions, those of the last turn also at the newest
// position. A seat sees its own ones.
func TestLiveDrawings(t *testing.T) {
	live, show := drawnGame()
	show()
	assert.Nil(t, drawingsIn(t, live, -1, 0))
	before := live.Version()
	one := &view.Drawing{
		Triangles: []view.Vertex{{Placed: true, X: 1.25, Y: 2, Colour: [4]uint8{255, 0, 0, 255}}, {DX: -5, DY: 6}, {Placed: true, X: 1, Y: 2, Colour: [4]uint8{255, 0, 0, 255}}},
		Lines:     []view.Vertex{{Placed: true}, {Placed: true}},
		Texts:     []view.PlacedText{{Text: "<b>", Alignment: 0.5, Size: 12}},
		Log:       []string{"a \"b\"", "c\u2028"}, Dropped: 3,
	}
	live.Draw([]*view.Drawing{one, nil})
	assert.Greater(t, live.Version(), before)
	const first = `{"seat":0,"triangles":[1.25,2,0,0,0,null,null,-5,6,1,1,2,0,0,0],"lines":[0,0,0,0,1,0,0,0,0,1],` +
		`"texts":[[null,null,0,0,1,0.5,12,"\u003cb\u003e"]],"log":["a \"b\"","c\u2028"],"colours":["#ff0000ff","#00000000"],"dropped":3}`
	assert.Equal(t, []string{`{"turn":0,"seats":[` + first + `]}`}, drawingsIn(t, live, -1, 0))
	show()
	assert.Equal(t, []string{`{"turn":0,"seats":[` + first + `]}`, `{"turn":0,"seats":[` + first + `]}`}, drawingsIn(t, live, 0, 0))
	assert.Equal(t, []string{"null", "null"}, drawingsIn(t, live, 1, 0))
	live.Draw([]*view.Drawing{nil, nil})
	show()
	live.Draw([]*view.Drawing{{Log: []string{"x"}}, {Log: []string{"y"}}})
	show()
	const empty = `{"seat":%d,"triangles":[],"lines":[],"texts":[],"log":["%s"],"colours":[],"dropped":0}`
	x, y := fmt.Sprintf(empty, 0, "x"), fmt.Sprintf(empty, 1, "y")
	assert.Equal(t, []string{`{"turn":0,"seats":[` + first + `]}`, "null", `{"turn":2,"seats":[` + x + `,` + y + `]}`, `{"turn":2,"seats":[` + x + `,` + y + `]}`}, drawingsIn(t, live, -1, 0))
	assert.Equal(t, []string{"null", "null", `{"turn":2,"seats":[` + y + `]}`, `{"turn":2,"seats":[` + y + `]}`}, drawingsIn(t, live, 1, 0))
	for range view.Chunk {
		show()
	}
	assert.Equal(t, "null", drawingsIn(t, live, -1, 0)[3])
	assert.Equal(t, []string{"null", "null", "null", "null"}, drawingsIn(t, live, -1, view.Chunk))
}

// TestDrawingsForgotten: giant drawings are left out of a chunk, and forgotten, beginning with the oldest ones.
func TestDrawingsForgotten(t *testing.T) {
	live, show := drawnGame()
	log := make([]string, 16)
	for i := range log {
		log[i] = strings.Repeat("x", 1<<16)
	}
	const turns = 3 * view.Chunk
	for range turns { // a megabyte each
		show()
		live.Draw([]*view.Drawing{nil, {Log: log}})
	}
	for from, kept := range map[int]int{0: 0, view.Chunk: 15, 2 * view.Chunk: 15} {
		list := drawingsIn(t, live, -1, from)
		got := 0
		for i, text := range list {
			if text != "null" {
				assert.GreaterOrEqual(t, i, len(list)-kept)
				got++
			}
		}
		assert.Equal(t, kept, got, "from %d", from)
		for _, text := range drawingsIn(t, live, 0, from) {
			assert.Equal(t, "null", text)
		}
	}
}
