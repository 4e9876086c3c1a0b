package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/view/overview"
)

// ranked returns the overview of a tournament of three players, of which the last one is called name, with a fault in a
// game.
func ranked(name string, game int) *overview.Document {
	names := []string{"econ", "random", name}
	ranks := overview.TableOf("Players by rating", [][]string{{"rank", "player", "elo", "95 %"}, {"1", names[0], "+80", "+20…+140"}, {"2", names[1], "-10", "—"}, {"3", name, "-70", "—"}})
	grid := overview.Table{Caption: "Scores", Grid: true, Columns: []overview.Column{{Name: "player"}, {Name: "1", Number: true}, {Name: "2", Number: true}, {Name: "3", Number: true}}}
	for i, scores := range [][]float64{{-1, 0.8, 0.6}, {0.2, -1, 0.8}, {0.4, 0.2, -1}} {
		ranks.Rows[i][1].To = overview.ToGames(names[i], "")
		row := []overview.Cell{{Text: fmt.Sprintf("%d %s", i+1, names[i])}}
		for k, score := range scores {
			if i == k {
				row = append(row, overview.Cell{})
				continue
			}
			games := fmt.Sprint(17 + game)
			row = append(row, overview.Cell{Text: fmt.Sprintf("%.2f", score), Small: games, Heat: &score, To: overview.ToGames(names[i], names[k]),
				Hint: fmt.Sprintf("%s against %s: score %.3f in %s games", names[i], names[k], score, games)})
		}
		grid.Rows = append(grid.Rows, row)
	}
	ranks.Rows[0][3].Bar = []overview.Part{{Share: 0.25}, {Share: 0.5, Look: overview.Even}, {Share: 0.25, Look: overview.Ahead}}
	faults := overview.TableOf("", [][]string{{"game", "turn", "player", "text"}, {fmt.Sprint(game), "7", name, "exit status 3"}})
	faults.Rows[0][0].To, faults.Rows[0][3].Small = overview.ToTurn(uint64(game), 7), "no more ideas"
	return &overview.Document{Sections: []overview.Section{
		{Title: "Ratings", Text: []string{"60 games of " + name}, Tables: []overview.Table{ranks, {Rows: [][]overview.Cell{{{Text: name}, {Text: "7"}}}}}}, {Title: "Scores", Tables: []overview.Table{grid}},
		{Title: "Faults", Tables: []overview.Table{faults}}, {Title: "More", Folded: true, Code: "moonfarm view t", Text: []string{"folded " + name}},
	}}
}

// learnt returns the overview of a run that learns.
func learnt(points int) *overview.Document {
	return &overview.Document{Sections: []overview.Section{{Title: "Progress", Text: []string{fmt.Sprintf("%d points", points), "the page follows"}, Charts: []overview.Chart{
		{Title: "scores", X: "generation", Lines: []overview.Line{{Name: "maze", Points: [][2]float64{{1, 0.25}, {2, 0.5}}}, {Name: "<b>planner", Points: [][2]float64{{1, 0.125}}}}},
		{Title: "lengths", X: "turns", Bars: &overview.Histogram{From: 20, Width: 5, Bars: []uint64{2, 0, 7}}},
		{Title: "loss", X: "generation", Lines: []overview.Line{{Points: [][2]float64{{1, 12345.678}, {2, 1e308}}}}},
	}}}}
}

// tells lets a server show an overview. The version is 0 for a list that does not change.
func (s *server) tells(t *testing.T, version int, o any) {
	s.change(func() {
		s.raw["list.json"] = fmt.Sprintf(`{"title":"t","kind":"games","total":%d,"policies":["econ","random"],"live":%v,"grows":true,"overview":true}`, len(s.films), version > 0)
		s.raw["overview.json"] = string(encoded(t, o))
		if len(s.films) > 0 {
			s.raw["games.json?from=0&count=50&policy=econ&against=random"] = string(encoded(t, map[string]any{"total": 1, "games": []any{s.films[1].entry()}}))
		}
		s.version = version
	})
}

// table returns the expression for the table of a section of the overview.
func table(section int) string {
	return fmt.Sprintf(`document.querySelectorAll("#overview-list details")[%d].querySelector("table")`, section)
}

// TestTournament: a cell of a grid lists its games, a fault opens its turn, and all follows a tournament that goes on.
func TestTournament(t *testing.T) {
	s := serve(t, arena(3, 12), arena(4, 9))
	s.tells(t, 1, ranked("rush", 3))
	b := browsertest.Open(t, s.URL)
	b.Becomes(`document.getElementById("overview").hidden`, "false")
	assert.Equal(t, []string{"list.json", "games.json?from=0&count=50", "overview.json"}, sortedHead(s.requests()))
	b.Becomes(`[...`+table(0)+`.rows].map((r) => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`,
		"rank player elo 95 %; 1 econ +80 +20…+140; 2 random -10 —; 3 rush -70 —")
	b.Becomes(`[...document.querySelectorAll(".bar span")].map((s) => s.className + s.getBoundingClientRect().width).join()`, "36,even72,ahead36")
	b.Becomes(`[...document.querySelectorAll("#overview details")].map((d) => d.open).join()`, "true,true,true,false")
	b.Picture("overview-light")
	link := table(1) + `.tBodies[0].rows[0].cells[2].querySelector("a")`
	b.Becomes(link+`.ariaLabel`, "econ against random: score 0.800 in 20 games")
	b.Eval(link + `.focus()`)
	key(b, "ArrowDown", 0) // over the diagonal, which has no link
	b.Becomes(`document.activeElement.ariaLabel`, "rush against random: score 0.200 in 20 games")
	key(b, "ArrowUp", 0)
	b.Becomes(`document.querySelectorAll(".grid a[tabindex='0']").length`, "1")
	key(b, "Enter", 0)
	b.Becomes(`location.hash`, "#policy=econ&against=random")
	b.Becomes(`document.querySelector("#games tbody").innerText.slice(0, 1) + document.getElementById("games").tBodies[0].rows.length`, "41")
	b.Becomes(`document.getElementById("policy").value + " " + document.getElementById("against").value`, "econ random")
	b.Eval(`(() => { const s = document.getElementById("policy"); s.value = ""; s.dispatchEvent(new Event("change")) })()`)
	b.Becomes(`location.hash + document.getElementById("against").disabled`, "true")

	b.Eval(link + `.focus()`)
	b.Eval(`document.querySelectorAll("#overview details")[2].open = false`)
	s.tells(t, 2, ranked("later", 4))
	last := table(0) + `.querySelectorAll("a")[2].innerText`
	b.Becomes(last, "later")
	b.Becomes(link+`.ariaLabel`, "econ against random: score 0.800 in 21 games")
	b.Becomes(`document.activeElement === `+link+` && !document.querySelectorAll("#overview details")[2].open`, "true") // what a person does stays
	b.Eval(`document.querySelectorAll("#overview details")[2].open = true`)
	b.Eval(table(2) + `.querySelector("a").focus()`)
	key(b, "Enter", 0)
	opened(b)
	b.Becomes(`state.films[0].head.id + " " + state.turn`, "4 7")
	film := b.Eval(`state.films[0].no`)
	s.tells(t, 3, ranked("last", 4))
	b.Becomes(`version`, "3")
	b.Becomes(`state.films[0].no`, film)
	click(b, "back")
	b.Becomes(last, "last")

	click(b, "theme")
	b.Eval(`scrollTo(0, 0)`)
	b.Becomes(faint, "")
	b.Picture("overview-dark")
	assert.Empty(t, b.Troubles())
}

// sortedHead returns the first three requests, the first two in a fixed order, since they are sent together.
func sortedHead(asked []string) []string {
	asked = asked[:min(len(asked), 3)]
	if len(asked) > 1 && asked[1] == "list.json" {
		asked[0], asked[1] = asked[1], asked[0]
	}
	return asked
}

// TestCharts: the page of a run that learns has its charts and follows it.
func TestCharts(t *testing.T) {
	s := serve(t)
	s.tells(t, 1, learnt(2))
	b := browsertest.Open(t, s.URL)
	b.Becomes(`[...document.querySelectorAll(".charts canvas[role]")].map((c) => c.ariaLabel).join(" | ")`,
		"scores by generation; at the end: maze 0.5, <b>planner 0.125 | lengths by turns; the highest bar, 7, begins at 30 | loss by generation; at the end: 1e+308")
	b.Becomes(`[...document.querySelectorAll(".charts li")].map((c) => c.innerText).join()`, "maze 0.5,<b>planner 0.125")
	b.Becomes(`["games", "filters", "policy"].map((id) => document.getElementById(id).checkVisibility()).join()`, "false,false,false")
	// drawn returns the expression for the share of a chart, from below, that has a colour: its red channel.
	drawn := func(chart, red int) string {
		return fmt.Sprintf(`(() => {
			const c = document.querySelectorAll(".charts canvas[role]")[%d], g = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
			[g.canvas.width, g.canvas.height] = [c.width, c.height];
			g.drawImage(c, 0, 0);
			const rows = [...Array(c.height).keys()].filter((y) => g.getImageData(0, y, c.width, 1).data.some((v, i, all) => i %% 4 === 0 && v === %d && all[i + 3] === 255));
			return rows.length ? Math.round(10 * (1 - rows[0] / c.height)) : "nothing";
		})()`, chart, red)
	}
	for range 2 {
		b.Becomes(drawn(0, 0xd5), "2")
		b.Becomes(drawn(1, 0), "10") // the highest bar
		b.Becomes(faint, "")
		b.Picture("charts")
		click(b, "theme")
	}
	s.tells(t, 2, map[string]any{"sections": []any{map[string]any{"title": "Progress", "text": []string{"3 points"}}}})
	b.Becomes(`document.querySelector("#overview-list p").innerText + document.querySelectorAll(".charts figure").length`, "3 points0")
	assert.Empty(t, b.Troubles())
}

// TestHostileOverview: texts stay text, numbers that make no sense and lists that are too long are bounded, and a broken
// answer leaves the list of games as it is.
func TestHostileOverview(t *testing.T) {
	s := serve(t, arena(3, 12), arena(4, 9))
	text := strings.NewReplacer(`"+80"`, `"`+strings.ReplaceAll(evil, `"`, `\"`)+`"`, `"heat":0.8`, `"heat":1e99`, `"share":0.5`, `"share":"x"`, `"look":"ahead"`, `"look":"chip"`, `"#episode=3`, `"javascript:evil()#`).
		Replace(string(encoded(t, ranked(evil, 3))))
	s.tells(t, 1, map[string]any{})
	s.change(func() { s.raw["overview.json"] = text })
	b := browsertest.Open(t, s.URL)
	b.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
	b.Becomes(table(0)+`.querySelectorAll("a")[2].innerText`, evil)
	b.Becomes(`document.querySelectorAll("#overview img, #overview script").length + " " + globalThis.harmed`, "0 undefined")
	b.Becomes(`[...document.querySelectorAll("#overview a")].filter((a) => a.protocol === "javascript:").length + " " + document.querySelectorAll(".bar .chip").length`, "0 0")
	b.Eval(table(0) + `.querySelectorAll("a")[2].click()`)
	b.Becomes(`new URLSearchParams(location.hash.slice(1)).get("policy")`, evil)
	b.Becomes(`document.getElementById("policy").value`, evil)
	many := func(n int, v any) (list []any) {
		for range n {
			list = append(list, v)
		}
		return list
	}
	odd := map[string]any{"sections": []any{nil, 7, map[string]any{"title": 5, "text": "x", "charts": []any{nil, map[string]any{"lines": map[string]any{"length": 9}, "bars": map[string]any{"bars": []any{"x", -4, nil}}},
		map[string]any{"lines": []any{map[string]any{"points": []any{[]any{"x", 1}, nil, []any{1, 2}}}}}}, "tables": []any{nil, map[string]any{"rows": many(2000, many(200, nil))}}}}}
	s.tells(t, 2, odd)
	b.Becomes(`document.querySelectorAll("#overview table")[1]?.tBodies[0].rows.length + " " + document.querySelectorAll("#overview table")[1]?.tBodies[0].rows[0].cells.length`, "1000 100")
	b.Becomes(`[...document.querySelectorAll(".charts canvas[role]")].map((c) => c.ariaLabel).join(" | ")`, " by ; at the end:  |  by ; the highest bar, 0, begins at 0 |  by ; at the end: 2")
	s.change(func() { s.raw["overview.json"], s.version = `[[`, 3 })
	b.Becomes(textOf("overview-say"), "The overview cannot be shown: overview.json is not JSON.")
	b.Becomes(`document.getElementById("games").tBodies[0].rows.length > 0`, "true")
	s.tells(t, 4, map[string]any{})
	b.Becomes(textOf("overview-say")+`+document.querySelectorAll("#overview details").length`, "0")
	assert.Empty(t, b.Troubles())
}

// TestEmbeddedOverview: a page without a server has the overview, and filters by two players. Games without a film have
// no link.
func TestEmbeddedOverview(t *testing.T) {
	all := data(arena(3, 12), arena(4, 9))
	delete(all, "film.json?game=4")
	all["list.json"] = []byte(`{"title":"t","kind":"games","total":2,"policies":["econ","random"],"overview":true}`)
	all["overview.json"] = encoded(t, ranked("rush", 3))
	name := filepath.Join(t.TempDir(), "films.html")
	require.NoError(t, os.WriteFile(name, HTML(all), 0o600))
	b := browsertest.Open(t, "file://"+name)
	b.Becomes(table(0)+`.querySelectorAll("a").length`, "3")
	b.Becomes(`[...document.querySelectorAll("#games tbody a")].map((a) => a.innerText + a.hasAttribute("href")).join()`, "3true,4false")
	count := `document.getElementById("page-of").innerText`
	b.Eval(table(1) + `.tBodies[0].rows[0].cells[2].querySelector("a").click()`)
	b.Becomes(count, "1 to 2 of 2")
	b.Eval(table(1) + `.tBodies[0].rows[0].cells[3].querySelector("a").click()`)
	b.Becomes(`document.querySelector("#games tbody").innerText`, "No game matches.")
	b.Eval(table(2) + `.querySelector("a").click()`)
	opened(b)
	b.Becomes(`state.turn`, "7")
	assert.Empty(t, b.Troubles())
}
