package picture_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
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
	"moonfarm/rollout/view/picture/raster"
	"moonfarm/rollout/view/picture/svg"
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
				*dst = s.Clone()
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
			svg := svg.Draw(s, "p", name)
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
		assert.Contains(t, []string{"svg", "title", "desc", "rect", "g", "path", "circle", "ellipse", "text", "clipPath", "defs", "use"}, name, "an element that no picture needs")
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
	elements, texts := check(t, svg.Draw(&s, markup, markup))
	assert.Contains(t, strings.Join(texts, ""), "<script>", "the texts are shown as they are")
	assert.Zero(t, elements["script"])
}

// TestNothing draws boards without a size that a picture can have.
func TestNothing(t *testing.T) {
	for _, size := range [][2]float32{{0, 0}, {-1, 3}, {float32(math.NaN()), 3}, {3, float32(math.Inf(1))}, {1e6, 1}} {
		var s features.Scene
		s.Begin(size[0], size[1])
		_, texts := check(t, svg.Draw(&s, "p", "empty"))
		assert.Contains(t, texts, "nothing to draw", "%v", size)
	}
}

// TestAlike: things that look alike are drawn once and used at their places; those that follow each other and of which the same is to
// be said have one name.
func TestAlike(t *testing.T) {
	var s features.Scene
	s.Begin(40, 40)
	for i := range 1200 {
		s.Entities = append(s.Entities, features.Entity{Kind: "resource", Outline: features.Round, Owner: features.Nobody, X: float32(i * 7 % 40), Y: float32(i / 40), Width: 1, Height: 1, Health: 1})
	}
	drawn := svg.Draw(&s, "p", "alike")
	elements, texts := check(t, drawn)
	assert.Equal(t, 2, elements["ellipse"], "and one in the legend")
	assert.Contains(t, texts, "nobody resource, health 100 %")
	assert.Equal(t, 2, elements["title"])
	assert.Less(t, len(drawn), 1200*50)
	places := map[string]bool{}
	for _, use := range regexp.MustCompile(`<use href="#p-l1" (x="\d+" y="\d+")/>`).FindAllSubmatch(drawn, -1) {
		places[string(use[1])] = true
	}
	for y := range 30 {
		for x := range 40 {
			assert.Contains(t, places, fmt.Sprintf(`x="%d" y="%d"`, 24+18*x+1, 24+18+18*y+1))
		}
	}
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
	elements, texts := check(t, svg.Draw(&s, "p", "events"))
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
		return string(svg.Draw(&s, "s", ""))
	}
	assert.Equal(t, draw(31, 41), draw(61, 81), "the same direction")
	assert.NotEqual(t, draw(31, 41), draw(41, 31))
	assert.NotEqual(t, draw(4, 5), draw(7, 9), "short arrows lead to their end")
}

func painter(t *testing.T, s picture.Settings) *raster.Painter {
	t.Helper()
	p, err := raster.New(s)
	require.NoError(t, err)
	return p
}

// kinds has the pictures that the tests draw of a scene.
var kinds = []picture.Settings{{Width: 256}, {Width: 900}, {Width: 300, Stats: true}, {Width: 900, Stats: true, Legend: true}, {Width: 120, Legend: true}}

// TestPixels compares checksums of pictures with a file: they are the same on every machine. One Painter draws all scenes.
func TestPixels(t *testing.T) {
	var sums bytes.Buffer
	for _, kind := range kinds {
		p := painter(t, kind)
		all := scenes(t)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			m, err := p.Draw(all[name], name)
			require.NoError(t, err)
			assert.True(t, m.Opaque(), "%s %v", name, kind)
			assert.Equal(t, kind.Width, m.Rect.Dx())
			fmt.Fprintf(&sums, "%s %+v %v %x\n", name, kind, m.Rect.Max, sha256.Sum256(m.Pix))
		}
	}
	simtest.Golden(t, "testdata/checksums.txt", sums.Bytes())
}

// TestReuse: pictures do not depend on what the Painter drew before.
func TestReuse(t *testing.T) {
	all := scenes(t)
	for _, kind := range kinds {
		used := painter(t, kind)
		for range 2 {
			for name, s := range all {
				got, err := used.Draw(s, "a title")
				require.NoError(t, err)
				want, err := painter(t, kind).Draw(s, "a title")
				require.NoError(t, err)
				assert.Equal(t, want.Rect, got.Rect)
				assert.True(t, bytes.Equal(want.Pix, got.Pix), "%s %+v", name, kind)
			}
		}
	}
}

// TestAllocations: a Painter that has drawn a scene draws it again without allocations.
func TestAllocations(t *testing.T) {
	for name, s := range scenes(t) {
		p := painter(t, picture.Settings{Width: 256})
		draw := func() { _, _ = p.Draw(s, "") }
		draw()
		assert.Zero(t, testing.AllocsPerRun(10, draw), name)
	}
}

// TestColours: the middle of an entity, of a hidden area and of an empty one have the colours of the SVG.
func TestColours(t *testing.T) {
	var s features.Scene
	s.Begin(4, 2)
	s.Areas = []features.Area{{Owner: 1, Width: 4, Height: 2}, {Hidden: true, X: 3, Width: 1, Height: 2}}
	s.Entities = []features.Entity{{Kind: "wall", Owner: 0, Width: 1, Height: 1}, {Kind: "unit", Outline: features.Round, Owner: 3, X: 1, Width: 1, Height: 1, Unfinished: true}}
	at := func(up bool, x, y int) string {
		s.Up = up
		m, err := painter(t, picture.Settings{Width: 200}).Draw(&s, "")
		require.NoError(t, err)
		c := m.RGBAAt(50*x+25, 50*y+25)
		return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	for _, up := range []bool{false, true} {
		low, high := 0, 1
		if up {
			low, high = 1, 0
		}
		assert.Equal(t, "#73b1d5", at(up, 0, low))
		assert.Equal(t, "#ffffff", at(up, 1, low))
		assert.Equal(t, "#fcf4ee", at(up, 0, high))
		assert.Equal(t, "#c9c9c9", at(up, 3, high))
	}
}

// TestHostilePixels draws texts and numbers that no game has: the picture stays as large, and its corner that nothing reaches
// as it was.
func TestHostilePixels(t *testing.T) {
	markup := strings.Repeat("\"><script>\x00\u202e\xff日本 ", 50)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	var s features.Scene
	s.Begin(40, 30)
	s.Title = markup
	s.Areas = []features.Area{{Owner: 100, Width: 40, Height: 30}, {X: nan, Width: 1, Height: 1}, {Width: inf, Height: 1}, {X: 5, Y: 5, Width: -3, Height: -2}}
	for i := range 3000 {
		for _, x := range []float32{0, nan, inf, -inf, 1e30, -60, 139, float32(i%40) + float32(i)/3000} {
			kind := markup + fmt.Sprint(i%100)
			s.Entities = append(s.Entities, features.Entity{Kind: markup, Letter: markup[i%9:], Note: markup, Outline: features.Outline(i), Owner: int8(i), X: x, Y: x, Width: x, Height: 1, Health: x, Number: i * 1e6, Unfinished: i%3 == 0, Leaving: i%4 == 0})
			s.Ranges = append(s.Ranges, features.Range{Kind: kind, Owner: int8(i), X: x, Radius: 2}, features.Range{Radius: x / 40})
			s.Lines = append(s.Lines, features.Line{Kind: kind, X1: x, X2: 1, Arrow: true}, features.Line{Y2: x, Arrow: true, Thick: true})
			s.Events = append(s.Events, features.Event{X1: x, Y2: x}, features.Event{X1: x, Y1: x, X2: x, Y2: x})
		}
	}
	for i := range 30 {
		s.AddStat(markup+fmt.Sprint(i%3), markup, i-10, float64(nan)*float64(i))
	}
	for _, kind := range kinds {
		m, err := painter(t, kind).Draw(&s, markup)
		require.NoError(t, err)
		assert.Equal(t, kind.Width, m.Rect.Dx())
		assert.Less(t, m.Rect.Dy(), 2000)
		assert.True(t, m.Opaque())
	}
}

// TestErrors asks for pictures that nobody could use.
func TestErrors(t *testing.T) {
	for _, width := range []int{-1, 0, raster.MostWidth + 1, math.MaxInt} {
		_, err := raster.New(picture.Settings{Width: width})
		assert.ErrorContains(t, err, "width ", "%d", width)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		width, height float32
		want          string
	}{
		{0, 0, "a board of 0 × 0 cells"}, {-1, 3, "a board of -1 × 3 cells"}, {nan, 3, "cells"}, {3, inf, "cells"}, {1e6, 1, "cells"},
		{300, 1, "a column needs a pixel"}, {1, 4096, "expected at most 16777216 in all"}, {1e-30, 1e-30, "pixels"}, {1e-5, 4000, "pixels"},
	} {
		var s features.Scene
		s.Begin(c.width, c.height)
		m, err := painter(t, picture.Settings{Width: 256}).Draw(&s, "")
		if c.width == 1e-30 && err == nil { // a board smaller than a pixel
			assert.LessOrEqual(t, m.Rect.Dy(), 256)
			continue
		}
		assert.ErrorContains(t, err, c.want, "%v", c)
	}
	var s features.Scene
	s.Begin(8, 8)
	m, err := painter(t, picture.Settings{Width: 30, Stats: true, Legend: true}).Draw(&s, "title")
	assert.ErrorContains(t, err, "a column needs a pixel")
	assert.Nil(t, m)
	m, err = painter(t, picture.Settings{Width: 8}).Draw(&s, "title")
	require.NoError(t, err)
	assert.Equal(t, image.Pt(8, 8), m.Rect.Max)
}
