package terminal_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/env"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// quick returns the scripts that take some microseconds for a turn: all but the planner, which
// takes hundreds, and the strategist, which takes a thousand.
func quick() []string {
	return slices.DeleteFunc(policytest.Scripts("terminal"), func(name string) bool { return name == "planner" || name == "strategist" })
}

// The scripts beat both random policies under every rule set, and nearly always under the
// newest.
func TestTerminalScriptsWin(t *testing.T) {
	for _, rules := range terminal.RuleSets() {
		least := 0.8
		if rules == "2026" {
			least = 0.95
		}
		for _, p := range policytest.League(t, "terminal", rules, 8, 20, append([]string{"random"}, quick()...)...) {
			weak := p.A == "random" || p.A == "scatter"
			if weak && p.B != "scatter" && float64(p.Losses) < least*20 {
				t.Errorf("%s: %s wins only %d of 20 games against %s", rules, p.B, p.Losses, p.A)
			}
		}
	}
}

// The planner beats the older scripts under every rule set. The short form takes three: the
// newest, one whose supports give bits, and the oldest.
func TestTerminalPlannerWins(t *testing.T) {
	sets, n := []string{"2026", "2020", "2019"}, 6
	if policytest.Long() {
		sets, n = terminal.RuleSets(), 40
	}
	for _, rules := range sets {
		won, played := 0, 0
		for _, older := range quick() {
			p := policytest.League(t, "terminal", rules, 4, n, "planner", older)[0]
			won, played = won+p.Wins, played+n
		}
		assert.GreaterOrEqualf(t, 4*won, 3*played, "%s: planner wins only %d of %d games", rules, won, played)
	}
}

// The strategist beats the planner under every rule set; the short form takes two.
func TestTerminalStrategistWins(t *testing.T) {
	sets, n := []string{"2026", "2021"}, 8
	if policytest.Long() {
		sets, n = terminal.RuleSets(), 40
	}
	for _, rules := range sets {
		p := policytest.League(t, "terminal", rules, 4, n, "strategist", "planner")[0]
		assert.Greaterf(t, 2*p.Wins, n, "%s: strategist wins only %d of %d games", rules, p.Wins, n)
	}
}

// Every order of a script is carried out, in games against every kind of opponent.
func TestTerminalScriptsAreLegal(t *testing.T) {
	turn := sim.NewTurn(1)
	for _, rules := range terminal.RuleSets() {
		r, _ := terminal.RuleSet(rules)
		for _, name := range policytest.Scripts("terminal") {
			var ops [8]int
			n := 8
			if !slices.Contains(quick(), name) && !policytest.Long() {
				n = 3
			}
			policytest.EachTurn(t, "terminal", rules, name, quick(), n, func(g sim.Game[terminal.State], s *terminal.State, p sim.Player, orders []sim.Order) {
				after := *s
				for _, o := range orders {
					ops[terminal.Decode(o).Op]++
					if before := after; !carriedOut(g.(*terminal.Game), &after, p, turn, o) {
						t.Fatalf("%s: %s orders %+v in turn %d, which is not carried out; cores %v, bits %v", rules, name,
							terminal.Decode(o), before.Turn, before.Cores, before.Bits)
					}
				}
			})
			if ops[terminal.OpPlace] == 0 || ops[terminal.OpSpawn] == 0 || r.Upgradable[terminal.Turret] != (ops[terminal.OpUpgrade] > 0) {
				t.Errorf("%s: %s orders %v", rules, name, ops)
			}
		}
	}
}

// carriedOut reports whether an order has its effect on the state: all units of a stack are
// paid for and spawned; a structure is built, upgraded or marked for removal.
func carriedOut(g *terminal.Game, s *terminal.State, p sim.Player, turn *sim.Turn, o sim.Order) bool {
	before := *s
	turn.SetOne(p, o)
	turn.Set(p^1, nil)
	g.Deploy(s, turn)
	if c := terminal.Decode(o); c.Op == terminal.OpSpawn {
		return s.NextID-before.NextID == c.Count
	}
	return s.Own != before.Own || s.Upgraded != before.Upgraded || s.Marked != before.Marked
}

// After some turns against a random player, each script has built the structures that its name
// says.
func TestTerminalShapes(t *testing.T) {
	for _, c := range []struct {
		name            string
		walls           int // lower bound of the walls in the row y = 12 and the two corners above
		turrets, mobile int // lower bound of the turrets in the front rows; upper bound of the stacks in a turn
	}{
		{"maze", 20, 2, 1},
		{"turtle", 0, 6, 3},
		{"starter", 2, 4, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := policytest.NewVector(t, "terminal", "2025b", 1, 0)
			states, _ := env.States[terminal.State](v)
			g, _ := env.Rules[terminal.State](v)
			b := env.NewBatch(v.Spec(), 1, env.WantMask|env.WantAction|env.WantRowSeed)
			me, you := policytest.NewPolicy(t, "terminal", c.name, v.Spec()), policytest.NewPolicy(t, "terminal", "scatter", v.Spec())
			v.Reset(0, 3)
			for range 7 {
				v.Observe(b)
				me.Act(v, b, []int32{0})
				you.Act(v, b, []int32{1})
				stacks := 0
				for _, o := range b.Orders[:b.OrderLen[0]] {
					if terminal.Decode(o).Op == terminal.OpSpawn {
						stacks++
					}
				}
				assert.LessOrEqualf(t, stacks, c.mobile, "%s spawns %d stacks in turn %d", c.name, stacks, b.Turn[0])
				v.Step(b)
			}
			walls, turrets := 0, 0
			for _, piece := range states[0].AppendStructures(nil, 0) {
				switch {
				case piece.Kind == terminal.Wall && piece.At.Y >= 12:
					walls++
				case piece.Kind == terminal.Turret && piece.At.Y >= 11:
					turrets++
				}
			}
			if walls < c.walls || turrets < c.turrets {
				t.Errorf("%s has %d walls and %d turrets at the front:\n%s", c.name, walls, turrets, terminal.AppendText(nil, g.(*terminal.Game), &states[0]))
			}
		})
	}
}
