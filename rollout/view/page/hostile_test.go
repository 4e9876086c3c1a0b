package page

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

const evil = `<img src=x onerror=evil()></script><script>evil()</script>`

// TestHostile: markup in texts stays text, and numbers that make no sense are not drawn.
func TestHostile(t *testing.T) {
	f := arena(3, 2)
	f.head["name"], f.head["game"], f.head["word"], f.head["players"] = evil, evil, evil, []string{evil, "\u202eabc\u0000"}
	f.head["marks"] = []any{map[string]any{"turn": 1, "kind": evil, "seat": 0, "note": evil}, nil, 7, map[string]any{"turn": "x"}}
	f.head["stats"] = []any{map[string]any{"name": evil, "unit": evil, "seat": 0}, nil}
	f.kinds[0] = item{evil, 99, evil}
	m := &f.positions[0][0]
	m.title = evil
	m.entities = append(m.entities, item{0, 0, 1, 1, 1, 1, 1, 0, 0, 0, evil}, item{0, 0, "1", 1, 1, 1, 1, 0, 0, 0}, item{0, 0, 1e300, 1, 1, 1, 1, 0, 0, 0}, item{0, 0, 1, 1, -4, 1, 1, 0, 0, 0},
		item{-1, 1e99, 3, 1, 1, 1, 1e99, 1e99, 1e99, -5}, item{"x", nil, 4, 1, 1, 1, nil, nil, nil, nil}, item{1, 2, 3}, item{nil, nil, nil})
	m.areas = append(m.areas[:len(m.areas):len(m.areas)], item{0, 0, 1e300, 2, 0, 0}, item{nil, 1, 1, 1, 0, 0})
	m.ranges = append(m.ranges, item{1, 1, -3, 0, evil}, item{1, 1, 1e300, 0, evil}, item{1, 1, 3, 0, evil})
	m.lines = append(m.lines, item{1, 1, 1, 1, 0, 1, evil, evil}, item{1, 1, 1e300, 1, 0, 1, evil, evil})
	m.events = []item{{evil, 1e99, 1, 1, 2, 2, 1e300, evil}, {nil, nil, nil, nil, nil, nil, nil, nil}, {"hit", 0, 1e300, 1, 2, 2, 1, ""}}
	m.stats = []any{1e300, "x", evil}
	f.inputs[0] = [][]string{{evil}, {}}
	f.player = item{7, []string{evil}}
	s := serve(t, f, arena(4, 3))
	s.raw["frames.json?game=3&seat=-1&from=0"] = strings.ReplaceAll(string(encoded(t, f.frames(-1, 0))), "1e+300", "1e999") // infinite to JavaScript
	b := browsertest.Open(t, s.URL)
	b.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
	b.Becomes(`document.querySelector("#games tbody a").innerText`, "3 "+evil)
	b.Eval(`location.hash = "#episode=3"`)
	opened(b)
	b.Becomes(textOf("title"), evil)
	b.Becomes(`document.querySelectorAll("#panel img, #panel script, header img").length + " " + globalThis.harmed`, "0 undefined")
	b.Becomes(`boards[0].frame.entities.filter(Boolean).length`, "13")
	b.Becomes(`document.getElementById("events").children.length`, "3")
	b.Becomes(textOf("inputs")+`.includes("<img src=x onerror=evil()>")`, "true")
	b.Eval(`pinNext(-1)`)
	b.Eval(`boards[0].zoomBy(30)`)
	key(b, "ArrowRight", 0)
	b.Becomes(`state.turn`, "1")
	b.Picture("hostile")
	assert.Empty(t, b.Troubles())
}

// encoded returns a value as JSON.
func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// TestBroken: broken data give one line that says what is wrong.
func TestBroken(t *testing.T) {
	frames, film := "frames.json?game=3&seat=-1&from=0", "film.json?game=3"
	head := string(encoded(t, arena(3, 2).head))
	one := func(frame string) map[string]string {
		return map[string]string{frames: `{"from":0,"looks":[],"positions":[[` + frame + `],[{}],[{}]],"inputs":[]}`}
	}
	bomb := `{"e":[` + strings.TrimSuffix(strings.Repeat(`[0,0,1,1,1,1,1,0,0,0],`, 15000), ",") + `]},{"e":[[0,15000],[0,15000]]}`
	b := browsertest.Open(t, "about:blank")
	for _, c := range []struct {
		name string
		raw  map[string]string
		want string
	}{
		{"no JSON", map[string]string{film: "<html>"}, "film.json?game=3 is not JSON."},
		{"null", map[string]string{film: "null"}, "film.json?game=3 is not an object."},
		{"a list", map[string]string{frames: "[]"}, "Broken data: frames.json begins at , want 0."},
		{"another chunk", map[string]string{frames: `{"from":32,"positions":[]}`}, "Broken data: frames.json begins at 32, want 0."},
		{"no positions", map[string]string{frames: `{"from":0}`}, "Broken data: there is no turn 0."},
		{"no frame", map[string]string{frames: `{"from":0,"positions":[[]]}`}, "Broken data: position 0 has no frame."},
		{"a frame that is none", one(`7`), "Broken data: a frame is not an object."},
		{"a copy of nothing", one(`{"e":[[0,1]]}`), "Broken data: a frame copies things that the frame before does not have."},
		{"a copy from below", one(`{"e":[[0,0,1,1,1,1,1,0,0,0]]},{"e":[[-1,1]]}`), "Broken data: a frame copies things that the frame before does not have."},
		{"a copy that is huge", one(`{"a":[[0,1e308]]}`), "Broken data: a frame copies things that the frame before does not have."},
		{"lists that double", one(bomb), "Broken data: a frame has too many things."},
		{"lists of other types", one(`{"e":{"length":1e9},"a":"xxxx","r":7,"l":[7,"x",null,[],[1]],"v":[7,null,{}],"s":"x","t":{}}`), ""},
		{"no size", map[string]string{film: regexp.MustCompile(`"width":\d+`).ReplaceAllString(head, `"width":1e999`)}, ""},
		{"a film of nothing", map[string]string{film: "{}"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, arena(3, 2))
			s.raw = c.raw
			b.Navigate(s.URL + "#episode=3")
			if c.want == "" {
				opened(b)
			}
			b.Becomes(textOf("say"), c.want)
			b.Becomes(fmt.Sprintf(`document.getElementById("say").classList.contains("bad") === %v`, c.want != ""), "true")
			assert.Empty(t, b.Troubles())
		})
	}
}
