package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// brokenText is a position with all kinds of structures, marks and upgrades.
const brokenText = `turn 9 next 50
p1 health 30 cores 4.5 bits 6.1
p2 health 28 cores 20 bits 11
1     w1 . s T
0       t w
27      w .
id 12,1=3 14,1=9 15,1=20 13,0=40 14,0=8 13,27=7
health 14,0=7
`

func atCell(x, y int) int {
	cell, ok := bitboard.DiamondCell(x, y)
	if !ok {
		panic("outside of the arena")
	}
	return cell
}

// played returns a game under a built-in rule set.
func played(t *testing.T, name string) *Game {
	t.Helper()
	rules, _ := RuleSet(name)
	g, err := New(rules)
	require.NoError(t, err)
	return g
}

// TestInvariants breaks a valid position in every way that check looks for.
func TestInvariants(t *testing.T) {
	g := played(t, "2022")
	good, err := ParseText(g, brokenText)
	require.NoError(t, err)
	wall, support, turret := atCell(12, 1), atCell(14, 1), atCell(15, 1)
	simtest.Spoil(t, &good, g.fault, g.check, map[string]func(s *State){
		"player 1: health NaN":                                   func(s *State) { s.Health[0] -= nan() },
		"player 2: cores -1":                                     func(s *State) { s.Cores[1] = -1 },
		"player 2: bits NaN":                                     func(s *State) { s.Bits[1] = nan() },
		"next id 0":                                              func(s *State) { s.NextID = 0 },
		"structures outside of their owner's half":               func(s *State) { s.Own[1].Add(wall) },
		"on a board: true, but holds":                            func(s *State) { s.Own[0].Add(atCell(13, 5)) },
		"on a board: false, but holds":                           func(s *State) { s.Own[0].Drop(atCell(14, 0)) },
		"boards with cells that have no structure":               func(s *State) { s.Turrets.Add(atCell(13, 5)) },
		"the boards do not show a support":                       func(s *State) { s.Supports.Drop(support) },
		"the boards do not show a wall":                          func(s *State) { s.Turrets.Add(wall) },
		"kind scout":                                             func(s *State) { s.Cells[wall].Mark |= markKind },
		"it says it is player 2's":                               func(s *State) { s.Cells[wall].Mark |= markPlayer },
		"upgraded: true":                                         func(s *State) { s.Upgraded.Drop(turret) },
		"marked: false, removed in 1":                            func(s *State) { s.Marked.Drop(wall) },
		"marked: true, removed in 0":                             func(s *State) { s.Marked.Add(support) },
		"id 0, the next is 50":                                   func(s *State) { s.Cells[wall].Mark &= 1<<markIDShift - 1 },
		"id 40, the next is 40":                                  func(s *State) { s.NextID = 40 },
		"id 9 twice":                                             func(s *State) { s.Cells[atCell(14, 0)].Mark += 1 << markIDShift },
		"health 0":                                               func(s *State) { s.Cells[wall].Health = 0 },
		"list of player 1's walls: 211 entries":                  func(s *State) { s.Ages[0][Wall].N = 211 },
		"list of player 1's walls: place 250":                    func(s *State) { s.Ages[0][Wall].Cell[0] = 250 },
		"list of player 1's walls: {13 0} has no such structure": func(s *State) { s.Ages[0][Wall].Cell[0] = 0 },
		"list of player 1's turrets: {15 1} has id 20, after 40": func(s *State) {
			c := &s.Ages[0][Turret].Cell
			c[0], c[1] = c[1], c[0]
		},
		"list of player 1's turrets: 1 entries, 2 on the boards": func(s *State) { s.Ages[0][Turret].N = 1 },
	})
}

func nan() float32 {
	zero := float32(0)
	return zero / zero
}

// TestMobileInvariants breaks the units of an action phase.
func TestMobileInvariants(t *testing.T) {
	g := played(t, "2026")
	var turn sim.Turn
	turn.Set(0, []sim.Order{Spawn(Scout, 13, 0, 3), Spawn(Demolisher, 14, 0, 1)})
	turn.Set(1, []sim.Order{Spawn(Scout, 13, 27, 2)})
	for want, spoil := range map[string]func(s *State){
		"2 units in the runs of stack": func(*State) { g.action.runs[g.action.stacks[0].base].n = 2 },
		"0 units in the runs of stack": func(*State) { g.action.stacks[0].runs = 0 },
		"run {":                        func(*State) { g.action.runs[g.action.stacks[0].base].total++ },
		"a mobile unit on":             func(s *State) { s.add(int(g.action.stacks[0].cell), 0, Wall, Cell{60, 1 << markIDShift}) },
		"mobile units 8 to 10 after id 0": func(s *State) {
			g.action.runs[g.action.stacks[0].base].first = s.NextID
		},
		"mobile units 2 to 4 after id 5": func(*State) { g.action.live[0], g.action.live[1] = g.action.live[1], g.action.live[0] },
		"mobile units without health": func(*State) {
			r := &g.action.runs[g.action.stacks[0].base]
			r.base -= r.total
			r.total = 0
		},
	} {
		t.Run(want, func(t *testing.T) {
			var s State
			g.Reset(&s, 0)
			s.Bits = [2]float32{20, 20}
			s.NextID = 2 // id 1 is free for the test
			g.Deploy(&s, &turn)
			g.Frame(&s)
			g.check(&s)
			spoil(&s)
			require.Contains(t, g.fault(&s), want)
		})
	}
}

// TestInvariantsHold checks every state of random games, frame by frame.
func TestInvariantsHold(t *testing.T) {
	for _, name := range RuleSets() {
		g := played(t, name)
		r := prng.New(9)
		var s State
		g.Reset(&s, 0)
		g.check(&s)
		var turn sim.Turn
		for status := sim.Running; status == sim.Running; {
			for p := range sim.Player(2) {
				turn.Set(p, g.Playout(nil, &s, p, &r))
			}
			g.Deploy(&s, &turn)
			g.check(&s)
			for g.Frame(&s) {
				g.check(&s)
			}
			g.check(&s)
			status = g.Restore(&s)
			g.check(&s)
		}
	}
}
