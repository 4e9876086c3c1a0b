package page

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

const runList = `{"title":"loop","kind":"games","total":0,"policies":[],"live":true,"grows":true,"charts":true}`

// TestCharts: the page of a run that learns has its charts and follows it. Data that make no sense are left out.
func TestCharts(t *testing.T) {
	s := serve(t)
	s.live = true
	s.raw["list.json"] = runList
	s.raw["charts.json"] = `{"points":2,"x":"generation","charts":[{"title":"scores","lines":[{"name":"maze","points":[[1,0.25],[2,0.5],["x",1],null]},{"name":"<b>planner","points":[[1,0.125]]}]},
		{"title":"loss","lines":[{"name":"","points":[[1,12345.678],[2,1e308]]}]},{"lines":{"length":9}},7],"last":[{"name":"loss","value":0.00012},null]}`
	b := browsertest.Open(t, s.URL)
	b.Becomes(textOf("charts-say"), "2 points; the page follows the run")
	b.Becomes(`[...document.querySelectorAll("#chart-list canvas[role]")].map((c) => c.ariaLabel).join(" | ")`,
		"scores by generation; at the end: maze 0.5, <b>planner 0.125 | loss by generation; at the end: 1e+308 |  by generation; at the end:  |  by generation; at the end: ")
	b.Becomes(`[...document.querySelectorAll("#chart-list li")].map((c) => c.innerText).join()`, "maze 0.5,<b>planner 0.125")
	b.Becomes(`document.getElementById("chart-last").innerText`, "loss\t0.00012\n\t0")
	b.Becomes(`["games", "filters", "policy"].map((id) => document.getElementById(id).checkVisibility()).join()`, "false,false,false")
	drawn := `(() => {
		const c = document.querySelector("#chart-list canvas[role]"), g = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		[g.canvas.width, g.canvas.height] = [c.width, c.height];
		g.drawImage(c, 0, 0);
		return g.getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 === 0 && v === 0xd5);
	})()`
	b.Becomes(drawn, "true")
	b.Picture("charts")
	click(b, "theme")
	b.Becomes(drawn, "true")
	b.Becomes(faint, "")
	b.Picture("charts-dark")
	s.change(func() {
		s.raw["charts.json"] = `{"points":3,"x":"generation","charts":[],"last":[]}`
		s.version++
	})
	b.Becomes(textOf("charts-say")+`+document.getElementById("chart-list").children.length`, "3 points; the page follows the run0")
	assert.Empty(t, b.Troubles())
}

// TestChartsBroken: the page says what is wrong.
func TestChartsBroken(t *testing.T) {
	s := serve(t)
	s.raw["list.json"], s.raw["charts.json"] = runList, "[]x"
	b := browsertest.Open(t, s.URL)
	b.Becomes(textOf("charts-say"), "The charts cannot be shown: charts.json is not JSON.")
	s.change(func() { s.raw["charts.json"] = "{}" })
	b.Navigate(s.URL + "#from=0")
	b.Eval(`location.reload()`)
	b.Becomes(textOf("charts-say"), "0 points; the page follows the run")
	assert.Empty(t, b.Troubles())
}
