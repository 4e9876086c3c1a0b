package terminal_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// TestTwinShieldResidues plays shots with slightly less damage than the sum of a unit's shields.
// Because sums and differences are rounded, all shields may be used up one after the other although
// the damage is less than their sum, and some damage is left.
func TestTwinShieldResidues(t *testing.T) {
	r := prng.New(prng.StreamSeed(7, 0, 0, 0, prng.PurposeGame))
	usedUp := 0
	for try := 0; usedUp < 12; try++ {
		require.NotEqualf(t, 100_000, try, "%d of 12 sums of shields are used up by less", usedUp)
		rules := terminal.DefaultRules()
		support, turret := &rules.Units[terminal.Support], &rules.Units[terminal.Turret]
		support.Shield, support.ShieldPerY, support.ShieldRange = float32(r.IntN(100))/10, float32(1+r.IntN(30))/100, 40
		turret.AttackRange = 40
		var shields []float32
		var orders [2][]sim.Order
		for i := range 2 + r.IntN(19) {
			x, y := terminal.LocalXY(10*i+r.IntN(10)+2, 0) // different cells, none of which is the unit's start
			orders[0] = append(orders[0], terminal.Place(terminal.Support, x, y))
			shields = append(shields, support.Shield+float32(support.ShieldPerY*float32(y)))
		}
		turret.DamageMobile = sumOf(shields)
		for range 1 + r.IntN(3) {
			turret.DamageMobile = math.Nextafter32(turret.DamageMobile, 0)
		}
		if left := pay(shields, turret.DamageMobile); len(left) > 0 {
			continue
		}
		usedUp++
		orders[0] = append(orders[0], terminal.Spawn(terminal.Scout, 13, 0, 2))
		orders[1] = []sim.Order{terminal.Place(terminal.Turret, 13, 27)}
		m := newTwins(t, tally{}, fmt.Sprintf("try %d, shields %v, damage %v", try, shields, turret.DamageMobile), rules)
		m.begin()
		m.purse(1000, 100)
		m.play(orders)
		assert.Truef(t, m.count["shots"] >= 3 && m.count["shields"] == 2*len(shields), "try %d: %d shots and %d shields, expected some and %d", try, m.count["shots"], m.count["shields"], 2*len(shields))
	}
}

func sumOf(shields []float32) (sum float32) {
	for _, s := range shields {
		sum += s
	}
	return sum
}

// pay returns the shields left after damage below their sum.
func pay(shields []float32, damage float32) []float32 {
	for i, s := range shields {
		if s > damage {
			return shields[i:]
		}
		damage -= s
	}
	return nil
}
