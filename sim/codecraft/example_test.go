package codecraft_test

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// A position as text, orders, and their effects.
func ExampleGame_Step() {
	rules, _ := codecraft.Preset("round1-2")
	g, err := codecraft.New(rules)
	if err != nil {
		panic(err)
	}
	s, err := codecraft.ParseText(g, `
		p1 resource 20
		12  . . . . *
		11 b1 .m1b2W2
		10 b1 . . . .
		x10`)
	if err != nil {
		panic(err)
	}
	builder, miner, fighter := s.Units[1].ID, s.Units[0].ID, s.Units[2].ID
	var turn sim.Turn
	turn.Set(0, []sim.Order{
		codecraft.Build(builder, codecraft.Wall, 10, 12),
		codecraft.Auto(miner, 20, 1<<codecraft.Resource),
		codecraft.Auto(fighter, 0, 0),
	})
	var record codecraft.Record
	g.Record(&record)
	for range 2 {
		status := g.Step(&s, &turn)
		fmt.Println(status, record.Attacks, record.Died, "points", s.Score[0], s.Score[1])
		turn.Clear() // everybody goes on
	}
	fmt.Printf("%s", codecraft.AppendWindow(nil, g, &s, 9, 10, 7, 3))
	// Output:
	// running [{5 6}] [] points 0 0
	// running [{5 6}] [6] points 100 0
	// 12   .W1 . . . * .
	// 11   .b1b1m1 .W2 .
	// 10   . . . . . . .
	// x9   9 0 1 2 3 4 5
	// unit 3 b1 11,11 auto 20 Resource
	// unit 4 b1 10,11 build Wall 10,12
	// unit 5 m1 12,11 auto 0 any
	// unit 7 W2 14,11
	// unit 9 W1 10,12 health 5 inactive
}

// Plan returns the possible steps and targets of the units before a tick, without random draws.
func ExampleGame_Plan() {
	g, err := codecraft.New(codecraft.DefaultRules())
	if err != nil {
		panic(err)
	}
	s, err := codecraft.ParseText(g, `
		11  . . . . .
		10 b1 .r1 .b2
		x10
		unit 3 b1 10,10 move 13,14
		unit 4 r1 12,10 auto 0 any`)
	if err != nil {
		panic(err)
	}
	g.Plan(&s)
	fmt.Printf("builder: steps %04b, ranged unit: victims %v\n", g.Steps(0), g.AppendVictims(nil, &s, 1))
	// Output:
	// builder: steps 0101, ranged unit: victims [5]
}

// The text of rules: a preset by its name, and changes to it.
func ExampleParseRules() {
	r, err := codecraft.ParseRules([]byte("round1-2\nmax_tick_count=300\nBuilderUnit.repair.power=5\n"))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Players, r.Fog, r.MaxTurns, r.Types[codecraft.BuilderUnit].Power, r.Validate())
	_, err = codecraft.ParseRules([]byte("round1\nmax_tick_count=many\n"))
	fmt.Println(err)
	// Output:
	// 2 false 300 5 <nil>
	// line 2: key "max_tick_count": expected a whole number of 32 bits, found "many"
}
