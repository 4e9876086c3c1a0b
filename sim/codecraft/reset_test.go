package codecraft_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/simtest"
)

// TestReset: a start is the same as the position that it tells, played from
// there; all of a state, boards and sums, is what Restore and the plain twin
// make of it.
func TestReset(t *testing.T) {
	var s, again codecraft.State
	var p codecraft.Position
	for _, name := range []string{"finals", "round2", "round1", "round1-3", "round2-1"} {
		g := mustGame(t, name, nil)
		for seed := range uint64(20) {
			g.Reset(&s, seed)
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

// TestResetKeepsTheSeed: the seed of a game is in its state, so a clone goes on
// alike in another game value.
func TestResetKeepsTheSeed(t *testing.T) {
	g, other := mustGame(t, "round1", nil), mustGame(t, "round1", nil)
	var s, clone codecraft.State
	g.Reset(&s, 1<<63+5)
	if s.Seed != 1<<63+5 {
		t.Errorf("seed %d", s.Seed)
	}
	other.Reset(&clone, 3)
	clone = s
	turn := sim.NewTurn(64)
	for range 20 {
		turn.Clear()
		for p := range sim.Player(4) {
			for _, u := range s.Units[:s.N] {
				if u.Owner == p {
					turn.Add(p, codecraft.Auto(u.ID, 20, codecraft.EveryType))
				}
			}
		}
		g.Step(&s, turn)
		other.Step(&clone, turn)
	}
	if s != clone {
		t.Errorf("a clone goes another way: %s", simtest.Diff(&s, &clone))
	}
}
