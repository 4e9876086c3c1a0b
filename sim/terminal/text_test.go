package terminal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

const sampleText = `turn 3 next 41
p1 health 30 cores 4.5 bits 6.1 time 12034
p2 health -2.5 cores 0 bits 11 time 9760
27                            . .
26                          . . . .
25                        . . . . . .
24                      . . . . . . . .
23                    . . . . . . . . . .
22                  . . . . . . . . . . . .
21                . . . . . . . . . . . . . .
20              . . . . . . . . . . . . . . . .
19            . . . . . . . . . . . . . . . . . .
18          . . . . . . . . . . . . . . . . . . . .
17        . . . . . . . . . . . . . . . . . . . . . .
16      . . . . . . . . . . . . . . . . . . . . . . . .
15    . . . . . . . . . . . . . . . . . . . . . . . . . .
14  t w . . . . . . . . . . . . . . . . . . . . . . . . W w
13  W w . . . . . . S . . . . . . . . . . . . . . . . . . w
12    . . . . . . . . . . . . . . . . . . . . . . . . . .
11      . . . . . . . . . . . . . . . . . . . . . . . .
10        . . . . . . . . . . . . . . . . . . . . . .
9           . . . . . . . . . . . . . . . . . . . .
8             . . . . . . . . . . . . . . . . . .
7               . . . . . . . . . . . . . . . .
6                 . . . . . . . . . . . . . .
5                   . . . . . . . . . . . .
4                     . . . . . . . . . .
3                       . . . . . . . .
2                         . . . . . .
1                           . . . .
0                             s .
x   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7
id 0,13=4 1,13=5 8,13=6 27,13=7 0,14=11 1,14=12 26,14=13 27,14=14 13,0=40
health 27,13=0.1 0,14=57.5
`

func TestTextSample(t *testing.T) {
	g := mustGame(t, "2022")
	s := position(t, g, sampleText)
	assert.Equal(t, sampleText, string(terminal.AppendText(nil, g, &s)))
	want := terminal.Piece{At: terminal.Pos{X: 8, Y: 13}, Kind: terminal.Support, Upgraded: true, ID: 6, Health: 30}
	got, ok := s.At(8, 13)
	assert.Truef(t, ok && got == want, "on 8,13 stands %+v", got)
	want = terminal.Piece{At: terminal.Pos{X: 0, Y: 14}, Kind: terminal.Turret, Player: 1, ID: 11, Health: 57.5}
	got, ok = s.At(0, 14)
	assert.Truef(t, ok && got == want, "on 0,14 stands %+v", got)
	assert.Truef(t, s.Health == [2]float32{30, -2.5} && s.Cores == [2]float32{4.5, 0} && s.Bits == [2]float32{6.1, 11} && s.Time == [2]uint32{12034, 9760}, "players %+v %+v %+v %+v", s.Health, s.Cores, s.Bits, s.Time)
}

// TestTextWide checks that columns stay aligned when marks make them wider.
func TestTextWide(t *testing.T) {
	m := begin(t, "T10 13,13\nw2 3,13\ns 14,14\n", func(r *terminal.Rules) {
		for k := range terminal.Structures {
			r.Units[k].RemoveTurns, r.Upgraded[k].RemoveTurns = 15, 15
		}
	})
	for line := range strings.Lines(m.text()) {
		for mark, column := range map[string]int{"T10": 4 + 13*4, "w2": 4 + 3*4, "s ": 4 + 14*4} {
			if at := strings.Index(line, mark); at >= 0 && line[0] == '1' && at != column {
				t.Errorf("%q begins at %d, want %d", mark, at, column)
			}
		}
		assert.Equal(t, line, strings.TrimRight(line, " \n")+"\n", "blanks at the end")
	}
	m.want("at 13,13 T10\nat 3,13 w2\nat 14,14 s\nx 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7")
}

func TestTextOfStart(t *testing.T) {
	g := mustGame(t, "2026")
	var want terminal.State
	g.Reset(&want, 0)
	for _, text := range []string{"", "\n\n", "turn 0 # the beginning\n"} {
		stateText(g).Is(t, text, want)
	}
	stateText(g).Again(t, want)
}

// TestTextDefaults checks that structures without an id get the lowest free ids, player 1's first, and
// that the next id follows the highest.
func TestTextDefaults(t *testing.T) {
	m := begin(t, "w 13,0 14,0 0,13\nt 27,14 13,27 14,27\nid 27,14=2 14,0=9\np2 cores 3", nil)
	ids := func(p sim.Player) (list []uint32) {
		for _, c := range m.s.AppendStructures(nil, p) {
			list = append(list, c.ID)
		}
		return list
	}
	a, b := ids(0), ids(1)
	assert.Truef(t, slices.Equal(a, []uint32{1, 3, 9}) && slices.Equal(b, []uint32{2, 4, 5}) && m.s.NextID == 10, "ids %v and %v, next %d", a, b, m.s.NextID)
	// In player 2's half the order is turned: 14,27 comes before 13,27.
	m.want("id 13,0=1 27,14=2 0,13=3 14,27=4 13,27=5 14,0=9\np1 health 30 cores 40 bits 5\np2 cores 3 bits 5")
}

// stateText returns the functions that write and read states under the rules of g.
func stateText(g *terminal.Game) simtest.StateText[terminal.State] {
	return simtest.StateText[terminal.State]{
		Parse:  func(text string) (terminal.State, error) { return terminal.ParseText(g, text) },
		Append: func(s *terminal.State) string { return string(terminal.AppendText(nil, g, s)) },
	}
}

// TestTextRoundTrip writes and reads every state of random games under random rules, also between two
// frames.
func TestTextRoundTrip(t *testing.T) {
	texts, structures := 0, 0
	visit(t, 7, 25, 15, func(g *terminal.Game, before *terminal.State, turn *sim.Turn) {
		s := *before
		roundTrip := func() {
			texts++
			structures += s.Own[0].Count() + s.Own[1].Count()
			stateText(g).Again(t, s)
		}
		for p := range sim.Player(2) {
			turn.Add(p, terminal.Clock(uint32(7919*texts%9000)))
		}
		g.Deploy(&s, turn)
		roundTrip()
		for frame := 0; g.Frame(&s); frame++ {
			if frame%8 == 0 {
				roundTrip()
			}
		}
		roundTrip()
		g.Restore(&s)
		roundTrip()
	})
	assert.GreaterOrEqualf(t, structures, 2*texts, "%d structures in %d texts", structures, texts)
	t.Logf("%d texts with %d structures", texts, structures)
}

func TestTextErrors(t *testing.T) {
	g := mustGame(t, "2022")
	simtest.Refuses(t, strings.HasPrefix, func(text string) error { _, err := terminal.ParseText(g, text); return err }, map[string]string{
		"zound 1":                     `line 1, column 1: expected turn, p1, p2, x, id, health, a row from 0 to 27, or a cell: . or one of w, s, t`,
		"28 . .":                      `line 1, column 1: expected turn, p1, p2, x, id, health, a row from 0 to 27`,
		"00 . .":                      `line 1, column 1: expected turn`,
		"turn":                        `line 1, column 5: expected a number of type uint32, found the end of the line`,
		"turn 1 next 5 6":             `line 1, column 15: expected one of [next], found "6"`,
		"p1 health inf":               `line 1, column 11: expected a number of type float32, found "inf"`,
		"0 .":                         `line 1, column 4: expected 2 cells in row 0, found the end of the line`,
		"27 . . .":                    `line 1, column 8: expected the end of the line, found "."`,
		"0 . é":                       `line 1, column 5: expected turn, p1`,
		"0 . w0":                      `line 1, column 6: expected the restores until it is removed from 1 to 15, found "0"`,
		"0 . w16":                     `line 1, column 6: expected the restores until it is removed from 1 to 15, found "16"`,
		"w 0,0":                       `line 1, column 3: expected a free cell of the arena, found "0,0"`,
		"w 13,0 13,0":                 `line 1, column 8: expected a free cell of the arena, found "13,0"`,
		"id 13,0=1":                   `line 1, column 4: expected the cell of a structure, found "13,0=1"`,
		"0 w .\nid 13,0=1\nid 13,0=1": `line 3, column 4: expected each cell once, found "13,0=1"`,
		"0 w .\nid 13,0=0":            `line 2, column 9: expected an id from 1 to 16777215, found "0"`,
		"0 w w\nid 13,0=3 14,0=3":     `line 2, column 16: expected each id once, found "3"`,
		"health 13,0=1":               `line 1, column 8: expected the cell of a structure, found "13,0=1"`,
		"turn 3 next 16777217":        `next id 16777217: no state of a game has it`,
		"p2 bits -1":                  `player 2: bits -1: no state of a game has it`,
		"0 w .\nhealth 13,0=0":        `line 2, column 13: expected a number above 0, found "0"`,
	})
	_, err := terminal.ParseText(mustGame(t, "2019"), "0 . W")
	assert.EqualError(t, err, `line 1, column 5: expected no upgraded wall under these rules, found "W"`, "2019")
}

// TestFrameText checks mobile units on the board and in lines.
func TestFrameText(t *testing.T) {
	m := begin(t, "p1 bits 50\np2 bits 50", nil).deploy("3 scout 13,0; scout 14,0; interceptor 13,0", "2 demolisher 13,27")
	m.want(`
		at 13,0 ^
		at 13,27 v
		unit 1–3 p1 scout 13,0 health 15
		unit 4 p1 scout 14,0 health 15
		unit 5 p1 interceptor 13,0 health 40
		unit 6–7 p2 demolisher 13,27 health 5`)
	m.frame(13).want(`
		at 19,7 ^
		at 8,7 ^
		at 14,2 ^
		at 16,24 v
		unit 1–3 p1 scout 19,7 health 15
		unit 6–7 p2 demolisher 16,24 health 5`)
	// Both players' units on one cell.
	m = begin(t, "", func(r *terminal.Rules) { r.Units[terminal.Scout].DamageMobile = 0 })
	m.deploy("scout 13,0", "scout 27,14").frame(14).want("at 20,7 x\nunit 1 p1 scout 20,7 health 15\nunit 2 p2 scout 20,7 health 15")
}

func FuzzParseText(f *testing.F) {
	stateText(mustGame(f, "2022")).Fuzz(f, nil, sampleText, "0 w S2\nid 13,0=7\nhealth 14,0=1e-3 # x\np1 cores 3e38",
		"turn 4294967295 next 16777216\np2 time 4294967295 health -1")
}

// TestHashTellsPositionsApart changes one value of a position after the other.
func TestHashTellsPositionsApart(t *testing.T) {
	g := mustGame(t, "2026")
	stateText(g).Hashes(t, g.Hash, sampleText, [][2]string{
		{"turn 3", "turn 4"}, {"health 30", "health 29"}, {"cores 4.5", "cores 4.6"}, {"bits 11", "bits 12"}, {"time 9760", "time 9761"},
		{"14  t w", "14  T w"}, {"14  t w", "14  t s"}, {"14  t w", "14  t1 w"}, {"14  t w", "14  t2 w"},
		{"0,14=57.5", "0,14=57"}, {"0,13=4 1,13=5", "0,13=5 1,13=4"}, {"13,0=40", "13,0=3"},
	})
}
