package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// textOf returns the expression for the text of an element.
func textOf(id string) string { return fmt.Sprintf(`document.getElementById(%q)?.innerText`, id) }

// click clicks on an element as a person does, with the mouse.
func click(b *browsertest.Browser, id string) {
	b.Eval(fmt.Sprintf(`document.getElementById(%q).scrollIntoView({ block: "nearest" })`, id))
	x, y := point(b, fmt.Sprintf(`(() => { const r = document.getElementById(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`, id))
	b.Click(x, y)
}

// point returns the two numbers of an expression, once the page is laid out.
func point(b *browsertest.Browser, expression string) (x, y float64) {
	b.Becomes(expression+`.every(isFinite)`, "true")
	first, second, _ := strings.Cut(b.Eval(expression+`.join(" ")`), " ")
	x, _ = strconv.ParseFloat(first, 64)
	y, _ = strconv.ParseFloat(second, 64)
	return x, y
}

// onBoard returns the expression for the point of the window where the middle of a cell is.
func onBoard(x, y float64) string {
	return fmt.Sprintf(`((b) => { const r = b.canvas.getBoundingClientRect(), p = b.pointOf({ x: %v, y: %v, width: 1, height: 1 }); return [r.x + p[0], r.y + p[1]] })(boards[0])`, x, y)
}

func TestMain(m *testing.M) { browsertest.Main(m) }

// opened waits until a film is shown.
func opened(b *browsertest.Browser) {
	b.Becomes(`!!boards[0].frame && !document.getElementById("film").hidden`, "true")
}

// keys are the keys that tests press.
func key(b *browsertest.Browser, name string, modifiers int) {
	codes := map[string]int{"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Escape": 27, "Tab": 9, "Enter": 13, " ": 32}
	words := ""
	if len(name) == 1 {
		words = name
	}
	if name == "Enter" {
		words = "\r"
	}
	b.Press(name, words, codes[name], modifiers)
}

const shift = 8

// TestList: a person filters and pages through the list, opens a game, and comes back.
func TestList(t *testing.T) {
	var films []*film
	for id := range 60 {
		films = append(films, arena(id, 9+id%7))
	}
	films[58].head["players"] = []string{"rush", "random"}
	b := browsertest.Open(t, serve(t, films...).URL)
	count := `document.getElementById("games").tBodies[0].rows.length`
	b.Becomes(count, "50")
	b.Becomes(textOf("title")+"+"+textOf("page-of"), "data/td1 to 50 of 60")
	b.Picture("list-light")
	click(b, "page-on")
	b.Becomes(count, "10")
	b.Becomes(`location.hash`, "#from=50")
	choose := func(id, value string) {
		b.Eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change")) })()`, id, value))
	}
	choose("policy", "rush")
	b.Becomes(count, "1")
	b.Becomes(`document.querySelector("#games tbody").innerText.replace(/\s+/g, " ")`, "58 rush random 11 A won -28 : 7")
	choose("outcome", "B")
	b.Becomes(`document.querySelector("#games tbody").innerText`, "No game matches.")
	choose("policy", "")
	choose("sort", "-turns")
	b.Becomes(`document.querySelector("#games tbody tr").cells[2].innerText`, "15")
	b.Eval(`document.querySelector("#games tbody a").focus()`)
	key(b, "Enter", 0)
	opened(b)
	b.Becomes(textOf("title"), "Game 13")
	b.Becomes(textOf("about"), "arena · A econ, B random")
	click(b, "back")
	b.Becomes(`location.hash`, "#sort=-turns&outcome=B")
	b.Becomes(`document.getElementById("list").hidden || state.films.length`, "0")
	b.Eval(`history.back()`)
	opened(b)
	assert.Empty(t, b.Troubles())
}

// TestPlay: playback, steps by key and by button, the seek bar, marks and the plot.
func TestPlay(t *testing.T) {
	s := serve(t, arena(3, 12))
	b := browsertest.Open(t, s.URL)
	opened(b)
	orders := `["played", "inputs"].map((id) => document.getElementById(id).parentElement).map((box) => box.hidden ? "" : box.innerText.replace(/\n+/g, " ") + " ").join("")`
	at := func(words string) { t.Helper(); b.Becomes(textOf("position"), words) }
	at("turn 0 of 12")
	assert.ElementsMatch(t, []string{"list.json", "games.json?from=0&count=50", "film.json?game=3", "frames.json?game=3&seat=-1&from=0", "stats.json?game=3"}, s.requests(), "what the first picture needs")
	b.Becomes(`document.getElementById("back").hidden`, "true")
	key(b, "ArrowRight", 0)
	at("turn 0 of 12, after frame 0")
	b.Becomes(textOf("board-name")+"+location.hash", "turn 0, after frame 0#episode=3&turn=0&frame=0")
	b.Becomes(orders, "Orders of turn 0 A econ wall 0,3 B random scout 13,0 scout 13,0 ")
	key(b, "ArrowRight", 0)
	at("turn 1 of 12")
	b.Becomes(orders, "Orders of turn 0 A econ wall 0,3 B random scout 13,0 scout 13,0 Orders of the next turn, 1 A econ wall 1,3 B random scout 13,0 scout 13,0 ")
	key(b, "ArrowRight", shift)
	at("turn 2 of 12")
	key(b, "ArrowLeft", 0)
	at("turn 1 of 12, after frame 1")
	key(b, "PageDown", 0)
	at("turn 12 of 12")
	key(b, "PageUp", 0)
	at("turn 2 of 12")
	key(b, "End", 0)
	at("turn 12 of 12")
	key(b, "Home", 0)
	at("turn 0 of 12")
	for id, want := range map[string]string{"last": "turn 12 of 12", "first": "turn 0 of 12"} {
		click(b, id)
		at(want)
	}
	click(b, "turn-on")
	b.Becomes(textOf("position")+".slice(0, 5)", "turn ")
	b.Eval(`go(7)`)
	at("turn 7 of 12")
	b.Becomes(textOf("events"), "attack, 7, 3 → 2, 5: 8\nbreach at 4, 10: 1 (a wall is gone)")
	b.Eval(`go(8)`) // the first position of a chunk
	b.Becomes(orders, "Orders of turn 7 A econ wall 7,3 B random scout 13,0 scout 13,0 Orders of the next turn, 8 A econ wall 8,3 B random scout 13,0 scout 13,0 ")
	b.Eval(`go(12)`)
	b.Becomes(orders, "Orders of turn 11 A econ wall 11,3 B random scout 13,0 scout 13,0 ")
	b.Eval(`go(7)`)
	b.Becomes(`document.getElementById("stats").tBodies[0].innerText`, "health points\t27\t28\ncores\t0\t10")
	b.Becomes(`document.getElementById("plot").getAttribute("aria-label")`, "health over the turns; at turn 7: A 27, B 28")
	b.Becomes(`document.getElementById("seek").getAttribute("aria-valuetext")`, "turn 7 of 12")

	x, y := point(b, `(() => { const r = document.getElementById("seek").getBoundingClientRect(); return [r.x + thumb + (r.width - 2 * thumb) * 5 / 12, r.y + r.height / 2] })()`)
	b.Click(x, y)
	b.Becomes(`state.turn`, "5")
	b.Eval(`document.getElementById("plot").scrollIntoView()`)
	b.Becomes(`plotArea.left > 10 && plotArea.right > 200`, "true") // beside the numbers
	x, y = point(b, `(() => { const r = document.getElementById("plot").getBoundingClientRect(); return [r.x + plotArea.left + (plotArea.right - plotArea.left) * 9 / 12, r.y + 40] })()`)
	b.Click(x, y)
	b.Becomes(`state.turn`, "9")
	b.Eval(`document.querySelector("#mark-list button").click()`)
	b.Becomes(`state.turn`, "3")

	b.Eval(`document.getElementById("board").focus()`)
	key(b, "]", 0)
	b.Becomes(`document.getElementById("speed").value`, "2")
	for range 9 {
		key(b, "]", 0)
	}
	b.Becomes(`document.getElementById("speed").value`, "32")
	key(b, " ", 0)
	b.Becomes(`state.turn + " " + state.playing`, "12 false")
	key(b, "[", 0)
	b.Becomes(`document.getElementById("speed").value`, "16")
	key(b, " ", 0) // from the beginning
	b.Becomes(`state.turn + " " + state.playing`, "12 false")
	b.Eval(`setSpeed(0.25)`)
	key(b, " ", 0)
	b.Becomes(`document.getElementById("play").getAttribute("aria-label")`, "Pause")
	b.Becomes(`boards[0].movers.length`, "1")
	key(b, " ", 0)
	b.Becomes(`state.playing`, "false")
	assert.Empty(t, b.Troubles())
}

// TestBoard: pointing, choosing, the view of a seat, zoom and the switches.
func TestBoard(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12)).URL+"#episode=3&turn=6&frame=1")
	opened(b)
	b.Becomes(textOf("position"), "turn 6 of 12, after frame 1")
	x, y := point(b, onBoard(7, 3))
	b.Mouse("mouseMoved", x, y, 0)
	b.Becomes(`document.getElementById("tip").hidden`, "false")
	b.Becomes(`[...document.querySelectorAll("#tip p")].map((p) => p.innerText).join("; ")`, "A econ: turret; at 7, 3; health 30 %; number 2; leaving; removed in 2 turns")
	b.Picture("film-light")
	b.Click(x, y)
	b.Becomes(`document.querySelector("#chosen p").innerText`, "A econ: turret")
	x, y = point(b, onBoard(0.5, 5)) // the scout, which has the order of its line
	b.Click(x, y)
	b.Becomes(`[...document.querySelectorAll("#chosen p")].map((p) => p.innerText).join("; ")`, "A econ: scout; at 0, 5; health 100 %; number 2; move → 1, 9")
	key(b, "ArrowRight", 0)
	b.Becomes(`document.querySelectorAll("#chosen p")[1].innerText`, "at 1, 5")
	key(b, "n", 0)
	b.Becomes(`document.querySelector("#chosen p").innerText`, "A econ: wall")
	key(b, "Escape", 0)
	b.Becomes(`document.getElementById("chosen-box").hidden`, "true")

	b.Eval(`(() => { const s = document.getElementById("seat"); s.value = "0"; s.dispatchEvent(new Event("change")) })()`)
	b.Becomes(`boards[0].frame.areas.some((a) => a.hidden) && !boards[0].frame.entities.some((e) => e.owner === 1)`, "true")
	b.Becomes(`location.hash`, "#episode=3&turn=6&frame=2&seat=0")
	b.Picture("seat-light")
	b.Eval(`location.hash = "#episode=3&turn=2"`)
	b.Becomes(`state.turn + " " + state.seat + " " + boards[0].frame.entities.some((e) => e.owner === 1)`, "2 -1 true")
	b.Becomes(`document.getElementById("seat").value`, "-1")

	x, y = point(b, onBoard(4, 10))
	b.Mouse("mouseMoved", x, y, 0)
	for range 4 {
		b.Mouse("mouseWheel", x, y, -200)
	}
	b.Becomes(`boards[0].zoom > 5`, "true")
	b.Becomes(`document.querySelectorAll("#tip p")[0].innerText`, "B random: wall")
	b.Picture("zoom-light")
	b.Becomes(`[boards[0].midX, boards[0].midY].map(Math.round).join(" ")`, "5 4")
	was := b.Eval(`boards[0].midX`)
	b.Mouse("mousePressed", x, y, 0)
	b.Mouse("mouseMoved", x-200, y, 0)
	b.Mouse("mouseReleased", x-200, y, 0)
	b.Becomes(`boards[0].midX > 0.2 + `+was, "true")
	key(b, "0", 0)
	b.Becomes(`boards[0].zoom`, "1")
	key(b, "+", 0)
	b.Becomes(`boards[0].zoom`, "1.5")
	key(b, "+", 0)
	b.Becomes(`boards[0].zoom`, "2.25")
	x, y = point(b, `((b) => { const r = b.canvas.getBoundingClientRect(), m = b.miniBox(); return [r.x + (m.x + m.w - 2) / b.dpr, r.y + (m.y + m.h - 2) / b.dpr] })(boards[0])`)
	b.Click(x, y)
	b.Becomes(`boards[0].midX > 7.5 && boards[0].midY > 7.5`, "true")
	key(b, "-", 0)
	key(b, "-", 0)
	b.Becomes(`boards[0].zoom`, "1")
	sum := `(async () => { await new Promise(requestAnimationFrame); boards[0].draw(1); return boards[0].canvas.toDataURL() })()`
	full := b.Eval(sum)
	for _, id := range []string{"show-ranges", "show-orders", "show-grid"} {
		click(b, id)
		assert.False(t, full == b.Eval(sum), "%s changes the picture", id)
		click(b, id)
		assert.True(t, full == b.Eval(sum), "%s changes the picture back", id)
	}
	assert.Empty(t, b.Troubles())
}

// TestTouch: two fingers zoom, one moves a board that is zoomed, and a tap chooses.
func TestTouch(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12)).URL)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true}, &struct{}{})
	b.Call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 2}, &struct{}{})
	opened(b)
	b.Becomes(`boards[0].canvas.width`, "780")
	touch := func(kind string, points ...float64) {
		list := []map[string]float64{}
		for i := 0; i < len(points); i += 2 {
			list = append(list, map[string]float64{"x": points[i], "y": points[i+1], "id": float64(i)})
		}
		b.Call("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": list}, &struct{}{})
	}
	x, y := point(b, onBoard(3, 3))
	touch("touchStart", x, y)
	touch("touchEnd")
	b.Becomes(`document.querySelector("#chosen p").innerText + document.getElementById("tip").innerText.slice(0, 12)`, "A econ: wallA econ: wall")
	b.Picture("tap")
	touch("touchStart", 180, 250, 220, 250)
	touch("touchMove", 150, 250, 250, 250)
	touch("touchMove", 100, 250, 300, 250)
	touch("touchEnd")
	b.Becomes(`boards[0].zoom > 1.9`, "true")
	b.Becomes(`boards[0].canvas.style.touchAction`, "none")
	was := b.Eval(`boards[0].midX`)
	touch("touchStart", 200, 250)
	touch("touchMove", 150, 250)
	touch("touchMove", 100, 250)
	touch("touchEnd")
	b.Becomes(`boards[0].midX > 0.5 + `+was, "true")
	b.Becomes(`document.getElementById("tip").hidden`, "true")
	assert.Empty(t, b.Troubles())
}

// TestLinks: addresses that lead nowhere lead to the nearest place.
func TestLinks(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12), arena(4, 9)).URL+"#episode=3&turn=999999999&frame=77&seat=9")
	opened(b)
	b.Becomes(`[state.turn, state.frame, state.seat].join()`, "12,0,-1")
	b.Becomes(`location.hash`, "#episode=3&turn=12")
	b.Eval(`location.hash = "#episode=4&turn=-5&frame=x&seat=&with=&from=3"`)
	b.Becomes(`[state.films[0].head.id, state.turn, state.frame, state.seat].join()`, "4,0,0,-1")
	b.Eval(`location.hash = "#sort=evil&from=7777&outcome=%3Cb%3E"`)
	b.Becomes(`document.getElementById("list").hidden`, "false")
	b.Becomes(`document.querySelector("#games tbody").innerText`, "No game matches.")

	// A step while an address is being followed, and one before a picture is drawn.
	b.Eval(`globalThis.held = new Promise((go) => (globalThis.release = go)); open = ((was) => async (...all) => { await was(...all); await held })(open); location.hash = "#episode=4&turn=3"`)
	b.Becomes(`state.turn + " " + following`, "3 1")
	b.Eval(`go(5)`)
	b.Becomes(`hashDue`, "0")
	b.Eval(`release()`)
	b.Becomes(`location.hash`, "#episode=4&turn=5")
	b.Eval(`requestAnimationFrame = () => 1; go(6)`)
	b.Becomes(`location.hash`, "#episode=4&turn=6")
	assert.Empty(t, b.Troubles())
}

// TestCopy: the link leads to the position.
func TestCopy(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12), arena(4, 9)).URL+"#episode=3&turn=7")
	opened(b)
	b.Becomes(`navigator.clipboard ? "there" : ""`, "there")
	b.Call("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}, "browserContextId": b.Context}, &struct{}{})
	click(b, "copy")
	b.Becomes(textOf("say"), "Copied the link of this position")
	assert.Contains(t, b.Eval(`navigator.clipboard.readText()`), "/#episode=3&turn=7")
	assert.Empty(t, b.Troubles())
}

// TestKeyboard: the Tab key reaches every control, controls have names, one region is announced,
// and the page can be switched to dark.
func TestKeyboard(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12), arena(4, 9)).URL+"#episode=3&turn=7")
	opened(b)
	b.Becomes(`document.querySelectorAll("[role=status],[role=alert],[aria-live]").length`, "1")
	controls := `[...document.querySelectorAll("a, button, input, select")].filter((e) => e.checkVisibility() && !e.disabled)`
	b.Becomes(controls+`.filter((e) => !(e.getAttribute("aria-label") || e.innerText.trim() || e.labels?.[0]?.innerText.trim())).map((e) => e.id).join()`, "")
	b.Becomes(`[...document.querySelectorAll("thead th:not([scope=col]), tbody tr > :first-child:not(th[scope=row])")].length`, "0")
	b.Eval(`document.activeElement.blur()`)
	b.Eval(`globalThis.reached = new Set()`)
	for range 60 {
		key(b, "Tab", 0)
		b.Eval(`reached.add(document.activeElement)`)
	}
	b.Becomes(controls+`.filter((e) => !reached.has(e)).map((e) => e.id || e.outerHTML).join()`, "")
	b.Becomes(`reached.has(document.getElementById("board")) && reached.has(document.getElementById("panel"))`, "true")
	b.Eval(`document.getElementById("board").focus()`)
	key(b, "?", 0)
	b.Becomes(`document.getElementById("help").open`, "true")
	b.Picture("help-light")
	key(b, "Escape", 0)
	b.Becomes(`document.getElementById("help").open`, "false")
	b.Eval(`document.getElementById("show-grid").focus()`)
	key(b, " ", 0)
	b.Becomes(`show.grid + " " + state.playing`, "false false")
	key(b, " ", 0)
	click(b, "theme")
	b.Becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(18, 22, 28)")
	b.Becomes(textOf("theme"), "Light")
	b.Picture("film-dark")
	click(b, "theme")
	b.Becomes(`getComputedStyle(document.body).backgroundColor`, "rgb(247, 248, 250)")
	for _, screen := range []struct {
		name, hash    string
		width, height int
	}{{"phone", "#episode=3&turn=7", 390, 844}, {"phone-list", "#", 390, 844}, {"laptop", "#episode=3&turn=7", 1280, 720}} {
		b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": screen.width, "height": screen.height, "deviceScaleFactor": 2, "mobile": screen.width < 500}, &struct{}{})
		b.Eval(`location.hash = "` + screen.hash + `"`)
		b.Becomes(`following`, "0")
		b.Eval(`scrollTo(0, 0)`)
		b.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
		assert.Equal(t, "true", b.Eval(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, screen.width)), "%s: nothing is wider than the window", screen.name) // innerWidth of a phone grows
		b.Picture(screen.name)
	}
	assert.Empty(t, b.Troubles())
}

// TestCompare: two films are shown at the same turn, and their first difference is found.
func TestCompare(t *testing.T) {
	one, two := arena(3, 12), arena(4, 12)
	last := &two.positions[9][len(two.positions[9])-1]
	last.entities = last.entities[1:]
	b := browsertest.Open(t, serve(t, one, two).URL+"#episode=3&turn=2&with=4")
	opened(b)
	b.Becomes(textOf("with-text"), "The first difference is at turn 9.")
	click(b, "with-go")
	b.Becomes(textOf("board-name")+"+"+textOf("other-name"), "Game 3 · turn 9 · first differenceGame 4 · turn 9 · first difference")
	b.Becomes(`boards.map((b) => b.frame.entities.length).join()`, "10,9")
	b.Becomes(`location.hash`, "#episode=3&with=4&turn=9")
	b.Picture("compare-light")
	click(b, "with-end")
	b.Becomes(`state.films.length + " " + document.getElementById("second").hidden`, "1 true")
	b.Eval(`document.getElementById("with").value = "3"`)
	b.Eval(`document.getElementById("with-form").requestSubmit()`)
	b.Becomes(textOf("with-text"), "Both games have the same turns.")
	assert.Empty(t, b.Troubles())
}

// TestLive: the page follows a film that grows.
func TestLive(t *testing.T) {
	s := serve(t, arena(3, 12))
	s.live = true
	b := browsertest.Open(t, s.URL+"#episode=3&turn=12")
	opened(b)
	b.Becomes(`gameList.info?.live && version`, "0")
	s.change(func() { s.films, s.version = []*film{arena(3, 15)}, 1 })
	b.Becomes(textOf("position"), "turn 15 of 15")
	b.Eval(`go(5)`)
	s.change(func() { s.films, s.version = []*film{arena(3, 20)}, 2 })
	b.Becomes(textOf("position"), "turn 5 of 20")
	assert.Empty(t, b.Troubles())
}

// TestEmbedded: a page with its data works from a file, without a server.
func TestEmbedded(t *testing.T) {
	var films []*film
	for id := range 3 {
		films = append(films, arena(id, 9+id))
	}
	name := filepath.Join(t.TempDir(), "films.html")
	require.NoError(t, os.WriteFile(name, HTML(data(films...)), 0o600))
	b := browsertest.Open(t, "file://"+name)
	b.Becomes(`document.getElementById("games").tBodies[0].rows.length`, "3")
	b.Eval(`location.hash = "#sort=-turns"`)
	b.Becomes(`document.querySelector("#games tbody a").innerText`, "2")
	b.Eval(`location.hash = "#episode=2&turn=10&seat=1"`)
	opened(b)
	b.Becomes(textOf("position"), "turn 10 of 11")
	b.Becomes(`film.hidden || state.films[0].all.length`, "12")
	b.Eval(`location.hash = "#episode=9"`)
	b.Becomes(textOf("say"), "This page has no film.json?game=9.")
	assert.Empty(t, b.Troubles())
}
