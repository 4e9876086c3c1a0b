package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// coarse is an expression for the board as 24 × 16 colours, each the mean of a part of the picture, as red, green, blue.
const coarse = `(() => {
	const board = document.getElementById("board"), c = document.createElement("canvas"), g = c.getContext("2d");
	c.width = 24;
	c.height = 16;
	g.imageSmoothingQuality = "high";
	let from = board;
	while (from.width > 96) {
		const half = document.createElement("canvas");
		half.width = Math.ceil(from.width / 2);
		half.height = Math.ceil(from.height / 2);
		half.getContext("2d").drawImage(from, 0, 0, half.width, half.height);
		from = half;
	}
	g.drawImage(from, 0, 0, 24, 16);
	return JSON.stringify([...g.getImageData(0, 0, 24, 16).data].filter((_, i) => i % 4 < 3));
})()`

// Differences of colours, from 0 to 255, that are allowed: fonts and the smoothing of edges differ from machine to machine.
const (
	meanDifference = 2
	oneDifference  = 20
)

// TestLooks compares the boards of fixed turns, light and dark, with kept ones.
func TestLooks(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 12), craft(4, 40)).URL)
	opened := func() { b.Becomes(`!!boards[0].frame && !document.getElementById("film").hidden`, "true") }
	b.Becomes(`document.getElementById("games").tBodies[0].rows.length`, "2") // the page is there
	file := filepath.Join("testdata", "looks.json")
	kept, got := map[string][]int{}, map[string][]int{}
	if text, err := os.ReadFile(file); err == nil {
		require.NoError(t, json.Unmarshal(text, &kept))
	}
	for _, theme := range []string{"light", "dark"} {
		for _, at := range [][2]int{{3, 0}, {3, 7}, {4, 20}} { // game and turn
			b.Eval(fmt.Sprintf(`(() => { themeChosen = %q; theme(); location.hash = "#episode=%d&turn=%d" })()`, theme, at[0], at[1]))
			opened()
			b.Becomes(`state.films[0].head.id + " " + state.turn`, fmt.Sprintf("%d %d", at[0], at[1]))
			b.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
			name := fmt.Sprintf("%s, game %d, turn %d", theme, at[0], at[1])
			var colours []int
			require.NoError(t, json.Unmarshal([]byte(b.Eval(coarse)), &colours), name)
			got[name] = colours
			if os.Getenv("MOONFARM_UPDATE") != "" {
				continue
			}
			require.Len(t, colours, len(kept[name]), name)
			sum, worst := 0, 0
			for i, c := range colours {
				d := max(c-kept[name][i], kept[name][i]-c)
				sum, worst = sum+d, max(worst, d)
			}
			assert.LessOrEqual(t, sum, meanDifference*len(colours), "%s: the mean difference", name)
			assert.LessOrEqual(t, worst, oneDifference, "%s: the largest difference", name)
		}
	}
	if os.Getenv("MOONFARM_UPDATE") != "" {
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o666))
	}
	assert.Empty(t, b.Troubles())
}

// faint lists the visible texts of the page whose contrast with their background is below 4.5 to 1, which WCAG 2.2
// wants at least (1.4.3). Texts of controls that are disabled do not count.
const faint = `(() => {
	const channels = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = channels(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] === 1) return c;
		}
		return [255, 255, 255];
	};
	const found = [];
	let texts = 0;
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest(":disabled") || e.matches("script, style, noscript *, option, .skip") || !e.checkVisibility()) continue;
		const [a, b] = [light(channels(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
		texts++;
		if (ratio < 4.5) found.push(e.tagName + " " + e.textContent.slice(0, 30) + " " + ratio.toFixed(2));
	}
	return found.join("; ") + (texts > 10 ? "" : " only " + texts + " texts");
})()`

// TestContrast: the texts of the list and of the film can be read, light and dark.
func TestContrast(t *testing.T) {
	f := arena(3, 12)
	b := browsertest.Open(t, serve(t, f, arena(4, 9)).URL)
	for _, theme := range []string{"light", "dark"} {
		b.Becomes(`document.documentElement.dataset.theme`, theme)
		b.Becomes(`document.getElementById("games").tBodies[0].rows.length`, "2")
		b.Becomes(faint, "")
		b.Eval(`location.hash = "#episode=3&turn=4&frame=0"`)
		opened(b)
		b.Becomes(`state.turn+" "+document.getElementById("events").children.length`, "5 2")
		b.Eval(`pinNext(1)`)
		b.Becomes(faint, "")
		b.Eval(`document.getElementById("help").showModal()`)
		b.Becomes(faint, "")
		b.Eval(`document.getElementById("help").close()`)
		click(b, "back")
		b.Becomes(`document.getElementById("film").hidden`, "true")
		click(b, "theme")
	}
	assert.Empty(t, b.Troubles())
}
