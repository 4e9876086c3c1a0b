package display_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/internal/wiretest"
	"moonfarm/sim/towerdefence/wire/referee"
	"moonfarm/sim/unzip"
)

// withoutUnknowns removes from s what a state.json lacks: failed commands, the
// parts of the score, and the rounds since when a tower could have shot.
func withoutUnknowns(s towerdefence.State) towerdefence.State {
	for p := range s.Half {
		h := &s.Half[p]
		h.Failures, h.Ledger, h.Ready = 0, 0, 0
		for i := range h.Tesla[:h.Teslas] {
			h.Tesla[i].Ready = max(h.Tesla[i].Ready, int16(s.Round))
		}
		for cell := range h.Born {
			if cell >= towerdefence.Cells || h.Occupied>>cell&1 == 0 {
				h.Born[cell] = 0
			}
		}
		h.BornLate &= h.Occupied
	}
	return s
}

// TestReadState makes states of the state.json of both players in every round of random
// games: they are the states that were played, and go on as these do.
func TestReadState(t *testing.T) {
	rules := towerdefence.DefaultRules()
	rules.SetStart([2]int{400, 300}, [2]int{100, 90})
	slow := rules // with another rhythm of the towers
	slow.Buildings[towerdefence.Attack].Cooldown, slow.Buildings[towerdefence.Defense].ConstructionTime = 4, 2
	for seed, r := range []towerdefence.Rules{rules, rules, slow} {
		g, err := towerdefence.New(r)
		require.NoError(t, err)
		base := towerdefence.DefaultRules()
		base.SetStart([2]int{400, 300}, [2]int{100, 90})
		random := rand.New(rand.NewPCG(7, uint64(seed)))
		s, turn, match := new(towerdefence.State), new(sim.Turn), referee.New(r)
		g.Reset(s, 0)
		var ahead *towerdefence.State // the state read in the round before, played on
		for end := ""; end == "" && s.Round < 120; {
			for viewer := range sim.Player(2) {
				text := match.Position().AppendState(nil, viewer)
				made, read, seat, err := display.ReadState(text, base)
				if err != nil {
					t.Fatalf("seed %d, round %d: %v", seed, s.Round, err)
				}
				if made.Rules() != r || seat != viewer {
					t.Fatalf("seed %d, round %d: other rules, or seat %d", seed, s.Round, seat)
				}
				for _, one := range []*towerdefence.State{read, ahead} {
					if one == nil {
						continue
					}
					for p := range sim.Player(2) {
						if g.Score(one, p) != g.Score(s, p) {
							t.Fatalf("seed %d, round %d: score %d, want %d", seed, s.Round, g.Score(one, p), g.Score(s, p))
						}
					}
					if got, want := withoutUnknowns(*one), withoutUnknowns(*s); got != want {
						t.Fatalf("seed %d, round %d, viewer %d:\n%s\nwant\n%s", seed, s.Round, viewer, towerdefence.AppendText(nil, g, one), towerdefence.AppendText(nil, g, s))
					}
				}
				ahead = read
			}
			commands := [2]string{wiretest.RandomCommand(random), wiretest.RandomCommand(random)}
			end = match.Play(commands[0], commands[1])
			for p := range sim.Player(2) {
				turn.Set(p, []sim.Order{command.Parse(commands[p])})
			}
			g.Step(s, turn)
			g.Step(ahead, turn)
		}
		assert.GreaterOrEqualf(t, s.Round, int32(20), "seed %d: the game ends in round %d", seed, s.Round)
	}
}

// TestReadStateOriginal reads the displays of the original engine and writes them again.
func TestReadStateOriginal(t *testing.T) {
	n := 0
	f, err := os.Open(simtest.Shared(t, "traces", "towerdefence", "renders.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	in, err := unzip.NewReader(f)
	require.NoError(t, err)
	all, err := io.ReadAll(in)
	require.NoError(t, err)
	for line := range strings.Lines(string(all)) {
		var r struct {
			Render         string
			Round          int
			StateA, StateB string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		for viewer, text := range []string{r.StateA, r.StateB} {
			_, s, seat, err := display.ReadState([]byte(text), towerdefence.DefaultRules())
			if err != nil && strings.Contains(err.Error(), "health is 0, expected 1 to 1000") {
				continue // the game is over, which bots are never shown
			}
			if err != nil || int(seat) != viewer || int(s.Round) != r.Round {
				t.Fatalf("%s: error %v, seat %d", r.Render, err, seat)
			}
			n++
		}
	}
	assert.GreaterOrEqualf(t, n, 20, "%d displays", n)
}

// TestReadStateRefused has files with wrong or missing values.
func TestReadStateRefused(t *testing.T) {
	text, err := os.ReadFile("../testdata/stateB.json")
	require.NoError(t, err)
	_, s, seat, err := display.ReadState(text, towerdefence.DefaultRules())
	require.NoError(t, err)
	require.Truef(t, seat == 1 && s.Round != 0, "error, seat %d", seat)
	tooMuch := "score is 99999999"
	if strconv.IntSize == 32 { // an int of this machine cannot hold it
		tooMuch = "cannot unmarshal number 99999999"
	}
	for _, c := range []struct{ from, to, want string }{
		{`{"gameDetails":`, `{"details":`, "gameDetails is missing"},
		{`"round":`, `"turn":`, "gameDetails.round is missing"},
		{`"round":`, `"round":9`, "round is 9"},
		{`"mapWidth":16`, `"mapWidth":18`, "gameDetails.mapWidth and mapHeight are 18 and 8, expected 16 and 8"},
		{`"maxRounds":400`, `"maxRounds":40000`, "max-rounds"},
		{`"TESLA":{"health"`, `"TESLA":{"life"`, "gameDetails.buildingsStats.TESLA.health is missing"},
		{`"playerType":"B","energy":`, `"playerType":"A","energy":`, `players: playerType is "A" and "A"`},
		{`"energy":`, `"energy":-`, "player A: energy is -"},
		{`"score":`, `"score":99999999`, tooMuch},
		{`"ironCurtainAvailable":`, `"x":`, "players[0].ironCurtainAvailable is missing"},
		{`{"x":0,"y":0,`, `{"x":1,"y":0,`, "gameMap[0][0]: x and y are not its place"},
		{`"buildingType":"ATTACK"`, `"buildingType":"CANNON"`, `buildingType is "CANNON", expected ATTACK`},
		{`"constructionTimeLeft":-`, `"constructionTimeLeft":-99`, "constructionTimeLeft is -99"},
		{`[{"health":5,`, `[{"health":4,`, "health is 4, expected 5"},
		{`[{"health":5,`, `[{"health":500,`, "health is 500"},
		{`"weaponCooldownTimeLeft":`, `"weaponCooldownTimeLeft":7`, "weaponCooldownTimeLeft is 7"},
		{`"missiles":[{"damage":5,`, `"missiles":[{"playerType":"C"},{"damage":5,`, `playerType is "C", expected A or B`},
		{`"cellOwner"`, `"missiles":[{"playerType":"A"},{"playerType":"A"},{"playerType":"A"},{"playerType":"A"},{"playerType":"A"}],"cellOwner"`, "5 missiles of one owner on a cell"},
		{`"gameMap":[`, `"gameMap":[[],`, "gameMap has 9 rows, expected 8"},
	} {
		t.Run(c.want, func(t *testing.T) {
			bad := strings.Replace(string(text), c.from, c.to, 1)
			if bad == string(text) {
				t.Errorf("there is no %s", c.from)
				return
			}
			_, _, _, err := display.ReadState([]byte(bad), towerdefence.DefaultRules())
			assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), "state.json: ") && strings.Contains(err.Error(), c.want), "%s → %s: error %v, want %q", c.from, c.to, err, c.want)
		})
	}
}

// FuzzReadState reads any text: a state that is read can be played to its end.
func FuzzReadState(f *testing.F) {
	for _, name := range []string{"../testdata/stateA.json", "../testdata/stateB.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g, s, _, err := display.ReadState(text, towerdefence.DefaultRules())
		if err != nil {
			return
		}
		for status := sim.Running; status == sim.Running; {
			status = g.Step(s, new(sim.Turn))
		}
	})
}
