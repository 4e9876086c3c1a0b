package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
)

const (
	goldenGame   = "testdata/game.jsonl"
	goldenRounds = 48
	goldenShown  = 41 // the round number the golden displays show
)

// randomCommand is a command text: mostly a building, some curtains and
// deconstructions, a few that fail.
func randomCommand(r *rand.Rand) string {
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

// startingWith starts a match with these energies and healths of A and B.
func startingWith(energy, health [2]int) *Referee {
	rules := towerdefence.DefaultRules()
	rules.SetStart(energy, health)
	return NewReferee(rules)
}

// playGolden plays the golden game and returns its recording and the position
// whose displays are kept.
func playGolden() (recording []byte, shown *Position) {
	random := rand.New(rand.NewPCG(2018, 302))
	h := Header{Game: "golden", Seed: "2018", Policy: [2]string{"random", "random"}, Energy: [2]int{1500, 1500}, Health: [2]int{250, 250}}
	referee := startingWith(h.Energy, h.Health)
	var out bytes.Buffer
	w := NewRecordingWriter(&out)
	w.Header(h)
	for range goldenRounds {
		commands := [2]string{randomCommand(random), randomCommand(random)}
		end := referee.Play(commands[0], commands[1])
		p := referee.Position()
		round := RoundOf(p, commands)
		w.Round(&round)
		if p.Round == goldenShown {
			shown = p
		}
		if end != "" {
			break
		}
	}
	w.Result(referee.Result())
	return out.Bytes(), shown
}

// TestGoldenGame plays a game of random commands, and reads, plays and writes
// the recording of it kept in testdata: all must agree byte for byte.
func TestGoldenGame(t *testing.T) {
	got, _ := playGolden()
	simtest.Golden(t, goldenGame, got)
	games, rounds, exact := replay(t, goldenGame, got)
	if games != 1 || rounds != goldenRounds {
		t.Errorf("%d games, %d rounds, want 1 and %d", games, rounds, goldenRounds)
	}
	t.Logf("missile order worked out in %d of %d rounds", exact, rounds)
	for _, part := range []string{`"th":[[[0,0,`, `"ih":[[`, `"c":["0,0,5"`} {
		if !strings.Contains(string(got), part) {
			t.Errorf("the golden game has no %s", part)
		}
	}
}

// TestGoldenDisplays holds the displays of one position of that game against
// those kept in testdata.
func TestGoldenDisplays(t *testing.T) {
	_, p := playGolden()
	if p == nil {
		t.Fatalf("the game ended before round %d", goldenShown)
	}
	for seat, letter := range letters {
		simtest.Golden(t, fmt.Sprintf("testdata/state%c.json", letter), p.AppendState(nil, sim.Player(seat)))
		simtest.Golden(t, fmt.Sprintf("testdata/textMap%c.txt", letter), p.AppendTextMap(nil, sim.Player(seat)))
	}
	simtest.Golden(t, "testdata/console.txt", p.AppendConsole(nil))
}

// TestMissileIDs checks that a missile keeps its id for all its flight.
func TestMissileIDs(t *testing.T) {
	r := startingWith([2]int{100, 100}, [2]int{100, 100})
	r.Play("0,0,1", "0,7,1")
	for round := 1; round < 8; round++ {
		r.Play("", "")
		p := r.Position()
		if len(p.Missiles) < 2 || p.Missiles[0].ID != 1 || p.Missiles[1].ID != 2 {
			t.Fatalf("round %d: %+v", round, p.Missiles)
		}
		if p.Missiles[0].X != 2*round || p.Missiles[1].X != 15-2*round {
			t.Errorf("round %d: %+v", round, p.Missiles)
		}
	}
	state := string(r.Position().AppendState(nil, seatB))
	if want := `{"damage":5,"speed":2,"id":"00000000-0000-4000-8000-000000000001","x":1,"y":0,"playerType":"B"}`; !strings.Contains(state, want) {
		t.Errorf("no %s in %s", want, state)
	}
}
