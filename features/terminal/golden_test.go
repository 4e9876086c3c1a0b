package terminal_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"moonfarm/features"
	"moonfarm/features/terminal"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
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

const pageHead = "# C1 Terminal: observations and actions\n\n" +
	"Written by `go test ./features/terminal -update` from what the code says of itself; a test compares the two.\n\n" +
	"Every observation shows the arena from the side of one seat, whose half is below: player 0 sees it as it is, player 1 turned by 180°,\n" +
	"so that (x, y) is (27−x, 27−y) and cell i of a plane is cell 783−i. Row y of a plane is the arena's row y: row 0 is the own end, rows\n" +
	"0 … 13 are the own half, rows 14 … 27 the enemy's. What is seen is the state between two turns, when no mobile units are there; the\n" +
	"enemy's orders are never seen before they are carried out, and no player's time of thinking. \"Scale\" is the largest usual value: a\n" +
	"value divided by it is about 0 … 1. Scales and sizes of numbers are those of the default rules.\n\n" +
	"The game has two forms: `terminal`, one action for the whole turn, and `terminal-sequential`, one placement at a time.\n"

const pageSequential = "\n# The sequential form: observations and actions\n\n" +
	"In each step both players give one command at most. It is carried out at once as far as its player can see: the own half, purse and\n" +
	"mask are those after the commands given so far, the enemy's are those of the turn's start. Who ends its turn waits for the other; then\n" +
	"the turn is played with both lists, in the order given. A turn has 255 steps at most. Steps without a turn played have reward 0.\n"

const pageFrames = "\n# Frames of the action phase\n\n" +
	"For those who train on what happened in a turn: `Frames.Play` of this package plays a turn and writes, as one seat sees it and for as\n" +
	"many frames as the caller's slabs hold (it returns how many there were),\n\n" +
	"- numbers of events, int32 [frames, 2, 8]: own, then the enemy's; 0 spawns (units, upgrades and marks ordered), 1 moves, 2 breaches,\n" +
	"  3 shields given, 4 explosions (one with two damages counts twice), 5 hits taken, 6 units lost (breaching ones too), 7 shots;\n" +
	"- mobile units at the end of each frame, uint8 [frames, 6, 28, 28]: how many stand on a cell; own scouts, demolishers, interceptors,\n" +
	"  then the enemy's; 255 for 255 and more.\n"

// TestFeaturesPage compares FEATURES.md with Table, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	g, err := tm.New(tm.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	q, err := tm.NewSequential(tm.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	out := appendKit([]byte(pageHead), terminal.Kit(g), "84 × 32, then 210 × 16")
	out = append(out, pageSequential...)
	out = appendKit(out, terminal.SequentialKit(q), "1135")
	golden(t, "FEATURES.md", append(out, pageFrames...))
}

// appendKit writes what a kit says of itself.
func appendKit[S any](out []byte, kit features.Kit[S], heads string) []byte {
	shape, table := kit.Encoder.Shape(), kit.Encoder.Table()
	out = fmt.Appendf(out, "\n## Planes\n\nuint8 [%d, %d, %d], row-major.\n\n| plane | name | unit | scale | |\n|---|---|---|---|---|\n",
		shape.Planes, shape.Height, shape.Width)
	out = appendFields(out, table.Planes)
	out = fmt.Appendf(out, "\n## Scalars\n\nfloat32 [%d], unscaled.\n\n| scalar | name | unit | scale | |\n|---|---|---|---|---|\n", shape.Scalars)
	out = appendFields(out, table.Scalars)
	out = fmt.Appendf(out, "\n## Packed words\n\nuint64 [%d]: what the planes show.\n\n```text\n%s\n```\n", shape.Words, sentences(table.Packed))
	out = fmt.Appendf(out, "\n## Actions\n\nHeads: %s choices. The mask has one bit a choice in %d uint64 words; a set bit is accepted by the rules, a clear one refused.\n\n```text\n%s\n```\n",
		heads, features.MaskWords(kit.Actions.Heads()), kit.Actions.Doc())
	out = append(out, "\n## Measures\n\nNumbers of a seat that rewards can be made of.\n\n| name | |\n|---|---|\n"...)
	for _, m := range kit.Measures {
		out = fmt.Appendf(out, "| `%s` | %s |\n", m.Name, m.Doc)
	}
	return out
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

// match are the orders of a short match, by turn and seat.
var match = [][2][]sim.Order{
	{{tm.Place(tm.Turret, 11, 11), tm.Place(tm.Turret, 16, 11), tm.Place(tm.Support, 13, 5), tm.Spawn(tm.Scout, 13, 0, 1)},
		{tm.Place(tm.Turret, 14, 15), tm.Place(tm.Wall, 13, 14), tm.Place(tm.Wall, 14, 14), tm.UpgradeAt(14, 14), tm.Spawn(tm.Scout, 23, 18, 1)}},
	{{tm.UpgradeAt(11, 11), tm.RemoveAt(16, 11)},
		{tm.Place(tm.Wall, 27, 14), tm.RemoveAt(13, 14), tm.Spawn(tm.Interceptor, 4, 18, 1)}},
	{{tm.Place(tm.Wall, 0, 13), tm.Place(tm.Wall, 1, 13), tm.RemoveAt(0, 13), tm.Spawn(tm.Scout, 14, 0, 2)},
		{tm.UpgradeAt(14, 15), tm.Spawn(tm.Demolisher, 13, 27, 1)}},
	{{tm.Place(tm.Wall, 13, 14), tm.Spawn(tm.Scout, 0, 13, 1)}, {tm.Spawn(tm.Scout, 27, 14, 1)}}, // all refused
	{nil, nil},
}

// TestPlaythrough writes down what both seats see and may do in the match.
func TestPlaythrough(t *testing.T) {
	g, err := tm.New(tm.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	kit := terminal.Kit(g)
	var s tm.State
	g.Reset(&s, 0)
	out := []byte("# What both seats see and may do in a short match by the default rules: scalars that are not 0; what each plane\n" +
		"# shows, as x,y=value (the arena left out); the choices of the mask, as head ranges:choices; the orders, their action as\n" +
		"# head=choice.\n")
	turn := sim.NewTurn(8)
	status := sim.Running
	for _, given := range match {
		if status != sim.Running {
			t.Fatal("the match is over")
		}
		for p := range sim.Player(2) {
			out = fmt.Appendf(out, "\nturn %d seat %d\n", s.Turn, p)
			out = appendView(out, kit.Encoder, &s, p)
			out = appendMask(append(out, "mask\n"...), kit.Actions, &s, p)
			action := make([]int32, len(kit.Actions.Heads()))
			known := kit.Actions.Action(action, given[p], &s, p)
			out = fmt.Appendf(out, "orders %#x\naction %v", given[p], known)
			for h, c := range action {
				if c != 0 {
					out = fmt.Appendf(out, " %d=%d", h, c)
				}
			}
			out = append(out, '\n')
			turn.Set(p, given[p])
		}
		status = g.Step(&s, turn)
	}
	golden(t, "testdata/playthrough.txt", out)
}

// appendView writes what is not 0 of an observation.
func appendView(out []byte, e features.Encoder[tm.State], s *tm.State, p sim.Player) []byte {
	shape, table := e.Shape(), e.Table()
	scalars := make([]float32, shape.Scalars)
	e.Scalars(scalars, s, p)
	out = append(out, "scalars"...)
	for i, v := range scalars {
		if v != 0 {
			out = fmt.Appendf(out, " %s %g", table.Scalars[i].Name, v)
		}
	}
	out = append(out, '\n')
	planes := make([]uint8, shape.PlaneBytes())
	e.Planes(planes, s, p)
	for i, f := range table.Planes[1:] {
		cells := []byte(nil)
		for at, v := range planes[(i+1)*shape.Height*shape.Width:][:shape.Height*shape.Width] {
			if v != 0 {
				cells = fmt.Appendf(cells, " %d,%d=%d", at%shape.Width, at/shape.Width, v)
			}
		}
		if cells != nil {
			out = fmt.Appendf(out, "plane %s%s\n", f.Name, cells)
		}
	}
	return out
}

// appendMask writes the legal choices of each head; heads with the same ones
// share a line.
func appendMask(out []byte, a features.ActionSpace[tm.State], s *tm.State, p sim.Player) []byte {
	heads := a.Heads()
	mask := make([]uint64, features.MaskWords(heads))
	a.Mask(mask, s, p)
	texts := make([]string, len(heads))
	at := 0
	for h, n := range heads {
		for c := range n {
			if mask[at/64]>>(at%64)&1 != 0 {
				texts[h] += fmt.Sprint(" ", c)
			}
			at++
		}
	}
	done := map[string]bool{}
	for h := range heads {
		if text := texts[h]; !done[text] {
			done[text] = true
			out = append(out, ' ')
			for i := h; i < len(heads); i++ {
				if texts[i] != text {
					continue
				}
				first := i
				for i+1 < len(heads) && texts[i+1] == text {
					i++
				}
				if out = fmt.Appendf(out, " %d", first); i > first {
					out = fmt.Appendf(out, "–%d", i)
				}
			}
			out = fmt.Appendf(out, ":%s\n", text)
		}
	}
	return out
}
