package towerdefence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
)

const sampleText = `round 57
A energy 35 health 100 hits 0 score 431 damage 75 curtain -26 ready yes fails 0
B energy 12 health 85 hits 3 score 402 damage 0 curtain 4 ready no fails 1
x 0   1   2   3   4   5   6   7      | 7   6   5   4   3   2   1   0
0 E   .   .   .   .   .   .>  D''    | .   .   .   .>  .   A2  .   E
1 E   .   A   .   .<  .   .   d2     | .   .   t7  .   .   .   .   .
2 .   .   .   .   .   .   .   .      | .   .   .   .   .   .   .   .
3 .   .   .   T*  .   .   .   T3     | .   .   T   .   .   .   .   .
4 .   .   .   .   .   .   .   .      | .   .   .   .   .   .   .   .
5 .   .   .   .   .   .   .   .>><<< | .   .   .   .   .   .   .   .
6 .   .   .   .   .   .   .   .      | .   .   .   .   .   .   .   .
7 .   .   .   .   .   .   .   .      | .   .   .   .   .   .   .   .
`

// squeeze replaces runs of blanks by one blank.
func squeeze(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestTextSample(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	s, err := towerdefence.ParseText(g, sampleText)
	require.NoError(t, err)
	got := fastText(g, &s)
	assert.Equalf(t, squeeze(sampleText), squeeze(got), "got\n%s", got)
	assert.Equal(t, uint16(3*8+7), s.Half[0].Tesla[1].Cell, "the younger tower stands on")
}

// stateText returns the reader and writer of states under the rules of g.
func stateText(g *towerdefence.Game) simtest.StateText[towerdefence.State] {
	return simtest.StateText[towerdefence.State]{
		Parse:  func(text string) (towerdefence.State, error) { return towerdefence.ParseText(g, text) },
		Append: func(s *towerdefence.State) string { return fastText(g, s) },
	}
}

func TestTextOfStart(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	var want towerdefence.State
	g.Reset(&want, 0)
	for _, text := range []string{"", "\n\n", "round 0 # the beginning\n"} {
		stateText(g).Is(t, text, want)
	}
	stateText(g).Again(t, want)
}

// canon removes from a state what a text does not hold: since when a tower
// waits for energy, and how far below 0 a base is.
func canon(s towerdefence.State) towerdefence.State {
	for p := range s.Half {
		h := &s.Half[p]
		for i := range h.Tesla[:h.Teslas] {
			h.Tesla[i].Ready = max(h.Tesla[i].Ready, int16(s.Round))
		}
		if h.Health() == 0 {
			h.Base = int64(h.Hits())
		}
	}
	return s
}

// TestTextRoundTrip reads back the positions of random games. Under the default
// rules they have the same Hash; under all rules the copy has the same text and
// plays on as the original does.
func TestTextRoundTrip(t *testing.T) {
	for seed := range uint64(80) {
		r := prng.New(seed)
		rules := towerdefence.DefaultRules()
		if seed%2 == 1 {
			rules = randomRules(&r)
		}
		g, err := towerdefence.New(rules)
		require.NoError(t, err)
		roundTrip(t, g, seed, &r)
	}
}

func roundTrip(t *testing.T, g *towerdefence.Game, seed uint64, r *prng.Rand) {
	t.Helper()
	var s, other towerdefence.State
	g.Reset(&s, 0)
	for p := range sim.Player(2) {
		g.SetStart(&s, p, r.IntN(3000), 100)
	}
	other = s
	follows := 0 // rounds that other still has to follow
	for {
		text := fastText(g, &s)
		switch read, err := towerdefence.ParseText(g, text); {
		case err != nil:
			t.Fatalf("seed %d: %v in\n%s", seed, err, text)
		case fastText(g, &read) != text:
			t.Fatalf("seed %d: the text\n%s is read as\n%s", seed, text, fastText(g, &read))
		case follows > 0 && fastText(g, &other) != text:
			t.Fatalf("seed %d: a position read from a text plays on to\n%s and not to\n%s", seed, fastText(g, &other), text)
		case g.Info().Config == string(towerdefence.DefaultRules().AppendText(nil)):
			a, b := canon(s), canon(read)
			require.Equalf(t, g.Hash(&b), g.Hash(&a), "seed %d: hashes differ: %+v and %+v of\n%s", seed, a, b, text)
		case follows == 0:
			other, follows = read, 40
		}
		a, b := g.Playout(&s, 0, r), g.Playout(&s, 1, r)
		if r.IntN(10) == 0 {
			a = command.Parse([]string{"3,3,3", "a,b,c", "9,9,0", "0,0"}[r.IntN(4)])
		}
		follows--
		g.Play(&other, a, b)
		if g.Play(&s, a, b) != sim.Running {
			return
		}
	}
}

func TestTextErrors(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	row := func(cell string) string {
		return "round 9\n0 . . " + cell + strings.Repeat(" .", 5) + " |" + strings.Repeat(" .", 8)
	}
	simtest.Refuses(t, strings.HasPrefix, func(text string) error { _, err := towerdefence.ParseText(g, text); return err }, map[string]string{
		"zound 1":                   `line 1, column 1: expected round, A, B, x or a row from 0 to 7, found "zound"`,
		"8 . .":                     `line 1, column 1: expected round, A, B, x or a row from 0 to 7, found "8"`,
		"round 402":                 `round is 402, expected 0 to 400`,
		"A energy -5":               `player A: energy is -5, expected 0 to 1000000000`,
		"A health 1001":             `player A: health is 1001, expected 0 to 1000`,
		"A ready 1":                 `line 1, column 9: expected yes or no, found "1"`,
		"A fails 256":               `player A: the failed commands in a row is 256, expected 0 to 255`,
		"0 . . . . . . . | .":       `line 1, column 17: expected 8 cells in each half, found "|"`,
		"0 . . . . . . . . . . .":   `line 1, column 19: expected "|" behind 8 cells, found "."`,
		"0 . . . . . . . . | . . .": `line 1, column 26: expected 8 cells in each half, found the end of the line`,
		row(".") + " .":             `line 2, column 37: expected the end of the line, found "."`,
		row("é"):                    `line 2, column 7: expected a cell: . or one of D, A, E, T (lower case while unfinished), and missiles, found "é"`,
		row(".>>>>>"):               `player A: 5 missiles of one owner on a cell, expected 0 to 4`,
		row("D''''"):                `player A: the building on its x 2, y 0: health is 0, expected 20 less the 5 of each missile`,
		row("d'2"):                  `player A: the building on its x 2, y 0: health is 15, expected 20 of an unfinished building`,
		row("d3"):                   `line 2, column 8: expected the rounds until it acts from 1 to 2, found "3"`,
		row("d"):                    `line 2, column 8: expected the rounds until it acts from 1 to 2, found the end of the line`,
		row("D2"):                   `line 2, column 8: expected the rounds until it may shoot from 1 to 0, found "2"`,
		row("A4"):                   `line 2, column 8: expected the rounds until it may shoot from 1 to 3, found "4"`,
		row("A*"):                   `line 2, column 7: expected * on finished tesla towers only, found "A*"`,
		row("T"):                    `player A: the building on its x 2, y 0: constructionTimeLeft is 0, expected 1 to 9`,
		strings.Replace(row("t9"), "5 |", "", 1) + "\n1 t9 . . . . . . . | . . . . . . . .": `player A: two tesla towers with the same constructionTimeLeft`,
		"round 30\n1 T t1 T . . . . . | . . . . . . . .":                                    `player A: a third tesla tower of its player`,
		"round 10\n1 T* T . . . . . . | . . . . . . . .":                                    `player A: the building on its x 0, y 1: constructionTimeLeft is -1, expected 0 to 9`,
	})
}

// FuzzParseText: positions that are read can be played.
func FuzzParseText(f *testing.F) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	stateText(g).Fuzz(f, func(s *towerdefence.State) { g.Play(s, towerdefence.Build(towerdefence.Attack, 1, 1), 0) },
		sampleText, "round 3\n2 . . a . | .")
}

// TestHashTellsPositionsApart changes one thing of a position after the other.
func TestHashTellsPositionsApart(t *testing.T) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	stateText(g).Hashes(t, g.Hash, sampleText, [][2]string{
		{"round 57", "round 58"}, {"energy 35", "energy 36"}, {"health 85", "health 80"}, {"score 431", "score 432"},
		{"curtain 4", "curtain 5"}, {"curtain 4", "curtain 1"}, {"curtain 4", "curtain 0"}, {"ready yes", "ready no"}, {"fails 1", "fails 0"},
		{"0 E", "0 D"}, {"0 E", "0 A"}, {"D''", "D'"}, {"D''", "D"}, {"D''", "d2"}, {"d2", "d1"}, {"d2", "D"}, {"A2", "A1"}, {"A2", "A"},
		{"t7", "t6"}, {"T3", "T2"}, {"T*  .   .   .   T3", "T   .   .   .   T*3"},
		{".<", "."}, {".<", ".>"}, {".>><<<", ".>><<"}, {".>><<<", ".>>><<<"},
	})
	down, long := begin(t, "round 40\nA curtain 0", nil), begin(t, "round 40\nA curtain -4", nil)
	assert.Equal(t, g.Hash(&long.s), g.Hash(&down.s), "since when a curtain is down makes another hash")
}
