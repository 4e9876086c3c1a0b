// Package wiretest makes matches for the tests of the formats of Tower Defence.
package wiretest

import (
	"fmt"
	"math/rand/v2"

	"moonfarm/sim/towerdefence"
)

// RandomCommand returns a command text: mostly a building, some curtains and
// deconstructions, a few that fail.
func RandomCommand(r *rand.Rand) string {
	switch n := r.IntN(20); {
	case n == 0:
		return [...]string{"", "No Command", "x,y,z", "1,2", "Exception", "8,0,1", "3,3,1,7"}[r.IntN(7)]
	case n < 3:
		return fmt.Sprintf("%d,%d,3", r.IntN(8), r.IntN(8))
	case n < 5:
		return "0,0,5"
	case n < 8:
		return fmt.Sprintf("%d,%d,4", 4+r.IntN(4), r.IntN(8))
	case n < 11:
		return fmt.Sprintf("%d,%d,0", 4+r.IntN(4), r.IntN(8))
	case n < 13:
		return fmt.Sprintf("%d,%d,2", r.IntN(3), r.IntN(8))
	}
	return fmt.Sprintf("%d,%d,1", r.IntN(8), 2+r.IntN(3))
}

// LateMatch returns the commands of a match that A loses by failing.
func LateMatch() [][2]string {
	commands := [][2]string{{"0,0,2", "7,3,1"}, {"", ""}}
	for range 49 {
		commands = append(commands, [2]string{"x,y,z", "0,1,2"})
	}
	return append(commands, [2]string{"x,y,z", ""})
}

// TwinTowers returns the commands of a match in which both players build in the same rounds, fire missiles
// over one cell, and let two tesla towers of one age shoot; A fails until it ends.
func TwinTowers() [][2]string {
	commands := [][2]string{{"0,2,1", "3,2,1"}, {"7,4,4", "7,4,4"}, {"3,7,2", "0,0,0"}, {}, {}}
	for range 12 {
		commands = append(commands, [2]string{"x,y,z", ""})
	}
	return commands
}

// RichRules returns rules with 1000 energy at the start, in which nine failures lose.
func RichRules() towerdefence.Rules {
	rules := towerdefence.DefaultRules()
	rules.StartEnergy, rules.MaxDoNothings = 1000, 9
	return rules
}
