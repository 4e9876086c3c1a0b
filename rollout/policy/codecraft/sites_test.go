package codecraft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// nearest returns one of the nearest cells, also on sparse boards and from points outside of
// the map.
func TestSiteNearest(t *testing.T) {
	r := prng.New(2)
	for n := range 2000 {
		var board bitboard.Square
		for range n % 6 {
			board.Add(r.IntN(codecraft.Side), r.IntN(codecraft.Side))
		}
		ax, ay := r.IntN(codecraft.Side+4)-4, r.IntN(codecraft.Side+4)-4
		least := 4 * codecraft.Side
		for y := range codecraft.Side {
			for x := range codecraft.Side {
				if board.Has(x, y) {
					least = min(least, codecraft.Gap(x, y, 1, ax, ay, 1))
				}
			}
		}
		x, y, ok := nearest(&board, ax, ay)
		require.Equalf(t, least < 4*codecraft.Side, ok, "board %d", n)
		require.Truef(t, !ok || board.Has(x, y) && codecraft.Gap(x, y, 1, ax, ay, 1) == least, "board %d: (%d, %d) from (%d, %d), want one at a distance of %d", n, x, y, ax, ay, least)
	}
}

// ClearAround removes a building and the cells around it from a board, at the edges, too.
func TestSiteLanes(t *testing.T) {
	for _, c := range []struct{ x, y, size int }{{0, 0, 1}, {10, 20, 3}, {62, 40, 5}, {75, 75, 5}, {79, 0, 1}} {
		t.Run(fmt.Sprintf("size %d at (%d, %d)", c.size, c.x, c.y), func(t *testing.T) {
			var board, all bitboard.Square
			all.Flip(&board)
			board = all
			toolbox.ClearAround(&board, c.x, c.y, c.size, 1)
			for y := range codecraft.Side {
				for x := range codecraft.Side {
					far := max(codecraft.Gap(x, 0, 1, c.x, 0, c.size), codecraft.Gap(0, y, 1, 0, c.y, c.size))
					if board.Has(x, y) != (far > 1) {
						t.Fatalf("(%d, %d) is %v", x, y, board.Has(x, y))
					}
				}
			}
		})
	}
}

// The cells beside a square are all those at a distance of 1, each once.
func TestBeside(t *testing.T) {
	for size := 1; size <= 5; size++ {
		seen := map[[2]int]bool{}
		for side := range 4 {
			for k := range size {
				x, y := beside(20, 30, size, side, k)
				if codecraft.Gap(x, y, 1, 20, 30, size) != 1 || seen[[2]int{x, y}] {
					t.Errorf("size %d: (%d, %d)", size, x, y)
				}
				seen[[2]int{x, y}] = true
			}
		}
		x, y := beside(20, 30, size, 0, 0)
		assert.Truef(t, x == 20+size && y == 30+size-1, "size %d: the first is (%d, %d)", size, x, y)
	}
}

// ahead returns a cell on a shortest path to the target, nearStep steps away or the target.
func TestAhead(t *testing.T) {
	r := prng.New(3)
	for range 2000 {
		x, y := r.IntN(codecraft.Side), r.IntN(codecraft.Side)
		tx, ty := r.IntN(codecraft.Side), r.IntN(codecraft.Side)
		far := codecraft.Gap(x, y, 1, tx, ty, 1)
		nx, ny := ahead(x, y, tx, ty)
		d := codecraft.Gap(x, y, 1, nx, ny, 1)
		require.Equalf(t, min(far, nearStep), d, "from (%d, %d) to (%d, %d): (%d, %d) is %d steps ahead", x, y, tx, ty, nx, ny, d)
		d = codecraft.Gap(nx, ny, 1, tx, ty, 1)
		require.Equalf(t, max(far-nearStep, 0), d, "from (%d, %d) to (%d, %d): (%d, %d) leaves %d steps", x, y, tx, ty, nx, ny, d)
	}
}

// The foes of a seat are all other seats, each once. The first foes of the seats differ, so
// that no seat is attacked by two at first.
func TestFoes(t *testing.T) {
	for players := int32(1); players <= sim.MaxPlayers; players++ {
		r, _ := codecraft.Preset("round1")
		r.Players = players
		g, err := codecraft.New(r)
		require.NoError(t, err)
		s := new(codecraft.State)
		g.Reset(s, 1)
		attacked := [sim.MaxPlayers]int{}
		for p := range sim.Player(players) {
			c := &seat{style: &styles[1]}
			c.Look(g, s, p, nil)
			c.prepare()
			seen := map[sim.Player]bool{p: true}
			for _, q := range c.foes[:c.nFoes] {
				if seen[q] || int32(q) >= players {
					t.Errorf("%d players: seat %d has the foes %v", players, p, c.foes[:c.nFoes])
				}
				seen[q] = true
			}
			if len(seen) != int(players) {
				t.Errorf("%d players: seat %d has the foes %v", players, p, c.foes[:c.nFoes])
			}
			if c.nFoes > 0 {
				attacked[c.foes[0]]++
			}
		}
		for q, n := range attacked[:players] {
			if players > 1 && n != 1 {
				t.Errorf("%d players: seat %d is attacked by %d first", players, q, n)
			}
		}
	}
}
