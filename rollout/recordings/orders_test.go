package recordings_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/terminal"
	"moonfarm/sim/towerdefence"
)

// TestOrderTexts compares orders with their readable texts.
func TestOrderTexts(t *testing.T) {
	for _, c := range []struct {
		game   string
		orders []sim.Order
		want   string
	}{
		{"towerdefence", []sim.Order{0, towerdefence.Build(towerdefence.Energy, 3, 4), towerdefence.Deconstruct(7, 0), towerdefence.Curtain, towerdefence.Refused, towerdefence.Aborted, towerdefence.Failed(0, 2)},
			`["energy 3,4" "deconstruct 7,0" "curtain" "refused" "abort" "unreadable (2 failures)"]`},
		{"terminal", []sim.Order{terminal.Place(terminal.Wall, 2, 13), terminal.Clock(70), terminal.Spawn(terminal.Scout, 13, 0, 3), terminal.UpgradeAt(2, 13), terminal.RemoveAt(3, 12), terminal.Penalty(1.5), 31},
			`["wall 2,13" "3 scout 13,0" "upgrade 2,13" "remove 3,12" "penalty 1.5" "0x1f"]`},
		{"codecraft", []sim.Order{0, codecraft.Stop(7), codecraft.Move(8, 3, 99, true, false), codecraft.And(codecraft.Build(8, codecraft.House, 5, 6)), codecraft.Attack(9, 41), codecraft.And(codecraft.Auto(9, 10, 0)),
			codecraft.Auto(10, 3, 1<<codecraft.Wall|1<<codecraft.Resource), codecraft.Repair(11, 12), codecraft.Move(12, 1, 2, false, true), 7},
			`["7 stop" "8 move 3,79 outside closest" "and 8 build House 5,6" "9 attack 41" "and 9 auto attack within 10" "10 auto attack within 3: Wall, Resource" "11 repair 12" "12 move 1,2 breaking through" "0x7"]`},
		{"tron", []sim.Order{0, 3}, `["0x3"]`},
	} {
		t.Run(c.game, func(t *testing.T) {
			assert.Equal(t, c.want, fmt.Sprintf("%q", recordings.OrderTexts(c.game, c.orders)))
		})
	}
}
