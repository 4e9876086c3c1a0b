package codecraft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

const sampleText = `tick 3 seed 7 next 61 first 40
p1 score 120 resource 45
p2 score 0 resource 3
14   . . .b1 * *
13  H1H1H1 . * :
12  H1H1H1 . *b2
11  H1H1H1 . . .
10   :T2T2 . .m1
9    *T2T2 . . .
x8   8 9 0 1 2 3
unit 4 b1 11,14 move 20,20 closest auto 10 Resource
unit 7 b2 13,12 stop
unit 12 m1 13,10 health 48 move 80,10 break build 12 255,255 attack 60 auto 0 any repair 4294967295
unit 13 T2 9,9 attack 4
unit 60 H1 8,11 health 5 inactive build House 3,4
health 12,13=7
gone 9,9 13,12
`

func TestTextSample(t *testing.T) {
	g := mustGame(t, "finals", nil)
	s, err := codecraft.ParseText(g, sampleText)
	require.NoError(t, err)
	assert.Equal(t, sampleText, string(codecraft.AppendText(nil, g, &s)))
	assert.Truef(t, s.N == 5 && s.Tick == 3 && s.Seed == 7 && s.NextID == 61 && s.FirstID == 40 && s.Score == [4]int32{120} && s.Resource == [4]int32{45, 3}, "%d units, tick %d, seed %d, next id %d, first %d, %v, %v", s.N, s.Tick, s.Seed, s.NextID, s.FirstID, s.Score, s.Resource)
	house := codecraft.Unit{ID: 60, Health: 5, X: 8, Y: 11, Type: codecraft.House, Owner: 0}
	got := s.Units[s.Find(60)]
	assert.Truef(t, got == house, "entity 60 is %+v", got)
	move := codecraft.Action{
		Parts: codecraft.Given | codecraft.HasMove | codecraft.FindClosest | codecraft.HasAuto, MoveX: 20, MoveY: 20,
		Range: 10, Valid: 1 << codecraft.Resource,
	}
	if got := s.Acts[s.Find(4)]; got != move {
		t.Errorf("the action of 4 is %+v", got)
	}
	// Ids ascend along the columns, including the ids of used up resources.
	for _, c := range []struct {
		x, y   int
		id     uint32
		health uint8
	}{{8, 9, 40, 30}, {8, 10, 41, 0}, {9, 9, 42, 0}, {12, 12, 43, 30}, {12, 13, 44, 7}, {12, 14, 45, 30}, {13, 12, 46, 0}, {13, 13, 47, 0}, {13, 14, 48, 30}} {
		t.Run(fmt.Sprintf("%d,%d", c.x, c.y), func(t *testing.T) {
			id, h := s.ResourceID(c.x, c.y), s.Health[codecraft.CellOf(c.x, c.y)]
			assert.Truef(t, id == c.id && h == c.health, "on %d,%d is resource %d with health %d, want %d with %d", c.x, c.y, id, h, c.id, c.health)
		})
	}
}

// TestTextWindow checks the text of a part of the sample.
func TestTextWindow(t *testing.T) {
	g := mustGame(t, "finals", nil)
	s, err := codecraft.ParseText(g, sampleText)
	require.NoError(t, err)
	const want = `13  H1 . * :
12  H1 . *b2
x10  0 1 2 3
unit 7 b2 13,12 stop
unit 60 H1 8,11 health 5 inactive build House 3,4
health 12,13=7
gone 13,12
`
	assert.Equal(t, want, string(codecraft.AppendWindow(nil, g, &s, 10, 12, 4, 2)))
	assert.Equal(t, "0    . .\nx78  8 9\n", string(codecraft.AppendWindow(nil, g, &s, 78, -3, 40, 4)), "at the corner")
	assert.Empty(t, codecraft.AppendWindow(nil, g, &s, 90, 0, 4, 4), "outside of the map")
}

// TestTextDefaults reads an empty text, which is an empty map, and texts without ids.
func TestTextDefaults(t *testing.T) {
	g := mustGame(t, "round2", nil)
	s, err := codecraft.ParseText(g, "# nothing\n\n")
	require.NoError(t, err)
	assert.Truef(t, s.N == 0 && s.Occupied.Count() == 0 && s.NextID == 5 && s.FirstID == 5, "%d units, next id %d, first %d", s.N, s.NextID, s.FirstID)
	got := string(codecraft.AppendText(nil, g, &s))
	assert.Truef(t, strings.HasSuffix(got, "p4 score 0 resource 0\n"), "an empty map:\n%s", got)
	s, err = codecraft.ParseText(g, `
		3 b4 b2 b2 *
		2 b2 * . b1
		unit 6 b2 0,2`)
	require.NoError(t, err)
	for _, want := range []codecraft.Unit{
		{ID: 5, X: 3, Y: 2, Owner: 0}, {ID: 6, X: 0, Y: 2, Owner: 1}, {ID: 7, X: 1, Y: 3, Owner: 1},
		{ID: 8, X: 2, Y: 3, Owner: 1}, {ID: 9, X: 0, Y: 3, Owner: 3},
	} {
		want.Type, want.Health, want.Active = codecraft.BuilderUnit, 10, true
		if i := s.Find(want.ID); i < 0 || s.Units[i] != want {
			t.Errorf("want %+v\n%s", want, codecraft.AppendText(nil, g, &s))
		}
	}
	if s.ResourceID(1, 2) != 10 || s.ResourceID(3, 3) != 11 || s.NextID != 12 {
		t.Errorf("resources %d and %d, next id %d", s.ResourceID(1, 2), s.ResourceID(3, 3), s.NextID)
	}
}

// stateText reads and writes states under the rules of g as text.
func stateText(g *codecraft.Game) simtest.StateText[codecraft.State] {
	return simtest.StateText[codecraft.State]{
		Parse:  func(text string) (codecraft.State, error) { return codecraft.ParseText(g, text) },
		Append: func(s *codecraft.State) string { return string(codecraft.AppendText(nil, g, s)) },
	}
}

// TestTextRoundTrip writes and reads states of random games.
func TestTextRoundTrip(t *testing.T) {
	units, actions := 0, 0
	visit(t, 26, 60, func(_ *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		text := stateText(g).Again(t, *s)
		units += int(s.N)
		actions += strings.Count(text, " auto ")
	})
	assert.Truef(t, units >= 200 && actions >= 50, "%d units and %d auto attacks in all texts", units, actions)
}

func TestTextErrors(t *testing.T) {
	g := mustGame(t, "finals", nil)
	builder := func(more string) string { return "0 b1\nunit 3 b1 0,0 " + more + "\n" }
	simtest.Refuses(t, strings.HasPrefix, func(text string) error { _, err := codecraft.ParseText(g, text); return err }, map[string]string{
		"80 . .":                               `line 1, column 1: expected tick, p1 to p2, unit, health, gone, x and a column, or a row from 0 to 79, found "80"`,
		"p3 score 1":                           `line 1, column 1: expected tick, p1 to p2`,
		"x80 0":                                `line 1, column 1: expected tick`,
		"tick x":                               `line 1, column 6: expected a number of type int32, found "x"`,
		"p1 score -1":                          `the position: player 1 has score -1`,
		"3 ..é":                                `line 1, column 5: expected a cell: . : * or one of W, H, T, B, b, M, m, R, r and a player, found`,
		"3 b":                                  `line 1, column 4: expected a player from 1 to 2, found the end of the line`,
		"3 b3":                                 `line 1, column 4: expected a player from 1 to 2, found "3"`,
		"3 ...\nx78 8 9":                       `line 1, column 3: expected at most 2 cells in row 3 from column 78 on, found "..."`,
		"3 T1T2\n2 T1T1":                       `line 2, column 3: expected 2 by 2 cells of an entity with the lowest corner on 0,2, found "T1"`,
		"79 T1T1":                              `line 1, column 4: expected 2 by 2 cells of an entity with the lowest corner on 0,79, found "T1"`,
		"unit 3 b1":                            `line 1, column 10: expected an id, a letter and player, and a cell, found the end of the line`,
		"unit 3 b1 0,80":                       `line 1, column 11: expected a cell as x,y up to 79,79, found "0,80"`,
		"0 b2\nunit 3 b1 0,0":                  `line 2, column 8: expected the letter and player of an entity with its lowest corner on 0,0, and one line for each, found "b1"`,
		builder("") + builder("")[5:]:          `line 3, column 8: expected the letter and player of an entity with its lowest corner on 0,0, and one line for each, found "b1"`,
		"0 b1\nunit 0 b1 0,0":                  `line 2, column 6: expected an id from 1 to 16777215, found "0"`,
		builder("") + "0 b1":                   `line 3, column 1: expected each line once, found "0"`,
		builder("health 11"):                   `line 2, column 22: expected health from 1 to 10, found "11"`,
		builder("jump"):                        `line 2, column 15: expected health, inactive, stop, move, build, attack, auto or repair, found "jump"`,
		builder("inactive inactive"):           `line 2, column 24: expected each name once, found "inactive"`,
		builder("move"):                        `line 2, column 19: expected a cell as x,y up to 65535,65535, found the end of the line`,
		builder("move 1,2 slowly"):             `line 2, column 24: expected health, inactive`,
		builder("build Castle 1,2"):            `line 2, column 21: expected the name of a type, or a number from 10 to 15, found "Castle"`,
		builder("build House"):                 `line 2, column 26: expected a cell as x,y up to 65535,65535, found the end of the line`,
		builder("auto any"):                    `line 2, column 20: expected a pathfind range from 0 to 65535, found "any"`,
		builder("auto 5 House,Castle"):         `line 2, column 22: expected types with commas between, or any, found "House,Castle"`,
		builder("repair -1"):                   `line 2, column 22: expected a number of type uint32, found "-1"`,
		"health 1,1=3":                         `line 1, column 8: expected the cell of a resource, found "1,1=3"`,
		"0 *\nhealth 0,0=31":                   `line 2, column 12: expected health from 1 to 30, found "31"`,
		"0 *\ngone 0,0":                        `line 2, column 6: expected the cell of an entity that is no resource, found "0,0"`,
		"0 b1\ngone 0,0=1":                     `line 2, column 6: expected the cell of an entity that is no resource, found "0,0=1"`,
		"0 b1b1\nunit 3 b1 0,0\nunit 3 b1 1,0": `the position: entity 3: two entities have this id`,
		"tick 0 first 3\n0 * b1":               `the position: entity 3: its id lies between those of resources`,
		"tick 0 first 3\n0 :b1":                `an entity has id 3, expected none of the ids of the 1 resources, from 3 on`,
		"tick 0 next 5 first 5\n0 :b1":         `the next id is 5, expected at least 6, above those of all resources`,
		"tick 0 next 4\n0 * b1":                `the position: entity 4`,
		"tick 1001":                            `the position: tick 1001`,
	})
}

func FuzzParseText(f *testing.F) {
	stateText(mustGame(f, "finals", nil)).Fuzz(f, nil, sampleText,
		"0 b1*:T2T2\n1 . . .T2T2\nx70\nunit 9 T2 73,0 health 1 auto 3 Wall,House inactive",
		"tick 5 first 4\n3 ***\ngone 0,0\n0 b2")
}

// TestHashTellsPositionsApart changes each part of a position: the hash must change.
func TestHashTellsPositionsApart(t *testing.T) {
	g := mustGame(t, "finals", nil)
	stateText(g).Hashes(t, g.Hash, sampleText, [][2]string{
		{"tick 3", "tick 4"}, {"seed 7", "seed 8"}, {"next 61", "next 64"},
		{"score 120", "score 121"}, {"p2 score 0", "p2 score 1"}, {"resource 45", "resource 46"}, {"resource 3\n", "resource 4\n"},
		{"b1", "b2"}, {"b1", "r1"}, {"unit 13", "unit 14"}, {"health 48", "health 47"}, {"health 5 inactive", "health 5"},
		{"12,13=7", "12,13=8"}, {"14   . . .b1 * *", "14   . . .b1 * ."},
		{"stop", "move 1,2"}, {"stop", "build Wall 1,2"}, {"stop", "attack 1"}, {"stop", "auto 0 Resource"}, {"stop", "repair 1"},
		{"move 20,20", "move 21,20"}, {"move 20,20", "move 20,21"}, {" closest", ""}, {" closest", " closest break"},
		{"move 20,20", "move 79,20"}, {"move 20,20", "move 79,20 outside"},
		{"House 3,4", "Wall 3,4"}, {"House 3,4", "House 4,4"}, {"House 3,4", "House 3,5"}, {"attack 60", "attack 61"},
		{"auto 10", "auto 11"}, {"10 Resource", "10 Wall"}, {"repair 4294967295", "repair 4294967294"},
	})
}
