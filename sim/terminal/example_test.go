package terminal_test

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// This example reads a position as text, plays a turn frame by frame, and prints the result.
func ExampleGame_Frame() {
	rules, _ := terminal.RuleSet("2022")
	g, err := terminal.New(rules)
	if err != nil {
		panic(err)
	}
	s, err := terminal.ParseText(g, `
		turn 7
		p1 health 30 cores 6 bits 4
		p2 health 12 cores 3 bits 5
		14 . . . . . . . . . . . . . . . . . . . . . . . . . t w w
		health 27,14=4.5`)
	if err != nil {
		panic(err)
	}
	var turn sim.Turn
	turn.Set(0, []sim.Order{terminal.Spawn(terminal.Scout, 13, 0, 4), terminal.Place(terminal.Support, 12, 5)})
	turn.Set(1, []sim.Order{terminal.UpgradeAt(26, 14)})

	var record terminal.Record
	g.Record(&record)
	g.Deploy(&s, &turn)
	frames := 1
	for g.Frame(&s) {
		frames++
	}
	status := g.Restore(&s)
	fmt.Printf("%d frames, %d moves, %d shots, %d breaches, %v\n", frames, len(record.Moves), len(record.Attacks), len(record.Breaches), status)
	fmt.Printf("player 2 has %v health and %v bits left\n", s.Health[1], s.Bits[1])
	// Output:
	// 25 frames, 94 moves, 14 shots, 0 breaches, running
	// player 2 has 12 health and 8.8 bits left
}

// This example reads rules from text: the name of a rule set, and changes to it.
func ExampleParseRules() {
	r, err := terminal.ParseRules([]byte("2022\nresources.startingHP=12.5\nunitInformation.3.speed=0.5\n"))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.StartHealth, r.Units[terminal.Scout].Speed, r.Units[terminal.Demolisher].Speed, r.Validate())
	_, err = terminal.ParseRules([]byte("2022\nresources.startingHP=many\n"))
	fmt.Println(err)
	// Output:
	// 12.5 0.5 1 <nil>
	// line 2: key "resources.startingHP": expected a finite number, found "many"
}
