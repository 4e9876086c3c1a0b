package referee

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
)

// TestMissileIDs checks that a missile keeps its id for all its flight.
func TestMissileIDs(t *testing.T) {
	rules := towerdefence.DefaultRules()
	rules.SetStart([2]int{100, 100}, [2]int{100, 100})
	r := New(rules)
	r.Play("0,0,1", "0,7,1")
	for round := 1; round < 8; round++ {
		r.Play("", "")
		p := r.Position()
		require.Truef(t, len(p.Missiles) >= 2 && p.Missiles[0].ID == 1 && p.Missiles[1].ID == 2, "round %d: %+v", round, p.Missiles)
		assert.Truef(t, p.Missiles[0].X == 2*round && p.Missiles[1].X == 15-2*round, "round %d: %+v", round, p.Missiles)
	}
	state := string(r.Position().AppendState(nil, display.SeatB))
	want := `{"damage":5,"speed":2,"id":"00000000-0000-4000-8000-000000000001","x":1,"y":0,"playerType":"B"}`
	assert.Containsf(t, state, want, "no %s in %s", want, state)
}
