package towerdefence_test

import (
	"fmt"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
)

// playthroughStart holds the start energy and health of both players of the
// golden match, which are higher than usual so that all phases occur early.
var playthroughStart = [2][2]int{{760, 100}, {900, 180}}

// playthroughOrders holds the commands of the golden match by round, every kind
// of command among them. In other rounds the players do nothing.
var playthroughOrders = map[int][2]string{
	0: {"6,3,4", "7,3,0"}, 1: {"7,0,1", "7,3,1"}, 2: {"0,0,2", "0,0,2"}, 3: {"0,1,2", "6,4,4"},
	4: {"7,1,1", "a,b,c"}, 5: {"7,2,1", "5,0,1"}, 6: {"0,0,3", "1,1,1,1"}, 7: {"7,4,0", "7,0,0"},
	8: {"6,3,2", "8,0,0"}, 9: {"7,6,4", "7,1,0"}, 10: {"5,5,1", "7,7,4"}, 11: {"7,4,3", "1,2"},
	13: {"3,3,2", "4,4,0"}, 15: {"2,5,1", "Exception"}, 17: {"6,5,1", "3,6,1"}, 19: {"", "7,6,0"},
	22: {"1,7,1", "7,5,2"}, 25: {"5,7,1", "6,7,2"}, 29: {"0,0,5", ""}, 30: {"0,0,5", "0,0,5"}, 31: {"0,0,5", "0,0,2"},
	33: {"6,6,1", "0,0,5"}, 36: {"7,7,1", "0,7,1"}, 39: {"6,1,1", ""}, 42: {"6,2,1", ""},
}

// TestPlaythrough compares one whole match with testdata/playthrough.txt, where
// reviewers see how a change affects play. After an intended change, raise
// RulesVersion and write the file by go test -run Playthrough -update, here and
// then in features/towerdefence.
func TestPlaythrough(t *testing.T) {
	simtest.Golden(t, "testdata/playthrough.txt", playthrough(t))
}

// playthrough plays the golden match and returns it as text.
func playthrough(t *testing.T) []byte {
	t.Helper()
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	m := start(t, g, playthroughStart[:]...)
	info := m.g.Info()
	out := fmt.Appendf(nil, "# One match of Tower Defence, written by TestPlaythrough. The notation of positions is\n"+
		"# explained in text.go; \"legal\" counts the orders that the rules accept.\n\n"+
		"game %s rules %s players %d turns %d orders %d\n", info.Name, info.Rules, info.Players, info.MaxTurns, info.MaxOrders)
	for p, start := range playthroughStart {
		out = fmt.Appendf(out, "start %c energy %d health %d\n", 'A'+p, start[0], start[1])
	}
	for round := 0; m.status == sim.Running; round++ {
		out = towerdefence.AppendText(append(out, '\n'), m.g, &m.s)
		for p := range sim.Player(2) {
			out = appendLegal(out, m.g, &m.s, p)
		}
		orders := playthroughOrders[round]
		out = fmt.Appendf(out, "play %q %q orders %#x %#x\n", orders[0], orders[1], command.Parse(orders[0]), command.Parse(orders[1]))
		m.play(orders[0], orders[1])
	}
	out = towerdefence.AppendText(append(out, '\n'), m.g, &m.s)
	a, b := m.g.Outcome(&m.s, 0), m.g.Outcome(&m.s, 1)
	return fmt.Appendf(out, "%v: A result %v score %v, B result %v score %v\n", m.status, a.Result, a.Score, b.Result, b.Score)
}

// appendLegal appends the number of legal orders of seat p by op.
func appendLegal(out []byte, g *towerdefence.Game, s *towerdefence.State, p sim.Player) []byte {
	var count [8]int
	orders := g.AppendOrders(nil, s, p)
	for _, o := range orders {
		op := towerdefence.Decode(o).Op
		count[op]++
	}
	out = fmt.Appendf(out, "legal %c %d:", 'A'+p, len(orders))
	for op, name := range []string{"nothing", "defense", "attack", "energy", "deconstruct", "tesla", "curtain"} {
		if count[op] > 0 {
			out = fmt.Appendf(out, " %s %d", name, count[op])
		}
	}
	return append(out, '\n')
}
