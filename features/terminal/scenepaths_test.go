package terminal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// TestScenePaths sends a scout along each way in some positions: it moves from cell to cell as the way says while
// it lives and no structure is destroyed.
func TestScenePaths(t *testing.T) {
	g := newGame(t, rules(t, "2022"))
	ways, stopped, moves := 0, 0, 0
	visit(g, 6, 100, func(s *tm.State) {
		if s.Turn%5 != 0 {
			return
		}
		starts := map[features.Cell]bool{}
		Kit(g).Paths(s, func(w *features.Path) {
			require.False(t, starts[w.Cells[0]], "two ways from %v", w.Cells[0])
			starts[w.Cells[0]] = true
			ways++
			if w.Stops {
				stopped++
			}
			moves += followed(t, g, *s, w)
		})
		free := 0
		for p := range sim.Player(2) {
			for e := range tm.EdgeCells {
				if _, built := s.At(tm.EdgeXY(e, p)); !built {
					free++
				}
			}
		}
		require.Len(t, starts, free)
	})
	assert.True(t, ways > 100 && stopped > 5 && moves > 2000, "%d ways, %d stop, %d moves", ways, stopped, moves)
}

// followed sends a scout along a way, and returns its moves.
func followed(t *testing.T, g *tm.Game, s tm.State, w *features.Path) int {
	t.Helper()
	p, start := sim.Player(w.Owner), w.Cells[0]
	s.Bits[p] = 100
	var record tm.Record
	g.Record(&record)
	defer g.Record(nil)
	turn := sim.NewTurn(1)
	turn.SetOne(p, tm.Spawn(tm.Scout, int(start.X), int(start.Y), 1))
	built := s.Built()
	g.Deploy(&s, turn)
	for g.Frame(&s) && s.Built() == built {
	}
	for i, m := range record.Moves {
		require.Equal(t, w.Cells[i], features.Cell{X: m.From.X, Y: m.From.Y})
		require.Equal(t, w.Cells[i+1], features.Cell{X: m.To.X, Y: m.To.Y})
	}
	if len(record.Breaches) > 0 {
		require.Len(t, record.Moves, len(w.Cells)-1)
		require.False(t, w.Stops)
	}
	return len(record.Moves)
}
