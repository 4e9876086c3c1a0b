package codecraft_test

import (
	"os"
	"testing"
)

// long reports whether the long tests are wanted.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }

// TestTwin holds the fast game against the plain twin, tick by tick, in every
// scenario: the first steps and the victims of all units, the attacks in order,
// the dead, the status and every byte of the state. Half of the matches are
// played under changed rules. 1,500 ticks, with MOONFARM_LONG=1 25,000.
func TestTwin(t *testing.T) {
	ticks := 1500
	if long() {
		ticks = 25_000
	}
	shares := 0
	for _, sc := range scenarios {
		shares += sc.share
	}
	var sum tally
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			n := playTwins(t, sc, uint64(i), ticks*sc.share/shares)
			t.Logf("%+v", n)
			sum.add(n)
		})
	}
	t.Logf("all: %+v", sum)
	if !t.Failed() && sum.ticks >= ticks-len(scenarios) { // all scenarios were wanted
		sum.demand(t)
	}
}
