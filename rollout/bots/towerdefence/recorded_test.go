package towerdefence

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/recording"
	"moonfarm/sim/towerdefence/wire/referee"
)

// longEnv asks for the long form of tests.
const longEnv = "MOONFARM_LONG"

// render is a position with the files that the original engine wrote for it.
type render struct {
	Render         string
	Round          int
	After          json.RawMessage // the line of the round before; null at the start
	StateA, StateB string
	TextA, TextB   string
}

// position returns the position of the render.
func (d *render) position(t *testing.T) *display.Position {
	t.Helper()
	var state shownState
	require.NoError(t, json.Unmarshal([]byte(d.StateA), &state))
	start := recording.Header{Game: "x", Health: [2]int{100, 100}}
	if string(d.After) == "null" {
		r := towerdefence.DefaultRules()
		r.SetStart([2]int{state.Players[0].Energy, state.Players[1].Energy}, [2]int{state.Players[0].Health, state.Players[1].Health})
		return referee.New(r).Position()
	}
	after := bytes.Replace(d.After, fmt.Appendf(nil, `{"r":%d,`, d.Round-1), []byte(`{"r":0,`), 1)
	in, err := recording.NewReader(d.Render, bytes.NewReader(append(append(start.AppendLine(nil), after...), '\n')))
	for range 2 {
		if err == nil {
			_, err = in.Next()
		}
	}
	require.NoError(t, err)
	p := in.Round.Position(towerdefence.DefaultRules(), 0)
	p.Round = d.Round
	return p
}

// TestDisplays: bots are given the same files as by the original in the same positions:
// every field of state.json except the ids of missiles, which are random, and every byte
// of textMap.txt.
func TestDisplays(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(simtest.Text(t, simtest.Shared(t, "traces", "towerdefence", "renders.jsonl.gz"))), []byte("\n"))
	m := &Match{Rules: rules(400), Seats: []Seat{{Program: scripted(t, "seen", `""`)}, {Program: scripted(t, "seen", `""`)}}}
	h, err := m.newHost()
	require.NoError(t, err)
	for i, s := range h.bots {
		s.work = rootOf(t, m.Seats[i].Program.Work)
		s.args = s.Program.args(s.work.Name())
		_, err = s.join(t.Context())
		require.NoError(t, err)
		defer s.End(context.Background(), nil)
	}
	for _, line := range lines {
		var d render
		require.NoError(t, json.Unmarshal(line, &d))
		h.position = d.position(t)
		for i, s := range h.bots {
			if _, err := s.Ask(nil); err != nil || s.crash != nil || !s.gave {
				t.Fatalf("%v, crash %v, %+v", err, s.crash, s.record)
			}
			seen := filepath.Join(s.work.Name(), fmt.Sprintf("seen-%03d-", d.Round))
			state, text := read(t, seen+stateFile), read(t, seen+textFile)
			wantState, wantText := [2]string{d.StateA, d.StateB}[i], [2]string{d.TextA, d.TextB}[i]
			if got, want := fields(t, state), fields(t, wantState); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, seat %d: state\n%s\nthe original wrote\n%s", d.Render, i+1, state, wantState)
			}
			if text != wantText {
				t.Errorf("%s, seat %d: text map\n%s\nthe original wrote\n%s", d.Render, i+1, text, wantText)
			}
		}
	}
	assert.Equalf(t, 36, len(lines), "%d positions, want 36", len(lines))
}

// fields returns all fields of a JSON text except ids.
func fields(t *testing.T, text string) (all any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	var clean func(v any)
	clean = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "id")
			for _, x := range v {
				clean(x)
			}
		case []any:
			for _, x := range v {
				clean(x)
			}
		}
	}
	clean(all)
	return all
}

// shownState has the fields of a state.json that change in a match.
type shownState struct {
	GameDetails struct{ Round int }
	Players     []struct {
		PlayerType                       string
		Energy, Health, HitsTaken, Score int
		IronCurtainAvailable             bool
		ActiveIronCurtainLifetime        int
	}
	GameMap [][]struct {
		Buildings []struct {
			X, Y, Health, ConstructionTimeLeft, WeaponCooldownTimeLeft int
			BuildingType, PlayerType                                   string
		}
		Missiles []struct {
			X, Y       int
			PlayerType string
		}
	}
	TeslaHitList       [][]shownCell
	IronCurtainHitList []shownCell
}

type shownCell struct {
	X, Y       int
	PlayerType string
}

func (s shownCell) cell() display.Cell {
	return display.Cell{X: s.X, Y: s.Y, Owner: seatOf(s.PlayerType, 0)}
}

// seatOf returns the player that a viewer sees as the letter.
func seatOf(letter string, viewer sim.Player) sim.Player {
	return sim.Player(strings.Index("AB", letter)) ^ viewer
}

// roundOf returns the line of a recording that leads to the state.
func (s *shownState) roundOf(viewer sim.Player) recording.Round {
	x := func(x int) int {
		if viewer == 1 {
			return display.Columns - 1 - x
		}
		return x
	}
	r := recording.Round{Number: s.GameDetails.Round - 1}
	for i, p := range s.Players {
		r.Players[i] = display.Player{Energy: p.Energy, Health: p.Health, HitsTaken: p.HitsTaken, Score: p.Score,
			CurtainAvailable: p.IronCurtainAvailable, CurtainTime: p.ActiveIronCurtainLifetime}
	}
	counts := map[recording.Stack]int{}
	for _, row := range s.GameMap {
		for _, c := range row {
			for _, b := range c.Buildings {
				kind := towerdefence.Kinds[slices.IndexFunc(towerdefence.Kinds[:], func(k towerdefence.Kind) bool { return k.String() == b.BuildingType })]
				r.Buildings = append(r.Buildings, display.Building{X: x(b.X), Y: b.Y, Owner: seatOf(b.PlayerType, viewer), Kind: kind,
					Health: b.Health, BuildTime: b.ConstructionTimeLeft, Cooldown: b.WeaponCooldownTimeLeft})
			}
			for _, m := range c.Missiles {
				counts[recording.Stack{X: x(m.X), Y: m.Y, Owner: seatOf(m.PlayerType, viewer)}]++
			}
		}
	}
	slices.SortFunc(r.Buildings, func(a, b display.Building) int { return cmp.Or(a.Y-b.Y, a.X-b.X) })
	for m, n := range counts {
		m.Count = n
		r.Missiles = append(r.Missiles, m)
	}
	slices.SortFunc(r.Missiles, func(a, b recording.Stack) int { return cmp.Or(a.Y-b.Y, a.X-b.X, int(a.Owner)-int(b.Owner)) })
	for _, shot := range s.TeslaHitList {
		var cells []display.Cell
		for _, c := range shot {
			cells = append(cells, c.cell())
		}
		r.TeslaHits = append(r.TeslaHits, cells)
	}
	for _, c := range s.IronCurtainHitList {
		r.CurtainHits = append(r.CurtainHits, c.cell())
	}
	return r
}

// TestRecordedMatches: bots play the commands of recorded matches. In every round their
// files agree with the original's recording, and the match ends as recorded. The short form
// of the test stops soon after the first iron curtain.
func TestRecordedMatches(t *testing.T) {
	names, last := []string{"recorded_iron_curtain_with_teslas"}, 34
	if os.Getenv(longEnv) != "" {
		names, last = append(names, "recorded_normal_towers", "recorded_iron_curtain"), 400
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text := simtest.Text(t, simtest.Shared(t, "traces", "towerdefence", name+".jsonl.gz"))
			in, err := recording.NewReader(name, bytes.NewReader(text))
			require.NoError(t, err)
			var lines []recording.Round
			var scripts [2][]string
			for {
				kind, err := in.Next()
				require.NoError(t, err)
				if kind == recording.ResultLine {
					break
				}
				if kind != recording.RoundLine {
					continue
				}
				r := in.Round
				for i, c := range r.Commands {
					scripts[i] = append(scripts[i], quoted(c)...)
					r.Players[i].FailCount = 0 // not shown
				}
				r.Commands = [2]string{}
				r.Buildings, r.Missiles = slices.Clone(r.Buildings), append([]recording.Stack(nil), r.Missiles...)
				r.TeslaHits = nil
				for _, shot := range in.Round.TeslaHits {
					r.TeslaHits = append(r.TeslaHits, slices.Clone(shot))
				}
				r.CurtainHits = append([]display.Cell(nil), r.CurtainHits...)
				lines = append(lines, r)
			}
			m := &Match{Rules: rules(last), Seats: []Seat{{Program: scripted(t, "seen", scripts[0]...)}, {Program: scripted(t, "seen", scripts[1]...)}}}
			m.Rules.SetStart(in.Header.Energy, in.Header.Health)
			r, _ := play(t, m)
			assert.Truef(t, (last != 400 || r.Turns == len(lines) && r.Final == in.Result) && r.Turns >= min(last, len(lines)), "%s: %+v, recorded %+v", name, r.Final, in.Result)
			for i, rec := range r.Records {
				clean(t, rec)
				for n := 1; n < r.Turns; n++ {
					var state shownState
					seen := filepath.Join(m.Seats[i].Program.Dir, fmt.Sprintf("seen-%03d-%s", n, stateFile))
					if err := json.Unmarshal([]byte(read(t, seen)), &state); err != nil {
						t.Fatal(err)
					}
					if got, want := state.roundOf(sim.Player(i)), lines[n-1]; !reflect.DeepEqual(got, want) {
						t.Fatalf("%s, round %d, seat %d: shown\n%+v\nrecorded\n%+v", name, n, i+1, got, want)
					}
				}
			}
		})
	}
}
