package bitboard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestDiamondCells checks that cells and coordinates are inverse, and the
// neighbours that the doc comment lists.
func TestDiamondCells(t *testing.T) {
	require.Equal(t, DiamondCells, DiamondBoard.Count())
	seen := map[int]bool{}
	for y := -2; y < DiamondSide+2; y++ {
		for x := -2; x < DiamondSide+2; x++ {
			inside := y >= 0 && y <= 13 && 13-y <= x && x <= 14+y || y >= 14 && y <= 27 && y-14 <= x && x <= 41-y
			cell, ok := DiamondCell(x, y)
			require.Equal(t, inside, ok, "(%d, %d)", x, y)
			if !ok {
				continue
			}
			require.False(t, seen[cell])
			seen[cell] = true
			backX, backY := DiamondXY(cell)
			require.Equal(t, [2]int{x, y}, [2]int{backX, backY})
			for i, d := range [4][2]int{{0, 1}, {1, 0}, {-1, 0}, {0, -1}} {
				next := cell + [2][4]int{{256, 257, 240, 241}, {-241, -240, -257, -256}}[cell>>8][i]
				want, inside := DiamondCell(x+d[0], y+d[1])
				if inside {
					require.Equal(t, want, next)
				} else {
					require.False(t, DiamondBoard.Has(next&511), "(%d, %d) step %d: %d is no border", x, y, i, next)
				}
			}
		}
	}
}

// TestDiamondSets compares the operations on sets with those on single cells.
func TestDiamondSets(t *testing.T) {
	r := prng.New(7)
	a, b := randomFree(&r, 50), randomFree(&r, 50)
	and, or, andNot := a, a, a
	and.And(&b)
	or.Or(&b)
	andNot.AndNot(&b)
	for cell := range DiamondSpan {
		require.Equal(t, a.Has(cell) && b.Has(cell), and.Has(cell))
		require.Equal(t, a.Has(cell) || b.Has(cell), or.Has(cell))
		require.Equal(t, a.Has(cell) && !b.Has(cell), andNot.Has(cell))
	}
}

// plainField is the twin of Fill: a queue over coordinates. A distance is −1
// where no goal can be reached.
func plainField(free, goals *Diamond) map[[2]int]int {
	dist := map[[2]int]int{}
	var queue [][2]int
	at := func(x, y int, d *Diamond) bool {
		cell, ok := DiamondCell(x, y)
		return ok && d.Has(cell)
	}
	for y := range DiamondSide {
		for x := range DiamondSide {
			if at(x, y, goals) {
				dist[[2]int{x, y}] = 0
				queue = append(queue, [2]int{x, y})
			}
		}
	}
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		for _, d := range [4][2]int{{0, 1}, {1, 0}, {-1, 0}, {0, -1}} {
			n := [2]int{c[0] + d[0], c[1] + d[1]}
			if _, ok := dist[n]; !ok && at(n[0], n[1], free) {
				dist[n] = dist[c] + 1
				queue = append(queue, n)
			}
		}
	}
	return dist
}

// randomFree returns the board without about the given percentage of its cells.
func randomFree(r *prng.Rand, percent int) Diamond {
	free := DiamondBoard
	for cell := range DiamondSpan {
		if r.IntN(100) < percent {
			free.Drop(cell)
		}
	}
	return free
}

// edge returns one side of the board, as goals.
func edge(i int) (d Diamond, goal int) {
	for j := range 14 {
		x, y := [4]int{14 + j, 13 - j, 13 - j, 14 + j}[i], [4]int{27 - j, 27 - j, j, j}[i]
		cell, _ := DiamondCell(x, y)
		d.Add(cell)
		goal = cell >> 8
	}
	return d, goal
}

// TestField compares Fill with its plain twin: whole sides and single cells as
// goals, on empty boards, mazes and almost full boards.
func TestField(t *testing.T) {
	random := prng.New(7)
	for i := range 4000 {
		free := randomFree(&random, []int{0, 5, 13, 25, 40, 55}[i%6])
		goals, goal := edge(i / 6 % 4)
		if i%5 == 4 {
			goals = Diamond{}
			cell := random.IntN(DiamondSpan)
			if !free.Has(cell) {
				continue
			}
			goals.Add(cell)
			goal = cell >> 8
		}
		goals.And(&free)
		var f Field
		f.Fill(&free, &goals, goal, &Everywhere)
		want := plainField(&free, &goals)
		for cell := range DiamondSpan {
			if !DiamondBoard.Has(cell) {
				require.False(t, f.Reached(cell))
				continue
			}
			x, y := DiamondXY(cell)
			d, ok := want[[2]int{x, y}]
			require.Equal(t, ok, f.Reached(cell), "board %d, (%d, %d)", i, x, y)
			if ok {
				require.Equal(t, d%4, int(f.Phase(cell, goal)), "board %d, (%d, %d)", i, x, y)
			}
		}
	}
}

// TestFieldWanted checks that a field that ends early has the right distances
// where they are needed: on the wanted cells and all nearer ones.
func TestFieldWanted(t *testing.T) {
	random := prng.New(8)
	for i := range 2000 {
		free := randomFree(&random, []int{0, 13, 25, 40}[i%4])
		goals, goal := edge(i / 4 % 4)
		goals.And(&free)
		var wanted Diamond
		for range 1 + i%3 {
			if cell := random.IntN(DiamondSpan); free.Has(cell) {
				wanted.Add(cell)
			}
		}
		var whole, part Field
		whole.Fill(&free, &goals, goal, &Everywhere)
		part.Fill(&free, &goals, goal, &wanted)
		dist, far := plainField(&free, &goals), -1
		for cell := range DiamondSpan {
			if wanted.Has(cell) {
				x, y := DiamondXY(cell)
				if d, ok := dist[[2]int{x, y}]; ok {
					far = max(far, d)
				} else {
					far = DiamondCells
				}
			}
		}
		for cell := range DiamondSpan {
			if !DiamondBoard.Has(cell) {
				continue
			}
			x, y := DiamondXY(cell)
			if d, ok := dist[[2]int{x, y}]; ok && d <= far {
				require.True(t, part.Reached(cell))
				require.Equal(t, whole.Phase(cell, goal), part.Phase(cell, goal))
			} else if !ok {
				require.False(t, part.Reached(cell))
			}
		}
	}
}
