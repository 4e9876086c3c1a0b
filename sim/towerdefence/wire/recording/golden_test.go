package recording

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/referee"
)

const (
	goldenGame   = "../testdata/game.jsonl"
	goldenRounds = 48
	goldenShown  = 41 // the number of the round that the golden displays show
)

// startingWith starts a match with these energies and healths of A and B.
func startingWith(energy, health [2]int) *referee.Referee {
	rules := towerdefence.DefaultRules()
	rules.SetStart(energy, health)
	return referee.New(rules)
}

// playGolden plays the golden game and returns its recording and the position
// of the golden displays.
func playGolden() (recording []byte, shown *display.Position) {
	random := rand.New(rand.NewPCG(2018, 302))
	h := Header{Game: "golden", Seed: "2018", Policy: [2]string{"random", "random"}, Energy: [2]int{1500, 1500}, Health: [2]int{250, 250}}
	match := startingWith(h.Energy, h.Health)
	var out bytes.Buffer
	w := NewWriter(&out)
	w.Header(h)
	for range goldenRounds {
		commands := [2]string{wiretest.RandomCommand(random), wiretest.RandomCommand(random)}
		end := match.Play(commands[0], commands[1])
		p := match.Position()
		round := RoundOf(p, commands)
		w.Round(&round)
		if p.Round == goldenShown {
			shown = p
		}
		if end != "" {
			break
		}
	}
	w.Result(match.Result())
	return out.Bytes(), shown
}

// TestGoldenGame plays a game of random commands, and reads, plays and writes
// its recording in testdata: all must agree byte for byte.
func TestGoldenGame(t *testing.T) {
	got, _ := playGolden()
	simtest.Golden(t, goldenGame, got)
	games, rounds, exact := replay(t, goldenGame, got)
	assert.Truef(t, games == 1 && rounds == goldenRounds, "%d games, %d rounds, want 1 and %d", games, rounds, goldenRounds)
	t.Logf("missile order worked out in %d of %d rounds", exact, rounds)
	for _, part := range []string{`"th":[[[0,0,`, `"ih":[[`, `"c":["0,0,5"`} {
		assert.Contains(t, string(got), part, "the golden game has no")
	}
}

// TestGoldenDisplays compares the displays of one position of that game with
// those in testdata.
func TestGoldenDisplays(t *testing.T) {
	_, p := playGolden()
	require.NotNilf(t, p, "the game ended before round %d", goldenShown)
	for seat, letter := range display.Letters {
		simtest.Golden(t, fmt.Sprintf("../testdata/state%c.json", letter), p.AppendState(nil, sim.Player(seat)))
		simtest.Golden(t, fmt.Sprintf("../testdata/textMap%c.txt", letter), p.AppendTextMap(nil, sim.Player(seat)))
	}
	simtest.Golden(t, "../testdata/console.txt", p.AppendConsole(nil))
}
