package terminal_test

import (
	"os"
	"testing"
)

// long reports whether the long tests are wanted.
func long() bool { return os.Getenv("MOONFARM_LONG") == "1" }

// TestTwin holds the fast game against the plain twin, deployment by
// deployment and frame by frame, in every scenario: units, resources and all
// events of every frame, the restore, and the same turn played by Step without
// a record. Half of the matches are played under random rules. 4,000
// deployments, with MOONFARM_LONG=1 220,000.
func TestTwin(t *testing.T) {
	deployments := 4000
	if long() {
		deployments = 220_000
	}
	shares := 0
	for _, sc := range scenarios {
		shares += max(sc.share, 1)
	}
	var sum tally
	for i, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			n := playTwins(t, sc, uint64(i), deployments*max(sc.share, 1)/shares)
			t.Logf("%+v", n)
			sum.add(n)
		})
	}
	t.Logf("all: %+v", sum)
	if !t.Failed() && sum.deployments >= deployments { // all scenarios were wanted
		sum.demand(t)
	}
}
