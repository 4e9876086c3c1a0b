// Package kernel implements the arithmetic of networks: convolutions, dense layers,
// products of matrices and functions of single elements, in float32, with the same
// bits on every machine. It knows neither model files nor games.
//
// # The order of sums
//
// A float32 sum depends on the order of its terms and on its roundings, so both are
// fixed. An output of a convolution starts as its bias; then, for each row of the
// weights, each column and each input channel in that order, it becomes
// fma(input, weight, sum), rounded once. Cells outside of the board count as 0, and
// their products are added, too. Then follow the residual, one addition, and max(0, ·),
// which keeps −0 and NaN. Dense layers and products of matrices are the same with one
// row and one column. Nothing depends on the batch, the tile that contains a cell, or
// the length of vectors: a lane of a vector is one output, so vectors of any length do
// the same steps for each output. Only the payload of a NaN may differ.
//
// Processors with a fused multiply-add use it. Elsewhere, and with the build tag
// purego, plain Go emulates it exactly, some hundred times slower: see fma. Functions
// of single elements compute in float64, unfused, and round once, so that their error is
// little more than half a unit in the last place.
//
// # How it is computed
//
// There is no im2col: a kernel reads the board in its own layout. Image describes it: a
// border of zeros makes bounds checks unnecessary, and the channels of a cell are
// adjacent, so that the inputs of a row of weights of a 3×3 convolution are contiguous.
// Weights are packed as [block of 16 outputs][row][column][input][16], for all paths.
//
// The unit of work is a tile: some cells and some blocks of outputs, whose sums stay
// in registers from the bias to the store. For each input a kernel loads the weights of
// all blocks, and broadcasts the input of one cell after the other. AVX-512 has tiles
// of 6 cells × 64 outputs: 24 sums, 4 registers of weights and 2 of inputs use 30 of
// 32 registers, and 10 loads feed 24 multiply-adds, which occupy two units for 12 cycles.
// AVX2 has 16 registers and tiles of 6 cells × 16 outputs, which have 12 sums: enough to
// fill two units with a latency of 4 cycles. arm64 has the same tiles in vectors of 4; it
// is tested only under emulation. On Zen 4 the path of AVX-512 leaves tiles of 16 outputs to
// AVX2: see halfWidth. With fewer outputs a tile has up to 8 cells, and with
// one row several blocks, so that there are enough independent sums. A row of a board is
// split into the fewest tiles, all of about the same size (16 = 6 + 5 + 5); a strip of
// such tiles from the first row to the last is one call, a sweep, so that the cost of
// the call is negligible. At the upper and the lower edge of a board whole rows of the
// weights lie outside; their products are left out where that changes no bit, and these
// rows of the board are sweeps of their own.
//
// The weights of 64 outputs of a 3×3 convolution of 64 channels have 147 KB, and are
// read once for each tile of 6 cells from the L2 cache: 21 bytes a cycle, which the
// measured processors deliver. Boards are convolved one after the other. A caller with
// many boards should compute all layers for a few boards before the next few, so that
// they stay in the cache.
//
// The module in gen generates the assembly, which has no bounds checks: Go code checks a
// sweep against the lengths of its slices before.
//
// # Speed
//
// Measured on one core of a shared Zen 5 server, for which Peak reports 286 GFLOP/s with
// AVX-512; by CPU time, medians of 7. The models are stacks of 3×3 convolutions of 64 channels on
// 9 planes, 3 of them in small and 4 in the two others; medium has 6 residual blocks. Products with the border count as operations, though
// a twelfth of them are left out on 8 rows:
//
//	              batch  GFLOP/s  of the peak
//	small, 8×16       1      253         91 %
//	                 32      264         95 %
//	medium, 8×16      1      279         98 %
//	                 32      281        100 %
//	28×28             1      265         94 %
//	                 32      259         94 %
//	80×80             1      255         93 %
//	                 32      254         91 %
//
// A dense layer of 1,024 × 1,024 reaches 240 GFLOP/s for 32 rows, and reads 93 GB/s of
// weights for one row. An element of exp, tanh or sigmoid takes 1 ns, of erf 2 ns, with AVX2
// 50 ns. Plain Go reaches half a GFLOP/s.
package kernel

import "fmt"

// lanes is the number of outputs in a block of weights. Channels of images are padded to a
// multiple of it.
const lanes = 16

// padded returns n rounded up to a multiple of lanes.
func padded(n int) int { return (n + lanes - 1) &^ (lanes - 1) }

// Image is the geometry of a board: H rows of W cells of C channels, [y][x][channel]
// in memory, with Border cells on all sides and channels padded to a multiple of 16. Cells
// of the border and padded channels hold 0. The boards of a batch are adjacent.
type Image struct{ H, W, C, Border int }

// Stride returns the number of floats of a cell.
func (i Image) Stride() int { return padded(i.C) }

// Row returns the number of floats of a row, including the border.
func (i Image) Row() int { return (i.W + 2*i.Border) * i.Stride() }

// Size returns the number of floats of a board, including the border.
func (i Image) Size() int { return (i.H + 2*i.Border) * i.Row() }

// At returns the index of channel 0 of the cell in row y and column x, which are at least
// −Border.
func (i Image) At(y, x int) int { return (y+i.Border)*i.Row() + (x+i.Border)*i.Stride() }

// Shape is the shape of a convolution with stride 1: In channels to Out channels by
// weights of KH rows and KW columns, after PadY rows and PadX columns of zeros on both sides.
type Shape struct{ Out, In, KH, KW, PadY, PadX int }

// check panics for an invalid shape, or a wrong number of weights or biases.
func (s Shape) check(weights, bias int) {
	if min(s.Out, s.In, s.KH, s.KW) < 1 || min(s.PadY, s.PadX) < 0 || weights != s.Out*s.In*s.KH*s.KW || bias != 0 && bias != s.Out {
		panic(fmt.Sprintf("kernel: convolution of shape %+v with %d weights and %d biases", s, weights, bias))
	}
}
