package protocol

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/internal/wiretest"
)

// TestViewOfStart checks that every player sees its own start at the lower left.
func TestViewOfStart(t *testing.T) {
	rules, _ := codecraft.Preset("round1")
	g, s := wiretest.NewGame(t, rules), new(codecraft.State)
	g.Reset(s, 3)
	var view PlayerView
	for p := range sim.Player(4) {
		View(&view, g, s, p)
		places := map[codecraft.Type][2]int32{
			codecraft.BuilderBase: {5, 5}, codecraft.BuilderUnit: {4, 4}, codecraft.MeleeBase: {5, 15}, codecraft.MeleeUnit: {4, 14},
			codecraft.RangedBase: {15, 5}, codecraft.RangedUnit: {14, 4}, codecraft.Turret: {15, 15},
		}
		for _, e := range view.Entities {
			if want, ok := places[e.Type]; ok && e.PlayerID == Some(int32(p)+1) {
				if e.X != want[0] || e.Y != want[1] {
					t.Errorf("player %d: %s at (%d, %d), want %v", p+1, e.Type, e.X, e.Y, want)
				}
				delete(places, e.Type)
			}
		}
		assert.Emptyf(t, places, "player %d does not see", p+1)
		n := testing.AllocsPerRun(10, func() { View(&view, g, s, p) })
		assert.LessOrEqualf(t, n, float64(0), "%v allocations", n)
	}
}

// TestViewErrors changes a valid view to invalid ones.
func TestViewErrors(t *testing.T) {
	house := Entity{5, Some(int32(1)), codecraft.House, 4, 4, 50, true}
	for want, change := range map[string]func(v *PlayerView){
		"my_id is 3, expected 1 to 2":       func(v *PlayerView) { v.MyID = 3 },
		"my_id is 0, expected 1 to 2":       func(v *PlayerView) { v.MyID = 0 },
		"map_size is 40, expected 80":       func(v *PlayerView) { v.MapSize = 40 },
		"player 2 of the list has id 3":     func(v *PlayerView) { v.Players[1].ID = 3 },
		"(90, 4) lies outside of the map":   func(v *PlayerView) { v.Entities[0].X = 90 },
		"House at (78, 4) reaches out of":   func(v *PlayerView) { v.Entities[0].X = 78 },
		"resources, and only they, have no": func(v *PlayerView) { v.Entities[0].PlayerID.Given = false },
	} {
		t.Run(want, func(t *testing.T) {
			v := PlayerView{MyID: 1, Header: Header{MapSize: 80}, Players: []Standing{{1, 0, 0}, {2, 0, 0}}, Entities: []Entity{house}}
			rules := wiretest.Round1()
			var p codecraft.Position
			require.NoError(t, v.Position(&p, &rules))
			change(&v)
			err := v.Position(&p, &rules)
			assert.ErrorContains(t, err, want)
		})
	}
}
