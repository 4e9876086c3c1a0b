package towerdefence_test

import (
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// BenchmarkPlayout plays random games, including the choice of orders. An
// operation is one round of two players. The digest shows that the work was
// done.
func BenchmarkPlayout(b *testing.B) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	r := prng.New(1)
	var s towerdefence.State
	g.Reset(&s, 0)
	digest := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		if g.Play(&s, g.Playout(&s, 0, &r), g.Playout(&s, 1, &r)) != sim.Running {
			digest ^= g.Hash(&s)
			g.Reset(&s, 0)
		}
	}
	b.Logf("%d rounds, digest %016x", b.N, digest)
}

// BenchmarkStep plays recorded orders of random games.
func BenchmarkStep(b *testing.B) {
	g, _ := towerdefence.New(towerdefence.DefaultRules())
	r := prng.New(1)
	var s towerdefence.State
	g.Reset(&s, 0)
	var orders [1 << 16][2]sim.Order
	var over [1 << 16]bool
	for i := range orders {
		orders[i] = [2]sim.Order{g.Playout(&s, 0, &r), g.Playout(&s, 1, &r)}
		over[i] = g.Play(&s, orders[i][0], orders[i][1]) != sim.Running
		if over[i] {
			g.Reset(&s, 0)
		}
	}
	g.Reset(&s, 0)
	digest, i := uint64(0), 0
	b.ReportAllocs()
	for b.Loop() {
		if g.Play(&s, orders[i][0], orders[i][1]) != sim.Running {
			digest ^= uint64(s.Half[0].Energy)
			g.Reset(&s, 0)
		}
		if i = (i + 1) & (1<<16 - 1); i == 0 {
			g.Reset(&s, 0)
		}
	}
	b.Logf("%d rounds, digest %016x", b.N, digest)
}
