package page

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

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
