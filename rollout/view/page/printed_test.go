package page

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// said is what a seat printed in a turn.
func said(left any, lines ...any) any { return map[string]any{"lines": lines, "left": left} }

// TestPrinted: the panel shows what the bots printed since the turn before, turn by turn, and follows a game that is
// being played.
func TestPrinted(t *testing.T) {
	quiet := arena(3, 12)
	s := serve(t, quiet)
	s.live = true
	b := browsertest.Open(t, s.URL+"#episode=3&turn=12")
	opened(b)
	b.Becomes(textOf("position"), "turn 12 of 12")
	b.Becomes(`document.getElementById("printed-box").hidden`, "true")
	b.Becomes(`gameList.info?.live && version`, "0")

	loud := arena(3, 12)
	loud.head["printed"] = true
	loud.printed = map[int][]any{0: {nil, said(0, "loaded the model")}, 9: {said(1, "  depth 4", "value 0.5"), said(7)}, 12: {said(0, "won"), nil}}
	s.change(func() { s.films, s.version = []*film{loud}, 1 })
	b.Becomes(textOf("printed-when")+`+"|"+`+textOf("printed"), "Since turn 11:|A econ\nwon")
	b.Becomes(`document.getElementById("printed-box").hidden`, "false")
	b.Eval(`go(9)`)
	b.Becomes(textOf("printed-when")+`+"|"+`+textOf("printed"), "Since turn 8:|A econ\n  depth 4\nvalue 0.5\n1 more line is left out\nB random\n7 more lines are left out")
	b.Picture("printed")
	b.Eval(`go(5)`)
	b.Becomes(textOf("printed"), "none")
	b.Eval(`go(0)`)
	b.Becomes(textOf("printed-when")+`+"|"+`+textOf("printed"), "Before the first turn:|B random\nloaded the model")
	more := arena(3, 12)
	more.head["printed"], more.printed = true, map[int][]any{0: {said(0, "a line that came late"), nil}}
	s.change(func() { s.films, s.version = []*film{more}, 2 })
	b.Becomes(textOf("printed"), "A econ\na line that came late")
	b.Becomes(textOf("position"), "turn 0 of 12")
	assert.Empty(t, b.Troubles())
}

// TestPrintedHostile: what bots print never becomes markup, and data of other types are not shown.
func TestPrintedHostile(t *testing.T) {
	f := arena(3, 12)
	f.head["printed"] = true
	many := slices.Repeat([]any{"x"}, 5000)
	f.printed = map[int][]any{
		0: {said(0, evil, "\u202eabc\u0000\x1b[31m", 7, nil, map[string]any{}, strings.Repeat("w", 100_000)), said("1e9", many...)},
		1: {7, "x"}, 2: {map[string]any{"lines": "abc", "left": -5}, []any{}}, 3: {said(1e300, evil)},
		4: slices.Repeat([]any{said(0, "one of many")}, 1000),
	}
	name := filepath.Join(t.TempDir(), "film.html") // a page without a server
	require.NoError(t, os.WriteFile(name, HTML(data(f)), 0o600))
	b := browsertest.Open(t, "file://"+name)
	opened(b)
	b.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
	b.Becomes(`document.querySelector("#printed li").textContent`, evil)
	b.Becomes(`document.querySelectorAll("#printed li")[1].textContent`, "abc  [31m")
	b.Becomes(`[...document.querySelectorAll("#printed ul")].map((l) => l.children.length).join()`, "6,200")
	b.Becomes(`Math.max(...[...document.querySelectorAll("#printed li")].map((l) => l.textContent.length))`, "400")
	b.Becomes(`document.querySelectorAll("#printed img, #printed script").length + " " + globalThis.harmed`, "0 undefined")
	for _, turn := range []string{"1", "2"} {
		b.Eval(`go(` + turn + `)`)
		b.Becomes(textOf("printed-when")+`+"|"+`+textOf("printed"), "Since turn "+map[string]string{"1": "0", "2": "1"}[turn]+":|none")
	}
	b.Eval(`go(3)`)
	b.Becomes(textOf("printed")+`.endsWith("1000000000 more lines are left out")`, "true")
	b.Eval(`go(4)`)
	b.Becomes(`document.querySelectorAll("#printed li").length`, "16")
	assert.Empty(t, b.Troubles())
}

// TestWorst: the worst turns of an analysis are marks on the seek bar and in the list, and its values are plotted also
// where only some turns were searched.
func TestWorst(t *testing.T) {
	f := arena(3, 12)
	f.head["marks"] = []any{map[string]any{"turn": 6, "kind": "worst", "seat": 1, "note": "lost 0.412: played wall 1,3 (-0.2), best " + evil}}
	f.head["stats"] = append(f.head["stats"].([]any), map[string]any{"name": "search value", "unit": "result that the search expected", "seat": 0})
	for turn, moments := range f.positions {
		for i := range moments {
			var value any
			if turn == 4 || turn == 6 || turn == 7 {
				value = float64(turn) / 10
			}
			moments[i].stats = append(moments[i].stats, value)
		}
	}
	name := filepath.Join(t.TempDir(), "film.html")
	require.NoError(t, os.WriteFile(name, HTML(data(f)), 0o600))
	b := browsertest.Open(t, "file://"+name)
	opened(b)
	b.Becomes(`document.querySelector("#mark-list li").innerText`, "turn 6: worst – lost 0.412: played wall 1,3 (-0.2), best "+evil)
	b.Becomes(`(() => { const c = document.getElementById("marks"), at = thumb + (c.clientWidth - 2 * thumb) / 2;
		return [...c.getContext("2d").getImageData(Math.round(at * c.width / c.clientWidth), 2, 1, 1).data].some((v) => v > 0) })()`, "true")
	b.Eval(`(() => { const s = document.getElementById("plotted"); s.value = "search value"; s.dispatchEvent(new Event("change")) })()`)
	b.Becomes(`!!state.films[0].all`, "true")
	b.Eval(`document.querySelector("#mark-list button").click()`)
	b.Becomes(textOf("position"), "turn 6 of 12")
	b.Becomes(`document.getElementById("plot").getAttribute("aria-label")`, "search value over the turns; at turn 6: A 0.6")
	b.Becomes(`[...document.querySelectorAll("#stats tbody tr")].at(-1).innerText.replaceAll("\t", " ")`, "search value (result that the search expected) 0.6 ")
	b.Picture("worst")
	assert.Empty(t, b.Troubles())
}

// TestPaths: ways of units are asked for when a person wants them, and shown from the place that is chosen with the
// mouse or in the list. Those that leave the board are left out.
func TestPaths(t *testing.T) {
	f := arena(3, 2)
	f.head["paths"] = true
	s := serve(t, f)
	s.raw["paths.json?game=3&from=0"] = `{"from":0,"positions":[[[0,1,2,0,"uurr","5 damage"],[1,3,12,1,"dd"],[0,0,0,0,"l"],[0,1e99,0,0,""],7,null],[],{"length":1e9}]}`
	b := browsertest.Open(t, s.URL)
	opened(b)
	label, list := `document.getElementById("path-from").disabled`, `[...document.getElementById("path-from").options].map((o) => o.text).join()`
	b.Becomes(`document.getElementById("show-paths-label").hidden+" "+`+label, "false true")
	assert.NotContains(t, s.requests(), "paths.json?game=3&from=0")
	click(b, "show-paths")
	b.Becomes(label+`+" "+`+list, "false all,A 1, 2: 5 damage,B 3, 12")
	x, y := point(b, onBoard(1, 2))
	b.Click(x, y)
	b.Becomes(`document.getElementById("path-from").value`, "A 1, 2")
	b.Picture("paths")
	b.Eval(`(() => { const s = document.getElementById("path-from"); s.value = "B 3, 12"; s.dispatchEvent(new Event("change")) })()`)
	b.Becomes(`paths.from`, "B 3, 12")
	b.Eval(`(() => { globalThis.drawn = new Set(); const draw = paths.draw; paths.draw = function (...args) { drawn.add(state.turn + ":" + this.ways.length); draw.apply(this, args) } })()`)
	key(b, "ArrowRight", shift)
	b.Becomes(`drawn.has("1:0")+" "+drawn.has("1:2")`, "true false") // never the ways of the position before
	b.Becomes(`state.turn+" "+paths.ways.length+" "+`+list, "1 0 all,B 3, 12: none now")
	click(b, "show-paths")
	b.Becomes(label, "true")
	assert.Empty(t, b.Troubles())
}
