package replay

import (
	"bytes"
	"path/filepath"
	"slices"
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
)

// TestVerifyRecordings checks that every field of every frame is equal in all official
// recordings: those since 2020, the one of 2019, and those of 2018 in which no player gives
// orders. The remaining match of 2018 differs in 8 turns, because its rules are not fully known.
func TestVerifyRecordings(t *testing.T) {
	turns, frames, exact := 0, 0, 0
	for _, name := range wiretest.Recordings(t) {
		base := filepath.Base(name)
		m, report, err := Verify(base, bytes.NewReader(simtest.Text(t, name)), nil)
		switch {
		case err != nil:
			t.Error(err)
		case base == "2018a-001.replay.gz":
			t.Logf("%s: %d of %d turns differ", base, report.Different, report.Turns)
			assert.Equalf(t, 8, report.Different, "%s: %d of %d turns differ: %v", base, report.Different, report.Turns, report.First)
		case report.First != nil:
			t.Errorf("%s: %d of %d turns differ: %v", base, report.Different, report.Turns, report.First)
		case m.Complete != report.Complete || m.Complete != (base != "2025a-009.replay.gz"):
			t.Errorf("%s: complete %v, end compared %v", base, m.Complete, report.Complete)
		default:
			exact++
			turns += report.Turns
			frames += report.Frames
		}
	}
	t.Logf("%d recordings, %d turns, %d action frames equal", exact, turns, frames)
	assert.GreaterOrEqualf(t, exact, 105, "%d recordings are equal, want 105", exact)
}

// frames reads all frames of a replay.
func frames(t testing.TB, text []byte) (all []*frame.Frame) {
	t.Helper()
	r, err := NewReader("frames", bytes.NewReader(text))
	require.NoError(t, err)
	for {
		f := new(frame.Frame)
		if err := r.Next(f); err != nil {
			return all
		}
		all = append(all, f)
	}
}

// fight returns the frames of a match that has every kind of event in some turn.
func fight(t testing.TB) []*frame.Frame {
	t.Helper()
	blast := []sim.Order{}
	for x := range 28 { // a wall from side to side: units that reach it explode
		blast = append(blast, terminal.Place(terminal.Wall, x, 14))
	}
	scouts := []sim.Order{terminal.Spawn(terminal.Scout, 13, 0, 1000)}
	m := made(t, fightRules(t), 3, 100, extra{0: {scouts, blast}, 3: {scouts, blast}, 9: {{terminal.Penalty(99)}, nil}})
	return frames(t, []byte(written(t, m)))
}

func fightRules(t testing.TB) terminal.Rules { return wiretest.RuleSet(t, "2025b") }

// replayOf writes frames as a replay.
func replayOf(t testing.TB, rules terminal.Rules, frames []*frame.Frame) string {
	t.Helper()
	var b bytes.Buffer
	c := config.Of(rules)
	w := NewWriter(&b, &c, config.Local)
	for _, f := range frames {
		require.NoError(t, w.Frame(f))
	}
	return b.String()
}

var middle = terminal.Pos{X: 13, Y: 13}

// changes lists changes of a frame, each with the beginning of the field in which Verify must
// find a difference. change returns false if the frame lacks such a field.
var changes = []struct {
	field  string
	change func(f *frame.Frame) bool
}{
	{"turnInfo[3]", func(f *frame.Frame) bool { f.Index++; return f.Phase == frame.PhaseAction }},
	{"p1Stats[0]", func(f *frame.Frame) bool { f.Stats[0].Health++; return f.Phase == frame.PhaseAction && f.Number > 0 }},
	{"p2Stats[1]", func(f *frame.Frame) bool { f.Stats[1].Cores += 0.1; return true }},
	{"p2Stats[2]", func(f *frame.Frame) bool { f.Stats[1].Bits += 0.1; return true }},
	{"p1Stats[3]", func(f *frame.Frame) bool { f.Stats[0].Time++; return f.Number != 0 }},
	{"p1Units[", func(f *frame.Frame) bool { return alter(f.Units[0][:], func(u *frame.Unit) { u.Value += 0.25 }) }},
	{"p2Units[", func(f *frame.Frame) bool { return alter(f.Units[1][:], func(u *frame.Unit) { u.ID++ }) }},
	{"p1Units[", func(f *frame.Frame) bool { return alter(f.Units[0][:], func(u *frame.Unit) { u.At.X ^= 1 }) }},
	{"p2Units[", func(f *frame.Frame) bool {
		f.Units[1][2] = append(f.Units[1][2], frame.Unit{At: middle, Value: 1, ID: 99999})
		return true
	}},
	{"p1Units[7]", func(f *frame.Frame) bool { return alter(f.Units[0][7:], func(u *frame.Unit) { u.At.Y++ }) }},
	{"events.move[", func(f *frame.Frame) bool {
		return alter([][]terminal.MoveEvent{f.Events.Moves}, func(e *terminal.MoveEvent) { e.To.X ^= 1 })
	}},
	{"events.breach[", func(f *frame.Frame) bool {
		return alter([][]terminal.BreachEvent{f.Events.Breaches}, func(e *terminal.BreachEvent) { e.Damage++ })
	}},
	{"events.shield[", func(f *frame.Frame) bool {
		return alter([][]terminal.ShieldEvent{f.Events.Shields}, func(e *terminal.ShieldEvent) { e.Amount++ })
	}},
	{"events.selfDestruct[", func(f *frame.Frame) bool {
		return alter([][]terminal.SelfDestructEvent{f.Events.SelfDestructs}, func(e *terminal.SelfDestructEvent) { e.Damage++ })
	}},
	{"events.selfDestruct[", func(f *frame.Frame) bool {
		return alter([][]terminal.Pos{f.Events.Targets}, func(at *terminal.Pos) { *at = middle })
	}},
	{"events.damage[", func(f *frame.Frame) bool {
		return alter([][]terminal.DamageEvent{f.Events.Damages}, func(e *terminal.DamageEvent) { e.Damage++ })
	}},
	{"events.death[", func(f *frame.Frame) bool {
		return alter([][]terminal.DeathEvent{f.Events.Deaths}, func(e *terminal.DeathEvent) { e.Removed = !e.Removed })
	}},
	{"events.attack[", func(f *frame.Frame) bool {
		return alter([][]terminal.AttackEvent{f.Events.Attacks}, func(e *terminal.AttackEvent) { e.Target++ })
	}},
	{"events.attack[", func(f *frame.Frame) bool {
		l := f.Events.Attacks
		if len(l) > 1 {
			l[0], l[1] = l[1], l[0]
		}
		return len(l) > 1
	}},
	{"events.melee[", func(f *frame.Frame) bool {
		f.Events.Melees = append(f.Events.Melees, terminal.AttackEvent{From: middle, To: middle, Kind: terminal.Scout, ID: 1})
		return true
	}},
	{"endStats.winner", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Winner = 3 - e.Winner }) }},
	{"endStats.turns", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Turns++ }) }},
	{"endStats.frames", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Frames++ }) }},
	// The first player lost health by a crash. Without the crash all of it would be time damage.
	{"endStats.player1.time_damage_taken", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].Crashed = false }) }},
	{"endStats.player1.total_computation_time", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].Time++ }) }},
	{"endStats.player1.time_damage_taken", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].TimeDamage++ }) }},
	{"endStats.player2.points_scored", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[1].Points++ }) }},
	{"endStats.player2.dynamic_resource_spent", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[1].MobileSpent++ }) }},
	{"endStats.player1.dynamic_resource_destroyed", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].MobileLost++ }) }},
	{"endStats.player1.dynamic_resource_spoiled", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].MobileSpoiled++ }) }},
	{"endStats.player2.stationary_resource_spent", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[1].StructureSpent++ }) }},
	{"endStats.player1.stationary_resource_left_on_board", func(f *frame.Frame) bool { return atEnd(f, func(e *frame.EndStats) { e.Players[0].StructureLeft++ }) }},
}

// alter changes the first entry of the first list that has any.
func alter[E any, L ~[]E](lists []L, change func(e *E)) bool {
	for _, l := range lists {
		if len(l) > 0 {
			change(&l[0])
			return true
		}
	}
	return false
}

func atEnd(f *frame.Frame, change func(e *frame.EndStats)) bool {
	if f.End != nil {
		change(f.End)
	}
	return f.End != nil
}

// TestVerifyFinds checks that Verify finds each change of a recording in its field and frame, and
// counts no other turn as different.
func TestVerifyFinds(t *testing.T) {
	all := fight(t)
	last := all[len(all)-1].Turn
	for _, c := range changes {
		at := slices.IndexFunc(all, func(f *frame.Frame) bool {
			var copied frame.Frame
			frame.View(&copied, f, 0)
			return f.Turn > 1 && f.Phase != frame.PhaseDeploy && c.change(&copied)
		})
		if at < 0 {
			t.Errorf("no frame has %s", c.field)
			continue
		}
		report, err := verifyChanged(t, all, at, func(f *frame.Frame) { c.change(f) })
		d := report.First
		if err != nil || d == nil {
			t.Errorf("change of %s in frame %d: %+v, %v", c.field, at, report, err)
			continue
		}
		assert.Truef(t, report.Different == 1 && strings.HasPrefix(d.Field, c.field) && d.Line == firstFrame+at && d.Turn == all[at].Turn && d.Frame == all[at].Number, "change of %s in frame %d: %d turns differ: %v", c.field, at, report.Different, d)
		assert.Equalf(t, last+1, report.Turns, "change of %s: %d turns, want %d", c.field, report.Turns, last+1)
	}
}

// verifyChanged verifies a fight with a change in frame at.
func verifyChanged(t *testing.T, all []*frame.Frame, at int, change func(f *frame.Frame)) (Report, error) {
	t.Helper()
	var copied frame.Frame
	frame.View(&copied, all[at], 0)
	change(&copied)
	changed := slices.Clone(all)
	changed[at] = &copied
	_, report, err := Verify("changed", strings.NewReader(replayOf(t, fightRules(t), changed)), nil)
	return report, err
}

// firstFrame is the line of the first frame of a replay.
const firstFrame = 4

// TestVerifyRestore checks that a difference in a restore counts for the turn before it, and that
// the next turn starts from the recorded frame.
func TestVerifyRestore(t *testing.T) {
	all := fight(t)
	at := slices.IndexFunc(all, func(f *frame.Frame) bool { return f.Phase == frame.PhaseDeploy && len(f.Events.Deaths) > 0 })
	require.GreaterOrEqual(t, at, 0, "nothing was removed")
	for i, change := range []func(f *frame.Frame){
		func(f *frame.Frame) { f.Events.Deaths[0].Removed = false },
		func(f *frame.Frame) { f.Stats[0].Bits++ },
	} {
		report, err := verifyChanged(t, all, at, change)
		// A difference in bits is also there at the end of the next turn.
		require.NoError(t, err)
		assert.Truef(t, report.Different == 1+i && report.First.Line == firstFrame+at, "%+v", report)
	}
}

// TestVerifyListOrder checks that lists without a fixed order in the original may have any order.
func TestVerifyListOrder(t *testing.T) {
	all := fight(t)
	shields, targets := 0, 0
	for _, f := range all {
		list := f.Events.Shields
		for from := 0; from < len(list); {
			to := from + 1
			for ; to < len(list) && list[to].ID == list[from].ID; to++ {
			}
			slices.Reverse(list[from:to])
			shields += to - from - 1
			from = to
		}
		hits := 0
		for _, e := range f.Events.SelfDestructs {
			slices.Reverse(f.Events.Targets[e.First:][:e.Count])
			hits += int(e.Count)
		}
		targets += hits
		slices.Reverse(f.Events.Damages[:hits])
	}
	require.Truef(t, shields != 0 && targets != 0, "%d shields, %d targets in other orders", shields, targets)
	verified(t, replayOf(t, fightRules(t), all))
}

// TestVerifyRules verifies a recording under other rules.
func TestVerifyRules(t *testing.T) {
	text := replayOf(t, fightRules(t), fight(t))
	other := wiretest.RuleSet(t, "2026")
	m, report, err := Verify("other", strings.NewReader(text), &other)
	require.NoError(t, err)
	assert.Truef(t, report.First != nil && report.First.Turn == 0 && report.First.Frame == -1 && m.Config.Rules == other, "%+v", report)
}
