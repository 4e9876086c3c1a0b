package towerdefence

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	td "moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
)

// TestFeaturesPage compares FEATURES.md with Description, Doc and Shape.
func TestFeaturesPage(t *testing.T) {
	kit := Kit(newGame(t, nil))
	out := []byte("# Tower Defence: observations and actions\n\n" +
		"Written by `go test ./features/towerdefence -update` from the documentation in the code; a test compares the two.\n\n" +
		"Every observation shows the position from the side of one seat: its own half in columns 0 … 7, its base at the left edge, the\n" +
		"enemy's half in columns 8 … 15, for both seats alike. Row 0 is the top. \"Scale\" is the largest usual value: a value divided by it is\n" +
		"about 0 … 1. Values above the range of a byte are written as 255. Scales of scalars are those of the default rules.\n")
	out = featuretest.AppendFields(out, "##", kit, "the planes as bits")
	out = featuretest.AppendActions(out, kit, fmt.Sprint(kit.Actions.Heads()), featuretest.Sentences(kit.Actions.Doc()))
	out = featuretest.AppendMeasures(out, kit)
	simtest.Golden(t, "FEATURES.md", out)
}

// Lines of the golden match of sim/towerdefence that hold the commands.
var (
	startLine = regexp.MustCompile(`(?m)^start ([AB]) energy (\d+) health (\d+)$`)
	playLine  = regexp.MustCompile(`(?m)^play "([^"]*)" "([^"]*)"`)
)

// shown holds the rounds of the golden match whose planes are printed in full.
var shown = map[int]bool{0: true, 6: true, 14: true, 33: true}

// TestPlaythrough compares observations and masks of both seats in the golden
// match of sim/towerdefence with a file.
func TestPlaythrough(t *testing.T) {
	script := simtest.Text(t, "../../sim/towerdefence/testdata/playthrough.txt")
	g := newGame(t, nil)
	kit := Kit(g)
	var s td.State
	g.Reset(&s, 0)
	out := []byte("# What both seats see and may do in the match of sim/towerdefence/testdata/playthrough.txt.\n" +
		"# Scalars that are not 0; of each plane with a value the cells that have one and their sum; the choices\n" +
		"# of the mask, cells as ranges. Some rounds have their planes in full.\n")
	for _, m := range startLine.FindAllSubmatch(script, -1) {
		var energy, health int
		_, err := fmt.Sscan(string(m[2])+" "+string(m[3]), &energy, &health)
		require.NoError(t, err)
		g.SetStart(&s, sim.Player(m[1][0]-'A'), energy, health)
	}
	status := sim.Running
	for _, m := range playLine.FindAllSubmatch(script, -1) {
		var orders [2]sim.Order
		for p := range sim.Player(2) {
			orders[p] = command.Parse(string(m[1+p]))
			out = fmt.Appendf(out, "\nround %d seat %c\n", s.Round, 'A'+p)
			out = appendView(out, kit, &s, p)
			action := []int32{0}
			known := kit.Actions.Action(action, orders[p:p+1], &s, p)
			out = fmt.Appendf(out, "command %q action %d known %v\n", m[1+p], action[0], known)
			if shown[int(s.Round)] {
				out = appendPlanes(out, kit.Encoder, &s, p)
			}
		}
		require.Equalf(t, sim.Running, status, "the match was over before round %d", s.Round)
		status = g.Play(&s, orders[0], orders[1])
	}
	simtest.Golden(t, "testdata/playthrough.txt", bytes.TrimRight(append(out, fmt.Sprintf("\nround %d: %v\n", s.Round, status)...), " "))
}

// appendView appends the values of an observation that are not 0, and the mask.
func appendView(out []byte, kit features.Kit[td.State], s *td.State, p sim.Player) []byte {
	out = append(featuretest.AppendScalars(out, kit.Encoder, s, p), "\nplanes"...)
	featuretest.EachPlane(kit.Encoder, s, p, func(name string, plane []uint8) {
		cells, sum := 0, 0
		for _, v := range plane {
			sum += int(v)
			cells += min(1, int(v))
		}
		if cells > 0 {
			out = fmt.Appendf(out, " %s %d/%d", name, cells, sum)
		}
	})
	return appendMask(append(out, "\nmask"...), kit.Actions, s, p)
}

// appendMask appends the legal choices as ranges.
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

// appendPlanes appends in full the planes that are not all 0.
func appendPlanes(out []byte, e features.Encoder[td.State], s *td.State, p sim.Player) []byte {
	width := e.Shape().Width
	featuretest.EachPlane(e, s, p, func(name string, plane []uint8) {
		if bytes.Count(plane, []byte{0}) == len(plane) {
			return
		}
		out = fmt.Appendf(out, "plane %s\n", name)
		for i, v := range plane {
			if i%width == width/2 {
				out = append(out, " |"...)
			}
			if v == 0 {
				out = append(out, "  ."...)
			} else {
				out = fmt.Appendf(out, " %2d", v)
			}
			if i%width == width-1 {
				out = append(out, '\n')
			}
		}
	})
	return out
}
