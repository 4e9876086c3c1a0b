package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of inputs of a round of the inner loop.
const unroll = 4

// tile is the shape of a tile, for which there is one body of code.
type tile struct {
	*isa
	blocks, cells int
}

func (t tile) label(name string) string { return fmt.Sprintf("%s%dx%d", name, t.blocks, t.cells) }

func (t tile) mark(name string) { Label(t.label(name)) }

func (t tile) to(name string) operand.LabelRef { return operand.LabelRef(t.label(name)) }

// vectors returns the number of vectors of the outputs of a cell.
func (t tile) vectors() int { return t.blocks * t.perBlock }

// sum returns the register of vector v of the outputs of a cell.
func (t tile) sum(cell, v int) reg.VecPhysical { return t.vector(cell*t.vectors() + v) }

// weight returns the register of vector v of the weights of one input.
func (t tile) weight(v int) reg.VecPhysical { return t.vector(t.cells*t.vectors() + v) }

// input returns one of two registers for inputs.
func (t tile) input(i int) reg.VecPhysical { return t.vector(t.registers - 1 - i%2) }

// output returns vector v of the cell to which base points.
func (t tile) output(base reg.GPPhysical, v int) operand.Mem {
	return operand.Mem{Base: base, Disp: v * t.bytes}
}

// body writes the loop over the tiles of a sweep.
func (t tile) body() {
	t.mark("tile")
	t.begin()
	MOVQ(field(fieldWeights), w)
	MOVQ(field(fieldSrc), row)
	ADDQ(field(fieldSrcAt), row)
	MOVQ(field(fieldRows), rowLeft)
	t.mark("row")
	MOVQ(row, tapAt)
	MOVQ(field(fieldTaps), tap)
	t.mark("tap")
	MOVQ(tapAt, x)
	MOVQ(field(fieldN), left)
	SUBQ(operand.Imm(unroll), left)
	JLT(t.to("few"))
	t.mark("inputs")
	t.inputs(unroll)
	SUBQ(operand.Imm(unroll), left)
	JGE(t.to("inputs"))
	t.mark("few")
	ADDQ(operand.Imm(unroll), left)
	JEQ(t.to("done"))
	t.mark("input")
	t.inputs(1)
	DECQ(left)
	JNE(t.to("input"))
	t.mark("done")
	ADDQ(field(fieldTapStep), tapAt)
	DECQ(tap)
	JNE(t.to("tap"))
	ADDQ(field(fieldRowStep), row)
	DECQ(rowLeft)
	JNE(t.to("row"))
	t.end()
	for _, f := range [][2]int{{fieldSrcTile, fieldSrcAt}, {fieldDstTile, fieldDstAt}} {
		MOVQ(field(f[0]), x)
		ADDQ(x, field(f[1]))
	}
	DECQ(field(fieldTiles))
	JNE(t.to("tile"))
	VZEROUPPER()
	RET()
}

// begin loads the sums: the biases, or the sums so far.
func (t tile) begin() {
	MOVQ(field(fieldBias), x)
	TESTQ(x, x)
	JEQ(t.to("goon"))
	for v := range t.vectors() {
		VMOVUPS(t.output(x, v), t.sum(0, v))
	}
	for cell := 1; cell < t.cells; cell++ {
		for v := range t.vectors() {
			VMOVAPS(t.sum(0, v), t.sum(cell, v))
		}
	}
	JMP(t.to("begun"))
	t.mark("goon")
	MOVQ(field(fieldDst), x)
	ADDQ(field(fieldDstAt), x)
	for cell := range t.cells {
		for v := range t.vectors() {
			VMOVUPS(t.output(x, v), t.sum(cell, v))
		}
		if cell+1 < t.cells {
			ADDQ(field(fieldDstCell), x)
		}
	}
	t.mark("begun")
}

// inputs adds the products of n inputs of each cell.
func (t tile) inputs(n int) {
	for k := range n {
		if t.cells == 1 { // an operand that is used once needs no register
			VBROADCASTSS(source(0, k), t.input(k))
			for v := range t.vectors() {
				VFMADD231PS(t.weights(k, v), t.input(k), t.sum(0, v))
			}
			continue
		}
		for v := range t.vectors() {
			VMOVUPS(t.weights(k, v), t.weight(v))
		}
		for cell := range t.cells {
			VBROADCASTSS(source(cell, k), t.input(cell))
			for v := range t.vectors() {
				VFMADD231PS(t.weight(v), t.input(cell), t.sum(cell, v))
			}
		}
	}
	ADDQ(operand.U32(n*4), x)
	ADDQ(operand.U32(n*64), w)
}

// weights returns vector v of the weights of the k-th input after the current one.
func (t tile) weights(k, v int) operand.Mem {
	m := operand.Mem{Base: w, Disp: k*64 + v%t.perBlock*t.bytes}
	switch v / t.perBlock {
	case 1:
		m.Index, m.Scale = block, 1
	case 2:
		m.Index, m.Scale = block, 2
	case 3:
		m.Index, m.Scale = block3, 1
	}
	return m
}

// source returns the k-th input of a cell after the current one.
func source(c, k int) operand.Mem {
	m := operand.Mem{Base: x, Disp: k * 4}
	switch c {
	case 1, 2, 4:
		m.Index, m.Scale = cell, uint8(c)
	case 3:
		m.Index, m.Scale = cell3, 1
	case 5:
		m.Index, m.Scale = cell5, 1
	case 6:
		m.Index, m.Scale = cell3, 2
	case 7:
		m.Index, m.Scale = cell7, 1
	}
	return m
}

// end adds the residual, applies ReLU and stores the sums.
func (t tile) end() {
	MOVQ(field(fieldDstCell), w)
	MOVQ(field(fieldResidual), x)
	TESTQ(x, x)
	JEQ(t.to("whole"))
	ADDQ(field(fieldDstAt), x)
	t.eachSum(func(cell, v int) { VADDPS(t.output(x, v), t.sum(cell, v), t.sum(cell, v)) })
	t.mark("whole")
	CMPQ(field(fieldRelu), operand.Imm(0))
	JEQ(t.to("store"))
	zero := t.weight(0)
	t.clear(zero)
	for cell := range t.cells {
		for v := range t.vectors() {
			// If both operands are 0 or one is NaN, the result is the second operand, written first here.
			VMAXPS(t.sum(cell, v), zero, t.sum(cell, v))
		}
	}
	t.mark("store")
	MOVQ(field(fieldDst), x)
	ADDQ(field(fieldDstAt), x)
	t.eachSum(func(cell, v int) { VMOVUPS(t.sum(cell, v), t.output(x, v)) })
}

// eachSum calls f for each vector of outputs, with x at its cell; w is the step from
// cell to cell.
func (t tile) eachSum(f func(cell, v int)) {
	for cell := range t.cells {
		for v := range t.vectors() {
			f(cell, v)
		}
		if cell+1 < t.cells {
			ADDQ(w, x)
		}
	}
}
