package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

// widths are those of a laptop, a tablet and a phone, in points.
var widths = []int{1280, 800, 390}

// resize gives the window of the page a size.
func resize(b *browsertest.Browser, width, height int) {
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, &struct{}{})
}

// moved is an expression for how far the page has moved what it had painted, since it was opened.
const moved = `new Promise((done) => { new PerformanceObserver((list) => done(list.getEntries().map((e) => e.sources.map((s) => s.node?.id || s.node?.nodeName).join()).join(" ")))
	.observe({ type: "layout-shift", buffered: true }); setTimeout(() => done(""), 150) })`

// TestFits: with long names, too, no page is wider than its window, and each is laid out before it is painted.
func TestFits(t *testing.T) {
	long := strings.Repeat("mix(0.25*econ)", 20)
	f := arena(3, 12)
	f.head["players"], f.head["name"] = []string{long, long}, long
	f.inputs[6][0] = []string{long}
	s := serve(t, f, arena(4, 9))
	s.tells(t, 0, ranked(long, 3))
	s.raw["list.json"] = strings.Replace(s.raw["list.json"], `"econ"`, `"`+long+`"`, 1)
	run := serve(t)
	learning := learnt(2)
	learning.Sections[0].Title, learning.Sections[0].Code, learning.Sections[0].Charts[0].Title, learning.Sections[0].Charts[0].Lines[0].Name = long, long, long, long
	run.tells(t, 0, learning)
	b := browsertest.Open(t, s.URL)
	for _, width := range widths {
		for name, url := range map[string]string{"list": s.URL, "film": s.URL + "#episode=3&turn=6", "moment": s.URL + "#episode=3&turn=6&frame=1&seat=0", "two": s.URL + "#episode=3&turn=7&with=4", "run": run.URL} {
			resize(b, width, 844)
			b.Navigate("about:blank")
			b.Navigate(url)
			b.Becomes(`typeof following === "number" && following === 0 && ["list", "film"].some((id) => !document.getElementById(id).hidden)`, "true")
			assert.Equal(t, "", b.Eval(moved), "%s, %d: nothing moves", name, width)
			assert.Equal(t, fmt.Sprint(width), b.Eval(fmt.Sprintf(`Math.max(document.documentElement.scrollWidth, innerWidth, %d)`, width)), "%s, %[2]d: nothing is wider than the window", name, width)
			assert.Equal(t, "true", b.Eval(`[...document.querySelectorAll("#boards figcaption, .zoom")].every((e) => !e.checkVisibility() || e.getBoundingClientRect().bottom <= e.parentElement.querySelector("canvas").getBoundingClientRect().top)`), "%s, %d: nothing is over the board", name, width)
			b.Picture(fmt.Sprintf("fits-%s-%d", name, width))
		}
	}
	assert.Empty(t, b.Troubles())
}

// TestPhone: a phone shows the scores of a list without scrolling, and a broad board without much beside it.
func TestPhone(t *testing.T) {
	f := arena(3, 12)
	f.head["height"] = f.head["width"].(int) / 2
	f.head["players"], f.player = []string{"planner", "turtle"}, item{1, []string{"15396", "9809"}}
	b := browsertest.Open(t, serve(t, f, arena(4, 9)).URL)
	resize(b, 390, 844)
	b.Becomes(`document.querySelectorAll("#games tbody tr").length`, "2")
	b.Becomes(`((e) => e.scrollWidth <= e.clientWidth || e.scrollWidth + " in " + e.clientWidth)(document.getElementById("games").parentElement)`, "true")
	b.Eval(`location.hash = "#episode=3"`)
	opened(b)
	b.Becomes(`((c) => c.clientHeight < 0.6 * c.clientWidth || c.clientHeight + " of " + c.clientWidth)(boards[0].canvas)`, "true")
	b.Picture("phone")
	assert.Empty(t, b.Troubles())
}

// TestStays: the board stays in its place, whatever is shown of a film.
func TestStays(t *testing.T) {
	_, page := playedFilm(t, "terminal", "", "scatter", 12)
	b := browsertest.Open(t, page)
	board := `(() => { const r = document.getElementById("board").getBoundingClientRect(); return [r.x, r.y + scrollY, r.width, r.height].join() })()`
	for _, width := range widths {
		resize(b, width, 844)
		opened(b)
		b.Eval(`go(0).then(() => new Promise(requestAnimationFrame))`)
		want := b.Eval(board)
		for _, do := range []string{
			`go(7, 0)`, `go(7, 3)`, `go(7)`, `(() => { paths.on = true; changed() })()`, `go(8)`, `(() => { paths.on = false; changed() })()`,
			`pinNext(1)`, `pin(0, null)`, `play()`, `stop()`,
		} {
			b.Eval(do)
			b.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
			assert.Equal(t, want, b.Eval(board), "%d: %s", width, do)
		}
	}
	assert.Empty(t, b.Troubles())
}
