package page

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/browsertest"
)

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
