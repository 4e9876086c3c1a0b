package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// Keys of WebDriver.
const (
	keyEnd   = "\ue010"
	keyHome  = "\ue011"
	keyLeft  = "\ue012"
	keyRight = "\ue014"
)

// painted is an expression that tells whether the board has a picture of several colours.
const painted = `(() => { const c = document.getElementById("board"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set(); for (let i = 0; i < d.length; i += 404) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size > 4 })()`

// TestFirefox: in Firefox, too, a film is drawn, steps by key and by click, plays, and a list leads to a game, with a
// server and from a file.
func TestFirefox(t *testing.T) {
	f := browsertest.OpenFirefox(t, serve(t, arena(3, 12), arena(4, 9)).URL)
	f.Becomes(`document.getElementById("games").tBodies[0].rows.length`, "2")
	f.Eval(`document.querySelector("#games a").click()`)
	position := `document.getElementById("position").innerText.split(",")[0]`
	f.Becomes(position, "turn 0 of 12")
	f.Becomes(painted, "true")
	f.Press(keyEnd)
	f.Becomes(position, "turn 12 of 12")
	f.Press(keyLeft)
	f.Press(keyHome)
	f.Becomes(position, "turn 0 of 12")
	f.Press(keyRight)
	f.Becomes(`document.getElementById("position").innerText`, "turn 0 of 12, after frame 0")
	f.Picture("firefox-film")
	f.Eval(`document.getElementById("play").click()`)
	f.Becomes(position, "turn 12 of 12")
	f.Eval(`document.getElementById("back").click()`)
	f.Becomes(`document.getElementById("shelf").hidden`, "false")
	require.Equal(t, "", f.Eval(`document.querySelector("#say.bad")?.innerText ?? ""`))
}

// TestFirefoxEmbedded: a page with its data in it plays from a file.
func TestFirefoxEmbedded(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts Firefox again")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, HTML(data(arena(3, 12))), 0o666))
	f := browsertest.OpenFirefox(t, "file://"+file)
	f.Becomes(`document.getElementById("position").innerText`, "turn 0 of 12")
	f.Becomes(painted, "true")
	f.Press(keyEnd)
	f.Becomes(`document.getElementById("position").innerText.split(",")[0]`, "turn 12 of 12")
}
