package page

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/browsertest"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
	"moonfarm/sim"
)

// sinkFunc is a sink of one function.
type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

// playedFilm returns the film of a game of a policy against itself, and the name of a page that has all of it.
func playedFilm(t *testing.T, game, rules, spec string, turns int) (*view.Film, string) {
	t.Helper()
	vector := func() env.Vector {
		entry, err := catalog.Find(game)
		require.NoError(t, err)
		v, err := entry.New(rules, env.Settings{N: 1, MaxTurns: turns})
		require.NoError(t, err)
		return v
	}
	v := vector()
	var seats []rollout.Policy
	for range v.Spec().Info.Players {
		m, err := policy.New(game, spec)
		require.NoError(t, err)
		p, err := m(v.Spec())
		require.NoError(t, err)
		seats = append(seats, p)
	}
	l := &view.List{Title: "test"}
	require.NoError(t, rollout.Shard(context.Background(), v, seats, 5, 0, 1, sinkFunc(func(e *rollout.Episode) error {
		c := *e
		c.Orders, c.Ends, c.Policies = slices.Clone(e.Orders), slices.Clone(e.Ends), slices.Clone(e.Policies)
		l.Entries = append(l.Entries, view.EntryOf(e.ID, "", &c))
		l.Open = func(int) (*view.Film, error) {
			return view.NewFilm(view.Game{Vector: vector(), Episode: &c, Orders: func(o []sim.Order) []string { return []string{fmt.Sprint(len(o), " orders")} }})
		}
		return nil
	})))
	all, err := view.NewResponder(l).Everything(100 << 20)
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "film.html")
	require.NoError(t, os.WriteFile(name, HTML(all), 0o600))
	f, err := l.Film(0)
	require.NoError(t, err)
	return f, "file://" + name
}

// scenesOf returns the scenes of a position.
func scenesOf(t *testing.T, f *view.Film, seat, position int) (list []features.Scene) {
	t.Helper()
	require.NoError(t, f.EachFrame(seat, position, position, nil, func(s *features.Scene) {
		c := *s
		c.Areas, c.Ranges, c.Entities = slices.Clone(s.Areas), slices.Clone(s.Ranges), slices.Clone(s.Entities)
		c.Lines, c.Events, c.Stats = slices.Clone(s.Lines), slices.Clone(s.Events), slices.Clone(s.Stats)
		list = append(list, c)
	}))
	return list
}

// download returns a file that the page has saved.
func download(t *testing.T, dir, name string) (data []byte) {
	t.Helper()
	require.Eventually(t, func() bool { data, _ = os.ReadFile(filepath.Join(dir, name)); return len(data) > 0 }, time.Minute, 10*time.Millisecond)
	return data
}

// goTo opens an address of the page. It waits until the page has written its own.
func goTo(b *browsertest.Browser, hash string) {
	b.Becomes(`hashDue`, "0")
	b.Eval(fmt.Sprintf(`location.hash = %q`, hash))
}

// downloadsTo makes the browser keep what it downloads in a new folder.
func downloadsTo(t *testing.T, b *browsertest.Browser) string {
	dir := t.TempDir()
	b.Call("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir}, &struct{}{})
	return dir
}

// decodedGIF returns the pictures of a GIF as a program shows them, one over the other.
func decodedGIF(t *testing.T, data []byte) (*gif.GIF, []*image.RGBA) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(data))
	require.NoError(t, err)
	var all []*image.RGBA
	now := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	for i, m := range g.Image {
		require.Equal(t, byte(gif.DisposalNone), g.Disposal[i])
		for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
			for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
				if c := m.At(x, y).(color.RGBA); c.A > 0 {
					now.SetRGBA(x, y, c)
				}
			}
		}
		c := *now
		c.Pix = slices.Clone(now.Pix)
		all = append(all, &c)
	}
	return g, all
}

// requireLike compares two pictures: the mean difference, and the share of pixels that differ much.
func requireLike(t *testing.T, want image.Image, got *image.RGBA, what string) {
	t.Helper()
	require.Equal(t, want.Bounds(), got.Bounds(), what)
	sum, far, n := 0, 0, 0
	for y := range got.Rect.Max.Y {
		for x := range got.Rect.Max.X {
			r, g, b, _ := want.At(x, y).RGBA()
			c, worst := got.RGBAAt(x, y), 0
			for _, d := range []int{int(r>>8) - int(c.R), int(g>>8) - int(c.G), int(b>>8) - int(c.B)} {
				sum, worst, n = sum+max(d, -d), max(worst, d, -d), n+1
			}
			if worst > 40 {
				far++
			}
		}
	}
	require.Less(t, float64(sum)/float64(n), 1.0, "%s: the mean difference", what)
	require.LessOrEqual(t, far*1000, n/3, "%s: %d of %d pixels have another colour", what, far, n/3)
}

// TestGIFEncoder: the encoder's files have the pixels that it was given: one pixel, few colours, many colours, noise that
// fills the table of LZW, and pictures that are the same.
func TestGIFEncoder(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 2)).URL)
	opened(b)
	g := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name                                   string
		width, height, colours, frames, change int
	}{
		{"one pixel", 1, 1, 1, 1, 0}, {"two colours", 31, 17, 2, 3, 5}, {"3 colours", 64, 64, 3, 2, 4096}, {"4 colours", 9, 300, 4, 4, 40}, {"noise of 255 colours", 150, 140, 255, 3, 21000},
		{"nothing changes", 20, 20, 7, 3, 0}, {"a flat colour", 400, 300, 1, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pictures [][]int // colours of the pixels
			pixels := make([]int, c.width*c.height)
			for i := range pixels {
				pixels[i] = g.IntN(c.colours)
			}
			for range c.frames {
				pictures = append(pictures, slices.Clone(pixels))
				for range c.change {
					pixels[g.IntN(len(pixels))] = g.IntN(c.colours)
				}
			}
			text, err := json.Marshal(pictures)
			require.NoError(t, err)
			got := b.Eval(fmt.Sprintf(`(async () => {
				const colours = new Colours(), pictures = %s.map((p) => ({ data: Uint8ClampedArray.from(p.flatMap((c) => [c, 255 - c, c * 77 %% 256, 255])) }));
				pictures.forEach((p) => colours.add(p));
				const gif = new GIF(%d, %d, colours.table());
				pictures.forEach((p, i) => gif.add(p, 3 + i));
				return btoa([...new Uint8Array(await gif.end().arrayBuffer())].map((c) => String.fromCharCode(c)).join(""));
			})()`, text, c.width, c.height))
			data, err := base64.StdEncoding.DecodeString(got)
			require.NoError(t, err, got)
			file, all := decodedGIF(t, data)
			require.Zero(t, file.LoopCount, "for ever")
			require.Len(t, all, c.frames)
			for i, m := range all {
				require.Equal(t, 3+i, file.Delay[i])
				for k, v := range pictures[i] {
					require.Equal(t, color.RGBA{uint8(v), uint8(255 - v), uint8(v * 77), 255}, m.RGBAAt(k%c.width, k/c.width), "picture %d, pixel %d", i, k)
				}
			}
		})
	}
	assert.Empty(t, b.Troubles())
}

// TestMedianCut: of more colours than a GIF may have, each pixel gets one that is near to its own.
func TestMedianCut(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 2)).URL)
	opened(b)
	got := b.Eval(`(() => {
		const data = new Uint8ClampedArray(4 * 256 * 256), colours = new Colours();
		for (let y = 0, i = 0; y < 256; y++) for (let x = 0; x < 256; x++, i += 4) data.set(y < 128 ? [255, 255, 255, 255] : [x, y, 128, 255], i);
		colours.add({ data });
		const table = colours.table(), gif = new GIF(256, 256, table);
		let worst = 0;
		for (const [c] of colours.counts) for (let k = 0, near = table[gif.nearest(c)]; k < 3; k++) worst = Math.max(worst, Math.abs(channel(c, k) - channel(near, k)));
		return [table.length, table[0] === 0xffffff, worst <= 24, colours.counts.size].join(" ");
	})()`)
	assert.Equal(t, "255 true true 32769", got)
	assert.Empty(t, b.Troubles())
}

// TestSaveGIF: the GIF of a real game has all frames of the turns, with the times of the speed, and looks like the frames;
// afterwards the page shows what it showed before.
func TestSaveGIF(t *testing.T) {
	f, page := playedFilm(t, "terminal", "", "scatter", 12)
	b := browsertest.Open(t, page+"#episode=0&turn=6&frame=4")
	opened(b)
	dir := downloadsTo(t, b)
	click(b, "show-ranges")
	shown := `(async () => { await new Promise(requestAnimationFrame); boards[0].draw(1); return [location.hash, state.turn, state.frame, state.playing, boards[0].canvas.toDataURL()].join() })()`
	b.Becomes(`location.hash`, "#episode=0&turn=6&frame=4")
	before := b.Eval(shown)
	click(b, "save-gif")
	b.Becomes(`["gif-first", "gif-last", "gif-width", "gif-speed"].map((id) => document.getElementById(id).value).join()`, "0,12,480,1")
	b.Becomes(textOf("gif-first-name"), "First turn")
	b.Picture("gif-dialog")
	b.Eval(`(() => { document.getElementById("gif-first").value = "3"; document.getElementById("gif-last").value = "5"; document.getElementById("gif-width").value = "360"; document.getElementById("gif-speed").value = "0.5" })()`)
	b.Eval(`document.getElementById("gif-width").focus()`)
	key(b, "Enter", 0)
	b.Becomes(textOf("say"), "Saved moonfarm-0-turn-3-5.gif")
	b.Becomes(`document.getElementById("gif").open + " " + gifJob`, "false null")
	file, all := decodedGIF(t, download(t, dir, "moonfarm-0-turn-3-5.gif"))
	require.Zero(t, file.LoopCount, "for ever")
	require.Equal(t, 360, file.Config.Width)
	at, told, i := 0.0, 0, 0
	for turn := 3; turn <= 5; turn++ {
		n := len(scenesOf(t, f, features.Spectator, turn))
		require.Greater(t, n, 1, "turn %d has moments", turn)
		for k := range n {
			require.Less(t, i, len(all))
			at += math.Max(250, 80*float64(n)) / float64(n) / 0.5 / 10
			require.InDelta(t, at, float64(told+file.Delay[i]), 1, "the end of frame %d", i)
			told += file.Delay[i]
			if k%5 == 0 || k == n-1 {
				url := b.Eval(fmt.Sprintf(`(() => { const s = new Sheet(boards[0], 360); s.picture(state.films[0], -1, %d, %d); s.close(); return s.whole.canvas.toDataURL() })()`, turn, k))
				data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
				require.NoError(t, err, url)
				want, err := png.Decode(bytes.NewReader(data))
				require.NoError(t, err)
				requireLike(t, want, all[i], fmt.Sprintf("turn %d, frame %d", turn, k))
			}
			i++
		}
	}
	require.Len(t, all, i)
	require.True(t, before == b.Eval(shown), "the page shows what it showed before")

	b.Eval(`boards[0].zoomBy(3)`) // the GIF has the part of the board that is shown
	before = b.Eval(shown)
	b.Eval(`(() => { openGIF(); for (const [id, value] of [["gif-first", 4], ["gif-last", 4], ["gif-width", 200]]) document.getElementById(id).value = value; return saveGIF() })()`)
	file, _ = decodedGIF(t, download(t, dir, "moonfarm-0-turn-4-4.gif"))
	require.Equal(t, fmt.Sprintf("200 %d", file.Config.Height), b.Eval(`"200 " + (Math.ceil(200 * boards[0].canvas.height / boards[0].canvas.width) + gifBounds.bar)`))
	require.True(t, before == b.Eval(shown), "the page shows what it showed before, zoomed")
	assert.Empty(t, b.Troubles())
}

// TestGIFRefused: wrong numbers get a sentence, a GIF has a bound, and what is cancelled saves nothing.
func TestGIFRefused(t *testing.T) {
	b := browsertest.Open(t, serve(t, arena(3, 700)).URL+"#episode=3&turn=690")
	opened(b)
	dir := downloadsTo(t, b)
	click(b, "save-gif")
	b.Becomes(`document.getElementById("gif-first").value + " " + document.getElementById("gif-last").value`, "660 700")
	try := func(first, last, width string) {
		b.Eval(fmt.Sprintf(`(() => { document.getElementById("gif-first").value = %q; document.getElementById("gif-last").value = %q; document.getElementById("gif-width").value = %q; saveGIF() })()`, first, last, width))
	}
	for _, c := range [][4]string{
		{"", "5", "480", "The turns are whole numbers from 0 to 700."}, {"1.5", "5", "480", "The turns are whole numbers from 0 to 700."}, {"-1", "5", "480", "The turns are whole numbers from 0 to 700."},
		{"1", "701", "480", "The turns are whole numbers from 0 to 700."}, {"6", "5", "480", "The first turn must not come after the last."}, {"6", "7", "20", "The width is a whole number from 120 to 1200."},
		{"6", "7", "99999", "The width is a whole number from 120 to 1200."}, {"0", "700", "480", "turns 0 to 700 have more than 600 frames, and a GIF may have 600. Choose fewer turns."},
		{"0", "300", "480", "turns 0 to 300 have more than 600 frames, and a GIF may have 600. Choose fewer turns."},
	} {
		try(c[0], c[1], c[2])
		b.Becomes(textOf("gif-say"), c[3])
		b.Becomes(`gifJob + " " + document.getElementById("gif").open`, "null true")
	}
	try("0", "200", "1200")
	b.Becomes(`document.getElementById("gif-say").innerText.startsWith("Frame ")`, "true")
	b.Picture("gif-progress")
	key(b, "Escape", 0)
	b.Becomes(`gifJob + " " + document.getElementById("gif").open`, "null false")
	b.Becomes(`document.getElementById("gif-go").disabled + " " + state.turn + " " + !!framesAt(state.films[0], state.turn)`, "false 690 true")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Empty(t, b.Troubles())
}

// savedPosition is the JSON of a position.
type savedPosition struct {
	Format, Game, Name, Title, Link string
	Version, ID, Seat, Turn, Turns  int
	Frame                           int
	Players                         []string
	Board                           struct {
		Width, Height float32
		Up            bool
	}
	Entities []struct {
		Kind                          string
		Owner                         int8
		ID                            uint32
		X, Y, Width, Height, Health   float64
		Number                        int
		Unfinished, Upgraded, Leaving bool
		Note                          string
	}
	Ranges []struct {
		Kind         string
		Owner        int8
		X, Y, Radius float64
	}
	Lines []struct {
		Kind, Note     string
		Owner          int8
		X1, Y1, X2, Y2 float64
		Arrow, Thick   bool
	}
	Areas []struct {
		X, Y, Width, Height float64
		Owner               int8
		Hidden              bool
	}
	Events []struct {
		Kind, Note             string
		Owner                  int8
		X1, Y1, X2, Y2, Amount float64
	}
	Stats []struct {
		Name, Unit string
		Seat       int8
		Value      float64
	}
	Orders [][]string
}

// rounded rounds as the page's data do.
func rounded(v float32) float64 { return math.Round(float64(v)*1000) / 1000 }

// requirePosition compares a position with a scene.
func requirePosition(t *testing.T, s *features.Scene, p *savedPosition) {
	t.Helper()
	require.Equal(t, s.Title, p.Title)
	require.Equal(t, []any{s.Width, s.Height, s.Up}, []any{p.Board.Width, p.Board.Height, p.Board.Up})
	require.Len(t, p.Entities, len(s.Entities))
	for i, e := range p.Entities {
		w := &s.Entities[i]
		require.Equal(t, []any{w.Kind, w.Owner, w.ID, w.Number, w.Unfinished, w.Upgraded, w.Leaving, w.Note}, []any{e.Kind, e.Owner, e.ID, e.Number, e.Unfinished, e.Upgraded, e.Leaving, e.Note})
		require.Equal(t, []float64{rounded(w.X), rounded(w.Y), rounded(w.Width), rounded(w.Height), rounded(w.Health)}, []float64{e.X, e.Y, e.Width, e.Height, e.Health})
	}
	require.Len(t, p.Ranges, len(s.Ranges))
	for i, r := range p.Ranges {
		w := &s.Ranges[i]
		require.Equal(t, []any{w.Kind, w.Owner, rounded(w.X), rounded(w.Y), rounded(w.Radius)}, []any{r.Kind, r.Owner, r.X, r.Y, r.Radius})
	}
	require.Len(t, p.Lines, len(s.Lines))
	for i, l := range p.Lines {
		w := &s.Lines[i]
		require.Equal(t, []any{w.Kind, w.Note, w.Owner, rounded(w.X1), rounded(w.Y1), rounded(w.X2), rounded(w.Y2), w.Arrow, w.Thick}, []any{l.Kind, l.Note, l.Owner, l.X1, l.Y1, l.X2, l.Y2, l.Arrow, l.Thick})
	}
	require.Len(t, p.Areas, len(s.Areas))
	for i, a := range p.Areas {
		w := &s.Areas[i]
		require.Equal(t, []any{rounded(w.X), rounded(w.Y), rounded(w.Width), rounded(w.Height), w.Owner, w.Hidden}, []any{a.X, a.Y, a.Width, a.Height, a.Owner, a.Hidden})
	}
	require.Len(t, p.Events, len(s.Events))
	for i, e := range p.Events {
		w := &s.Events[i]
		require.Equal(t, []any{w.Kind, w.Note, w.Owner, rounded(w.X1), rounded(w.Y1), rounded(w.X2), rounded(w.Y2), rounded(w.Amount)}, []any{e.Kind, e.Note, e.Owner, e.X1, e.Y1, e.X2, e.Y2, e.Amount})
	}
	require.Len(t, p.Stats, len(s.Stats))
	for i, n := range p.Stats {
		w := &s.Stats[i]
		require.Equal(t, []any{w.Name, w.Unit, w.Seat, w.Value}, []any{n.Name, n.Unit, n.Seat, n.Value})
	}
}

// TestSavePosition: a saved position has what the film's scene has, for all and for a seat under fog.
func TestSavePosition(t *testing.T) {
	for _, c := range []struct {
		game, rules, policy string
		turns               int
		at                  [][3]int // turn, frame and seat
	}{
		{"terminal", "", "scatter", 12, [][3]int{{5, 0, -1}, {9, 7, -1}, {12, -1, -1}, {0, -1, -1}}},
		{"codecraft", "round2", "econ", 50, [][3]int{{50, -1, -1}, {40, 0, 1}}},
	} {
		t.Run(c.game, func(t *testing.T) {
			f, page := playedFilm(t, c.game, c.rules, c.policy, c.turns)
			b := browsertest.Open(t, page)
			opened(b)
			dir := downloadsTo(t, b)
			for _, at := range c.at {
				list := scenesOf(t, f, at[2], at[0])
				frame := at[1]
				if frame < 0 {
					frame = len(list) - 1
				}
				turn, no, link, name := at[0], 0, fmt.Sprintf("#episode=0&turn=%d", at[0]), fmt.Sprintf("moonfarm-0-%s-%d", strings.Fields(list[0].Title)[0], at[0])
				if frame < len(list)-1 { // the first moment comes before the game's frame 0
					turn, no = at[0]-1, frame-1
					link, name = fmt.Sprintf("#episode=0&turn=%d&frame=%d", turn, no), fmt.Sprintf("moonfarm-0-turn-%d-frame-%d", turn, no)
				}
				if at[2] >= 0 {
					link += fmt.Sprintf("&seat=%d", at[2])
				}
				goTo(b, link)
				b.Becomes(`[state.turn, state.frame, state.seat, following].join()`, fmt.Sprintf("%d,%d,%d,0", at[0], frame, at[2]))
				click(b, "save-position")
				name += ".json"
				b.Becomes(textOf("say"), "Saved "+name)
				var p savedPosition
				require.NoError(t, json.Unmarshal(download(t, dir, name), &p))
				require.Equal(t, []any{"moonfarm position", 2, c.game, 0, "", link}, []any{p.Format, p.Version, p.Game, p.ID, p.Name, p.Link})
				require.Equal(t, []int{at[2], turn, c.turns, no}, []int{p.Seat, p.Turn, p.Turns, p.Frame})
				require.Len(t, p.Players, f.Seats())
				requirePosition(t, &list[frame], &p)
				if at[0] == c.turns {
					require.Empty(t, p.Orders)
				} else {
					require.Len(t, p.Orders, f.Seats())
				}
			}
			assert.Empty(t, b.Troubles())
		})
	}
}
