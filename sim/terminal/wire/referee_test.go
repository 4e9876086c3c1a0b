package wire

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// play lets a new referee play turns of orders and returns it at its last
// frame, with all frames as text.
func play(t testing.TB, r terminal.Rules, turns ...[2][]sim.Order) (*Referee, []string) {
	t.Helper()
	referee, err := NewReferee(r)
	if err != nil {
		t.Fatal(err)
	}
	referee.Name([2]string{"anna", "bert"})
	frames := []string{string(AppendFrame(nil, referee.Frame()))}
	turn := new(sim.Turn)
	for i, orders := range turns {
		if !referee.Waiting() {
			t.Fatalf("turn %d: the match is over", i)
		}
		for p := range sim.Player(2) {
			turn.Set(p, orders[p])
		}
		referee.Submit(turn)
		for more := true; more; more = referee.Next() {
			frames = append(frames, string(AppendFrame(nil, referee.Frame())))
		}
	}
	return referee, frames
}

// TestRefereeFrames holds the frames of a short match, with a line each, to
// what the format says.
func TestRefereeFrames(t *testing.T) {
	r := ruleSet(t, "2022")
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
	if !slices.Equal(frames, want) {
		t.Errorf("frames\n%s\nwant\n%s", strings.Join(frames, "\n"), strings.Join(want, "\n"))
	}
}

// scouts are orders for as many scouts as the bits pay for, on the way of which
// nothing stands.
func scouts(p sim.Player) []sim.Order {
	return []sim.Order{terminal.Spawn(terminal.Scout, 13, int(p)*27, 1000)}
}

// TestRefereeEnds: the ways in which a match ends, and the sums.
func TestRefereeEnds(t *testing.T) {
	r := ruleSet(t, "2022") // 30 health; 5 bits at first; 35 s at most
	crash := terminal.Penalty(r.CrashPenalty())
	clock := terminal.Clock
	rush := [2][]sim.Order{{clock(10)}, {clock(6200), terminal.Penalty(1)}}
	rush[0] = append(rush[0], scouts(0)...)

	end := func(turns ...[2][]sim.Order) *EndStats {
		t.Helper()
		referee, _ := play(t, r, turns...)
		e := referee.Frame().End
		if e == nil || referee.Frame().Phase != PhaseEnd {
			t.Fatal("the match is not over")
		}
		return e
	}
	e := end([2][]sim.Order{{clock(20), crash}, scouts(1)})
	if p := e.Players[0]; e.Winner != 2 || !p.Crashed || p.TimeoutDeath || p.TimeDamage != 0 || p.Time != 20 || e.Players[1].Points != 31 {
		t.Errorf("a crash: %+v", e)
	}
	if e.Turns != 0 || e.Frames != 1 || e.Players[1].MobileSpent != 5 || e.Players[1].MobileLost != 5 {
		t.Errorf("a crash: %+v", e)
	}
	e = end([2][]sim.Order{nil, {clock(35000), terminal.Penalty(r.TimePenalty(35000))}})
	if p := e.Players[1]; e.Winner != 1 || !p.Crashed || !p.TimeoutDeath || p.TimeDamage != 30 || e.Duration != 35000 {
		t.Errorf("a timeout: %+v", e)
	}
	e = end([2][]sim.Order{nil, {clock(34000), terminal.Penalty(r.TimePenalty(34000) + r.CrashPenalty())}})
	if p := e.Players[1]; e.Winner != 1 || !p.Crashed || p.TimeoutDeath || p.TimeDamage != 29 {
		t.Errorf("a crash after 34 s: %+v", e)
	}
	e = end([2][]sim.Order{{clock(9), crash}, {clock(8), crash}})
	if e.Winner != 2 || !e.Players[0].Crashed || !e.Players[1].Crashed {
		t.Errorf("both crash: %+v", e)
	}
	e = end([2][]sim.Order{{crash}, {crash}})
	if e.Winner != 0 {
		t.Errorf("both crash, all is equal: %+v", e)
	}
	// Five scouts a turn breach, while the other thinks too long.
	e = end(rush, rush, rush, rush, rush)
	if p := e.Players[1]; e.Winner != 1 || p.TimeDamage != 5 || e.Turns != 4 || p.Time != 5*6200 {
		t.Errorf("a rush: %+v", e)
	}
	if p := e.Players[0]; p.MobileSpent != 25 || p.MobileLost != 0 || p.MobileSpoiled != 0 || p.Points != 30 {
		t.Errorf("a rush: %+v", e)
	}
	turns := make([][2][]sim.Order, 100)
	turns[0][0] = []sim.Order{terminal.Place(terminal.Turret, 13, 13), terminal.UpgradeAt(13, 13)}
	turns[7] = [2][]sim.Order{{clock(3)}, {clock(2)}}
	e = end(turns...)
	price := r.Units[terminal.Turret].Cores + r.Upgraded[terminal.Turret].Cores
	if p := e.Players[0]; e.Winner != 2 || e.Turns != 100 || e.Frames != 100 || p.StructureSpent != price || p.StructureLeft != price {
		t.Errorf("the last turn: %+v", e)
	}
	if p := e.Players[1]; p.MobileSpoiled == 0 || p.MobileSpoiled != terminal.Tenths(p.MobileSpoiled) {
		t.Errorf("the last turn: %+v", e)
	}
}

// TestRefereeLastFrames: the end frame repeats the last action frame, its index
// too; after the last turn it is the restored state.
func TestRefereeLastFrames(t *testing.T) {
	r := ruleSet(t, "2022")
	referee, _ := play(t, r, [2][]sim.Order{{terminal.Penalty(31), terminal.Clock(9)}, nil})
	if f := referee.Frame(); f.Turn != 0 || f.Number != 0 || f.Index != 1 || f.Stats[0] != (Stats{-1, 40, 5, 0}) {
		t.Errorf("%+v", f)
	}
	referee, frames := play(t, r, make([][2][]sim.Order, 100)...)
	if f := referee.Frame(); f.Turn != 100 || f.Number != 0 || f.Index != 199 || f.Stats[0].Cores != 40+100*5 || len(frames) != 201 {
		t.Errorf("%+v, %d frames", f, len(frames))
	}
	before := frames[199]
	if !strings.Contains(before, `"turnInfo":[1,99,0,199]`) {
		t.Errorf("before the end: %s", before)
	}
	turn := new(sim.Turn)
	if referee.Next() || referee.Waiting() {
		t.Error("the match goes on")
	}
	if referee.Submit(turn); referee.Frame().Phase != PhaseEnd {
		t.Error("orders after the end had an effect")
	}
}

// TestRefereeResume goes on from a recorded deploy frame as if nothing had
// been.
func TestRefereeResume(t *testing.T) {
	for _, name := range []string{"2026", "2022", "2019"} {
		r := ruleSet(t, name)
		m := made(t, r, 5, 8, nil)
		whole, err := NewReferee(r)
		if err != nil {
			t.Fatal(err)
		}
		turn := new(sim.Turn)
		for n := range m.Turns {
			var line Frame
			if err := ParseFrame(&line, AppendFrame(nil, whole.Frame())); err != nil {
				t.Fatal(err)
			}
			s, err := StateOf(&line, &r)
			if err != nil {
				t.Fatal(err)
			}
			s.NextID, s.Time = whole.State().NextID, whole.State().Time
			a, b := terminal.AppendText(nil, whole.game, &s), terminal.AppendText(nil, whole.game, whole.State())
			if !bytes.Equal(a, b) || whole.game.Hash(&s) != whole.game.Hash(whole.State()) {
				t.Fatalf("%s, turn %d: another state:\n%s\n%s", name, n, a, b)
			}
			part, err := NewReferee(r)
			if err != nil {
				t.Fatal(err)
			}
			part.Resume(&s, whole.Frame().Index)
			m.Turn(turn, n)
			part.Submit(turn)
			whole.Submit(turn)
			for more := true; more; more = whole.Next() {
				if a, b := AppendFrame(nil, whole.Frame()), AppendFrame(nil, part.Frame()); !bytes.Equal(a, b) {
					t.Fatalf("%s, turn %d:\n%s\n%s", name, n, a, b)
				}
				part.Next()
			}
		}
	}
}

// TestStateOf: what no state can be made of.
func TestStateOf(t *testing.T) {
	r := ruleSet(t, "2022")
	for _, c := range []struct {
		want string
		mess func(f *Frame)
	}{
		{"turnInfo: want a deploy frame", func(f *Frame) { f.Phase = PhaseAction }},
		{"p1Units: [3]: want no mobile units in a deploy frame, found 1", func(f *Frame) { f.Units[0][3] = []Unit{{pos(13, 0), 15, 9}} }},
		{"p2Units: [2]: want a cell of the own half, found (13, 13)", func(f *Frame) { f.Units[1][2] = []Unit{{pos(13, 13), 15, 9}} }},
		{"p1Units: [1]: want a cell of the own half, found (0, 0)", func(f *Frame) { f.Units[0][1] = []Unit{{pos(0, 0), 15, 9}} }},
		{"p1Units: [2]: want one structure on (3, 13), found two", func(f *Frame) { f.Units[0][2] = []Unit{{pos(3, 13), 15, 9}} }},
		{"p1Units: [2]: want an id from 1 to 16777215, found 0", func(f *Frame) { f.Units[0][2] = []Unit{{pos(4, 13), 15, 0}} }},
		{"p1Units: [7]: want an upgraded structure, found none on (4, 13)", func(f *Frame) { f.Units[0][7] = []Unit{{pos(4, 13), 0, 1}} }},
		{"p1Units: [6]: want a structure to remove, found none on (4, 13)", func(f *Frame) { f.Units[0][6] = []Unit{{pos(4, 13), 1, 1}} }},
		{"p1Units: [6]: want a structure to remove, found none on (3, 13)", func(f *Frame) { f.Units[0][6] = []Unit{{pos(3, 13), 1, 1}, {pos(3, 13), 1, 1}} }},
		{"p1Units: [6]: want 1 to 15 turns, found 1.5", func(f *Frame) { f.Units[0][6] = []Unit{{pos(3, 13), 1.5, 1}} }},
	} {
		f := Frame{Number: -1}
		f.Clear()
		f.Units[0][terminal.Wall] = append(f.Units[0][terminal.Wall], Unit{pos(3, 13), 12, 1})
		c.mess(&f)
		if _, err := StateOf(&f, &r); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestWriteMatch: orders for turns that there are not, and a writer that fails.
func TestWriteMatch(t *testing.T) {
	r := ruleSet(t, "2022")
	end := [2][]sim.Order{{terminal.Penalty(31)}, nil}
	m := matchOf(r, end, end)
	if err := WriteMatch(new(bytes.Buffer), m, Local); err == nil || err.Error() != "turn 1: the match is over, but 2 turns have orders" {
		t.Errorf("error %v", err)
	}
	if err := WriteMatch(noRoom{}, m, Local); err != io.ErrShortWrite {
		t.Errorf("error %v", err)
	}
	m.Config.Rules.MaxTurns = -1
	if err := WriteMatch(new(bytes.Buffer), m, Local); err == nil {
		t.Error("a match with impossible rules was written")
	}
}

// noRoom is a writer that does not write.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
