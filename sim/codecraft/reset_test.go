package codecraft_test

import (
	"testing"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// TestReset checks that a start with an action plays as its position, and that Restore and the
// plain twin make the same state, boards and sums of it.
func TestReset(t *testing.T) {
	var s, again codecraft.State
	var p codecraft.Position
	for _, name := range []string{"finals", "round2", "round1", "round1-3", "round2-1"} {
		g := mustGame(t, name, nil)
		for seed := range uint64(20) {
			g.Reset(&s, seed)
			s.Acts[0].Take(codecraft.Move(s.Units[0].ID, 20, 30, true, false))
			s.Position(&p)
			if err := g.Restore(&again, &p); err != nil {
				t.Fatal(err)
			}
			if d := simtest.Diff(&s, &again); d != "" {
				t.Fatalf("%s seed %d: restored it differs: %s", name, seed, d)
			}
		}
		resume(t, g, s).tick(1)
	}
}
