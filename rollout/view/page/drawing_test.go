package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

// drawn is an arena where bots have drawn: drawings is the JSON of a list by position.
func drawn(t *testing.T, drawings string) *server {
	f := arena(3, 3)
	s := serve(t, f)
	for seat := -1; seat < 1; seat++ {
		text := string(encoded(t, f.frames(seat, 0)))
		s.raw[fmt.Sprintf("frames.json?game=3&seat=%d&from=0", seat)] = text[:len(text)-1] + `,"drawings":` + drawings + `}`
	}
	return s
}

// copied returns the expression for the colours of the board at a point in cells, and two pixels above and below.
func copied(x, y float64) string {
	return fmt.Sprintf(`(() => {
		const b = boards[0], g = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		b.draw(1);
		g.drawImage(b.canvas, -Math.round(b.x(%v)), 2 - Math.round(b.y(%v)));
		return g.getImageData(0, 0, 1, 5).data;
	})()`, x, y)
}

// pixel returns the expression for the colour of the board at a point in cells.
func pixel(x, y float64) string {
	return copied(x, y) + `.slice(8, 12).join()`
}

// greener returns the expression that reports whether the board is green near a point in cells, such as on a thin line.
func greener(x, y float64) string {
	return `((d) => [0, 4, 8, 12, 16].some((i) => d[i + 1] > d[i] + 30))(` + copied(x, y) + `)`
}

const (
	red  = "255,0,0,255"
	blue = "0,0,255,255"
)

// TestDrawings: the page draws what the bots have drawn, of one seat or all, and lists what they have logged.
func TestDrawings(t *testing.T) {
	// A red square of two triangles that turn differently, a green line over it, and a text at a corner of the picture.
	a := `{"seat":0,"colours":["#ff0000ff","#00ff00ff","#ff00ffff"],"triangles":[3,9,0,0,0,6,9,0,0,0,3,12,0,0,0, 3,12,0,0,0,6,9,0,0,0,6,12,0,0,0],` +
		`"lines":[2,9.5,0,0,1,7,9.5,0,0,1, 2,10,0,0,0,7,10,0,0,1],"texts":[[4,13,0,4,2,0.5,18,"centre"],[null,null,20,-60,2,0,16,"from above"]],"log":["first","second <b>"],"dropped":2}`
	b := `{"seat":1,"colours":["#0000ffff"],"triangles":[8,9,0,0,0,11,9,0,0,0,8,12,0,0,0],"lines":[],"texts":[],"log":["other"],"dropped":0}`
	s := drawn(t, `[null,{"turn":1,"seats":[`+a+`,`+b+`]},null,{"turn":2,"seats":[`+b+`]}]`)
	page := browsertest.Open(t, s.URL)
	opened(page)
	page.Eval(`go(1)`)
	page.Becomes(`state.turn`, "1")
	page.Becomes(pixel(4, 11), red)
	page.Becomes(pixel(5.5, 11.5), red)
	page.Becomes(greener(5, 9.5), "true")
	page.Becomes(pixel(8.5, 10), blue)
	page.Becomes(`document.getElementById("drawings").innerText.replace(/\n+/g, " | ")`,
		"A econ | 2 triangles, 2 lines, 2 texts, 2 dropped: too many, or no numbers to draw | first | second <b> | B random | 1 triangle | other")
	page.Picture("drawings")

	// of one seat, by the list
	page.Eval(`(() => { const s = document.getElementById("drawn-by"); s.value = 1; s.dispatchEvent(new Event("change")) })()`)
	page.Becomes(pixel(8.5, 10), blue)
	page.Becomes(pixel(4, 11)+` !== "`+red+`"`, "true")
	page.Becomes(textOf("drawings")+`.includes("first")`, "false")
	page.Eval(`(() => { const s = document.getElementById("drawn-by"); s.value = -1; s.dispatchEvent(new Event("change")) })()`)
	page.Becomes(pixel(4, 11), red)

	// not at all
	click(page, "show-drawings")
	page.Becomes(`show.drawings`, "false")
	page.Becomes(pixel(4, 11)+` !== "`+red+`"`, "true")
	click(page, "show-drawings")
	page.Becomes(pixel(4, 11), red)

	// zoomed, they stay on their places
	page.Eval(`boards[0].zoomBy(2)`)
	page.Becomes(greener(5, 9.5), "true")
	page.Eval(`boards[0].fit()`)

	// at turns without drawings, and with those of the turn before
	page.Eval(`go(2)`)
	page.Becomes(textOf("drawings"), "none")
	page.Becomes(pixel(4, 11)+` !== "`+red+`"`, "true")
	page.Eval(`go(3)`)
	page.Becomes(textOf("drawings")+`.startsWith("at turn 2, the last one played")`, "true")
	page.Becomes(pixel(8.5, 10), blue)

	// by the view of a seat
	page.Eval(`(() => { const s = document.getElementById("seat"); s.value = 0; s.dispatchEvent(new Event("change")) })()`)
	page.Becomes(`state.seat + " " + document.getElementById("drawn-by-label").hidden`, "0 true")
	assert.Empty(t, page.Troubles())
}

// TestNoDrawings: a film without drawings has neither the toggle nor the list.
func TestNoDrawings(t *testing.T) {
	page := browsertest.Open(t, serve(t, arena(3, 3)).URL)
	opened(page)
	page.Becomes(textOf("stats")+`.length > 5`, "true") // the panel is filled
	page.Becomes(`document.getElementById("show-drawings-label").hidden + " " + document.getElementById("drawings-box").hidden`, "true true")
	assert.Empty(t, page.Troubles())
}

// TestDrawingsHostile: numbers that make no sense, markup, and giant drawings do no harm.
func TestDrawingsHostile(t *testing.T) {
	word := encodedText(t, evil)
	odd := `{"seat":1e9,"colours":["#ff0000ff","red","url(x)",7,null],"triangles":[1,2,3,4,"x",{},[],1e999,-1e999,0.5,1,1,0,0,9, 1,1,0,0,-1,2,2,0,0,0,3,1,0,0,0, null,1,0,0,0,1,1,0,0,0,2,2,0,0,0, 1e9,1,0,0,0,1,1,0,0,0,2,2,0,0,0, ` +
		`3,9,0,0,0,6,9,0,0,0,3,12,0,0,0, 1,1],"lines":{"length":1e9},"texts":[7,null,[],[1,1,0,0,0,0.5,-4,"x"],[1,1,0,0,0,"x",1e9,` + word + `],[1,1,0,0,1,null,12,{}]],"log":[` + word + `,7,null,{}],"dropped":1e999}`
	var giant strings.Builder
	giant.WriteString(`{"seat":0,"colours":["#00000001","#ffffff01"],"triangles":[0`)
	for i := 1; i < 15*40000; i++ { // three times the bound
		fmt.Fprintf(&giant, ",%d", map[bool]int{true: i * 7 % 14, false: i % 2}[i%5 < 2])
	}
	giant.WriteString(`],"lines":[0`)
	for i := 1; i < 5*50000; i++ {
		fmt.Fprintf(&giant, ",%d", map[bool]int{true: i * 5 % 14, false: i % 2}[i%5 < 2])
	}
	giant.WriteString(`],"texts":[` + strings.TrimSuffix(strings.Repeat(`[1,1,0,0,0,0.5,200,`+encodedText(t, strings.Repeat("W", 3000))+`],`, 3000), ",") + `],"log":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 5000), ",") + `]}`)
	s := drawn(t, `[{"turn":-4,"seats":[7,null,`+odd+`]},{"turn":1,"seats":[`+giant.String()+`]},{"seats":"x"},7]`)
	page := browsertest.Open(t, s.URL)
	page.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
	opened(page)
	page.Becomes(`boards[0].drawings.seats.length + " " + boards[0].drawings.seats[0].triangles.length + " " + boards[0].drawings.seats[0].texts.length`, "1 15 2")
	page.Becomes(pixel(4, 10), red)
	page.Becomes(textOf("drawings")+`.includes("<img src=x onerror=evil()>")`, "true")
	page.Becomes(`document.querySelectorAll("#panel img, #panel script").length + " " + globalThis.harmed`, "0 undefined")
	page.Eval(`go(1)`)
	page.Becomes(`state.turn`, "1")
	page.Becomes(`((d) => [d.triangles.length / 5, d.lines.length / 5, d.texts.length, d.log.length].join())(boards[0].drawings.seats[0])`, "39999,40000,1000,500")
	t.Logf("a giant drawing is drawn in %s ms", page.Eval(`(() => { boards[0].changed(); const begun = performance.now(); boards[0].draw(1); return (performance.now() - begun).toFixed(0) })()`))
	t.Logf("and again in %s ms", page.Eval(`(() => { const begun = performance.now(); boards[0].draw(1); return (performance.now() - begun).toFixed(0) })()`))
	page.Becomes(`document.querySelectorAll("#drawings li").length`, "500")
	page.Eval(`go(2)`)
	page.Becomes(textOf("drawings"), "none")
	page.Eval(`go(3)`)
	page.Becomes(`state.turn`, "3")
	assert.Empty(t, page.Troubles())
}

func encodedText(t *testing.T, s string) string { return string(encoded(t, s)) }

// TestDrawingsMany: the drawings of a whole chunk have a bound; those of its first positions are left out.
func TestDrawingsMany(t *testing.T) {
	page := browsertest.Open(t, serve(t, arena(3, 3)).URL)
	opened(page)
	page.Becomes(`(() => {
		const triangles = Array.from({ length: 15 * 13333 }, (_, i) => (i % 5 < 2 ? i % 14 : 0));
		const one = { turn: 1, seats: Array(16).fill({ seat: 0, colours: ["#ff0000ff"], triangles }) };
		const { list, vertices } = drawingsOf(Array(32).fill(one), { chunk: 32, turns: 31 });
		return [vertices < 3e6, list.length, list[0], list[31].seats.length].join();
	})()`, "true,32,,16")
	assert.Empty(t, page.Troubles())
}
