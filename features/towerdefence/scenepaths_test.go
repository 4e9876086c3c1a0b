package towerdefence

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	td "moonfarm/sim/towerdefence"
)

// TestPaths compares the lanes in random games with the scene: one starts at each finished attack building,
// passes over cells without a finished building of the opponent, and stops at such a building or at the curtain.
func TestPaths(t *testing.T) {
	g := newGame(t, func(r *td.Rules) { r.StartEnergy = 500 })
	k := Kit(g)
	var dst features.Scene
	bases, hits, curtains := 0, 0, 0
	for seed := range uint64(4) {
		simtest.Play(g, seed, func(_ int, s *td.State, _ sim.Status) bool {
			if s.Round%7 == 0 {
				raised := *s
				s = &raised
				s.Half[seed%2].Curtain = int16(s.Round) + 2
			}
			k.Scene(&dst, s, features.Spectator)
			done, armed, threat := map[features.Cell]int8{}, map[features.Cell]int8{}, map[string]int{}
			for _, e := range dst.Entities {
				if at := (features.Cell{X: uint8(e.X), Y: uint8(e.Y)}); e.Kind != "missile" && !e.Unfinished {
					done[at] = e.Owner
					if e.Kind == "attack" {
						armed[at] = e.Owner
						threat[fmt.Sprint(e.Owner, at.Y)]++
					}
				}
			}
			lanes := 0
			k.Paths(s, func(w *features.Path) {
				lanes++
				start, end := w.Cells[0], w.Cells[len(w.Cells)-1]
				owner, ok := armed[start]
				assert.True(t, ok && owner == w.Owner, "a lane of %d from %v", w.Owner, start)
				n := threat[fmt.Sprint(w.Owner, start.Y)]
				assert.Contains(t, w.Note, fmt.Sprintf(" in the row, %d damage in 4 rounds", 5*n))
				foe := sim.Player(w.Owner) ^ 1
				front := features.Cell{X: uint8(8 - w.Owner), Y: start.Y}
				for i, at := range w.Cells {
					d, built := done[at]
					hit := built && d == int8(foe) || at == front && s.CurtainTime(foe) > 0
					assert.Equal(t, start.Y, at.Y)
					assert.Equal(t, hit, i == len(w.Cells)-1 && w.Stops, "cell %d of %+v", i, w)
				}
				switch {
				case !w.Stops:
					assert.Equal(t, uint8(15*(1-w.Owner)), end.X)
					bases++
				case s.CurtainTime(foe) > 0 && end == front:
					curtains++
				default:
					hits++
				}
			})
			assert.Equal(t, len(armed), lanes)
			return !t.Failed()
		})
	}
	assert.True(t, bases > 50 && hits > 50 && curtains > 5, "%d lanes to bases, %d to buildings, %d to curtains", bases, hits, curtains)
}
