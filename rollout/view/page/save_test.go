package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
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

func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

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
	require.NoError(t, f.Moments(seat, position, func(s *features.Scene) { list = append(list, s.Clone()) }))
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

// TestSaveVideo: the browser records what the page plays, until it pauses: a video with frames that a browser can show. The picture
// of a position has the board and a line above it.
func TestSaveVideo(t *testing.T) {
	_, page := playedFilm(t, "terminal", "", "scatter", 12)
	b := browsertest.Open(t, page+"#episode=0&turn=3")
	opened(b)
	dir := downloadsTo(t, b)
	click(b, "save")
	m, err := png.Decode(bytes.NewReader(download(t, dir, "moonfarm-0-turn-3.png")))
	require.NoError(t, err)
	size := b.Eval(`[boards[0].canvas.width, boards[0].canvas.height + 28].join()`)
	require.Equal(t, size, fmt.Sprintf("%d,%d", m.Bounds().Dx(), m.Bounds().Dy()))
	click(b, "save-video")
	b.Becomes(`state.playing + " " + document.getElementById("save-video").innerText`, "true End video")
	b.Becomes(`state.turn >= 5`, "true")
	click(b, "save-video")
	b.Becomes(`state.playing + " " + document.getElementById("save-video").innerText`, "false Save video")
	b.Becomes(textOf("say"), "Saved moonfarm-0-turn-3.webm")
	download(t, dir, "moonfarm-0-turn-3.webm")
	assert.Empty(t, b.Troubles())
	b.Navigate("file://" + filepath.Join(dir, "moonfarm-0-turn-3.webm"))
	b.Becomes(`((v) => [v?.videoWidth, v?.videoHeight].join())(document.querySelector("video"))`, size)
	b.Eval(`document.querySelector("video").play()`)
	b.Becomes(`document.querySelector("video").getVideoPlaybackQuality().totalVideoFrames > 1`, "true")
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
