package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	cckit "moonfarm/features/codecraft"
	tmkit "moonfarm/features/terminal"
	tdkit "moonfarm/features/towerdefence"
	tronkit "moonfarm/features/tron"
	"moonfarm/rollout/view/picture"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
	tm "moonfarm/sim/terminal"
	td "moonfarm/sim/towerdefence"
	"moonfarm/sim/tron"
)

// scenes has a small scene of each game, by the name of its file in testdata.
func scenes(t *testing.T) map[string]*features.Scene {
	t.Helper()
	all := map[string]*features.Scene{}
	add := func(name string, draw func(dst *features.Scene)) {
		all[name] = &features.Scene{}
		draw(all[name])
	}
	text := func(name string) string {
		b, err := os.ReadFile("testdata/" + name + ".txt")
		require.NoError(t, err)
		return string(b)
	}

	light, err := tron.New(tron.DefaultRules())
	require.NoError(t, err)
	cycles, err := tron.ParseText(text("tron"))
	require.NoError(t, err)
	add("tron", func(dst *features.Scene) { tronkit.Kit(light).Scene(dst, &cycles, features.Spectator) })

	towers, err := td.New(td.DefaultRules())
	require.NoError(t, err)
	round, err := td.ParseText(towers, text("towerdefence"))
	require.NoError(t, err)
	add("towerdefence", func(dst *features.Scene) { tdkit.Kit(towers).Scene(dst, &round, features.Spectator) })

	arena, err := tm.New(tm.DefaultRules())
	require.NoError(t, err)
	turn, err := tm.ParseText(arena, text("terminal"))
	require.NoError(t, err)
	add("terminal", func(dst *features.Scene) {
		r := arena.Rules()
		tmkit.Kit(arena).Scene(dst, &turn, features.Spectator)
		tmkit.AddMobile(dst, &r, []tm.Piece{
			{At: tm.Pos{X: 16, Y: 9}, Kind: tm.Scout, Player: 0, Health: 15}, {At: tm.Pos{X: 16, Y: 9}, Kind: tm.Scout, Player: 0, Health: 15},
			{At: tm.Pos{X: 5, Y: 17}, Kind: tm.Demolisher, Player: 1, Health: 2},
		})
	})

	spawns := new(sim.Turn)
	spawns.Set(0, []sim.Order{tm.Spawn(tm.Scout, 14, 0, 5), tm.Spawn(tm.Demolisher, 3, 10, 1)})
	spawns.Set(1, []sim.Order{tm.Spawn(tm.Interceptor, 14, 27, 1)})
	add("terminal_frame", func(dst *features.Scene) { // the frame with the most events
		after := turn
		tmkit.Kit(arena).Frames(&after, spawns, features.Spectator, func(s *features.Scene) {
			if len(s.Events) > len(dst.Events) {
				*dst = *s
				dst.Areas, dst.Ranges, dst.Entities = slices.Clone(s.Areas), slices.Clone(s.Ranges), slices.Clone(s.Entities)
				dst.Events, dst.Stats = slices.Clone(s.Events), slices.Clone(s.Stats)
			}
		})
	})

	craft, err := cc.New(cc.DefaultRules())
	require.NoError(t, err)
	tick, err := cc.ParseText(craft, text("codecraft"))
	require.NoError(t, err)
	add("codecraft", func(dst *features.Scene) { cckit.Kit(craft).Scene(dst, &tick, features.Spectator) })
	add("codecraft_seat", func(dst *features.Scene) { cckit.Kit(craft).Scene(dst, &tick, 0) })
	return all
}

// TestGolden compares the picture of a small state of each game with a file.
func TestGolden(t *testing.T) {
	for name, s := range scenes(t) {
		t.Run(name, func(t *testing.T) {
			svg := picture.SVG(s, picture.Head{ID: "p", Title: name, Description: "A position for a test."})
			check(t, svg)
			simtest.Golden(t, "testdata/"+name+".svg", svg)
		})
	}
}

// check reads a picture as XML: one svg element with a title and a description, whose numbers are
// finite. It returns the names of all elements and all texts.
func check(t *testing.T, svg []byte) (elements map[string]int, texts []string) {
	t.Helper()
	elements = map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "%s", svg)
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			for _, a := range token.Attr {
				assert.False(t, strings.HasPrefix(a.Name.Local, "on"), "the attribute %s is a script", a.Name.Local)
			}
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
	assert.Equal(t, 1, elements["svg"])
	assert.Equal(t, 1, elements["desc"])
	for name := range elements {
		assert.Contains(t, []string{"svg", "title", "desc", "rect", "g", "path", "circle", "ellipse", "text", "clipPath"}, name, "an element that no picture needs")
	}
	assert.NotRegexp(t, regexp.MustCompile(`[ ="](NaN|[+-]?Inf)[ "]`), string(svg))
	return elements, texts
}

// TestHostile draws texts with markup and numbers that no board has.
func TestHostile(t *testing.T) {
	const markup = "\"><script>alert('&')</script>\x00\u202e]]>"
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	var s features.Scene
	s.Begin(4, 3)
	s.Title = markup
	s.Areas = []features.Area{{Owner: 100, Width: 4, Height: 3}, {X: nan, Width: 1, Height: 1}, {Width: inf, Height: 1}}
	for _, x := range []float32{0, nan, inf, -inf, 1e30} {
		s.Entities = append(s.Entities, features.Entity{Kind: markup, Letter: markup, Note: markup, Outline: 200, Owner: -100, X: x, Width: 1, Height: 1, Health: x})
		s.Ranges = append(s.Ranges, features.Range{Kind: markup, Owner: 50, X: x, Radius: 2}, features.Range{Kind: markup, Radius: x})
		s.Lines = append(s.Lines, features.Line{Kind: markup, Note: markup, X1: x, X2: 1, Arrow: true}, features.Line{Kind: markup, Y2: x, Arrow: true, Thick: true})
		s.Events = append(s.Events, features.Event{Kind: markup, Note: markup, X1: x, Amount: x, Owner: 77}, features.Event{Kind: markup, Y2: x})
		s.AddStat(markup, markup, 0, float64(x))
	}
	s.AddStat("health", "health", -1, 3)
	s.AddStat("far", "health", 1, -1e300)
	elements, texts := check(t, picture.SVG(&s, picture.Head{ID: markup, Title: markup, Description: markup}))
	assert.Contains(t, strings.Join(texts, ""), "<script>", "the texts are shown as they are")
	assert.Zero(t, elements["script"])
}

// TestNothing draws boards without a size that a picture can have.
func TestNothing(t *testing.T) {
	for _, size := range [][2]float32{{0, 0}, {-1, 3}, {float32(math.NaN()), 3}, {3, float32(math.Inf(1))}, {1e6, 1}} {
		var s features.Scene
		s.Begin(size[0], size[1])
		_, texts := check(t, picture.SVG(&s, picture.Head{ID: "p", Title: "empty"}))
		assert.Contains(t, texts, "nothing to draw", "%v", size)
	}
}

// TestCrowd draws many things of one kind: with one element for all that look alike, each at its place,
// also those of other outlines and with a health.
func TestCrowd(t *testing.T) {
	for name, outline := range map[string]features.Outline{"round": features.Round, "square": features.Square, "triangle": features.ToGreaterY} {
		t.Run(name, func(t *testing.T) {
			draw := func(noted bool) []byte {
				var s features.Scene
				s.Begin(40, 40)
				for i := range 1200 {
					e := features.Entity{Kind: "resource", Outline: outline, Owner: features.Nobody, X: float32(i * 7 % 40), Y: float32(i / 40), Width: 1, Height: 1, Health: 1}
					if i%3 == 0 {
						e.Health = float32(i%90+1) / 91
					}
					if noted {
						e.Note = "alone"
					}
					s.Entities = append(s.Entities, e)
				}
				return picture.SVG(&s, picture.Head{ID: "p", Title: name})
			}
			svg := draw(false)
			elements, texts := check(t, svg)
			assert.Less(t, elements["path"]+elements["ellipse"], 80, "elements for 11 looks")
			assert.Less(t, 3*len(svg), len(draw(true)), "bytes, and those of a picture with an element for each thing")
			assert.Contains(t, texts, "nobody resource, health 100 %")
			assert.Contains(t, texts, "nobody resource, health 41 to 50 %")
			places := placesOf(t, svg)
			assert.Equal(t, 1200, len(places), "places of things")
			for i := range 1200 {
				assert.True(t, places[[2]int{i * 7 % 40, i / 40}], "nothing at %d,%d", i*7%40, i/40)
			}
		})
	}
}

// placesOf returns the cells in which the paths of a crowd have a part.
func placesOf(t *testing.T, svg []byte) map[[2]int]bool {
	t.Helper()
	const cell, left, top = 18, 26, 26 + 18 // of a board of 40 cells
	places := map[[2]int]bool{}
	for _, path := range regexp.MustCompile(`<path d="(M[^"]*)" stroke-line(?:cap|join)`).FindAllSubmatch(svg, -1) {
		x, y := 0.0, 0.0 // of the last move, and of the end of its steps, since h0 and z lead back
		for _, part := range regexp.MustCompile(`[Mm](-?[0-9.]+) ?(-?[0-9.]+)`).FindAllSubmatch(path[1], -1) {
			dx, err := strconv.ParseFloat(string(part[1]), 64)
			require.NoError(t, err)
			dy, err := strconv.ParseFloat(string(part[2]), 64)
			require.NoError(t, err)
			if part[0][0] == 'M' {
				x, y = 0, 0
			}
			x, y = x+dx, y+dy
			if row := int((y - top) / cell); row < 40 { // others are in the legend
				places[[2]int{int((x - left) / cell), row}] = true
			}
		}
	}
	return places
}

// TestEvents draws an event at one place as a ring and one from place to place as an arrow.
func TestEvents(t *testing.T) {
	var s features.Scene
	s.Begin(8, 8)
	s.Events = []features.Event{
		{Kind: "death", Owner: 1, X1: 2.5, Y1: 2.5, X2: 2.5, Y2: 2.5, Note: "scout"},
		{Kind: "attack", X1: 2.5, Y1: 2.5, X2: 5.5, Y2: 2.5, Amount: 12.5},
		{Kind: "attack", X1: 2.5, Y1: 2.5, X2: 5.5, Y2: 6.5, Amount: 3},
	}
	elements, texts := check(t, picture.SVG(&s, picture.Head{ID: "p", Title: "events"}))
	assert.Equal(t, 1, elements["circle"])
	assert.Equal(t, 3, elements["path"], "two arrows, and one in the legend")
	for _, text := range []string{"B death, scout", "A attack, 12.5", "A attack, 3", "event"} {
		assert.Contains(t, texts, text)
	}
	assert.Contains(t, strings.Join(texts, ""), "Events: 2 attack, 1 death.")
}

// TestLongArrows: a long arrow shows where it leads, but does not cross the board.
func TestLongArrows(t *testing.T) {
	draw := func(x, y float32) string {
		s := features.Scene{Width: 80, Height: 80, Lines: []features.Line{{Kind: "move", X1: 1, Y1: 1, X2: x, Y2: y, Arrow: true}}}
		return string(picture.SVG(&s, picture.Head{ID: "s"}))
	}
	assert.Equal(t, draw(31, 41), draw(61, 81), "the same direction")
	assert.NotEqual(t, draw(31, 41), draw(41, 31))
	assert.NotEqual(t, draw(4, 5), draw(7, 9), "short arrows lead to their end")
}
