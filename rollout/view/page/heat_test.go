package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/browsertest"
)

// chooseHeat chooses a kind of event of the heat map, as a person does.
func chooseHeat(b *browsertest.Browser, kind string) {
	b.Becomes(fmt.Sprintf(`[...document.getElementById("show-heat").options].some((o) => o.value === %q)`, kind), "true")
	b.Eval(fmt.Sprintf(`(() => { const s = document.getElementById("show-heat"); s.value = %q; s.dispatchEvent(new Event("change")) })()`, kind))
}

// shownHeat is the expression for the cells of the heat that is shown, sorted.
const shownHeat = `[...boards[0].heat?.cells ?? []].sort((a, b) => a[0] - b[0]).map(([c, v]) => c + ":" + v.toFixed(2)).join(" ")`

// TestHeat: the heat of real games has the sums of all events up to the present turn, in whatever order a person goes through
// the turns. A seat under fog is not offered it.
func TestHeat(t *testing.T) {
	for _, c := range []struct {
		game, rules, policy string
		turns               int
		fog                 bool
	}{{"terminal", "", "scatter", 30, false}, {"codecraft", "round2", "squads", 150, true}} {
		t.Run(c.game, func(t *testing.T) {
			f, page := playedFilm(t, c.game, c.rules, c.policy, c.turns)
			b := browsertest.Open(t, page+"#episode=0&turn=1")
			opened(b)
			sums := make([]map[string]map[int]float64, f.Turns()+1) // by turn, kind and cell
			busiest, most := "", 0
			now, count := map[string]map[int]float64{}, map[string]int{}
			for n := range sums {
				for _, s := range scenesOf(t, f, features.Spectator, n) {
					for _, e := range s.Events {
						x := min(max(int(math.Floor(float64(e.X2))), 0), int(s.Width)-1)
						y := min(max(int(math.Floor(float64(e.Y2))), 0), int(s.Height)-1)
						amount := float64(e.Amount)
						if amount == 0 {
							amount = 1
						}
						if now[e.Kind] == nil {
							now[e.Kind] = map[int]float64{}
						}
						now[e.Kind][y*int(s.Width)+x] += amount
						if count[e.Kind]++; count[e.Kind] > most {
							busiest, most = e.Kind, count[e.Kind]
						}
					}
				}
				sums[n] = map[string]map[int]float64{}
				for kind, cells := range now {
					sums[n][kind] = map[int]float64{}
					for at, v := range cells {
						sums[n][kind][at] = v
					}
				}
			}
			require.Greater(t, most, 20, "events of a kind")
			for kind := range now {
				chooseHeat(b, kind)
				for _, turn := range []int{1, 2, 3, 29, 5, 30, 0, f.Turns() / 2, f.Turns() - 1, f.Turns(), 7} {
					b.Eval(fmt.Sprintf(`go(%d)`, turn))
					var want []string
					for at := range 80 * 80 {
						if v := sums[turn][kind][at]; v != 0 {
							want = append(want, fmt.Sprintf("%d:%.2f", at, v))
						}
					}
					b.Becomes(`state.turn + " " + boards[0].heat?.until`, fmt.Sprintf("%d %d", turn, turn))
					b.Becomes(shownHeat, strings.Join(want, " "))
				}
			}
			chooseHeat(b, busiest)
			b.Eval(fmt.Sprintf(`go(%d)`, f.Turns()))
			total, top, place := 0.0, 0.0, 0
			for at, v := range now[busiest] {
				if total += v; v > top {
					top, place = v, at
				}
			}
			short := func(v float64) string { return fmt.Sprint(math.Round(v*10) / 10) }
			word := strings.Fields(scenesOf(t, f, features.Spectator, 0)[0].Title)[0]
			b.Becomes(textOf("heat-say"), fmt.Sprintf("%s up to %s %d: %s in all, at most %s in a cell", busiest, word, f.Turns(), short(total), short(top)))
			wide := int(scenesOf(t, f, features.Spectator, 0)[0].Width)
			x, y := point(b, onBoard(float64(place%wide), float64(place/wide)))
			b.Mouse("mouseMoved", x, y, 0)
			b.Becomes(`[...document.querySelectorAll("#tip p")].at(-1)?.innerText`, fmt.Sprintf("%s at %d, %d: %s up to %s %d", busiest, place%wide, place/wide, short(top), word, f.Turns()))
			b.Picture("heat-" + c.game + "-light")
			b.Mouse("mouseMoved", 5, 5, 0)
			b.Becomes(`document.getElementById("tip").hidden`, "true")
			click(b, "theme")
			b.Picture("heat-" + c.game + "-dark")
			if c.fog {
				goTo(b, "#episode=0&turn=20&seat=1")
				b.Becomes(`[state.seat, boards[0].heat, document.getElementById("show-heat-label").hidden, document.getElementById("heat-legend").hidden].join()`, "1,,true,true")
				goTo(b, "#episode=0&turn=20")
				b.Becomes(`[state.seat, !!boards[0].heat, document.getElementById("show-heat-label").hidden].join()`, "-1,true,false")
			}
			chooseHeat(b, "")
			b.Becomes(`boards[0].heat + " " + document.getElementById("heat-legend").hidden`, "null true")
			assert.Empty(t, b.Troubles())
		})
	}
}

// TestHeatLayers: with a heat map a board that is drawn turn by turn looks like one that is drawn as a whole, and not like
// one without.
func TestHeatLayers(t *testing.T) {
	_, page := playedFilm(t, "codecraft", "round2", "squads", 150)
	b := browsertest.Open(t, page)
	opened(b)
	chooseHeat(b, "attack")
	b.Becomes(`!!boards[0].heat`, "true")
	assert.Equal(t, "", b.Eval(`(async () => {
		const b = boards[0];
		for (const turn of [100, 101, 102, 120, 121, 90, 150]) {
			await go(turn);
			b.heat = heatAt(b.film, turn);
			b.draw(1);
			const part = b.canvas.toDataURL();
			b.made = {};
			b.draw(1);
			if (b.canvas.toDataURL() !== part) return "turn " + turn + " differs";
		}
		const { heat } = b, full = b.canvas.toDataURL();
		b.heat = null;
		b.draw(1);
		if (b.canvas.toDataURL() === full) return "no heat is drawn";
		b.heat = heat;
		b.draw(1);
		return b.canvas.toDataURL() === full ? "" : "the heat is another one";
	})()`))
	t.Log(b.Eval(rate(1)), "pictures a second;", b.Eval(rate(32)))
	assert.Empty(t, b.Troubles())
}

// TestNoHeat: where the film has no sums the page asks for none, and the control is hidden.
func TestNoHeat(t *testing.T) {
	s := serve(t, arena(3, 12))
	b := browsertest.Open(t, s.URL)
	opened(b)
	b.Becomes(`document.getElementById("kinds").tBodies[0].rows.length > 0 && document.getElementById("show-heat-label").hidden`, "true")
	for _, name := range s.requests() {
		assert.NotContains(t, name, "heat.json")
	}
	assert.Empty(t, b.Troubles())
}

// TestHeatLive: of a list that changes the page asks for the sums when a person comes to the control, and again after a
// change while they are shown.
func TestHeatLive(t *testing.T) {
	grown := func(turns int) *film {
		f := arena(3, turns)
		f.head["heat"] = true
		return f
	}
	answer := func(turns int) string {
		return fmt.Sprintf(`{"turns":%d,"bucket":1,"width":14,"kinds":[{"kind":"breach","sums":[[144,%d]]}]}`, turns, turns)
	}
	s := serve(t, grown(12))
	s.live = true
	s.raw["heat.json?game=3"] = answer(12)
	b := browsertest.Open(t, s.URL+"#episode=3&turn=12")
	opened(b)
	b.Becomes(`shelf.info?.live && version`, "0")
	b.Becomes(`!!state.films[0].heatAsked || document.getElementById("show-heat-label").hidden`, "false")
	b.Eval(`document.getElementById("show-heat").focus()`)
	chooseHeat(b, "breach")
	b.Becomes(shownHeat, "144:12.00")
	s.change(func() { s.films, s.version, s.raw["heat.json?game=3"] = []*film{grown(15)}, 1, answer(15) })
	b.Becomes(`state.turn + " "+`+shownHeat, "15 144:15.00")
	assert.Empty(t, b.Troubles())
}

// TestHostileHeat: wrong sums do not harm the page. What makes no sense is left out, and where nothing makes sense the control
// is hidden.
func TestHostileHeat(t *testing.T) {
	f := arena(3, 12)
	f.head["heat"] = true
	b := browsertest.Open(t, "about:blank")
	head := `{"turns":12,"bucket":1,"width":14,"kinds":`
	for _, c := range []struct{ name, answer, want string }{
		{"no JSON", `<html>`, "hidden"}, {"null", `null`, "hidden"}, {"a list", `[]`, "hidden"}, {"nothing", `{}`, "hidden"},
		{"another width", `{"turns":12,"bucket":1,"width":15,"kinds":[]}`, "hidden"}, {"other turns", `{"turns":13,"bucket":1,"width":14,"kinds":[]}`, "hidden"},
		{"no bucket", `{"turns":12,"bucket":0,"width":14,"kinds":[]}`, "hidden"}, {"a bucket of a half", `{"turns":12,"bucket":0.5,"width":14,"kinds":[]}`, "hidden"},
		{"a bucket that is a text", `{"turns":12,"bucket":"1","width":14,"kinds":[]}`, "hidden"},
		{"no kinds", head + `7}`, "none"}, {"kinds that are none", head + `[null,7,"x",[],{},{"kind":"a"},{"kind":"b","sums":7},{"kind":"c","sums":[7,null,"x",{},[]]}]}`, "none"},
		{"wrong cells", head + `[{"kind":"a","sums":[[-1,5,196,5,1.5,5,1e99,5,"1",5,null,5,3,"x",3,null,3,1e999,3,1e300,3]]}]}`, "none"},
		{"markup", head + `[{"kind":"<img src=x onerror=evil()>","sums":[[3,2]]}]}`, "none,<img src=x onerror=evil()>"},
		{"a name that is none", head + `[{"kind":{},"sums":[[3,2,3,2,195,-4]]},{"kind":"__proto__","sums":[[1,0]]}]}`, "none,__proto__,event"},
		{"too many buckets", head + `[{"kind":"a","sums":[` + strings.TrimSuffix(strings.Repeat("[3,1],", 5000), ",") + `]}]}`, "none,a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, f)
			s.raw["heat.json?game=3"] = c.answer
			b.Navigate(s.URL + "#episode=3&turn=12")
			opened(b)
			b.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
			b.Becomes(`document.getElementById("show-heat-label").hidden ? (state.films[0].heat === null ? "hidden" : "waiting") : state.films[0].heat && [...document.getElementById("show-heat").options].map((o) => o.text).join()`, c.want)
			for _, kind := range strings.Split(c.want, ",")[1:] {
				chooseHeat(b, kind)
				for _, turn := range []int{0, 12, 7} {
					assert.Equal(t, fmt.Sprint(turn), b.Eval(fmt.Sprintf(`go(%d).then(() => new Promise(requestAnimationFrame)).then(() => state.turn)`, turn)))
					assert.Equal(t, "true", b.Eval(`!!boards[0].heat`))
				}
			}
			b.Becomes(textOf("say")+` + document.querySelectorAll("#film img").length + globalThis.harmed`, "0undefined")
			assert.Empty(t, b.Troubles())
		})
	}
}
