package towerdefence_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire/command"
)

// compare returns the first difference between the fast state and the plain
// twin, or "". It compares every field of the original.
func compare(g *towerdefence.Game, s *towerdefence.State, twin *plain.Game) string {
	fast := twinOf(g, s)
	if fast.Round != twin.Round || fast.Players != twin.Players {
		return fmt.Sprintf("fast round %d, %+v; plain round %d, %+v", fast.Round, fast.Players, twin.Round, twin.Players)
	}
	if d := simtest.DiffLists("buildings", fast.Buildings, twin.Buildings); d != "" {
		return d
	}
	return simtest.DiffLists("missiles", byPlace(fast.Missiles), byPlace(twin.Missiles))
}

// byPlace sorts missiles by place and owner. The fast game does not keep their
// ids.
func byPlace(missiles []plain.Missile) []plain.Missile {
	list := slices.Clone(missiles)
	for i := range list {
		list[i].ID = 0
	}
	slices.SortFunc(list, func(a, b plain.Missile) int {
		return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X), cmp.Compare(a.Owner, b.Owner))
	})
	return list
}

// randomCommand draws a command text: mostly sensible, sometimes illegal,
// sometimes unreadable.
func randomCommand(r *prng.Rand, g *towerdefence.Game, s *towerdefence.State, p sim.Player, buf []sim.Order) string {
	switch n := r.IntN(100); {
	case n < 70:
		orders := g.AppendOrders(buf[:0], s, p)
		return string(command.Append(nil, orders[r.IntN(len(orders))]))
	case n < 72:
		return "0,0,5"
	case n < 90:
		return fmt.Sprintf("%d,%d,%d", r.IntN(10)-1, r.IntN(10)-1, r.IntN(8)-1)
	case n < 92:
		return fmt.Sprintf("%d,%d,%d,7", r.IntN(8), r.IntN(8), r.IntN(6))
	case n < 94:
		return fmt.Sprintf("%d,%d", r.IntN(8), r.IntN(8))
	case n < 95:
		return "Exception"
	case n < 97:
		return fmt.Sprintf("a%d,2,1", r.IntN(8))
	case n == 97 && r.IntN(100) == 0:
		return ",,"
	}
	return ""
}

// playTwins plays random games until the given number of rounds is reached,
// fails at the first difference, and returns the number of rounds.
func playTwins(t *testing.T, g *towerdefence.Game, seed uint64, rounds int) (played int) {
	t.Helper()
	buf := make([]sim.Order, 0, 512)
	for game := uint64(0); played < rounds; game++ {
		r := prng.New(prng.StreamSeed(seed, game, 0, 0, prng.PurposeGame))
		m := start(t, g)
		if energy := []int{0, 0, 200, 1000, 6000}[r.IntN(5)]; energy > 0 {
			m = start(t, g, [2]int{energy, 250}, [2]int{energy, 250})
		}
		m.title = fmt.Sprintf("seed %d game %d of the rules\n%s", seed, game, g.Info().Config)
		for ; m.status == sim.Running; played++ {
			m.play(randomCommand(&r, g, &m.s, 0, buf), randomCommand(&r, g, &m.s, 1, buf))
		}
	}
	return played
}
