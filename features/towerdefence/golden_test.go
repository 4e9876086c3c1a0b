package towerdefence_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"moonfarm/features"
	"moonfarm/features/towerdefence"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire"
)

var update = flag.Bool("update", false, "write FEATURES.md and testdata/playthrough.txt anew")

func defaultGame(t *testing.T) *td.Game {
	t.Helper()
	g, err := td.New(td.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

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

// TestFeaturesPage compares FEATURES.md with Table, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	kit := towerdefence.Kit(defaultGame(t))
	shape, table := kit.Encoder.Shape(), kit.Encoder.Table()
	out := []byte("# Tower Defence: observations and actions\n\n" +
		"Written by `go test ./features/towerdefence -update` from what the code says of itself; a test compares the two.\n\n" +
		"Every observation shows the position from the side of one seat: its own half in columns 0 … 7, its base at the left edge, the\n" +
		"enemy's half in columns 8 … 15, for both seats alike. Row 0 is the top. \"Scale\" is the largest usual value: a value divided by it is\n" +
		"about 0 … 1. Values above the range of a byte are written as 255. Scales of scalars are those of the default rules.\n\n")
	out = fmt.Appendf(out, "## Planes\n\nuint8 [%d, %d, %d], row-major.\n\n| plane | name | unit | scale | |\n|---|---|---|---|---|\n",
		shape.Planes, shape.Height, shape.Width)
	out = appendFields(out, table.Planes)
	out = fmt.Appendf(out, "\n## Scalars\n\nfloat32 [%d], unscaled.\n\n| scalar | name | unit | scale | |\n|---|---|---|---|---|\n", shape.Scalars)
	out = appendFields(out, table.Scalars)
	out = fmt.Appendf(out, "\n## Packed words\n\nuint64 [%d]: the planes as bits.\n\n```text\n%s\n```\n", shape.Words, sentences(table.Packed))
	out = fmt.Appendf(out, "\n## Actions\n\nHeads: %v. The mask has one bit a choice in %d uint64 words; a set bit is accepted by the rules, a clear one refused.\n\n```text\n%s\n```\n",
		kit.Actions.Heads(), features.MaskWords(kit.Actions.Heads()), sentences(kit.Actions.Doc()))
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

// The lines of the golden match of sim/towerdefence that say what was played.
var (
	startLine = regexp.MustCompile(`(?m)^start ([AB]) energy (\d+) health (\d+)$`)
	playLine  = regexp.MustCompile(`(?m)^play "([^"]*)" "([^"]*)"`)
)

// shown are the rounds of the golden match whose planes are printed in full.
var shown = map[int]bool{0: true, 6: true, 14: true, 33: true}

// TestPlaythrough writes down what both seats see and may do in the golden
// match of sim/towerdefence.
func TestPlaythrough(t *testing.T) {
	script, err := os.ReadFile("../../sim/towerdefence/testdata/playthrough.txt")
	if err != nil {
		t.Fatal(err)
	}
	g := defaultGame(t)
	kit := towerdefence.Kit(g)
	var s td.State
	g.Reset(&s, 0)
	out := []byte("# What both seats see and may do in the match of sim/towerdefence/testdata/playthrough.txt.\n" +
		"# Scalars that are not 0; of each plane with a value the cells that have one and their sum; the choices\n" +
		"# of the mask, cells as ranges. Some rounds have their planes in full.\n")
	for _, m := range startLine.FindAllSubmatch(script, -1) {
		var energy, health int
		if _, err := fmt.Sscan(string(m[2])+" "+string(m[3]), &energy, &health); err != nil {
			t.Fatal(err)
		}
		g.SetStart(&s, sim.Player(m[1][0]-'A'), energy, health)
	}
	status := sim.Running
	for _, m := range playLine.FindAllSubmatch(script, -1) {
		var orders [2]sim.Order
		for p := range sim.Player(2) {
			orders[p] = wire.ParseCommand(string(m[1+p]))
			out = fmt.Appendf(out, "\nround %d seat %c\n", s.Round, 'A'+p)
			out = appendView(out, kit, &s, p)
			action := []int32{0}
			known := kit.Actions.Action(action, orders[p:p+1], &s, p)
			out = fmt.Appendf(out, "command %q action %d known %v\n", m[1+p], action[0], known)
			if shown[int(s.Round)] {
				out = appendPlanes(out, kit.Encoder, &s, p)
			}
		}
		if status != sim.Running {
			t.Fatalf("the match was over before round %d", s.Round)
		}
		status = g.Play(&s, orders[0], orders[1])
	}
	golden(t, "testdata/playthrough.txt", bytes.TrimRight(append(out, fmt.Sprintf("\nround %d: %v\n", s.Round, status)...), " "))
}

// appendView writes what is not 0 of an observation, and the mask.
func appendView(out []byte, kit features.Kit[td.State], s *td.State, p sim.Player) []byte {
	e, shape, table := kit.Encoder, kit.Encoder.Shape(), kit.Encoder.Table()
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
	out = append(out, "\nplanes"...)
	for i, f := range table.Planes {
		cells, sum := 0, 0
		for _, v := range planes[i*shape.Height*shape.Width : (i+1)*shape.Height*shape.Width] {
			sum += int(v)
			cells += min(1, int(v))
		}
		if cells > 0 {
			out = fmt.Appendf(out, " %s %d/%d", f.Name, cells, sum)
		}
	}
	return appendMask(append(out, "\nmask"...), kit.Actions, s, p)
}

// appendMask writes the choices that are legal as ranges.
func appendMask(out []byte, a features.ActionSpace[td.State], s *td.State, p sim.Player) []byte {
	mask := make([]uint64, features.MaskWords(a.Heads()))
	a.Mask(mask, s, p)
	legal := func(i int) bool { return i < 64*len(mask) && mask[i/64]>>(i%64)&1 != 0 }
	for i := 0; i < 64*len(mask); i++ {
		if !legal(i) {
			continue
		}
		first := i
		for legal(i + 1) {
			i++
		}
		if out = fmt.Appendf(out, " %d", first); i > first {
			out = fmt.Appendf(out, "–%d", i)
		}
	}
	return append(out, '\n')
}

// appendPlanes writes the planes that have a value in full.
func appendPlanes(out []byte, e features.Encoder[td.State], s *td.State, p sim.Player) []byte {
	shape, table := e.Shape(), e.Table()
	planes := make([]uint8, shape.PlaneBytes())
	e.Planes(planes, s, p)
	for i, f := range table.Planes {
		plane := planes[i*shape.Height*shape.Width : (i+1)*shape.Height*shape.Width]
		if bytes.Count(plane, []byte{0}) == len(plane) {
			continue
		}
		out = fmt.Appendf(out, "plane %s\n", f.Name)
		for y := range shape.Height {
			for x := range shape.Width {
				if x == shape.Width/2 {
					out = append(out, " |"...)
				}
				if v := plane[y*shape.Width+x]; v == 0 {
					out = append(out, "  ."...)
				} else {
					out = fmt.Appendf(out, " %2d", v)
				}
			}
			out = append(out, '\n')
		}
	}
	return out
}
