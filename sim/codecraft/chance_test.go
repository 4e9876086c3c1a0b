package codecraft_test

import (
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
)

// standing makes a state of units under rules without a map.
func standing(t testing.TB, preset string, seed uint64, units ...codecraft.Unit) (*codecraft.Game, *codecraft.State) {
	t.Helper()
	rules, ok := codecraft.Preset(preset)
	if !ok {
		t.Fatalf("no preset %q", preset)
	}
	g, err := codecraft.New(rules)
	if err != nil {
		t.Fatal(err)
	}
	given, s := codecraft.State{Seed: seed, FirstID: 100, NextID: 100}, new(codecraft.State)
	for _, u := range units {
		u.Active, u.Health = true, int16(rules.Types[u.Type].MaxHealth)
		given.Units[given.N] = u
		given.N++
	}
	p := plain.New(rules)
	p.Load(&given)
	p.Store(s)
	return g, s
}

// nearShare fails if hits of trials differ from a share by more than five
// standard deviations of as many independent trials. The seeds are fixed, so it
// happens always or never.
func nearShare(t *testing.T, what string, hits, trials int, share float64) {
	t.Helper()
	got := float64(hits) / float64(trials)
	t.Logf("%s: %d of %d, %.2f %%", what, hits, trials, 100*got)
	if d := got - share; d*d*float64(trials) > 25*share*(1-share) {
		t.Errorf("%s: %.2f %%, want %.2f %%", what, 100*got, 100*share)
	}
}

// TestOrderOfAttacks: whoever attacks before another in one tick does so in half
// of the next.
func TestOrderOfAttacks(t *testing.T) {
	const n = 9
	var units []codecraft.Unit
	for i := range uint8(n) {
		units = append(units, codecraft.Unit{ID: uint32(2 + i), X: 10 + i, Y: 10, Type: codecraft.RangedUnit, Owner: sim.Player(i % 2)})
	}
	g, s := standing(t, "round1-2", 1, units...)
	var r codecraft.Record
	g.Record(&r)
	for i := range s.Units[:n] {
		s.Acts[i].Take(codecraft.Auto(s.Units[i].ID, 0, 0))
	}
	first := [n]int{}
	reversals, pairs := 0, 0
	var before []uint32
	for tick := range int32(2000) {
		again := *s // nobody dies: always the same state, but for the tick
		again.Tick = tick
		g.Tick(&again)
		var order []uint32
		for _, a := range r.Attacks {
			order = append(order, a.Attacker)
		}
		if len(order) != n {
			t.Fatalf("tick %d: %d attacks", tick, len(order))
		}
		first[order[0]-2]++
		for a := uint32(2); before != nil && a < 2+n; a++ {
			for b := a + 1; b < 2+n; b++ {
				pairs++
				if (slices.Index(before, a) < slices.Index(before, b)) != (slices.Index(order, a) < slices.Index(order, b)) {
					reversals++
				}
			}
		}
		before = order
	}
	nearShare(t, "reversals between ticks", reversals, pairs, 0.5)
	for i, k := range first {
		nearShare(t, "first attacks of one unit", k, 2000, 1.0/n)
		if k == 0 {
			t.Errorf("unit %d is never first", i)
		}
	}
}

// TestChoiceOfVictims: of two valid targets in range each is attacked half the
// time, near and far ones alike, and another than in the tick before in half of
// the ticks.
func TestChoiceOfVictims(t *testing.T) {
	g, s := standing(t, "round1-2", 2,
		codecraft.Unit{ID: 4, X: 20, Y: 20, Type: codecraft.RangedUnit},
		codecraft.Unit{ID: 5, X: 21, Y: 20, Type: codecraft.MeleeUnit, Owner: 1},
		codecraft.Unit{ID: 9, X: 20, Y: 25, Type: codecraft.BuilderBase, Owner: 1})
	var r codecraft.Record
	g.Record(&r)
	s.Acts[0].Take(codecraft.Auto(4, 0, 0))
	near, changed, before := 0, 0, uint32(0)
	const ticks = 4000
	for tick := range int32(ticks) {
		again := *s
		again.Tick = tick
		g.Tick(&again)
		if len(r.Attacks) != 1 {
			t.Fatalf("tick %d: attacks %v", tick, r.Attacks)
		}
		v := r.Attacks[0].Victim
		if v == 5 {
			near++
		}
		if v != before {
			changed++
		}
		before = v
	}
	nearShare(t, "attacks on the nearer", near, ticks, 0.5)
	nearShare(t, "changes of the target", changed, ticks, 0.5)
}

// TestChoiceOfSteps: where a best path may begin along either axis each is taken
// half the time, however the distance is split between the axes, by units of all
// ids.
func TestChoiceOfSteps(t *testing.T) {
	for i, to := range [][2]uint8{{50, 50}, {60, 41}, {41, 79}, {20, 35}} {
		along, moves, both := 0, 0, 0
		for id := uint32(2); id < 42; id++ {
			g, s := standing(t, "round1-2", uint64(3+i), codecraft.Unit{ID: id, X: 40, Y: 40, Type: codecraft.BuilderUnit},
				codecraft.Unit{ID: 90, X: 0, Y: 0, Type: codecraft.BuilderUnit, Owner: 1})
			s.Acts[0].Take(codecraft.Move(id, int(to[0]), int(to[1]), false, false))
			before := false
			for tick := range int32(100) {
				again := *s
				again.Tick = tick
				g.Tick(&again)
				moves++
				u := &again.Units[0]
				if u.X != 40 {
					along++
				} else if u.Y == 40 {
					t.Fatalf("to %v: it does not move", to)
				}
				if tick > 0 && (u.X != 40) != before {
					both++
				}
				before = u.X != 40
			}
		}
		nearShare(t, "steps along x", along, moves, 0.5)
		nearShare(t, "changes from tick to tick", both, moves-40, 0.5)
	}
}

// TestContestedCells: of four that want one cell each gets it in a quarter of
// the ticks; the order in which two build is either half the time.
func TestContestedCells(t *testing.T) {
	g, s := standing(t, "round1-2", 4,
		codecraft.Unit{ID: 3, X: 30, Y: 31, Type: codecraft.MeleeUnit},
		codecraft.Unit{ID: 4, X: 32, Y: 31, Type: codecraft.RangedUnit, Owner: 1},
		codecraft.Unit{ID: 7, X: 31, Y: 30, Type: codecraft.BuilderUnit},
		codecraft.Unit{ID: 8, X: 31, Y: 32, Type: codecraft.MeleeUnit, Owner: 1},
		codecraft.Unit{ID: 20, X: 50, Y: 50, Type: codecraft.BuilderBase},
		codecraft.Unit{ID: 21, X: 60, Y: 50, Type: codecraft.MeleeBase})
	for i := range s.Units[:4] {
		s.Acts[i].Take(codecraft.Move(s.Units[i].ID, 31, 31, false, false))
	}
	s.Acts[4].Take(codecraft.Build(20, codecraft.BuilderUnit, 55, 50))
	s.Acts[5].Take(codecraft.Build(21, codecraft.MeleeUnit, 65, 50))
	s.Resource[0] = 1000
	const ticks = 4000
	got, builder := [4]int{}, 0
	for tick := range int32(ticks) {
		again := *s
		again.Tick = tick
		g.Tick(&again)
		i := int(again.At[codecraft.CellOf(31, 31)]) - 1
		if i < 0 || i > 3 {
			t.Fatalf("tick %d: unit %d got the cell", tick, i)
		}
		got[i]++
		if again.N != 8 {
			t.Fatalf("tick %d: %d units", tick, again.N)
		}
		if again.Units[6].Type == codecraft.BuilderUnit {
			builder++
		}
	}
	for _, k := range got {
		nearShare(t, "cells won by one of four", k, ticks, 0.25)
	}
	nearShare(t, "builds before another", builder, ticks, 0.5)
}
