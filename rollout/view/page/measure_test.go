package page

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/browsertest"
)

// TestMeasure: a large film opens with few requests, is played to its end, and is not kept in memory
// as a whole. With MOONFARM_LONG it has 1,000 ticks, and its pictures are timed.
func TestMeasure(t *testing.T) {
	ticks, long := 200, os.Getenv("MOONFARM_LONG") != ""
	if long {
		ticks = 1000
	}
	f := craft(1, ticks)
	s := serve(t, f)
	b := browsertest.Open(t, s.URL)
	b.Becomes(`firstPicture > 0`, "true")
	t.Logf("the page has %d bytes; first picture after %s ms", len(HTML(nil)), b.Eval(`firstPicture.toFixed(0)`))
	b.Becomes(`document.getElementById("kinds").tBodies[0].rows.length`, "6")
	b.Picture("craft-light")
	for _, c := range []struct {
		name, expression string
	}{
		{"a frame that changes", `(async () => {
			let sum = 0, worst = 0;
			for (let k = 0; k < 100; k++) {
				await go(k);
				arrive(state.turn, -1, false);
				const begun = performance.now();
				boards[0].draw(1);
				boards[0].g.getImageData(0, 0, 1, 1);
				const took = performance.now() - begun;
				sum += took;
				worst = Math.max(worst, took);
			}
			return (sum / 100).toFixed(1) + " ms, at most " + worst.toFixed(1);
		})()`},
		{"a frame between two", `(async () => {
			await go(20);
			await go(21);
			arrive(22, -1, true);
			let sum = 0, worst = 0;
			for (let k = 0; k < 100; k++) {
				const begun = performance.now();
				boards[0].draw(k / 100);
				boards[0].g.getImageData(0, 0, 1, 1);
				const took = performance.now() - begun;
				sum += took;
				if (k) worst = Math.max(worst, took);
			}
			return boards[0].movers.length + " move, " + (sum / 100).toFixed(1) + " ms, at most " + worst.toFixed(1);
		})()`},
		{"panels", `(() => { const begun = performance.now(); for (let k = 0; k < 20; k++) panels(); return ((performance.now() - begun) / 20).toFixed(1) + " ms" })()`},
		{"frames a second at ×1", rate(1)}, {"frames a second at ×32", rate(32)},
	} {
		if long {
			t.Logf("%s: %s", c.name, b.Eval(c.expression))
		}
	}
	b.Eval(`go(0).then(() => { setSpeed(32); play() })`)
	b.Becomes(`state.turn`, strconv.Itoa(ticks))
	b.Becomes(`state.playing`, "false")
	t.Logf("played: %s chunks, heap %s MB", b.Eval(`chunks.size`), b.Eval(`(performance.memory.usedJSHeapSize / 1e6).toFixed(0)`))
	var heap struct{ UsedSize float64 }
	b.Call("HeapProfiler.collectGarbage", nil, &struct{}{})
	b.Call("Runtime.getHeapUsage", nil, &heap)
	t.Logf("heap after collection: %.0f MB", heap.UsedSize/1e6)
	assert.Less(t, heap.UsedSize, 400e6)
	assert.Equal(t, "true", b.Eval(`chunks.size <= 64`))
	for _, trouble := range b.Troubles() {
		assert.Contains(t, trouble, "willReadFrequently", "the test reads pixels often")
	}
}

// rate returns the expression for the number of pictures a second while a film plays.
func rate(speed int) string {
	return `(async () => {
		await go(40);
		setSpeed(` + strconv.Itoa(speed) + `);
		play();
		const begun = performance.now(), from = boards[0].times.draws;
		await new Promise((done) => setTimeout(done, 2000));
		stop();
		return ((boards[0].times.draws - from) * 1000 / (performance.now() - begun)).toFixed(0) + ", at turn " + state.turn;
	})()`
}

// TestLayers: a board that is drawn again only where it changes looks like one that is drawn as a whole.
func TestLayers(t *testing.T) {
	for _, f := range []*film{craft(1, 40), arena(2, 40)} {
		b := browsertest.Open(t, serve(t, f).URL)
		opened(b)
		b.Eval(`boards[0].zoomBy(1.4)`)
		got := b.Eval(`(async () => {
			const b = boards[0];
			let partly = 0;
			const changedCells = b.changedCells;
			b.changedCells = function (...lists) { const cells = changedCells.apply(this, lists); if (cells) partly++; return cells };
			for (const [turn, moving] of [[0], [1], [2, true], [3, true], [4], [9], [10, true], [11], [30], [31], [12], [13, true], [14, true]]) {
				await go(turn);
				b.draw(1);
				if (moving) { await go(turn - 1); b.draw(1); arrive(turn, -1, true) }
				b.draw(0.5);
				const part = b.canvas.toDataURL();
				b.made = {};
				b.draw(0.5);
				if (b.canvas.toDataURL() !== part) return "turn " + turn + " differs";
			}
			return partly;
		})()`)
		partly, err := strconv.Atoi(got)
		require.NoError(t, err, got)
		assert.Equal(t, f.head["game"] == "codecraft", partly > 0, "%d frames drawn in part", partly)
	}
}

// written returns the entities of a moment in words, as the expression of TestDecode does.
func written(f *film, m moment) string {
	var all []string
	for _, it := range m.entities {
		fields := []string{fmt.Sprint(f.kinds[it[0].(int)][0])}
		for _, v := range it[1:10] {
			fields = append(fields, fmt.Sprint(v))
		}
		all = append(all, strings.Join(fields, ","))
	}
	return strings.Join(all, ";")
}

// TestDecode: the page makes of lists that are coded as differences the lists that they stand for.
func TestDecode(t *testing.T) {
	for _, f := range []*film{arena(3, 20), craft(4, 70)} {
		b := browsertest.Open(t, serve(t, f).URL)
		opened(b)
		for turn := 0; turn < len(f.positions); turn += 3 {
			for k, m := range f.positions[turn] {
				got := b.Eval(fmt.Sprintf(`go(%d, %d).then(() => boards[0].frame.entities.map((e) => [e.kind, e.owner, e.x, e.y, e.width, e.height, e.health, e.number, e.flags, e.id].join()).join(";"))`, turn, k))
				if want := written(f, m); got != want {
					t.Fatalf("turn %d, frame %d: %s, want %s", turn, k, got, want)
				}
			}
		}
		assert.Empty(t, b.Troubles())
	}
}

// TestCache: the page keeps the last 64 chunks that it used, and asks again for others.
func TestCache(t *testing.T) {
	f := arena(3, 200)
	f.head["chunk"] = 2
	s := serve(t, f)
	b := browsertest.Open(t, s.URL)
	opened(b)
	b.Becomes(`(async () => { for (let turn = 0; turn <= 200; turn++) await go(turn); return chunks.size })()`, "64")
	before := len(s.requests())
	b.Becomes(`go(199).then(() => state.turn)`, "199")
	assert.Len(t, s.requests(), before)
	b.Becomes(`go(1).then(() => state.turn + " " + chunks.size)`, "1 64")
	assert.Len(t, s.requests(), before+1)
	assert.Empty(t, b.Troubles())
}
