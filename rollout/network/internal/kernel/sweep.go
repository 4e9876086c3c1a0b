package kernel

import "fmt"

// sweep is the work of one call of a kernel: `tiles` tiles of `cells` cells, and for each
// cell the sums of blocks·16 outputs over rows·taps·n inputs. Lengths and steps are
// counted in floats. A cell is a cell of a board, or a row of a matrix.
type sweep struct {
	dst      []float32 // from the first output of the first cell
	src      []float32 // from the first input of the first cell
	residual []float32 // as dst, or nil
	weights  []float32 // [block][row][tap][n][16], blocks wBlock apart
	bias     []float32 // one for each output; nil to continue from the sums in dst

	dstCell, dstTile int // from cell to cell of a tile, and from tile to tile
	srcCell, srcTile int
	wBlock           int

	rows, rowStep int // of the inputs of a cell
	taps, tapStep int
	n             int

	blocks, cells, tiles int
	relu                 bool
}

// check panics if the sweep would read or write beyond a slice, since assembly has no bounds
// checks.
func (s *sweep) check() {
	dst := (s.tiles-1)*s.dstTile + (s.cells-1)*s.dstCell + s.blocks*lanes
	src := (s.tiles-1)*s.srcTile + (s.cells-1)*s.srcCell + (s.rows-1)*s.rowStep + (s.taps-1)*s.tapStep + s.n
	weights := (s.blocks-1)*s.wBlock + s.rows*s.taps*s.n*lanes
	if min(s.tiles, s.cells, s.blocks, s.rows, s.taps, s.n) < 1 ||
		min(s.dstTile, s.dstCell, s.srcTile, s.srcCell, s.rowStep, s.tapStep, s.wBlock) < 0 {
		panic(fmt.Sprintf("kernel: a sweep of %d tiles of %d cells, %d blocks, %d×%d×%d inputs", s.tiles, s.cells, s.blocks, s.rows, s.taps, s.n))
	}
	within("outputs", len(s.dst), dst)
	within("inputs", len(s.src), src)
	within("weights", len(s.weights), weights)
	if s.residual != nil {
		within("residual values", len(s.residual), dst)
	}
	if s.bias != nil {
		within("biases", len(s.bias), s.blocks*lanes)
	}
}

func within(what string, have, want int) {
	if have < want {
		panic(fmt.Sprintf("kernel: expected %d %s, found %d", want, what, have))
	}
}

// sweepPortable computes a sweep in plain Go.
func sweepPortable(s *sweep) {
	for tile := range s.tiles {
		for cell := range s.cells {
			for block := range s.blocks {
				s.sum(tile*s.dstTile+cell*s.dstCell+block*lanes, tile*s.srcTile+cell*s.srcCell, block)
			}
		}
	}
}

// sum computes 16 outputs of one cell.
func (s *sweep) sum(dst, src, block int) {
	out := (*[lanes]float32)(s.dst[dst:])
	acc := *out
	if s.bias != nil {
		acc = [lanes]float32(s.bias[block*lanes:])
	}
	weights := s.weights[block*s.wBlock:]
	for row := range s.rows {
		for tap := range s.taps {
			from := src + row*s.rowStep + tap*s.tapStep
			for _, x := range s.src[from : from+s.n] {
				w := (*[lanes]float32)(weights)
				for i := range acc {
					acc[i] = fma(x, w[i], acc[i])
				}
				weights = weights[lanes:]
			}
		}
	}
	if s.residual != nil {
		for i, r := range s.residual[dst : dst+lanes] {
			acc[i] += r
		}
	}
	if s.relu {
		for i, x := range acc {
			if 0 > x { // keeps NaN and −0
				acc[i] = 0
			}
		}
	}
	*out = acc
}
