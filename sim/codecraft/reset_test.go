package codecraft_test

import (
	"testing"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// TestReset: a start, with an action, is the same as the position that it tells,
// played from there; all of a state, boards and sums, is what Restore and the plain twin
// make of it.
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
