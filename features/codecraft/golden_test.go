package codecraft_test

import (
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"moonfarm/features"
	"moonfarm/features/codecraft"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

var update = flag.Bool("update", false, "write FEATURES.md and testdata/playthrough.txt anew")

// golden compares a text with a file, or writes it there.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("%s:%d is not what is written now (go test -update writes it anew):\n%s", name, i+1,
				strings.Join(a[min(i, len(a)):min(i+5, len(a))], "\n"))
		}
	}
}

func newGame(t *testing.T, preset string) *cc.Game {
	t.Helper()
	r, ok := cc.Preset(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
	g, err := cc.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const pageHead = "# CodeCraft 2020: observations and actions\n\n" +
	"Written by `go test ./features/codecraft -update` from what the code says of itself; a test compares the two.\n\n" +
	"Every observation shows the map as its player sees it in the original: turned so that its own start is at the lower left. Row y of a\n" +
	"plane is row y of the map, row 0 the lowest; the cell (x, y) is byte 80·y + x. With two players the other one starts at the upper\n" +
	"right; with more, the start of the opposite one is there, of the others at the lower right and at the upper left. Under fog of war\n" +
	"only what is in sight of an own entity at this tick is there, and nothing is remembered (`env.NewMemory` with `Remembered` is a layer\n" +
	"that does: it fills in what was last seen of resources and buildings); scores and resources of all players are\n" +
	"always known. \"Scale\" is the largest usual value: a value divided by it is about 0 … 1. Scales are those of the default rules.\n"

const pageOrders = "\n## All actions\n\n" +
	"The choices are not all that the rules allow: a move may go to any cell, a building may stand on any square that touches its builder,\n" +
	"and an action may have several parts. All of that can be given, and is recorded, as packed orders, in the frame of the recordings for\n" +
	"all players; `sim/codecraft` says their bits. Actions that no choice says have choice −1 in all heads of their row.\n\n" +
	"No choice breaks through on its way: a search that weighs what stands there takes many times as long, and play by random choices\n" +
	"three times. A step onto a resource or an enemy attacks it, so that paths can be cut; packed orders can break through.\n\n" +
	"Why one head a cell with 64 choices: the mask of a cell is one uint64 word, word 80·y + x of the row, and nearly all of them are 1\n" +
	"(leave as it is), so that masks cost little to write, to draw from and to store.\n"

// TestFeaturesPage compares FEATURES.md with Table, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	kit := codecraft.Kit(newGame(t, "finals"))
	shape, table := kit.Encoder.Shape(), kit.Encoder.Table()
	out := fmt.Appendf([]byte(pageHead), "\n## Planes\n\nuint8 [%d, %d, %d], row-major.\n\n| plane | name | unit | scale | |\n|---|---|---|---|---|\n",
		shape.Planes, shape.Height, shape.Width)
	out = appendFields(out, table.Planes)
	out = fmt.Appendf(out, "\n## Scalars\n\nfloat32 [%d], unscaled.\n\n| scalar | name | unit | scale | |\n|---|---|---|---|---|\n", shape.Scalars)
	out = appendFields(out, table.Scalars)
	out = fmt.Appendf(out, "\n## Packed words\n\nuint64 [%d]: what the planes show, without loss.\n\n```text\n%s\n```\n", shape.Words, sentences(table.Packed))
	heads := kit.Actions.Heads()
	out = fmt.Appendf(out, "\n## Actions\n\nHeads: %d × %d choices. The mask has one bit a choice in %d uint64 words; a set bit is accepted by the rules, a clear one refused.\n\n```text\n%s\n```\n",
		len(heads), heads[0], features.MaskWords(heads), kit.Actions.Doc())
	out = append(out, pageOrders...)
	out = append(out, "\n## Measures\n\nNumbers of a seat that rewards can be made of.\n\n| name | |\n|---|---|\n"...)
	for _, m := range kit.Measures {
		out = fmt.Appendf(out, "| `%s` | %s |\n", m.Name, m.Doc)
	}
	golden(t, "FEATURES.md", out)
}

func appendFields(out []byte, fields []features.Field) []byte {
	for i, f := range fields {
		out = fmt.Appendf(out, "| %d | `%s` | %s | %g | %s |\n", i, f.Name, f.Unit, f.Scale, f.Doc)
	}
	return out
}

// sentences breaks a text at the ends of its parts, for lines one can read.
func sentences(text string) string {
	text = strings.ReplaceAll(text, "; ", ";\n")
	return strings.ReplaceAll(text, ". ", ".\n")
}

// told is a choice for the entity at (x, y), as its player sees it.
type told struct{ x, y, choice int }

// match are the choices of a short match, by seat and tick.
var match = map[sim.Player]map[int][]told{
	0: {
		0:  {{4, 4, 6}},
		25: {{5, 5, 12}},
		26: {{5, 5, 1}, {10, 5, 51}},
		30: {{5, 5, 0}, {4, 4, 62}}, // not legal
	},
	1: {
		0:  {{4, 4, 3}},
		1:  {{3, 4, 4}},
		2:  {{3, 5, 56}},
		10: {{5, 5, 15}},
	},
}

// shown are the ticks that are written down.
var shown = []int{0, 1, 10, 27, 40}

// TestPlaythrough writes down what both seats see and may do in the match.
func TestPlaythrough(t *testing.T) {
	g := newGame(t, "finals")
	kit := codecraft.Kit(g)
	s, turn := new(cc.State), sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, 2)
	out := []byte("# What both seats see and may do in a short match by the rules of the finals, and what they choose: scalars that are not 0;\n" +
		"# of each plane the runs of equal values in its rows, as x,y=value or x–x,y=value, of sight only how many cells; the choices\n" +
		"# of heads that have more than one; the action as x,y=choice and its orders.\n")
	action := make([]int32, len(kit.Actions.Heads()))
	for tick := range 41 {
		for p := range sim.Player(2) {
			clear(action)
			for _, c := range match[p][tick] {
				action[c.y*80+c.x] = int32(c.choice)
			}
			orders := kit.Actions.AppendOrders(nil, action, s, p)
			turn.Set(p, orders)
			for _, n := range shown {
				if n == tick {
					out = fmt.Appendf(out, "\ntick %d seat %d\n", tick, p)
					out = appendView(out, kit, s, p)
				}
			}
			if len(match[p][tick]) > 0 {
				out = fmt.Appendf(out, "tick %d seat %d action", tick, p)
				for _, c := range match[p][tick] {
					out = fmt.Appendf(out, " %d,%d=%d", c.x, c.y, c.choice)
				}
				out = fmt.Appendf(out, " orders %#x\n", orders)
			}
		}
		if g.Step(s, turn) != sim.Running {
			t.Fatal("the match is over")
		}
	}
	golden(t, "testdata/playthrough.txt", out)
}

// appendView writes what is not 0 of an observation, and the mask.
func appendView(out []byte, kit features.Kit[cc.State], s *cc.State, p sim.Player) []byte {
	e := kit.Encoder
	shape, table := e.Shape(), e.Table()
	scalars := make([]float32, shape.Scalars)
	e.Scalars(scalars, s, p)
	out = append(out, "scalars"...)
	for i, v := range scalars {
		if v != 0 {
			out = fmt.Appendf(out, " %s %g", table.Scalars[i].Name, v)
		}
	}
	planes := make([]uint8, shape.PlaneBytes())
	e.Planes(planes, s, p)
	size := shape.Height * shape.Width
	for i, f := range table.Planes {
		plane := planes[i*size : (i+1)*size]
		if f.Name == "visible" {
			out = fmt.Appendf(out, "\nplane visible %d cells", strings.Count(string(plane), "\x01"))
		} else if runs := appendRuns(nil, plane, shape.Width); runs != nil {
			out = fmt.Appendf(out, "\nplane %s%s", f.Name, runs)
		}
	}
	mask := make([]uint64, len(kit.Actions.Heads()))
	kit.Actions.Mask(mask, s, p)
	for h, m := range mask {
		if m != 1 {
			out = fmt.Appendf(out, "\nchoices of %d,%d", h%80, h/80)
			for ; m != 0; m &= m - 1 {
				out = fmt.Appendf(out, " %d", bits.TrailingZeros64(m))
			}
		}
	}
	return append(out, '\n')
}

func appendRuns(out, plane []uint8, width int) []byte {
	for at := 0; at < len(plane); at++ {
		v := plane[at]
		if v == 0 {
			continue
		}
		x, y := at%width, at/width
		for at%width < width-1 && plane[at+1] == v {
			at++
		}
		if out = fmt.Appendf(out, " %d", x); at%width > x {
			out = fmt.Appendf(out, "–%d", at%width)
		}
		out = fmt.Appendf(out, ",%d=%d", y, v)
	}
	return out
}
