package codecraft

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

const (
	side       = cc.Side
	planeBytes = cc.Cells
)

// A frame is the view of a seat: its own start is at the lower left. The index y*80 + x of a cell in
// its planes is linear in the world's coordinates.
type frame struct {
	base, x, y int // index of the world's (0, 0), and the difference of a step along x and y
	corner     int // the difference, for each cell of the side but the first, from the lowest corner to the lowest corner as seen
}

// frames has the frames of all seats: see codecraft.Turn.
var frames = [sim.MaxPlayers]frame{
	{0, 1, side, 0},
	{side*side - 1, -1, -side, -1 - side},
	{side*side - side, -side, 1, -side},
	{side - 1, side, -1, -1},
}

// at returns the index of a cell of the world.
func (f *frame) at(x, y int) int { return f.base + f.x*x + f.y*y }

// cornerAt returns the index of the lowest corner, as seen, of a square of the world.
func (f *frame) cornerAt(x, y, size int) int { return f.at(x, y) + f.corner*(size-1) }

// rivals numbers the other players as a seat sees them, by the corners in which they start: 1
// opposite, 2 lower right, 3 upper left. The number of the seat itself is 0.
var rivals = func() (t [sim.MaxPlayers][sim.MaxPlayers]uint8) {
	for p := range t {
		for q := range t[p] {
			wx, wy := cc.TurnBack(sim.Player(q), 0, 0, 1)
			switch x, y := cc.Turn(sim.Player(p), wx, wy, 1); {
			case x > 0 && y > 0:
				t[p][q] = 1
			case x > 0:
				t[p][q] = 2
			case y > 0:
				t[p][q] = 3
			}
		}
	}
	return t
}()

// A grid is a set of cells as a seat sees them: bit k of byte i is cell 8i + k
// of a plane.
type grid [planeBytes / 8]uint8

// turn sets g to the set b of the world as seat p sees it.
func (g *grid) turn(b *bitboard.Square, p sim.Player) {
	switch p {
	case 1:
		for y := range side {
			low, high := b.Row(side - 1 - y)
			binary.LittleEndian.PutUint64(g[10*y:], bits.Reverse64(low>>16|high<<48))
			binary.LittleEndian.PutUint16(g[10*y+8:], bits.Reverse16(uint16(low)))
		}
	case 2, 3:
		g.transpose(b, p == 2)
	default:
		for y := range side {
			low, high := b.Row(y)
			binary.LittleEndian.PutUint64(g[10*y:], low)
			binary.LittleEndian.PutUint16(g[10*y+8:], uint16(high))
		}
	}
}

// transpose swaps x and y of b, in squares of eight by eight, and then mirrors the rows (down) or
// the columns.
func (g *grid) transpose(b *bitboard.Square, down bool) {
	var plain grid
	plain.turn(b, 0)
	for i := range side / 8 {
		for k := range side / 8 {
			block := uint64(0)
			for j := range 8 {
				block |= uint64(plain[10*(8*k+j)+i]) << (8 * j)
			}
			block = transpose8(block)
			for j := range 8 {
				row := uint8(block >> (8 * j))
				if down {
					g[10*(side-1-8*i-j)+k] = row
				} else {
					g[10*(8*i+j)+side/8-1-k] = bits.Reverse8(row)
				}
			}
		}
	}
}

// transpose8 moves bit 8i + j to bit 8j + i (Warren, Hacker's Delight, 7–3).
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
