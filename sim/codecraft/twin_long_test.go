package codecraft_test

import (
	"os"
	"testing"

	"moonfarm/sim/codecraft"
)

// long reports whether the long tests are wanted.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }

// TestTwin holds the fast game against the plain twin, tick by tick, in every
// scenario: the first steps and the victims of all units, the attacks in order,
// the dead, the status and every byte of the state. Half of the matches are
// played under changed rules. 1,500 ticks, with MOONFARM_LONG=1 25,000.
func TestTwin(t *testing.T) {
	demandPlans(t)
	ticks := 1500
	if long() {
		ticks = 25_000
	}
	var sum tally
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			n := playTwins(t, sc, uint64(i), ticks/len(scenarios))
			t.Logf("%+v", n)
			sum.add(n)
		})
	}
	t.Logf("all: %+v", sum)
	if !t.Failed() && sum.ticks >= ticks/len(scenarios)*len(scenarios) { // all scenarios were wanted
		sum.demand(t)
	}
}

// demandPlans skips a test if the fast game does not plan at all: if a unit
// alone on the map may not step towards its target.
func demandPlans(t testing.TB) {
	t.Helper()
	rules, _ := codecraft.Preset("round1-1")
	g, err := codecraft.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	s := codecraft.State{N: 1, NextID: 3}
	s.Units[0] = codecraft.Unit{ID: 2, Health: 10, X: 40, Y: 40, Type: codecraft.BuilderUnit, Active: true}
	s.Acts[0] = codecraft.Action{Parts: codecraft.Given | codecraft.HasMove, MoveX: 60, MoveY: 40}
	s.At[codecraft.CellOf(40, 40)] = 1
	s.Occupied.Add(40, 40)
	s.Own[0].Add(40, 40)
	if g.Plan(&s); g.Steps(0) == 0 {
		t.Skip("the fast game makes no plans yet")
	}
}
