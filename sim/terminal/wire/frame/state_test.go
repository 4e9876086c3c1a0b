package frame

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// TestStateErrors checks the errors for frames that show no valid state.
func TestStateErrors(t *testing.T) {
	r := wiretest.RuleSet(t, "2022")
	for _, c := range []struct {
		want   string
		change func(f *Frame)
	}{
		{"turnInfo: expected a deploy frame", func(f *Frame) { f.Phase = PhaseAction }},
		{"p1Units: [3]: expected no mobile units in a deploy frame, found 1", func(f *Frame) { f.Units[0][3] = []Unit{{pos(13, 0), 15, 9}} }},
		{"p2Units: [2]: expected a cell of the own half, found (13, 13)", func(f *Frame) { f.Units[1][2] = []Unit{{pos(13, 13), 15, 9}} }},
		{"p1Units: [1]: expected a cell of the own half, found (0, 0)", func(f *Frame) { f.Units[0][1] = []Unit{{pos(0, 0), 15, 9}} }},
		{"p1Units: [2]: expected one structure on (3, 13), found two", func(f *Frame) { f.Units[0][2] = []Unit{{pos(3, 13), 15, 9}} }},
		{"p1Units: [2]: expected an id from 1 to 16777215, found 0", func(f *Frame) { f.Units[0][2] = []Unit{{pos(4, 13), 15, 0}} }},
		{"p1Units: [7]: expected an upgraded structure, found none on (4, 13)", func(f *Frame) { f.Units[0][7] = []Unit{{pos(4, 13), 0, 1}} }},
		{"p1Units: [6]: expected a structure to remove, found none on (4, 13)", func(f *Frame) { f.Units[0][6] = []Unit{{pos(4, 13), 1, 1}} }},
		{"p1Units: [6]: expected a structure to remove, found none on (3, 13)", func(f *Frame) { f.Units[0][6] = []Unit{{pos(3, 13), 1, 1}, {pos(3, 13), 1, 1}} }},
		{"p1Units: [6]: expected 1 to 15 turns, found 1.5", func(f *Frame) { f.Units[0][6] = []Unit{{pos(3, 13), 1.5, 1}} }},
	} {
		t.Run(c.want, func(t *testing.T) {
			f := Frame{Number: -1}
			f.Clear()
			f.Units[0][terminal.Wall] = append(f.Units[0][terminal.Wall], Unit{pos(3, 13), 12, 1})
			c.change(&f)
			_, err := f.State(&r)
			require.ErrorContains(t, err, c.want)
		})
	}
}
