package frame_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
	"moonfarm/sim/terminal/wire/referee"
	"moonfarm/sim/terminal/wire/replay"
)

// TestReadState makes states of the deploy frames that both players are shown in random matches.
// They equal the states of the referee, except for the values that frames lack.
func TestReadState(t *testing.T) {
	for _, set := range terminal.RuleSets() {
		rules := wiretest.RuleSet(t, set)
		r, err := referee.New(rules)
		require.NoError(t, err)
		g, err := terminal.New(rules)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(3, 5))
		var turn sim.Turn
		var seen frame.Frame
		structures := 0
		for n := 0; r.Waiting() && n < 12; n++ {
			for seat := range sim.Player(2) {
				frame.View(&seen, r.Frame(), seat)
				line := seen.Append(nil, config.Local)
				made, s, err := frame.ReadState(line, rules, seat)
				if err != nil {
					t.Fatalf("%s, turn %d: %v", set, n, err)
				}
				if made.Rules() != rules || s.NextID > r.State().NextID {
					t.Fatalf("%s, turn %d: next id %d, want %d at most", set, n, s.NextID, r.State().NextID)
				}
				s.NextID, s.Time = r.State().NextID, r.State().Time
				if *s != *r.State() {
					t.Fatalf("%s, turn %d, seat %d:\n%s\nwant\n%s", set, n, seat, terminal.AppendText(nil, g, s), terminal.AppendText(nil, g, r.State()))
				}
				structures += len(s.AppendStructures(nil, seat))
			}
			var orders [2][]sim.Order
			for p := range sim.Player(2) {
				legal := g.AppendOrders(nil, r.State(), p)
				for range min(8, len(legal)) {
					orders[p] = append(orders[p], legal[random.IntN(len(legal))])
				}
				turn.Set(p, orders[p])
			}
			r.Submit(&turn)
			for r.Next() {
			}
		}
		assert.GreaterOrEqualf(t, structures, 30, "%s: %d structures were seen", set, structures)
	}
}

// TestReadStateRecorded reads the deploy frames of recordings of all generations.
func TestReadStateRecorded(t *testing.T) {
	frames := 0
	for i, name := range simtest.SharedFiles(t, "replays", "terminal", "*.replay.gz") {
		if i%24 != 0 {
			continue // some are enough
		}
		file, err := os.Open(name)
		require.NoError(t, err)
		defer file.Close()
		r, err := replay.NewReader(name, file)
		require.NoError(t, err)
		var f frame.Frame
		for r.Next(&f) == nil {
			if f.Phase != frame.PhaseDeploy {
				continue
			}
			frames++
			if _, s, err := frame.ReadState(r.Text(), r.Config.Rules, 0); err != nil || int(s.Turn) != f.Turn {
				t.Fatalf("%s, turn %d: %v", name, f.Turn, err)
			}
		}
	}
	assert.GreaterOrEqualf(t, frames, 20, "%d deploy frames", frames)
}

// stateLine is a deploy frame with a wall and an upgraded turret that is marked for removal.
const stateLine = `{"p2Units":[[[13,14,40.0,"9"]],[],[],[],[],[],[],[]],"turnInfo":[0,4,-1,9],"p1Stats":[30.0,1.0,2.0,3],` +
	`"p1Units":[[],[],[[13,13,60.0,"5"]],[],[],[],[[13,13,1.0,"5"]],[[13,13,0.0,"5"]]],"p2Stats":[29.0,4.0,5.0,6],"events":{` +
	`"selfDestruct":[],"breach":[],"damage":[],"shield":[],"move":[],"spawn":[],"death":[],"attack":[],"melee":[]}}`

// TestReadStateRefused checks the errors for frames with values that no running match has.
func TestReadStateRefused(t *testing.T) {
	rules := wiretest.RuleSet(t, "2025b")
	_, s, err := frame.ReadState([]byte(stateLine), rules, 1)
	require.NoError(t, err)
	require.Truef(t, s.Turn == 4 && s.Health == [2]float32{29, 30} && s.NextID == 10, "error, %+v", s.Health)
	c, ok := s.At(14, 14)
	assert.Truef(t, ok && c.Upgraded && c.RemoveIn == 1 && c.Player == 1, "the turret is %+v", c)
	_, _, err = frame.ReadState([]byte(stateLine), rules, 2)
	assert.Error(t, err, "seat 2 is accepted")
	for _, c := range []struct{ from, to, want string }{
		{`[0,4,-1,9]`, `[1,4,3,9]`, "turnInfo: found [1, 4, 3], a frame of the middle or the end of a turn; expected a deploy frame"},
		{`[0,4,-1,9]`, `[0,1000,-1,9]`, "turnInfo: turn 1000, expected 0 to "},
		{`[30.0,1.0,2.0,3]`, `[31.0,1.0,2.0,3]`, "p1Stats: health 31, expected 0 to 30"},
		{`[30.0,1.0,2.0,3]`, `[0.0,1.0,2.0,3]`, "p1Stats: health 0: the match is over"},
		{`[30.0,1.0,2.0,3]`, `[30.0,-1.0,2.0,3]`, "p1Stats: cores -1, expected 0 to"},
		{`[29.0,4.0,5.0,6]`, `[29.0,4.0,5e9,6]`, "p2Stats: bits 5e+09, expected 0 to"},
		{`[13,14,40.0,"9"]`, `[13,14,4000.0,"9"]`, "p2Units: [0][0]: health 4000, expected more than"},
		{`[13,14,40.0,"9"]`, `[13,14,0.0,"9"]`, "p2Units: [0][0]: health 0, expected more than"},
		{`[13,14,40.0,"9"]`, `[13,14,40.0,"16000000"]`, "p2Units: [0][0]: id 16000000, expected "},
		{`[13,14,40.0,"9"]`, `[13,13,40.0,"9"]`, "expected a cell of the own half"},
		{`[13,14,40.0,"9"]`, `[13,14,40.0,"9"],[13,14,40.0,"8"]`, "expected one structure on"},
		{`[13,14,40.0,"9"]`, `[0,0,40.0,"9"]`, "p2Units: "},
		{`[[13,13,1.0,"5"]]`, `[[13,13,99.0,"5"]]`, "turns, found 99"},
		{`[[13,13,0.0,"5"]]`, `[[12,13,0.0,"5"]]`, "expected an upgraded structure, found none"},
		{`"events"`, `"event"`, "events"},
	} {
		t.Run(c.to, func(t *testing.T) {
			_, _, err := frame.ReadState([]byte(strings.Replace(stateLine, c.from, c.to, 1)), rules, 0)
			require.ErrorContains(t, err, "frame: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	same := strings.Replace(stateLine, `"9"`, `"5"`, 1)
	_, _, err = frame.ReadState([]byte(same), rules, 0)
	assert.Error(t, err, "a repeated id is accepted")
}

// FuzzReadTurn reads random text: play can continue from each state that ReadState returns.
func FuzzReadTurn(f *testing.F) {
	f.Add([]byte(stateLine), uint8(1))
	rules := wiretest.RuleSet(f, "2025b")
	f.Fuzz(func(t *testing.T, line []byte, seat uint8) {
		g, s, err := frame.ReadState(line, rules, sim.Player(seat))
		if err != nil {
			return
		}
		var turn sim.Turn
		for range 3 {
			for p := range sim.Player(2) {
				turn.Set(p, g.AppendOrders(nil, s, p))
			}
			if g.Step(s, &turn) != sim.Running {
				return
			}
			if text := fmt.Sprint(s.Bits, s.Cores); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Fatal(text)
			}
		}
	})
}
