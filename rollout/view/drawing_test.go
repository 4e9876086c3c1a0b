package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view"
)

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
