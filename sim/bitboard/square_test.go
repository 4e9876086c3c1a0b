package bitboard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// plainSquare is the twin of a Square: [y][x].
type plainSquare [SquareSide][SquareSide]bool

// has returns false outside of the board.
func (p *plainSquare) has(x, y int) bool {
	return x >= 0 && y >= 0 && x < SquareSide && y < SquareSide && p[y][x]
}

// beside reports whether a neighbour of the cell is in the set.
func (p *plainSquare) beside(x, y int) bool {
	return p.has(x-1, y) || p.has(x+1, y) || p.has(x, y-1) || p.has(x, y+1)
}

// each returns the set of the cells for which is returns true.
func each(is func(x, y int) bool) (p plainSquare) {
	for y := range SquareSide {
		for x := range SquareSide {
			p[y][x] = is(x, y)
		}
	}
	return p
}

// board returns the Square with the same cells.
func (p *plainSquare) board() (b Square) {
	for y := range SquareSide {
		for x := range SquareSide {
			if p[y][x] {
				b[2*(y+1)+x/64] += 1 << (x % 64)
			}
		}
	}
	return b
}

// scatter draws a set in the rows from low to high: random cells, rectangles,
// or whole rows and columns, edges included; sometimes no cell or all cells.
func scatter(r *prng.Rand, low, high int) (p plainSquare) {
	if high < low {
		return p
	}
	kind, most := r.IntN(7), 1+r.IntN(100)
	for range 1 + r.IntN(8) {
		x, y, w, h := r.IntN(SquareSide), low+r.IntN(high-low+1), 1+r.IntN(30), 1+r.IntN(30)
		switch kind {
		case 0:
			return p
		case 1:
			x, y, w, h = 0, low, SquareSide, SquareSide
		case 2:
			x, w = 0, SquareSide
		case 3:
			y, h = low, SquareSide
		case 4:
			x, y = []int{0, 62, 63, 64, 65, SquareSide - 1}[r.IntN(6)], []int{low, high}[r.IntN(2)]
			w, h = 1+r.IntN(2), 1
		}
		for i := y; i <= min(y+h-1, high); i++ {
			for j := x; j < min(x+w, SquareSide); j++ {
				p[i][j] = p[i][j] || kind != 5 || r.IntN(100) < most
			}
		}
	}
	return p
}

// rounds runs a test with many seeds.
func rounds(t *testing.T, test func(r *prng.Rand)) {
	t.Helper()
	r := prng.New(80)
	for range 300 {
		if test(&r); t.Failed() {
			return
		}
	}
}

// TestSquareCells: Has, Add and Drop, cell by cell.
func TestSquareCells(t *testing.T) {
	for y := range SquareSide {
		for x := range SquareSide {
			var b Square
			b.Add(x, y)
			one := each(func(i, j int) bool { return i == x && j == y })
			require.True(t, b == one.board(), "add %d,%d", x, y)
			require.True(t, b.Has(x, y) && b.Count() == 1)
			i, j, ok := b.First()
			require.Equal(t, [3]any{x, y, true}, [3]any{i, j, ok})
			var all, none Square
			all.Flip(&none)
			require.Equal(t, SquareSide*SquareSide, all.Count())
			all.Drop(x, y)
			none.Flip(&b)
			require.True(t, all == none && !all.Has(x, y), "drop %d,%d", x, y)
			all.Drop(x, y)
			require.True(t, all == none, "drop %d,%d twice", x, y)
			b.Add(x, y)
			require.Equal(t, 1, b.Count(), "add %d,%d twice", x, y)
			b.Drop(x, y)
			require.True(t, b == Square{})
		}
	}
	_, _, ok := new(Square).First()
	require.False(t, ok)
}

// TestSquareSquares: squares of all sizes near the edges and where the two
// words of a row meet.
func TestSquareSquares(t *testing.T) {
	r := prng.New(5)
	p := scatter(&r, 0, SquareSide-1)
	require.True(t, p.differs(new(plainSquare)))
	for _, size := range []int{1, 2, 3, 5, 16, 17, 40} {
		for _, y := range []int{0, 1, 40, SquareSide - size} {
			for x := range SquareSide - size + 1 {
				if y+size > SquareSide {
					continue
				}
				in := func(i, j int) bool { return i >= x && i < x+size && j >= y && j < y+size }
				b, c := p.board(), p.board()
				b.AddSquare(x, y, size)
				with := each(func(i, j int) bool { return p[j][i] || in(i, j) })
				require.True(t, b == with.board(), "add %d,%d size %d", x, y, size)
				c.DropSquare(x, y, size)
				without := each(func(i, j int) bool { return p[j][i] && !in(i, j) })
				require.True(t, c == without.board(), "drop %d,%d size %d", x, y, size)
				b = p.board()
				require.Equal(t, without.differs(&p), b.MeetsSquare(x, y, size), "meets %d,%d size %d", x, y, size)
				require.False(t, c.MeetsSquare(x, y, size), "meets %d,%d size %d", x, y, size)
			}
		}
	}
}

func (p *plainSquare) differs(q *plainSquare) bool { return *p != *q }

// TestSquareSets: the operations on whole boards.
func TestSquareSets(t *testing.T) {
	rounds(t, func(r *prng.Rand) {
		p, q := scatter(r, 0, SquareSide-1), scatter(r, 0, SquareSide-1)
		a, b := p.board(), q.board()
		check := func(what string, got Square, is func(x, y int) bool) {
			want := each(is)
			require.True(t, got == want.board(), what)
		}
		c := a
		c.Or(&b)
		check("or", c, func(x, y int) bool { return p[y][x] || q[y][x] })
		c = a
		c.And(&b)
		check("and", c, func(x, y int) bool { return p[y][x] && q[y][x] })
		c = a
		c.AndNot(&b)
		check("and not", c, func(x, y int) bool { return p[y][x] && !q[y][x] })
		c = b
		c.Flip(&a)
		check("flip", c, func(x, y int) bool { return !p[y][x] })
		c = b
		c.Grow(&a)
		check("grow", c, func(x, y int) bool { return p[y][x] || p.beside(x, y) })
		n, fx, fy := 0, -1, -1
		for y := range SquareSide {
			for x := range SquareSide {
				if p[y][x] {
					if n++; n == 1 {
						fx, fy = x, y
					}
				}
				require.Equal(t, p[y][x], a.Has(x, y))
			}
		}
		require.Equal(t, n, a.Count())
		if x, y, ok := a.First(); ok {
			require.Equal(t, [2]int{fx, fy}, [2]int{x, y})
		} else {
			require.Zero(t, n)
		}
	})
}

// TestSquareRows: rows read and written, Rows and Words.
func TestSquareRows(t *testing.T) {
	rounds(t, func(r *prng.Rand) {
		low := r.IntN(SquareSide)
		p := scatter(r, low, low+r.IntN(SquareSide-low))
		b := p.board()
		var again Square
		first, last := SquareSide, -1
		for y := range SquareSide {
			l, h := b.Row(y)
			for x := range SquareSide {
				bit := l >> x
				if x >= 64 {
					bit = h >> (x - 64)
				}
				require.Equal(t, p[y][x], bit&1 == 1)
				if p[y][x] {
					first, last = min(first, y), max(last, y)
				}
			}
			again.SetRow(y, l, h|r.Uint64()<<16) // bits past the board are dropped
			require.Equal(t, []uint64{l, h}, b.Words(y, y))
		}
		require.True(t, again == b)
		from, to := b.Rows()
		if last < 0 {
			require.Greater(t, from, to)
			return
		}
		require.Equal(t, [2]int{first, last}, [2]int{from, to})
		require.Len(t, b.Words(from, to), 2*(to-from+1))
		require.Equal(t, b[2*(from+1):2*(to+2)], b.Words(from, to))
	})
}

// TestSquareGrowRows: the rows from low to high get their neighbours, including
// those of cells in adjacent rows; other rows stay.
func TestSquareGrowRows(t *testing.T) {
	rounds(t, func(r *prng.Rand) {
		p := scatter(r, 0, SquareSide-1)
		low, high := r.IntN(SquareSide), r.IntN(SquareSide)
		b := p.board()
		b.GrowRows(low, high)
		want := each(func(x, y int) bool { return p[y][x] || y >= low && y <= high && p.beside(x, y) })
		require.True(t, b == want.board(), "rows %d to %d", low, high)
		// With a margin of one row it is the same as Grow.
		low, high = r.IntN(SquareSide), r.IntN(SquareSide)
		p = scatter(r, low, high)
		b = p.board()
		var grown Square
		grown.Grow(&b)
		b.GrowRows(max(low-1, 0), min(high+1, SquareSide-1))
		require.True(t, low > high || b == grown, "cells in rows %d to %d", low, high)
	})
}

// TestSquareAddBeside compares the neighbours of every cell with a grown board.
func TestSquareAddBeside(t *testing.T) {
	for y := range SquareSide {
		for x := range SquareSide {
			var cell, want, got Square
			cell.Add(x, y)
			want.Grow(&cell)
			want.AndNot(&cell)
			got.AddBeside(x, y)
			require.Equal(t, want, got, "beside %d,%d", x, y)
		}
	}
}

// TestSquareCorners compares Corners with a search of all squares.
func TestSquareCorners(t *testing.T) {
	r := prng.New(1)
	for n := range 64 {
		size, share := 1+n%5, 10+n%7
		plain := each(func(x, y int) bool { return r.IntN(16) < share })
		got := plain.board()
		for range size - 1 {
			got.Corners(&got)
		}
		want := each(func(x, y int) bool {
			for k := range size * size {
				if !plain.has(x+k%size, y+k/size) {
					return false
				}
			}
			return true
		})
		require.Equal(t, want.board(), got, "board %d, squares of %d", n, size)
	}
}

func TestSquareBit(t *testing.T) {
	r := prng.New(8)
	for range 20 {
		p := scatter(&r, 0, SquareSide-1)
		b := p.board()
		for y := -1; y <= SquareSide; y++ {
			for x := -40; x < SquareSide+40; x++ {
				if inside := x >= 0 && x < SquareSide; (y < 0 || y == SquareSide) && !inside {
					continue
				}
				if got := b.Bit(x, y); got > 1 || (got == 1) != p.has(x, y) {
					t.Fatalf("bit %d at %d,%d, in the set: %v", got, x, y, p.has(x, y))
				}
			}
		}
	}
}
