package referee

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// play plays turns of orders. It returns the referee at its last frame, and all frames as text.
func play(t testing.TB, r terminal.Rules, turns ...[2][]sim.Order) (*Referee, []string) {
	t.Helper()
	referee, err := New(r)
	require.NoError(t, err)
	referee.Name([2]string{"anna", "bert"})
	frames := []string{string(referee.Frame().Append(nil, config.Local))}
	turn := new(sim.Turn)
	for i, orders := range turns {
		require.Truef(t, referee.Waiting(), "turn %d: the match is over", i)
		for p := range sim.Player(2) {
			turn.Set(p, orders[p])
		}
		referee.Submit(turn)
		for more := true; more; more = referee.Next() {
			frames = append(frames, string(referee.Frame().Append(nil, config.Local)))
		}
	}
	return referee, frames
}

// TestFrames checks the lines of all frames of a short match.
func TestFrames(t *testing.T) {
	r := wiretest.RuleSet(t, "2022")
	_, frames := play(t, r, [2][]sim.Order{
		{terminal.Place(terminal.Wall, 13, 13), terminal.UpgradeAt(13, 13), terminal.RemoveAt(13, 13)},
		{terminal.Clock(17), terminal.Place(terminal.Support, 3, 14)},
	})
	const none = `"selfDestruct":[],"breach":[],"damage":[],"shield":[],"move":[],`
	want := []string{
		`{"p2Units":[[],[],[],[],[],[],[],[]],"turnInfo":[0,0,-1,0],"p1Stats":[30.0,40.0,5.0,0],` +
			`"p1Units":[[],[],[],[],[],[],[],[]],"p2Stats":[30.0,40.0,5.0,0],"events":{` + none +
			`"spawn":[],"death":[],"attack":[],"melee":[]}}`,
		`{"p2Units":[[],[[3,14,30.0,"3"]],[],[],[],[],[],[]],"turnInfo":[1,0,0,1],"p1Stats":[30.0,38.0,5.0,0],` +
			`"p1Units":[[[13,13,120.0,"2"]],[],[],[],[],[],[[13,13,1.0,"2"]],[[13,13,0.0,"2"]]],"p2Stats":[30.0,36.0,5.0,17],"events":{` + none +
			`"spawn":[[[13,13],0,"1",1],[[13,13],7,"2",1],[[13,13],6,"2",1],[[3,14],1,"3",2]],"death":[],"attack":[],"melee":[]}}`,
		`{"p2Units":[[],[[3,14,30.0,"3"]],[],[],[],[],[],[]],"turnInfo":[0,1,-1,2],"p1Stats":[30.0,44.5,8.8,0],` +
			`"p1Units":[[],[],[],[],[],[],[],[]],"p2Stats":[30.0,41.0,8.8,17],"events":{` + none +
			`"spawn":[],"death":[[[13,13],0,"2",1,true]],"attack":[],"melee":[]}}`,
	}
	assert.Truef(t, slices.Equal(frames, want), "frames\n%s\nwant\n%s", strings.Join(frames, "\n"), strings.Join(want, "\n"))
}

// scouts returns an order for as many scouts as the bits pay for, on a free path.
func scouts(p sim.Player) []sim.Order {
	return []sim.Order{terminal.Spawn(terminal.Scout, 13, int(p)*27, 1000)}
}

// TestEnds checks the totals of matches that end in each way.
func TestEnds(t *testing.T) {
	r := wiretest.RuleSet(t, "2022") // 30 health; 5 bits at first; 35 s at most
	crash := terminal.Penalty(r.CrashPenalty())
	clock := terminal.Clock
	rush := [2][]sim.Order{{clock(10)}, {clock(6200), terminal.Penalty(1)}}
	rush[0] = append(rush[0], scouts(0)...)

	end := func(turns ...[2][]sim.Order) *frame.EndStats {
		t.Helper()
		referee, _ := play(t, r, turns...)
		e := referee.Frame().End
		require.True(t, e != nil && referee.Frame().Phase == frame.PhaseEnd, "the match is not over")
		return e
	}
	e := end([2][]sim.Order{{clock(20), crash}, scouts(1)})
	p := e.Players[0]
	assert.Truef(t, e.Winner == 2 && p.Crashed && !p.TimeoutDeath && p.TimeDamage == 0 && p.Time == 20 && e.Players[1].Points == 31, "a crash: %+v", e)
	assert.Truef(t, e.Turns == 0 && e.Frames == 1 && e.Players[1].MobileSpent == 5 && e.Players[1].MobileLost == 5, "a crash: %+v", e)
	e = end([2][]sim.Order{nil, {clock(35000), terminal.Penalty(r.TimePenalty(35000))}})
	p = e.Players[1]
	assert.Truef(t, e.Winner == 1 && p.Crashed && p.TimeoutDeath && p.TimeDamage == 30 && e.Duration == 35000, "a timeout: %+v", e)
	e = end([2][]sim.Order{nil, {clock(34000), terminal.Penalty(r.TimePenalty(34000) + r.CrashPenalty())}})
	p = e.Players[1]
	assert.Truef(t, e.Winner == 1 && p.Crashed && !p.TimeoutDeath && p.TimeDamage == 29, "a crash after 34 s: %+v", e)
	e = end([2][]sim.Order{{clock(9), crash}, {clock(8), crash}})
	assert.Truef(t, e.Winner == 2 && e.Players[0].Crashed && e.Players[1].Crashed, "both crash: %+v", e)
	e = end([2][]sim.Order{{crash}, {crash}})
	assert.Zerof(t, e.Winner, "both crash, all is equal: %+v", e)
	// Five scouts a turn breach, while the other thinks too long.
	e = end(rush, rush, rush, rush, rush)
	p = e.Players[1]
	assert.Truef(t, e.Winner == 1 && p.TimeDamage == 5 && e.Turns == 4 && p.Time == 5*6200, "a rush: %+v", e)
	p = e.Players[0]
	assert.Truef(t, p.MobileSpent == 25 && p.MobileLost == 0 && p.MobileSpoiled == 0 && p.Points == 30, "a rush: %+v", e)
	turns := make([][2][]sim.Order, 100)
	turns[0][0] = []sim.Order{terminal.Place(terminal.Turret, 13, 13), terminal.UpgradeAt(13, 13)}
	turns[7] = [2][]sim.Order{{clock(3)}, {clock(2)}}
	e = end(turns...)
	price := r.Units[terminal.Turret].Cores + r.Upgraded[terminal.Turret].Cores
	p = e.Players[0]
	assert.Truef(t, e.Winner == 2 && e.Turns == 100 && e.Frames == 100 && p.StructureSpent == price && p.StructureLeft == price, "the last turn: %+v", e)
	p = e.Players[1]
	assert.Truef(t, p.MobileSpoiled != 0 && p.MobileSpoiled == terminal.Tenths(p.MobileSpoiled), "the last turn: %+v", e)
}

// TestLastFrames checks that the end frame repeats the last action frame and its index,
// and that it shows the restored state after the last turn.
func TestLastFrames(t *testing.T) {
	r := wiretest.RuleSet(t, "2022")
	referee, _ := play(t, r, [2][]sim.Order{{terminal.Penalty(31), terminal.Clock(9)}, nil})
	f := referee.Frame()
	assert.Truef(t, f.Turn == 0 && f.Number == 0 && f.Index == 1 && f.Stats[0] == (frame.Stats{Health: -1, Cores: 40, Bits: 5}), "%+v", f)
	referee, frames := play(t, r, make([][2][]sim.Order, 100)...)
	f = referee.Frame()
	assert.Truef(t, f.Turn == 100 && f.Number == 0 && f.Index == 199 && f.Stats[0].Cores == 40+100*5 && len(frames) == 201, "%+v, %d frames", f, len(frames))
	before := frames[199]
	assert.Contains(t, before, `"turnInfo":[1,99,0,199]`, "before the end")
	turn := new(sim.Turn)
	assert.True(t, !referee.Next() && !referee.Waiting(), "the match goes on")
	if referee.Submit(turn); referee.Frame().Phase != frame.PhaseEnd {
		t.Error("orders after the end had an effect")
	}
}
