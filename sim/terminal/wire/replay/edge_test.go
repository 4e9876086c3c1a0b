package replay

import (
	"bytes"
	"fmt"
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

// TestVerifyEdges checks that recordings of rare events are played exactly, and that their
// matches are the same after WriteMatch and Verify: removals in the last turn, a unit that
// rounding leaves alive, players who never answer or crash, a tie that the times decide.
func TestVerifyEdges(t *testing.T) {
	names := simtest.SharedFiles(t, "replays", "terminal-edge", "*.replay.gz")
	require.Lenf(t, names, 6, "%d recordings, want 6", len(names))
	for _, name := range names {
		base, text := filepath.Base(name), simtest.Text(t, name)
		m, report, err := Verify(base, bytes.NewReader(text), nil)
		if err != nil || report.First != nil || !report.Complete {
			t.Errorf("%s: %+v, %v: %v", base, report, err, report.First)
			continue
		}
		read, err := readMatch(base, bytes.NewReader(text), unwatched)
		require.NoErrorf(t, err, "%s: Verify and readMatch return different orders", base)
		require.Truef(t, slices.Equal(m.Orders, read.Orders) && slices.Equal(m.Ends, read.Ends), "%s: Verify and readMatch return different orders ()", base)
		// A dataset keeps only rules, names and orders.
		kept := &Match{Config: config.Of(m.Config.Rules), Names: m.Names, Turns: m.Turns, Orders: m.Orders, Ends: m.Ends}
		again, report := verified(t, written(t, kept))
		assert.Truef(t, report.First == nil && again.Complete, "%s, written again: %+v", base, report)
		for p := range again.End.Players {
			a, b := totals(&m.End.Players[p]), totals(&again.End.Players[p])
			if strings.Contains(base, "2018-tie") { // crashed, but with all health
				a.Crashed = false
			}
			if a != b {
				t.Errorf("%s: player %d: %+v, written again %+v", base, p+1, a, b)
			}
		}
		a, b := m.End, again.End
		assert.Truef(t, a.Winner == b.Winner && a.Turns == b.Turns && a.Frames == b.Frames, "%s: %+v, written again %+v", base, a, b)
	}
}

// totals returns a player's totals without the record of missing keys.
func totals(p *frame.PlayerEnd) frame.PlayerEnd {
	return frame.PlayerEnd{
		Name: p.Name, Crashed: p.Crashed, TimeoutDeath: p.TimeoutDeath, Time: p.Time, TimeDamage: p.TimeDamage, Points: p.Points,
		MobileSpent: p.MobileSpent, MobileLost: p.MobileLost, MobileSpoiled: p.MobileSpoiled,
		StructureSpent: p.StructureSpent, StructureLeft: p.StructureLeft,
	}
}

// oneTurn returns the replay of a match of one turn under the rules of 2022, with an end frame
// that change has changed.
func oneTurn(t *testing.T, orders [2][]sim.Order, change func(e *frame.EndStats)) string {
	t.Helper()
	r := wiretest.RuleSet(t, "2022")
	r.MaxTurns = 1
	return endChanged(t, matchOf(r, orders), change)
}

// endChanged returns the replay of a match with an end frame that change has changed.
func endChanged(t *testing.T, m *Match, change func(e *frame.EndStats)) string {
	t.Helper()
	all := frames(t, []byte(written(t, m)))
	change(all[len(all)-1].End)
	return replayOf(t, m.Config.Rules, all)
}

// TestVerifyRecordedEnd checks that Verify takes from the end frame whether a player crashed or
// ran out of time, whatever the penalties were, and derives the reasons for lost health.
func TestVerifyRecordedEnd(t *testing.T) {
	penalty := terminal.Penalty
	late := terminal.Clock(36_000)
	for _, c := range []struct {
		name             string
		orders           []sim.Order
		crashed, timeout bool
		damage           float64
	}{
		{"a crash", []sim.Order{penalty(31)}, true, false, 0},
		{"a slow answer", []sim.Order{penalty(31)}, false, false, 31},
		{"a slow answer, then a crash", []sim.Order{penalty(33)}, true, false, 2},
		{"out of time by another limit", []sim.Order{penalty(5)}, true, true, 5},
		{"no answer", []sim.Order{late, penalty(31)}, true, true, 31},
		{"late without a limit", []sim.Order{late, penalty(31)}, false, false, 31},
		{"late without a limit, then a crash", []sim.Order{late, penalty(62)}, true, false, 31},
		{"out of time", []sim.Order{late, penalty(62)}, true, true, 62},
		{"out of time and a crash", []sim.Order{late, penalty(62)}, true, true, 31},
		{"a crash after the answer", []sim.Order{terminal.Clock(3)}, true, false, 0},
		{"no penalty", []sim.Order{terminal.Clock(3)}, false, false, 0},
	} {
		for damage, same := range map[float64]bool{c.damage: true, c.damage + 2: false} {
			t.Run(fmt.Sprintf("%s, %v time damage", c.name, damage), func(t *testing.T) {
				text := oneTurn(t, [2][]sim.Order{c.orders, nil}, func(e *frame.EndStats) {
					p := &e.Players[0]
					p.Crashed, p.TimeoutDeath, p.TimeDamage = c.crashed, c.timeout, damage
				})
				_, report, err := Verify("changed", strings.NewReader(text), nil)
				require.NoError(t, err)
				if same {
					require.Nil(t, report.First)
				} else {
					require.NotNil(t, report.First)
					require.Equal(t, "endStats.player1.time_damage_taken", report.First.Field)
				}
			})
		}
	}
}

// TestVerifyTie checks that of two players with equal health the faster one must be recorded as the
// winner; with equal times player 1, and without times player 1 or nobody. Written again from its
// rules and orders, the match has the same winner.
func TestVerifyTie(t *testing.T) {
	for _, c := range []struct {
		times  [2]uint32
		winner int
		ok     bool
	}{
		{[2]uint32{60, 70}, 0, false}, {[2]uint32{60, 70}, 1, true}, {[2]uint32{60, 70}, 2, false},
		{[2]uint32{70, 60}, 0, false}, {[2]uint32{70, 60}, 1, false}, {[2]uint32{70, 60}, 2, true},
		{[2]uint32{70, 70}, 0, false}, {[2]uint32{70, 70}, 1, true}, {[2]uint32{70, 70}, 2, false},
		{[2]uint32{}, 0, true}, {[2]uint32{}, 1, true}, {[2]uint32{}, 2, false},
	} {
		var orders [2][]sim.Order
		for p, ms := range c.times {
			if ms > 0 {
				orders[p] = []sim.Order{terminal.Clock(ms)}
			}
		}
		m, report, err := Verify("tie", strings.NewReader(oneTurn(t, orders, func(e *frame.EndStats) { e.Winner = c.winner })), nil)
		require.NoErrorf(t, err, "%+v", c)
		if !c.ok {
			require.NotNilf(t, report.First, "%+v", c)
			require.Equalf(t, "endStats.winner", report.First.Field, "%+v", c)
			continue
		}
		require.Nilf(t, report.First, "%+v", c)
		require.Equalf(t, c.winner == 1 && c.times[0] == c.times[1], m.Config.Rules.FirstWins, "%+v", c)
		m.Config = config.Of(m.Config.Rules)
		again, _ := verified(t, written(t, m))
		require.Equalf(t, c.winner, again.End.Winner, "%+v", c)
		require.Equalf(t, m.Config.Rules, again.Config.Rules, "%+v", c)
	}
}

// TestTimesOfTheEnd checks that times which only the end frame has, as in August 2018, become
// orders of the last turn and decide a tie.
func TestTimesOfTheEnd(t *testing.T) {
	r := wiretest.RuleSet(t, "2019")
	r.MaxTurns = 3
	m := matchOf(r, make([][2][]sim.Order, r.MaxTurns)...)
	read, report := verified(t, endChanged(t, m, func(e *frame.EndStats) { e.Winner, e.Players[0].Time, e.Players[1].Time = 2, 9, 4 }))
	assert.Truef(t, fmt.Sprint(read.OrdersOf(2, 0), read.OrdersOf(2, 1)) == fmt.Sprint([]sim.Order{terminal.Clock(9)}, []sim.Order{terminal.Clock(4)}) && len(read.Orders) == 2, "%+v, orders %v, ends %v", report, read.Orders, read.Ends)
	again, _ := verified(t, written(t, read))
	assert.Truef(t, again.End.Winner == 2 && again.End.Players[0].Time == 9 && slices.Equal(again.Orders, read.Orders), "written again: %+v, orders %v", again.End, again.Orders)
}

// TestMarksInTheEndFrame checks that marks for removal count down once more after the last turn,
// even to 0, but not if a match ends earlier.
func TestMarksInTheEndFrame(t *testing.T) {
	r := wiretest.RuleSet(t, "2026") // walls are removed after 2 restores
	r.MaxTurns = 2
	at := terminal.Pos{X: 13, Y: 5}
	wall, mark := terminal.Place(terminal.Wall, 13, 5), terminal.RemoveAt(13, 5)
	for _, c := range []struct {
		name  string
		turns [2][]sim.Order
		want  []frame.Unit
	}{
		{"marked in turn 0, last turn", [2][]sim.Order{{wall, mark}, nil}, []frame.Unit{{At: at, Value: 0, ID: 1}}},
		{"marked in turn 1, last turn", [2][]sim.Order{{wall}, {mark}}, []frame.Unit{{At: at, Value: 1, ID: 1}}},
		{"marked in turn 0, crash", [2][]sim.Order{{wall, mark}, {terminal.Penalty(41)}}, []frame.Unit{{At: at, Value: 1, ID: 1}}},
		{"marked in turn 1, crash", [2][]sim.Order{{wall}, {mark, terminal.Penalty(41)}}, []frame.Unit{{At: at, Value: 2, ID: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := written(t, matchOf(r, [2][]sim.Order{c.turns[0]}, [2][]sim.Order{c.turns[1]}))
			all := frames(t, []byte(text))
			f := all[len(all)-1]
			assert.Equal(t, frame.PhaseEnd, f.Phase)
			assert.Equal(t, c.want, f.Units[0][terminal.Removal])
			assert.Len(t, f.Units[0][terminal.Wall], 1)
			verified(t, text)
		})
	}
}

// TestRareEndsRoundTrip writes and reads matches that end in rare ways.
func TestRareEndsRoundTrip(t *testing.T) {
	clock, penalty := terminal.Clock, terminal.Penalty
	place, up, rm := terminal.Place, terminal.UpgradeAt, terminal.RemoveAt
	wall := func(y int) []sim.Order { return []sim.Order{place(terminal.Wall, 13, y), place(terminal.Wall, 14, y)} }
	for name, c := range map[string]struct {
		rules string
		more  extra
	}{
		"crash later":              {"2022", extra{4: {{penalty(31)}, wall(20)}}},
		"both crash":               {"2022", extra{3: {{penalty(31)}, {penalty(31)}}}},
		"both, one after thinking": {"2025c", extra{3: {{clock(9000), penalty(105)}, {penalty(101)}}}},
		"both in the last turn":    {"2022", extra{5: {{penalty(31)}, {clock(6000), penalty(32)}}}},
		"slow answers":             {"2022", extra{0: {{clock(7900), penalty(2)}, nil}, 2: {nil, {clock(34_999), penalty(29)}}}},
		"timeout later":            {"2022", extra{3: {{clock(35_002), penalty(30)}, nil}}},
		"both time out":            {"2022", extra{0: {{clock(35_002), penalty(30)}, {clock(35_004), penalty(30)}}}},
		"timeout of many":          {"2026", extra{1: {nil, {clock(35_001), penalty(40)}}}},
		"crash before 2020":        {"2019", extra{2: {{penalty(31)}, nil}}},
		"marks in the last turn": {"2022", extra{4: {wall(5), wall(20)}, 5: {
			{up(13, 5), rm(13, 5), rm(14, 5), up(14, 5)}, {rm(13, 20), up(13, 20), rm(13, 20)}}}},
		"marks of two turns": {"2026", extra{0: {wall(5), wall(20)}, 4: {{rm(13, 5)}, {up(13, 20), rm(13, 20)}}, 5: {{rm(14, 5)}, {up(14, 20)}}}},
		"old marks":          {"2019", extra{0: {wall(5), wall(20)}, 5: {{rm(13, 5)}, {rm(14, 20)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := wiretest.RuleSet(t, c.rules)
			r.MaxTurns = 6
			m := made(t, r, 7, 6, c.more)
			_, read := roundTrip(t, name, m)
			assert.True(t, m.Complete, "the match is over")
			assert.True(t, read.Complete, "the match is over as it is read")
		})
	}
}
