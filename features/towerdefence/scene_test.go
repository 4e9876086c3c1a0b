package towerdefence

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	td "moonfarm/sim/towerdefence"
)

// TestSceneEntities counts buildings and missiles of random games by the
// accessors of the state, and compares the places with those of the planes.
func TestSceneEntities(t *testing.T) {
	g := newGame(t, func(r *td.Rules) { r.StartEnergy = 500 })
	var dst features.Scene
	unfinished, curtains := 0, 0
	for seed := range uint64(5) {
		simtest.Play(g, seed, func(_ int, s *td.State, _ sim.Status) bool {
			if s.Round%5 == 0 {
				raised := *s
				s = &raised
				s.Half[seed%2].Curtain = int16(s.Round) + 2
			}
			Kit(g).Scene(&dst, s, features.Spectator)
			want, up := map[featuretest.OwnedKind]int{}, 0
			for p := range sim.Player(2) {
				for cell := range td.Cells {
					if kind, ok := s.Half[p].Kind(cell); ok {
						want[featuretest.OwnedKind{Owner: int(p), Kind: strings.ToLower(kind.String())}]++
					}
					if n := s.Half[p].MissilesOwn(cell) + s.Half[p].MissilesFar(cell); n > 0 {
						want[featuretest.OwnedKind{Owner: int(p), Kind: "missile"}] += n
					}
				}
				if s.CurtainTime(p) > 0 {
					up++
				}
			}
			assert.Equal(t, want, featuretest.CountEntities(&dst, "missile"))
			assert.Len(t, dst.Lines, up, "curtains")
			curtains += up
			planes := plainPlanes(g, s, 0)
			at := func(plane int, e features.Entity) int { return int(planes[plane*planeBytes+int(e.Y)*16+int(e.X)]) }
			for _, e := range dst.Entities {
				switch e.Kind {
				case "missile":
					assert.Equal(t, max(1, e.Number), at([]int{planeOwn, planeEnemy}[e.Owner], e), "missiles here")
				default:
					assert.Equal(t, e.Unfinished, at(planeBuilding, e) > 0, "%+v", e)
					assert.Positive(t, at(map[string]int{"defense": planeDefense, "attack": planeAttack, "energy": planeEnergy, "tesla": planeTesla}[e.Kind], e), "%+v", e)
					if e.Unfinished {
						unfinished++
					}
				}
			}
			return !t.Failed()
		})
	}
	assert.Positive(t, unfinished, "unfinished buildings")
	assert.Positive(t, curtains, "curtains")
}
