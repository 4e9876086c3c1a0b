// Command gen writes the assembly of package kernel: one function for each
// instruction set, with a body for each shape of a tile. It is a separate module, so
// that nothing else needs avo. With -out FILE it writes the assembly of tiles and functions for
// amd64, with lines -out FILE that of lines, with arm64 FILE the assembly for arm64.
package main

import (
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "arm64" {
		if err := writeNEON(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
		return
	}
	ConstraintExpr("amd64,!purego")
	if len(os.Args) > 1 && os.Args[1] == "lines" {
		os.Args = append(os.Args[:1], os.Args[2:]...) // avo reads the other arguments
		for _, i := range []*isa{&isa512, &isa256} {
			suffix := fmt.Sprint(8 * i.bytes)
			i.lines("lines" + suffix)
			i.sums("sums" + suffix)
			i.extremes("extremes" + suffix)
		}
		writeFewMasks()
		Generate()
		return
	}
	isa512.function("sweep512", "computes a sweep with AVX-512: up to 4 blocks of 16 outputs of up to 6 or 8 cells.")
	isa256.function("sweep256", "computes a sweep with AVX2 and FMA: one block of 16 outputs of up to 6 cells, or up to 4 of one cell.")
	isa512.peak("peak512")
	isa256.peak("peak256")
	isa512.functions("512")
	isa256.functions("256")
	isa512.erf()
	writeConstants()
	Generate()
}

// The fields of work in work.go.
const (
	fieldDst = 8 * iota
	fieldSrc
	fieldResidual
	fieldWeights
	fieldBias
	fieldDstAt
	fieldSrcAt
	fieldDstCell
	fieldDstTile
	fieldSrcCell
	fieldSrcTile
	fieldWBlock
	fieldRows
	fieldRowStep
	fieldTaps
	fieldTapStep
	fieldN
	fieldBlocks
	fieldCells
	fieldTiles
	fieldRelu
)

// The registers that keep their meaning throughout a tile.
var (
	work    = reg.RAX
	tap     = reg.RBX // taps left in this row of the weights
	left    = reg.RCX // inputs left in this tap
	row     = reg.RDX // the first input of this row
	x       = reg.RSI // the current input
	w       = reg.RDI // its weights
	cell    = reg.R8  // from cell to cell, and multiples of it
	cell3   = reg.R9
	cell5   = reg.R10
	cell7   = reg.R11
	block   = reg.R12 // from block to block of the weights, and three times that
	block3  = reg.R13
	tapAt   = reg.R14 // the first input of this tap
	rowLeft = reg.R15
)

func field(offset int) operand.Mem { return operand.Mem{Base: work, Disp: offset} }

// isa is an instruction set.
type isa struct {
	bytes     int   // of a vector
	perBlock  int   // vectors of a block of 16 outputs
	cells     []int // limit of the cells of a tile, by blocks from 1
	vector    func(i int) reg.VecPhysical
	registers int
}

var isa512 = isa{64, 1, []int{8, 8, 6, 6}, func(i int) reg.VecPhysical { return zmm[i] }, 32}

// With few cells, several blocks keep the adders busy.
var isa256 = isa{32, 2, []int{6, 2, 1, 1}, func(i int) reg.VecPhysical { return ymm[i] }, 16}

var zmm = []reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

var ymm = []reg.VecPhysical{
	reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
}

// function writes the function of an instruction set: it loads the registers that all tiles
// share and jumps to the body for the shape.
func (i *isa) function(name, doc string) {
	TEXT(name, NOSPLIT, "func(w *byte)")
	Doc(name + " " + doc)
	Load(Param("w"), work)
	MOVQ(field(fieldSrcCell), cell)
	LEAQ(operand.Mem{Base: cell, Index: cell, Scale: 2}, cell3)
	LEAQ(operand.Mem{Base: cell, Index: cell, Scale: 4}, cell5)
	LEAQ(operand.Mem{Base: cell3, Index: cell, Scale: 4}, cell7)
	MOVQ(field(fieldWBlock), block)
	LEAQ(operand.Mem{Base: block, Index: block, Scale: 2}, block3)
	MOVQ(field(fieldCells), left)
	MOVQ(field(fieldBlocks), tap)
	for blocks := 1; blocks < len(i.cells); blocks++ {
		CMPQ(tap, operand.Imm(uint64(blocks)))
		JEQ(operand.LabelRef(fmt.Sprintf("blocks%d", blocks)))
	}
	for blocks := len(i.cells); blocks > 0; blocks-- {
		if blocks < len(i.cells) {
			Label(fmt.Sprintf("blocks%d", blocks))
		}
		most := i.cells[blocks-1]
		for cells := 1; cells < most; cells++ {
			CMPQ(left, operand.Imm(uint64(cells)))
			JEQ(operand.LabelRef(tile{i, blocks, cells}.label("tile")))
		}
		for cells := most; cells > 0; cells-- {
			tile{i, blocks, cells}.body()
		}
	}
}

// peakSums is the number of sums in the loop that measures the peak.
const peakSums = 12

// peak writes the loop that measures the peak.
func (i *isa) peak(name string) {
	TEXT(name, NOSPLIT, "func(rounds int)")
	Doc(fmt.Sprintf("%s adds a product to each of %d vectors, rounds times.", name, peakSums))
	Load(Param("rounds"), left)
	zero := i.vector(peakSums)
	for v := range peakSums + 1 {
		i.clear(i.vector(v))
	}
	Label("round")
	for v := range peakSums {
		VFMADD231PS(zero, zero, i.vector(v))
	}
	DECQ(left)
	JNE(operand.LabelRef("round"))
	VZEROUPPER()
	RET()
}

// clear sets a vector to 0.
func (i *isa) clear(v reg.VecPhysical) {
	if i.bytes == 64 {
		VPXORQ(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}
