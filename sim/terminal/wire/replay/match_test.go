package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/internal/wiretest"
)

// extra has orders that are added to random ones, by turn.
type extra map[int][2][]sim.Order

// made plays a match of random orders, thinking times and extra orders until it is over, but
// for at most the given number of turns.
func made(t testing.TB, r terminal.Rules, seed uint64, turns int, more extra) *Match {
	t.Helper()
	g, err := terminal.New(r)
	require.NoError(t, err)
	m := &Match{Config: config.Of(r), Names: [2]string{"anna", "bert \"b\" ü"}}
	var s terminal.State
	g.Reset(&s, 0)
	random := prng.New(seed)
	turn := new(sim.Turn)
	for n := range turns {
		for p := range sim.Player(2) {
			turn.Set(p, []sim.Order{terminal.Clock(uint32(random.IntN(900)))})
			for _, o := range more[n][p] {
				turn.Add(p, o)
			}
			for _, o := range g.Playout(nil, &s, p, &random) {
				turn.Add(p, o)
			}
		}
		m.Add(turn)
		if g.Step(&s, turn) != sim.Running {
			m.Complete = true
			break
		}
	}
	return m
}

// matchOf returns a match of these turns.
func matchOf(r terminal.Rules, turns ...[2][]sim.Order) *Match {
	m := &Match{Config: config.Of(r), Names: [2]string{"anna", "bert"}}
	turn := new(sim.Turn)
	for _, orders := range turns {
		for p := range sim.Player(2) {
			turn.Set(p, orders[p])
		}
		m.Add(turn)
	}
	return m
}

// written returns the replay file of a match.
func written(t testing.TB, m *Match) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteMatch(&b, m, config.Local))
	return b.String()
}

// verified checks that Verify finds no difference in a replay, and returns what it read.
func verified(t testing.TB, text string) (*Match, Report) {
	t.Helper()
	m, report, err := Verify("made", strings.NewReader(text), nil)
	require.NoError(t, err)
	require.Nilf(t, report.First, "%d of %d turns differ", report.Different, report.Turns)
	return m, report
}

// roundTrip checks that Verify finds no difference in the replay of a match, and that the match
// read from it has the same replay.
func roundTrip(t *testing.T, name string, m *Match) (text string, read *Match) {
	t.Helper()
	text = written(t, m)
	read, report := verified(t, text)
	require.Truef(t, report.Complete == m.Complete && read.Complete == m.Complete && report.Turns == m.Turns && (!m.Complete || read.Names == m.Names), "%s: %+v, names %q, of %d turns", name, report, read.Names, m.Turns)
	if again := written(t, read); again != text {
		t.Errorf("%s: read and written again, it differs at %s", name, firstLine(text, again))
	}
	return text, read
}

// TestMatchRoundTrip writes and reads random matches of every rule set.
func TestMatchRoundTrip(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		for seed, turns := range []int{12, 100} {
			if turns > 12 && name != "2019" && name != "2026" {
				continue
			}
			m := made(t, wiretest.RuleSet(t, name), uint64(seed), turns, nil)
			text, read := roundTrip(t, fmt.Sprintf("%s, seed %d", name, seed), m)
			alone, err := readMatch("made", strings.NewReader(text), unwatched)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(alone.Orders, read.Orders) || !slices.Equal(alone.Ends, read.Ends) || alone.End != read.End {
				t.Errorf("%s: readMatch and Verify read different matches", name)
			}
			if turns == 100 && !m.Complete {
				t.Errorf("%s: the match is not over", name)
			}
		}
	}
}

// firstLine returns the first lines that differ.
func firstLine(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, x[i], y[i])
		}
	}
	return "the end"
}

// unwatched ignores the frames that readMatch reads.
func unwatched(*frame.Frame, bool) {}

// TestMatchOrders checks that readMatch reconstructs orders from spawn events.
func TestMatchOrders(t *testing.T) {
	place, up, rm, spawn := terminal.Place, terminal.UpgradeAt, terminal.RemoveAt, terminal.Spawn
	const w, scout = terminal.Wall, terminal.Scout
	r := wiretest.RuleSet(t, "2022")
	for _, c := range []struct {
		name string
		give [2][]sim.Order
		want [2][]sim.Order // nil: the same
	}{
		{"nothing", [2][]sim.Order{}, [2][]sim.Order{}},
		{"lines", [2][]sim.Order{
			{place(w, 3, 13), up(3, 13), spawn(scout, 13, 0, 2), spawn(scout, 14, 0, 1)},
			{place(w, 3, 14), rm(3, 14), spawn(scout, 13, 27, 3)},
		}, [2][]sim.Order{}},
		{"refused commands leave no trace", [2][]sim.Order{
			{place(w, 3, 13), place(w, 3, 13), place(w, 3, 14), up(4, 13), spawn(scout, 12, 5, 1), spawn(scout, 13, 0, 9)},
			{rm(5, 20)},
		}, [2][]sim.Order{{place(w, 3, 13), spawn(scout, 13, 0, 5)}, {}}},
		{"equal spawns are one", [2][]sim.Order{{spawn(scout, 13, 0, 1), spawn(scout, 13, 0, 2)}, {}},
			[2][]sim.Order{{spawn(scout, 13, 0, 3)}, {}}},
		{"an upgrade after the mobile units", [2][]sim.Order{
			{place(w, 3, 13), spawn(scout, 13, 0, 1), terminal.Swap(up(3, 13))}, {place(w, 3, 14)},
		}, [2][]sim.Order{}},
		{"the second player's in the second line", [2][]sim.Order{
			{spawn(scout, 13, 0, 1)}, {terminal.Swap(place(w, 3, 14)), spawn(scout, 13, 27, 1)},
		}, [2][]sim.Order{}},
		{"mobile units in the first line", [2][]sim.Order{
			{terminal.Swap(spawn(scout, 13, 0, 1)), terminal.Swap(place(w, 3, 13))}, {place(w, 3, 14)},
		}, [2][]sim.Order{}},
		{"clock and penalty", [2][]sim.Order{
			{terminal.Clock(6100), terminal.Penalty(1), place(w, 3, 13)}, {terminal.Clock(7)},
		}, [2][]sim.Order{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, _ := verified(t, written(t, matchOf(r, c.give)))
			for p := range sim.Player(2) {
				want := c.want[p]
				if c.want[0] == nil && c.want[1] == nil {
					want = c.give[p]
				}
				assert.Equalf(t, commands(want), commands(read.OrdersOf(0, p)), "player %d", p+1)
			}
			assert.False(t, read.Complete, "a match of one turn is complete")
		})
	}
}

// commands decodes orders.
func commands(orders []sim.Order) (list []terminal.Command) {
	for _, o := range orders {
		list = append(list, terminal.Decode(o))
	}
	return list
}

// TestPhases checks in which phases phasesOf puts spawn events: S1 is a structure of player 1, M2
// a mobile unit of player 2.
func TestPhases(t *testing.T) {
	for _, c := range []struct{ events, want string }{
		{"", ""},
		{"S1 S2 M1 M2", "0 1 2 3"},
		{"M1 M2", "2 3"},
		{"S1 M1 S2", "0 2 3"},
		{"S2 M1 S2 M2", "1 2 3 3"},
		{"S1 M1 S1 S1 M2", "0 2 2 2 3"},
		{"M1 S2 M2", "2 3 3"},
		{"M1 S2 S1", "0 1 2"},
		{"S1 S2 S1 S2 M2", "0 1 2 3 3"},
		{"S1 S2 S1 S2 S1", "none"},
		{"M2 M1", "1 2"},
		{"M2 S1 M2 M1", "none"},
	} {
		t.Run(c.events, func(t *testing.T) {
			var events []terminal.SpawnEvent
			for _, word := range strings.Fields(c.events) {
				e := terminal.SpawnEvent{Kind: terminal.Scout, Player: sim.Player(word[1] - '1')}
				if word[0] == 'S' {
					e.Kind = terminal.Upgrade
				}
				events = append(events, e)
			}
			got := "none"
			if phases, ok := phasesOf(events); ok {
				got = strings.Trim(fmt.Sprint(phases), "[]")
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestMatchBroken checks the errors for frames that cannot follow each other and for other
// damage. Lines are numbered as in the file.
func TestMatchBroken(t *testing.T) {
	text := written(t, made(t, wiretest.RuleSet(t, "2026"), 1, 3, nil))
	lines := strings.SplitAfter(text, "\n")
	const first = 3 // blank, config, blank
	line := func(i int) string { return lines[first+i] }
	head := strings.Join(lines[:first], "")
	framed := func(f frame.Frame) string { return string(f.Append(nil, config.Local)) + "\n" }
	parse := func(text string) (f frame.Frame) {
		require.NoError(t, frame.Parse(&f, []byte(text)))
		return f
	}
	odd := parse(line(1))
	odd.Stats[1].Time = 1.5
	mixed := parse(line(1))
	mixed.Events.Spawns = nil
	for i := range 5 {
		mixed.Events.Spawns = append(mixed.Events.Spawns, terminal.SpawnEvent{Kind: terminal.Wall, ID: uint32(i + 1), Player: sim.Player(i % 2), At: terminal.Pos{X: 13, Y: 13}})
	}
	end := parse(line(1))
	end.Phase = frame.PhaseEnd
	for _, c := range []struct{ name, text, want string }{
		{"an action frame first", head + line(1), "replay broken: line 4: expected the deploy frame of turn 0 first, found turnInfo [1, 0, 0]"},
		{"twice the same", head + line(0) + line(0), "line 5: expected a frame that can follow turnInfo [0, 0, -1], found [0, 0, -1]"},
		{"one left out", head + line(0) + line(1) + line(3), "line 6: expected a frame that can follow turnInfo [1, 0, 0], found [1, 0, 2]"},
		{"the first action frame left out", head + line(0) + line(2), "line 5: expected a frame that can follow turnInfo [0, 0, -1], found [1, 0, 1]"},
		{"after the end", head + line(0) + line(1) + framed(end) + line(2), "line 7: expected a frame that can follow turnInfo [2, 0, 0], found [1, 0, 1]"},
		{"half a millisecond", head + line(0) + framed(odd), "line 5: p2Stats: expected whole milliseconds from 0 to 4294967295, found 1.5"},
		{"lines of answers", head + line(0) + framed(mixed), "line 5: events.spawn: expected the players' lines in turn (1, 2, 1, 2), found more changes"},
		{"half a line", head + line(0) + line(1)[:80], "replay broken: line 5: "},
		{"a config alone", head, "replay broken: line 3: expected the deploy frame of turn 0 after the config, found the end of the file"},
		{"no config", "\n\n", "replay broken: line "},
		{"another file", "Dear reader\n", "replay broken: line 1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readMatch("broken", strings.NewReader(c.text), unwatched)
			assert.ErrorContains(t, err, c.want)
			_, _, err = Verify("broken", strings.NewReader(c.text), nil)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestFindFrame finds frames by turn and number.
func TestFindFrame(t *testing.T) {
	m := made(t, wiretest.RuleSet(t, "2026"), 7, 100, nil)
	text := written(t, m)
	var last int
	find := func(turn, number int) *frame.Frame {
		read, f, most, err := FindFrame("made", strings.NewReader(text), turn, number)
		require.NoError(t, err)
		require.Equalf(t, m.Turns, read.Turns, "%d turns", read.Turns)
		last = most
		return f
	}
	for _, at := range [][2]int{{0, -1}, {0, 0}, {3, -1}, {3, 5}} {
		f := find(at[0], at[1])
		assert.Truef(t, f != nil && f.Turn == at[0] && f.Number == at[1] && f.Phase != frame.PhaseEnd, "turn %d, frame %d: %+v", at[0], at[1], f)
	}
	f := find(-1, -1)
	assert.Truef(t, f != nil && f.Phase == frame.PhaseEnd && f.End != nil, "the last frame: %+v", f)
	assert.True(t, find(m.Turns, -1) == nil && find(0, 9999) == nil, "a frame that is not there was found")
	assert.Truef(t, find(0, last) != nil && find(0, last+1) == nil, "%d is not the last frame of turn 0", last)
	if find(m.Turns, 0); last != -1 {
		t.Errorf("turn %d, that is not there, has a frame %d", m.Turns, last)
	}
}

// TestWriteMatch checks the errors for orders after the end, for a writer that fails and for
// rules that cannot be played.
func TestWriteMatch(t *testing.T) {
	r := wiretest.RuleSet(t, "2022")
	end := [2][]sim.Order{{terminal.Penalty(31)}, nil}
	m := matchOf(r, end, end)
	err := WriteMatch(new(bytes.Buffer), m, config.Local)
	assert.EqualError(t, err, "turn 1: the match is over, but 2 turns have orders")
	full := failing(1000)
	assert.Equal(t, errFull, WriteMatch(&full, m, config.Local))
	m.Config.Rules.MaxTurns = -1
	assert.Error(t, WriteMatch(new(bytes.Buffer), m, config.Local), "a match with impossible rules was written")
}
