package view_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/rollout/view"
)

// printed is what a seat printed in a turn, as the page gets it.
type printed struct {
	Lines []string
	Left  int
}

// printedIn returns what the page gets of an output: by position and seat.
func printedIn(t *testing.T, o *view.Output) [][]printed {
	t.Helper()
	f, err := played(t, "tron", "", "random", 0, 1).Film(0)
	require.NoError(t, err)
	f.Annotate(&view.Annotation{Output: o})
	return printedOf(t, f.Turns(), func(from int) ([]byte, error) { return f.Frames(-1, from) })
}

// printedOf returns what the page gets of the chunks of a game.
func printedOf(t *testing.T, turns int, frames func(from int) ([]byte, error)) (all [][]printed) {
	t.Helper()
	for from := 0; from <= turns; from += view.Chunk {
		text, err := frames(from)
		require.NoError(t, err)
		var k struct{ Printed [][]printed }
		require.NoError(t, json.Unmarshal(text, &k))
		if k.Printed == nil {
			k.Printed = make([][]printed, min(view.Chunk, turns+1-from))
		}
		require.Len(t, k.Printed, min(view.Chunk, turns+1-from))
		all = append(all, k.Printed...)
	}
	return all
}

// one returns lines of seat A.
func one(lines ...string) []printed { return []printed{{Lines: lines}, {}} }

// TestOutputLog: the lines of a log belong to the position after the turn in which they were printed.
func TestOutputLog(t *testing.T) {
	for _, c := range []struct {
		name, log string
		want      map[int][]printed
	}{
		{"nothing", "", nil},
		{"marks only", "== turn 0 ==\n== turn 0: [] [] ==\n", nil},
		{"turns", "hello\n== turn 0 ==\na\n\n  b\n== turn 0: [] [] ==\nlate\n== turn 1 ==\n== turn 1: [] [] ==\n== turn 2 ==\nc", map[int][]printed{0: one("hello"), 1: one("a", "  b", "late")}},
		{"a last line", "== turn 0 ==\nc\n", map[int][]printed{1: one("c")}},
		{"rounds", "== round 0 ==\r\na\r\n== round 0: no command ==\n== round 1 ==\nb\n== round 1: command \"0,0,2\" ==\n", map[int][]printed{1: one("a"), 2: one("b")}},
		{"a game that begins later", "== tick 70 ==\na\n== tick 71 ==\nb\n", map[int][]printed{1: one("a"), 2: one("b")}},
		{"forged marks", "== turn 0 ==\n== turn 7 ==\n== turn 0 ==\n== turn 99999999999999999999 ==\n== turn 5: x ==\n== turn 1 ==\nb\n",
			map[int][]printed{1: one("== turn 7 ==", "== turn 0 ==", "== turn 99999999999999999999 ==", "== turn 5: x =="), 2: one("b")}},
		{"hostile", "== turn 0 ==\n<b>\x1b[31mred\x1b[0m\x00\x07 \u202eabc\u2028 \xff\tx\x1b]0;title\x07\n", map[int][]printed{1: one("<b>red abc \uFFFD x]0;title")}},
		{"a wide line", "== turn 0 ==\n" + strings.Repeat("é", 100000) + "\n", map[int][]printed{1: one(strings.Repeat("é", 299) + "…")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := view.NewOutput(2)
			n, err := whole.Log(0).Write([]byte(c.log))
			require.True(t, n == len(c.log) && err == nil, "%d, %v", n, err)
			got := printedIn(t, whole)
			assert.Equal(t, c.want != nil, whole.Any())
			for position, list := range got {
				assert.Equal(t, c.want[position], list, "position %d", position)
			}
			parts := view.NewOutput(2)
			w, random := parts.Log(0), rand.New(rand.NewPCG(1, 2))
			for rest := c.log; rest != ""; {
				n := min(1+random.IntN(7), len(rest))
				_, err := w.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
			}
			assert.Equal(t, got, printedIn(t, parts), "written in parts")
		})
	}
}

// TestOutputBounds: what is beyond the bounds is counted.
func TestOutputBounds(t *testing.T) {
	o := view.NewOutput(2)
	o.Add(1, 1, []byte(strings.Repeat("x\n", 170)))
	for _, wrong := range [][2]int{{-1, 0}, {0, -1}, {0, 2}} {
		o.Add(wrong[0], wrong[1], []byte("y"))
	}
	o.Add(2, 0, []byte("z"))
	got := printedIn(t, o)
	assert.Nil(t, got[0])
	require.Len(t, got[1][1].Lines, 100)
	assert.Equal(t, 70, got[1][1].Left)
	assert.Equal(t, one("z"), got[2])

	o = view.NewOutput(2)
	for position := range 1000 {
		o.Add(position, 0, []byte(strings.Repeat(strings.Repeat("w", 299)+"\n", 100)))
	}
	o.Add(2, 1, []byte(strings.Repeat("w", 299)))
	got = printedIn(t, o)
	assert.Len(t, got[1][0].Lines, 100)
	assert.Equal(t, printed{Lines: []string{}, Left: 1}, got[2][1], "the bound of the game is reached")

	forged := view.NewOutput(2)
	w := forged.Log(0)
	for n := range 300_000 { // more turns than are kept
		fmt.Fprintf(w, "== turn %d ==\nx\n", n)
	}
	assert.Equal(t, one("x"), printedIn(t, forged)[1])
}

// FuzzOutput: any log gives lines that can be printed.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("== turn 0 ==\na\x1b[1m\xff\n== turn 0: [] ==\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		o := view.NewOutput(2)
		o.Log(0).Write(log)
		live := view.NewLive("tron", "", []string{"a", "b"}, false)
		live.Log(1).Write(log)
		for _, list := range printedIn(t, o) {
			for _, p := range list {
				for _, line := range p.Lines {
					assert.False(t, strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
				}
			}
		}
	})
}

// TestLiveLog: a game that is played shows what its bots have printed so far.
func TestLiveLog(t *testing.T) {
	l := played(t, "tron", "", "random", 0, 1)
	f, err := l.Film(0)
	require.NoError(t, err)
	list := scenes(t, f, -1)
	live := view.NewLive("tron", "", []string{"a", "b"}, false)
	show := func(n int) {
		live.Show(func(dst *features.Scene, _ int) { *dst = list[n][len(list[n])-1] })
	}
	now := func(turns int) [][]printed {
		return printedOf(t, turns, func(from int) ([]byte, error) {
			return live.Answer(fmt.Sprintf("frames.json?game=0&from=%d", from))
		})
	}
	head := func() (h struct{ Printed bool }) {
		text, err := live.Answer("film.json?game=0")
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &h))
		return h
	}
	a, b := live.Log(0), live.Log(1)
	show(0)
	assert.False(t, head().Printed)
	assert.Equal(t, [][]printed{nil}, now(0))
	before := live.Version()
	fmt.Fprint(a, "start\n== turn 0 ==\nfirst\n== turn 0: x ==\n")
	assert.Greater(t, live.Version(), before, "the page asks again")
	assert.True(t, head().Printed)
	assert.Equal(t, [][]printed{one("start")}, now(0))
	show(1)
	fmt.Fprint(b, "== turn 0 ==\n== turn 1 ==\nsecond\n")
	show(2)
	assert.Equal(t, [][]printed{one("start"), one("first"), {{}, {Lines: []string{"second"}}}}, now(2))

	var all sync.WaitGroup // bots print while the page asks
	for range 4 {
		all.Go(func() { fmt.Fprint(live.Log(0), strings.Repeat("more\n", 1000)) })
	}
	for range 20 {
		now(2)
	}
	all.Wait()
	assert.Equal(t, printed{Lines: now(2)[0][0].Lines, Left: 4000 + 1 - 100}, now(2)[0][0])
}

// TestAnnotate: marks and series come after those that the film has.
func TestAnnotate(t *testing.T) {
	f, err := played(t, "tron", "", "random", 0, 1).Film(0)
	require.NoError(t, err)
	before, err := f.Stats()
	require.NoError(t, err)
	nan := float32(math.NaN())
	f.Annotate(&view.Annotation{Marks: []view.Mark{{Turn: 1, Kind: "worst", Seat: 1, Note: "<b>"}}})
	f.Annotate(&view.Annotation{Series: []view.Series{{Name: "one", Values: []float32{1, 2, nan, 4}}}, Output: view.NewOutput(2)})
	f.Annotate(&view.Annotation{Series: []view.Series{{Name: "two", Values: []float32{5, 6}}}})
	assert.True(t, f.HasSeries("one") && f.HasSeries("two") && !f.HasSeries("three"))
	assert.Equal(t, "tron", f.Game())
	assert.Equal(t, []string{"random", "random"}, f.Players())
	text, err := f.Head()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"marks":[{"turn":1,"kind":"worst","seat":1,"note":"\u003cb\u003e"}]`)
	assert.Contains(t, string(text), `"printed":false`)
	text, err = f.Stats()
	require.NoError(t, err)
	var was, is struct{ Turns [][]any }
	require.NoError(t, json.Unmarshal(before, &was))
	require.NoError(t, json.Unmarshal(text, &is))
	for n, more := range [][]any{{1., 2., 5., 6.}, {nil, 4., nil, nil}, {nil, nil, nil, nil}} {
		assert.Equal(t, append(was.Turns[n], more...), is.Turns[n])
	}
}
