package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// ranked returns the standings of three players, of which the last one is called name, with a fault in a game.
func ranked(name string, game int) map[string]any {
	meet := func(games int, score float64) map[string]any { return map[string]any{"games": games, "score": score} }
	return map[string]any{
		"games": 60, "of": 5, "heads": []string{"player", "elo", "95 %", "games", "score"}, "notes": []string{"score: (wins + draws/2) / games."},
		"players": [][]string{{"econ", "+80", "+20…+140", "40", "0.700"}, {"random", "-10", "—", "40", "0.500"}, {name, "-70", "—", "40", "0.300"}},
		"matrix":  [][]any{{meet(0, 0), meet(20, 0.8), meet(20, 0.6)}, {meet(20, 0.2), meet(0, 0), meet(20, 0.8)}, {meet(20, 0.4), meet(20, 0.2), meet(0, 0)}},
		"faults":  []any{map[string]any{"game": game, "turn": 7, "seat": 1, "player": name, "kind": "crash", "times": 1, "text": "exit status 3", "output": "no more ideas"}}, "all_faults": 9,
	}
}

// ranks lets a server show standings.
func (s *server) ranks(t *testing.T, version int, standings map[string]any) {
	s.change(func() {
		s.raw["list.json"] = fmt.Sprintf(`{"title":"t","kind":"games","total":%d,"policies":["econ","random"],"live":%v,"grows":true,"standings":true}`, len(s.films), version > 0)
		s.raw["standings.json"] = string(encoded(t, standings))
		s.raw["games.json?from=0&count=50&policy=econ&against=random"] = string(encoded(t, map[string]any{"total": 1, "games": []any{s.films[1].entry()}}))
		s.version = version
	})
}

// TestTournament: a cell of the matrix lists its games, a fault opens its turn, and all follows a tournament that goes on.
func TestTournament(t *testing.T) {
	s := serve(t, arena(3, 12), arena(4, 9))
	s.ranks(t, 1, ranked("rush", 3))
	b := browsertest.Open(t, s.URL)
	b.Becomes(`document.getElementById("standings").hidden`, "false")
	assert.Equal(t, []string{"list.json", "games.json?from=0&count=50", "standings.json"}, sortedHead(s.requests()))
	b.Becomes(`[...document.querySelectorAll("#ranks tbody tr")].map((r) => r.innerText.replace(/\s+/g, " ").trim()).join("; ")`,
		"1 econ +80 +20…+140 40 0.700; 2 random -10 — 40 0.500; 3 rush -70 — 40 0.300")
	b.Becomes(textOf("ranks-say")+"+"+textOf("faults-say"), "The best 3 of 5 are shown.The latest 1 of 9 are shown.")
	b.Picture("standings-light")
	link := `document.querySelector("#matrix tbody tr").cells[2].querySelector("a")`
	b.Becomes(link+`.ariaLabel`, "econ against random: score 0.800 in 20 games")
	b.Eval(link + `.focus()`)
	key(b, "ArrowDown", 0) // over the diagonal, which has no link
	b.Becomes(`document.activeElement.ariaLabel`, "rush against random: score 0.200 in 20 games")
	key(b, "ArrowUp", 0)
	b.Becomes(`document.querySelectorAll("#matrix a[tabindex='0']").length`, "1")
	key(b, "Enter", 0)
	b.Becomes(`location.hash`, "#policy=econ&against=random")
	b.Becomes(`document.querySelector("#games tbody").innerText.slice(0, 1) + document.getElementById("games").tBodies[0].rows.length`, "41")
	b.Becomes(`document.getElementById("policy").value + " " + document.getElementById("against").value`, "econ random")
	choose := func(id, value string) {
		b.Eval(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change")) })()`, id, value))
	}
	choose("policy", "")
	b.Becomes(`location.hash + document.getElementById("against").disabled`, "true")

	s.ranks(t, 2, ranked("later", 4))
	b.Becomes(`document.querySelectorAll("#ranks a")[2].innerText`, "later")
	b.Eval(`document.querySelector("#faults a").focus()`)
	key(b, "Enter", 0)
	opened(b)
	b.Becomes(`state.films[0].head.id + " " + state.turn`, "4 7")
	film := b.Eval(`state.films[0].no`)
	s.ranks(t, 3, ranked("last", 4))
	b.Becomes(`version`, "3")
	b.Becomes(`state.films[0].no`, film)
	click(b, "back")
	b.Becomes(`document.querySelectorAll("#ranks a")[2].innerText`, "last")

	click(b, "theme")
	b.Eval(`scrollTo(0, 0)`)
	b.Picture("standings-dark")
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 380, "height": 844, "deviceScaleFactor": 2, "mobile": true}, &struct{}{})
	b.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	b.Becomes(`document.documentElement.scrollWidth <= innerWidth`, "true")
	b.Picture("standings-phone")
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

// TestHostileStandings: names and texts stay text, numbers that make no sense and lists that are too long are bounded,
// and a broken answer leaves the list of games as it is.
func TestHostileStandings(t *testing.T) {
	s := serve(t, arena(3, 12), arena(4, 9))
	bad := ranked(evil, 3)
	bad["heads"], bad["notes"] = []any{evil, evil, nil, 7}, []any{evil, nil}
	bad["matrix"] = []any{[]any{nil, map[string]any{"games": 1e99, "score": -1e99}, 7}, "x", []any{map[string]any{"games": 3, "score": "1"}}}
	bad["faults"] = []any{map[string]any{"game": -4, "turn": 1e99, "seat": 99, "player": evil, "kind": evil, "times": "x", "text": evil, "output": evil}, nil, 3}
	s.ranks(t, 1, bad)
	b := browsertest.Open(t, s.URL)
	b.Eval(`globalThis.evil = () => (globalThis.harmed = true)`)
	b.Becomes(`document.querySelectorAll("#ranks a")[2]?.innerText`, evil)
	b.Becomes(`document.querySelectorAll("#standings img, #standings script").length + " " + globalThis.harmed`, "0 undefined")
	b.Becomes(`document.getElementById("faults").tBodies[0].rows.length`, "3")
	b.Eval(`document.querySelectorAll("#ranks a")[2].click()`)
	b.Becomes(`new URLSearchParams(location.hash.slice(1)).get("policy")`, evil)
	b.Becomes(`document.getElementById("policy").value`, evil)
	var long [][]string
	for range 1000 {
		long = append(long, make([]string, 30))
	}
	s.ranks(t, 2, map[string]any{"games": 1, "players": long, "matrix": long, "faults": long})
	b.Becomes(`["ranks", "matrix", "faults"].map((id) => document.getElementById(id).tBodies[0].rows.length).join()`, "200,40,100")
	s.change(func() { s.raw["standings.json"], s.version = `[[`, 3 })
	b.Becomes(textOf("standings-say"), "The standings cannot be shown: standings.json is not JSON.")
	b.Becomes(`document.getElementById("games").tBodies[0].rows.length > 0`, "true")
	s.ranks(t, 4, map[string]any{})
	b.Becomes(textOf("standings-say"), "No game has ended yet.")
	b.Becomes(`["ranks-box", "matrix-box", "faults-box"].every((id) => document.getElementById(id).hidden)`, "true")
	assert.Empty(t, b.Troubles())
}

// TestEmbeddedStandings: a page without a server has the standings, and filters by two players.
func TestEmbeddedStandings(t *testing.T) {
	all := data(arena(3, 12), arena(4, 9))
	all["list.json"] = []byte(`{"title":"t","kind":"games","total":2,"policies":["econ","random"],"standings":true}`)
	all["standings.json"] = encoded(t, ranked("rush", 3))
	name := filepath.Join(t.TempDir(), "films.html")
	require.NoError(t, os.WriteFile(name, HTML(all), 0o600))
	b := browsertest.Open(t, "file://"+name)
	b.Becomes(`document.querySelectorAll("#ranks a").length`, "3")
	count := `document.getElementById("page-of").innerText`
	b.Eval(`document.querySelector("#matrix tbody tr").cells[2].querySelector("a").click()`)
	b.Becomes(count, "1 to 2 of 2")
	b.Eval(`document.querySelector("#matrix tbody tr").cells[3].querySelector("a").click()`)
	b.Becomes(`document.querySelector("#games tbody").innerText`, "No game matches.")
	b.Eval(`document.querySelector("#faults a").click()`)
	opened(b)
	b.Becomes(`state.turn`, "7")
	assert.Empty(t, b.Troubles())
}
