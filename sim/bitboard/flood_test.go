package bitboard

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// plainFlood is the twin of Flood.
func plainFlood(p, free, watch plainSquare, most int) (front, left plainSquare, steps int, met bool) {
	meets := func() bool {
		for y := range p {
			for x := range p[y] {
				if p[y][x] && watch[y][x] {
					return true
				}
			}
		}
		return false
	}
	for ; !meets(); steps++ {
		if steps >= most || p == (plainSquare{}) {
			return p, free, steps, false
		}
		next := each(func(x, y int) bool { return free[y][x] && p.beside(x, y) })
		free = each(func(x, y int) bool { return free[y][x] && !next[y][x] })
		p = next
	}
	return p, free, steps, true
}

// TestSquareFlood compares floods with the plain twin.
func TestSquareFlood(t *testing.T) {
	met, ended := 0, 0
	rounds(t, func(r *prng.Rand) {
		p, free, watch, most := randomFlood(r)
		front, left, steps, hit := plainFlood(p, free, watch, most)
		for _, flood := range append(vectorFloods(), (*Square).floodRows) {
			b, f, w := p.board(), free.board(), watch.board()
			gotSteps, got := flood(&b, &f, &w, most)
			require.Equal(t, [2]any{steps, hit}, [2]any{gotSteps, got}, "at most %d steps", most)
			require.True(t, b == front.board() && f == left.board() && w == watch.board(), "after %d steps", steps)
		}
		if hit {
			met++
		} else if steps < most {
			ended++
		}
	})
	assert.Truef(t, met > 20 && ended > 20, "%d met a cell, %d ended: too few of one sort", met, ended)
}

// vectorFloods returns the floods by vectors that run on this machine.
func vectorFloods() (list []func(b, free, watch *Square, most int) (int, bool)) {
	if squareVectors >= 256 {
		list = append(list, flood256)
	}
	if squareVectors >= 512 {
		list = append(list, flood512)
	}
	return list
}

// randomFlood draws the arguments of a flood.
func randomFlood(r *prng.Rand) (p, free, watch plainSquare, most int) {
	p, free, most = scatter(r, 0, SquareSide-1), scatter(r, 0, SquareSide-1), r.IntN(130)-1
	if r.IntN(2) == 0 {
		percent := 50 + r.IntN(50)
		free = each(func(x, y int) bool { return r.IntN(100) < percent })
	}
	if r.IntN(3) > 0 {
		p = plainSquare{}
		p[r.IntN(SquareSide)][r.IntN(SquareSide)] = true
	}
	switch r.IntN(3) {
	case 0:
		watch = scatter(r, 0, SquareSide-1)
	case 1:
		watch[r.IntN(SquareSide)][r.IntN(SquareSide)] = true
	}
	return p, free, watch, most
}

// TestSquareGrowBy compares GrowBy with repeated Grow.
func TestSquareGrowBy(t *testing.T) {
	rounds(t, func(r *prng.Rand) {
		p, n := scatter(r, 0, SquareSide-1), r.IntN(100)
		want := p.board()
		for range n {
			was := want
			want.Grow(&was)
		}
		for _, grow := range []func(b *Square, n int){(*Square).GrowBy, (*Square).growBy} {
			b := p.board()
			grow(&b, n)
			require.True(t, b == want, "%d times", n)
		}
	})
}

// TestSquareVectors compares floods and growth by vectors with portable code on random boards: 20,000, with
// MOONFARM_LONG=1 two million.
func TestSquareVectors(t *testing.T) {
	if squareVectors == 0 {
		t.Skip("this machine has no AVX2")
	}
	n := 20_000
	if os.Getenv("MOONFARM_LONG") == "1" {
		n = 2_000_000
	}
	r := prng.New(9)
	for range n {
		var b, free, watch Square
		sparse := func(to *Square, most int) {
			for range r.IntN(most + 1) {
				to.AddSquare(r.IntN(SquareSide), r.IntN(SquareSide-4), 1+r.IntN(4))
			}
		}
		sparse(&b, 3)
		sparse(&watch, 2)
		if sparse(&free, 60); r.IntN(4) > 0 {
			free.Flip(&free)
		}
		if r.IntN(2) == 0 {
			watch = Square{}
		}
		if d := compareFlood(b, free, watch, r.IntN(200)); d != "" {
			t.Fatal(d)
		}
	}
}

// compareFlood compares a flood and growth by vectors with portable code. It returns the first difference.
func compareFlood(b, free, watch Square, most int) string {
	was, had := b, free
	steps, met := b.floodRows(&free, &watch, most)
	for k, flood := range vectorFloods() {
		b2, free2 := was, had
		steps2, met2 := flood(&b2, &free2, &watch, most)
		if steps != steps2 || met != met2 || b != b2 || free != free2 {
			return fmt.Sprintf("vectors %d flood %d steps, met %v; portable code %d, %v; same frontier %v, same free cells %v", k, steps2, met2, steps, met, b == b2, free == free2)
		}
	}
	n := most % 48
	free2 := free
	free.growBy(n)
	if free2.GrowBy(n); free != free2 {
		return fmt.Sprintf("vectors grow %d times to another board than portable code", n)
	}
	return ""
}

// FuzzSquareFlood compares vectors with portable code on any boards.
func FuzzSquareFlood(f *testing.F) {
	f.Add([]byte{1}, uint8(3))
	f.Add([]byte{0xff, 0, 0xff, 0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(100))
	f.Fuzz(func(t *testing.T, data []byte, most uint8) {
		if len(data) == 0 {
			return
		}
		var boards [3]Square
		for k := range boards {
			var word [8]byte
			for y := range SquareSide {
				for i := range word {
					word[i] = data[(k*977+16*y+i)%len(data)]
				}
				low := binary.LittleEndian.Uint64(word[:])
				boards[k].SetRow(y, low, low>>7)
			}
		}
		if d := compareFlood(boards[0], boards[1], boards[2], int(most)); d != "" {
			t.Error(d)
		}
		if d := compareFlood(boards[0], boards[1], Square{}, int(most)); d != "" {
			t.Error(d)
		}
	})
}
