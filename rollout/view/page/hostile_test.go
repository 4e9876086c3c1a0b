package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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
		{"a list", map[string]string{frames: "[]"}, "Broken data: frames.json begins at , expected 0."},
		{"another chunk", map[string]string{frames: `{"from":32,"positions":[]}`}, "Broken data: frames.json begins at 32, expected 0."},
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

// TestFiles: the page has every element that its script asks for, no text of the page contains a
// part of a tag, and the script inserts no markup.
func TestFiles(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(source("page.html")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				assert.NotEqual(t, "style", a.Name.Local, "the policy forbids inline styles")
				assert.NotRegexp(t, "^on", a.Name.Local, "the policy forbids inline handlers")
				if a.Name.Local == "id" {
					assert.False(t, ids[a.Value], "the id %q stands twice", a.Value)
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			assert.NotRegexp(t, `[<>]|="`, strings.TrimSpace(string(token)), "text of the page")
		}
	}
	for _, name := range scripts {
		script := source(name)
		assert.NotRegexp(t, `innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|setAttribute\("(style|on|src)`, script, name)
		for _, a := range regexp.MustCompile(`\$\("([a-z-]+)"\)`).FindAllStringSubmatch(script, -1) {
			if a[1] != "moonfarm-data" {
				assert.True(t, ids[a[1]], "%s asks for the element %q, page.html has none", name, a[1])
			}
		}
	}
}

// TestHTML: the page is small, has a strict policy, and names no other host.
func TestHTML(t *testing.T) {
	served := string(HTML(nil))
	assert.Less(t, len(served), 160_000)
	assert.NotContains(t, served, "{{")
	assert.Contains(t, served, "--seat0: light-dark(#0072b2, #5eb8ec);", "owners have the colours of their pictures")
	assert.NotRegexp(t, `https?://|//[a-z]+\.`, served)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
	served = policy.FindStringSubmatch(served)[1]
	assert.Regexp(t, `^default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; connect-src 'self'$`, served)
	assert.Equal(t, strings.TrimSuffix(served, "; connect-src 'self'"), policy.FindStringSubmatch(string(HTML(map[string][]byte{})))[1], "an embedded page connects to nothing")
}

// TestData: the embedded data are those that were given, whatever is in them, and the page's
// bytes depend on nothing else.
func TestData(t *testing.T) {
	data := map[string][]byte{"film.json?game=1": []byte(`{"name":"</script>{{script}}"}`), "a</script><script>b{{data}}": []byte("x"), "empty": nil}
	html := HTML(data)
	assert.Equal(t, html, HTML(data))
	assert.Equal(t, 2, bytes.Count(html, []byte("</script>")))
	found := regexp.MustCompile(`(?s)<script type="application/json" id="moonfarm-data">(.*?)</script>`).FindSubmatch(html)
	require.NotNil(t, found)
	var packed map[string]string
	require.NoError(t, json.Unmarshal(found[1], &packed))
	assert.Len(t, packed, len(data))
	for name, want := range data {
		zipped, err := base64.StdEncoding.DecodeString(packed[name])
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(zipped))
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}
