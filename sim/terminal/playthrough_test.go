package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

// playthroughOrders has the orders of the golden match by turn: every kind of order, and some that are
// refused.
var playthroughOrders = [][2]string{
	{"turret 3,12; turret 24,12; wall 2,13; wall 25,13; support 13,3; 3 scout 13,0; clock 900", "turret 13,16; turret 14,16; wall 12,15; wall 13,15; wall 14,15; wall 15,15; 2 interceptor 3,17; clock 1200"},
	{"up 13,3; up 3,12; wall 2,13; 2 demolisher 14,0; scout 14,14", "up 13,16; wall 0,14; wall 27,14; rm 12,15; demolisher 14,27"},
	{"rm 2,13; rm 2,13; up 2,13; 6 scout 5,8; ~ wall 13,9", "wall 11,15; wall 16,15; 4 scout 24,17; ~ scout 11,25; support 13,25"},
	{"wall 26,13; 9 interceptor 0,13; clock 16200; penalty 1", "wall 10,15; up 14,16; 9 interceptor 27,14; clock 10"},
	{"4 scout 13,0; 2 demolisher 13,0; 4 scout 13,0; support 12,3", barrier() + "; 2 scout 13,27"},
	{"support 14,3; up 12,3; 6 scout 14,0; 2 interceptor 14,0", "wall 1,15; 3 demolisher 14,27; clock 400"},
	{"3 demolisher 20,6; 2 scout 14,0", "turret 4,18; turret 23,18; 2 interceptor 14,27"},
	{"99 scout 13,0; clock 500", "99 demolisher 14,27; rm 13,16; rm 14,16"},
	{"50 scout 7,6; up 14,3", "30 scout 20,21"},
	{"99 scout 14,0; up 24,12", "2 interceptor 13,27; 12 scout 14,27; wall 13,14"},
	{"2 interceptor 0,13; rm 24,12; 40 scout 14,0", "99 scout 14,27"},
	{"99 scout 14,0", "99 scout 14,27; penalty 41"},
}

// barrier returns orders for walls along player 2's front.
func barrier() string {
	var list []string
	for x := range terminal.Side {
		list = append(list, fmt.Sprintf("wall %d,14", x))
	}
	return strings.Join(list, "; ")
}

// playthroughRules returns the rules of the golden match: those of 2026 with more resources and less
// health.
func playthroughRules(r *terminal.Rules) {
	*r, _ = terminal.RuleSet("2026")
	r.StartHealth, r.StartCores, r.StartBits, r.BitsPerTurn = 40, 30, 8, 7
}

// TestPlaythrough compares one match with testdata/playthrough.txt, so that reviewers see the effect of a
// change on play. After an intended change, raise RulesVersion and regenerate the file with
// go test -run Playthrough -update.
func TestPlaythrough(t *testing.T) {
	simtest.Golden(t, "testdata/playthrough.txt", playthrough(t))
}

// playthrough plays the golden match and returns its text: the position before each turn, the orders, and
// the events of each frame except steps and shots. One position is from an action phase.
func playthrough(t *testing.T) []byte {
	t.Helper()
	m := begin(t, "", playthroughRules)
	info := m.g.Info()
	out := fmt.Appendf(nil, "# One match of Terminal, written by TestPlaythrough. The notation of positions is\n"+
		"# explained in text.go; \"legal\" counts the orders that the rules accept; events are\n"+
		"# written with the ids of units.\n\n"+
		"game %s rules %s players %d turns %d orders %d\n", info.Name, info.Rules, info.Players, info.MaxTurns, info.MaxOrders)
	for turn := 0; m.status == sim.Running && turn < len(playthroughOrders); turn++ {
		out = terminal.AppendText(append(out, '\n'), m.g, &m.s)
		for p := range sim.Player(2) {
			out = appendLegal(out, m.g, &m.s, p)
			out = fmt.Appendf(out, "orders p%d %s\n", p+1, playthroughOrders[turn][p])
		}
		m.deploy(playthroughOrders[turn][0], playthroughOrders[turn][1])
		for m.more {
			m.frame(1)
			out = appendEvents(out, m)
			if turn == 4 && m.frames == 20 {
				out = terminal.AppendFrame(out, m.g, &m.s)
			}
		}
		out = fmt.Appendf(out, "%d frames, %d steps, %d shots\n", m.frames, len(m.rec.Moves), len(m.rec.Attacks))
		m.restore()
	}
	out = terminal.AppendFrame(append(out, '\n'), m.g, &m.s)
	a, b := m.g.Outcome(&m.s, 0), m.g.Outcome(&m.s, 1)
	return fmt.Appendf(out, "%v: p1 result %v score %v, p2 result %v score %v\n", m.status, a.Result, a.Score, b.Result, b.Score)
}

// appendLegal counts the legal orders of seat p by op.
func appendLegal(out []byte, g *terminal.Game, s *terminal.State, p sim.Player) []byte {
	var count [5]int
	orders := g.AppendOrders(nil, s, p)
	for _, o := range orders {
		count[terminal.Decode(o).Op]++
	}
	out = fmt.Appendf(out, "legal p%d %d:", p+1, len(orders))
	for op, name := range []string{"nothing", "place", "upgrade", "remove", "spawn"} {
		if count[op] > 0 {
			out = fmt.Appendf(out, " %s %d", name, count[op])
		}
	}
	return append(out, '\n')
}

// appendEvents appends the events of the last frame except steps and shots.
func appendEvents(out []byte, m *match) []byte {
	f := m.rec.Frame(m.frames - 1)
	f.Moves, f.Attacks, f.Damages = nil, nil, nil
	for i, line := range eventLines(f) {
		if i == 0 {
			out = fmt.Appendf(out, "frame %d\n", m.frames-1)
		}
		out = fmt.Appendf(out, "  %s\n", line)
	}
	return out
}
