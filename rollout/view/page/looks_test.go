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
