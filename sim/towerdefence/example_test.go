package towerdefence_test

import (
	"fmt"

	"moonfarm/sim/towerdefence"
)

// ExampleParseText plays a round from a position written as text.
func ExampleParseText() {
	g, err := towerdefence.New(towerdefence.DefaultRules())
	if err != nil {
		panic(err)
	}
	s, err := towerdefence.ParseText(g, `
		round 12
		A energy 95
		B energy 120
		3 E . . . A . . D | . . . . . . . E`)
	if err != nil {
		panic(err)
	}
	g.Play(&s, towerdefence.Build(towerdefence.Defense, 7, 4), towerdefence.Build(towerdefence.Tesla, 6, 0))
	fmt.Printf("%s", towerdefence.AppendText(nil, g, &s))
	// Output:
	// round 13
	// A energy 73 health 100 hits 0 score 18 damage 0 curtain -1 ready no fails 0
	// B energy 28 health 100 hits 0 score 28 damage 0 curtain -1 ready no fails 0
	// x 0  1  2  3  4  5  6  7  | 7  6  5  4  3  2  1  0
	// 0 .  .  .  .  .  .  .  .  | .  t9 .  .  .  .  .  .
	// 1 .  .  .  .  .  .  .  .  | .  .  .  .  .  .  .  .
	// 2 .  .  .  .  .  .  .  .  | .  .  .  .  .  .  .  .
	// 3 E  .  .  .  A3 .  .> D  | .  .  .  .  .  .  .  E
	// 4 .  .  .  .  .  .  .  d2 | .  .  .  .  .  .  .  .
	// 5 .  .  .  .  .  .  .  .  | .  .  .  .  .  .  .  .
	// 6 .  .  .  .  .  .  .  .  | .  .  .  .  .  .  .  .
	// 7 .  .  .  .  .  .  .  .  | .  .  .  .  .  .  .  .
}
