package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A board is a Square: 80 rows of two words behind an empty row. Its 20 vectors have four rows each.
const (
	vectors  = 20
	firstRow = 16 // byte of the first row
)

var z = []reg.VecPhysical{
	reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
	reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
}

// The registers beside z[0] to z[19], which have the board.
var (
	zero  = z[20]
	some  = z[21] // the cells of all rows
	hits  = z[22] // the cells of all rows that are in watch
	board = reg.RAX
	free  = reg.RBX
	watch = reg.RCX
	most  = reg.RDX
	steps = reg.RSI
)

// rows returns vector k of the board at base.
func rows(base reg.Register, k int) operand.Mem {
	return operand.Mem{Base: base, Disp: firstRow + 64*k}
}

func load() {
	for k := range vectors {
		VMOVDQU64(rows(board, k), z[k])
	}
}

func store() {
	for k := range vectors {
		VMOVDQU64(z[k], rows(board, k))
	}
}

// neighbours sets `to` to the left, right and upper neighbours of the cells of vector k, and under to the
// lower ones. It also sets bits past the row. before has the old vector k−1; swap is scratch.
func neighbours(k int, before, to, under, swap reg.VecPhysical) {
	above := zero
	if k+1 < vectors {
		above = z[k+1]
	}
	VPSHUFD(operand.Imm(0x4e), z[k], swap) // the words of each row change places
	double("VPSHLDQ", swap, z[k], to)
	double("VPSHRDQ", swap, z[k], swap)
	VALIGNQ(operand.Imm(2), z[k], above, under)
	VPTERNLOGQ(or, under, swap, to)
	VALIGNQ(operand.Imm(6), before, z[k], under)
}

// double emits a shift of the words of x by one bit, which comes from the words of from. Avo does not know
// these instructions.
func double(opcode string, from, x, to reg.Register) {
	Instruction(&ir.Instruction{
		Opcode:   opcode,
		Operands: []operand.Op{operand.Imm(1), from, x, to},
		Inputs:   []operand.Op{from, x},
		Outputs:  []operand.Op{to},
	})
}

// The board has five blocks of vectors. A step passes over a block if neither it nor a block next to it has
// cells of the frontier; has[1+i] is not 0 if block i has some.
const blocks = 5

var has = []reg.Register{reg.R8, reg.R9, reg.R10, reg.R11, reg.R12, reg.R13, reg.R14}

// flood is the code of a flood for an instruction set.
type flood struct {
	name, doc string
	vectors   int
	begin     func()          // loads the board and clears hits
	clear     func()          // clears some
	first     func(k int)     // adds the cells of vector k to some, and to hits those in watch
	find      func(block int) // sets has for the cells in some
	test      func()          // clears the flag Z if hits has a cell
	reset     func()          // clears hits, and the vector before the block
	pass      func()          // clears the vector before the block
	enter     func(k int)     // begins a block with vector k
	step      func(k int)     // does a step of vector k
	end       func()          // stores the board
}

// write writes the function.
func (f *flood) write() {
	blockSize := f.vectors / blocks
	TEXT(f.name, NOSPLIT, "func(b, free, watch *uint64, most int) (steps int, met bool)")
	Doc(f.name + " " + f.doc)
	Load(Param("b"), board)
	Load(Param("free"), free)
	Load(Param("watch"), watch)
	Load(Param("most"), most)
	XORQ(steps, steps)
	f.begin()
	for block := range blocks {
		f.clear()
		for k := block * blockSize; k < (block+1)*blockSize; k++ {
			f.first(k)
		}
		f.find(block)
	}

	Label("next")
	f.test()
	JNE(operand.LabelRef("met"))
	MOVQ(has[1], reg.RDI)
	for block := 1; block < blocks; block++ {
		ORQ(has[1+block], reg.RDI)
	}
	JEQ(operand.LabelRef("end"))
	CMPQ(steps, most)
	JGE(operand.LabelRef("end"))
	INCQ(steps)
	f.reset()
	XORQ(has[0], has[0]) // whether the block before had cells
	for block := range blocks {
		f.block(block, blockSize)
	}
	JMP(operand.LabelRef("next"))

	for met, label := range []string{"end", "met"} {
		Label(label)
		f.end()
		VZEROUPPER()
		Store(steps, Return("steps"))
		MOVL(operand.U32(met), reg.EAX)
		Store(reg.AL, Return("met"))
		RET()
	}
}

// block writes a step of a block.
func (f *flood) block(block, blockSize int) {
	step := fmt.Sprintf("step%d", block)
	after := fmt.Sprintf("after%d", block)
	ORQ(has[1+block], has[0])
	if block+1 < blocks {
		ORQ(has[2+block], has[0])
	}
	JNE(operand.LabelRef(step))
	f.pass()
	JMP(operand.LabelRef(after))
	Label(step)
	MOVQ(has[1+block], has[0])
	f.clear()
	f.enter(block * blockSize)
	for k := block * blockSize; k < (block+1)*blockSize; k++ {
		f.step(k)
	}
	f.find(block)
	Label(after)
}

// flood512 keeps the frontier in registers.
func flood512() *flood {
	before := z[31] // the vector before the block, as it was
	return &flood{
		name: "flood512", doc: "is Flood with AVX-512. The frontier stays in registers.", vectors: vectors,
		begin: func() {
			load()
			VPXORQ(zero, zero, zero)
			VMOVDQA64(zero, hits)
		},
		clear: func() { VMOVDQA64(zero, some) },
		first: func(k int) {
			VPORQ(z[k], some, some)
			VPTERNLOGQ(orBoth, rows(watch, k), z[k], hits)
		},
		find: func(block int) {
			VPTESTMQ(some, some, reg.K1)
			KMOVB(reg.K1, has[1+block].(reg.GPPhysical).As32())
		},
		test: func() {
			VPTESTMQ(hits, hits, reg.K1)
			KORTESTB(reg.K1, reg.K1)
		},
		reset: func() {
			VMOVDQA64(zero, hits)
			VMOVDQA64(zero, before)
		},
		pass:  func() { VMOVDQA64(zero, before) },
		enter: func(int) {},
		step:  func(k int) { step512(k, before) },
		end:   store,
	}
}

// step512 does a step of vector k. before has the old vector before the block; the last vector of a block comes
// into it.
func step512(k int, before reg.VecPhysical) {
	const blockSize = vectors / blocks
	prior, old, to, under, swap := z[23+k%2], z[23+(k+1)%2], z[25+k%2], z[27+k%2], z[29]
	switch k % blockSize {
	case 0:
		prior = before
	case blockSize - 1:
		old = before
	}
	neighbours(k, prior, to, under, swap)
	VPTERNLOGQ(orThenAnd, rows(free, k), under, to)
	VPXORQ(rows(free, k), to, under)
	VMOVDQU64(under, rows(free, k))
	VPORQ(to, some, some)
	VPTERNLOGQ(orBoth, rows(watch, k), to, hits)
	VMOVDQA64(z[k], old)
	VMOVDQA64(to, z[k])
}

// The registers of flood256.
var y = struct{ zero, some, hits, cur, next, prior, swap, to, part, above, under reg.VecPhysical }{
	reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10,
}

// flood256 is for processors without AVX-512. The frontier stays in memory, in 40 vectors of two rows.
func flood256() *flood {
	return &flood{
		name: "flood256", doc: "is Flood with AVX2.", vectors: 2 * vectors,
		begin: func() {
			VPXOR(y.zero, y.zero, y.zero)
			VMOVDQA(y.zero, y.hits)
			for block := range blocks {
				XORQ(has[1+block], has[1+block])
			}
		},
		clear: func() { VMOVDQA(y.zero, y.some) },
		first: func(k int) {
			VMOVDQU(rows256(board, k), y.cur)
			meet256(k, y.cur)
		},
		find: func(block int) {
			VPTEST(y.some, y.some)
			SETNE(has[1+block].(reg.GPPhysical).As8())
		},
		test: func() { VPTEST(y.hits, y.hits) },
		reset: func() {
			VMOVDQA(y.zero, y.hits)
			VMOVDQA(y.zero, y.prior)
		},
		pass:  func() { VMOVDQA(y.zero, y.prior) },
		enter: func(k int) { VMOVDQU(rows256(board, k), y.cur) },
		step:  step256,
		end:   func() {},
	}
}

// rows256 returns vector k of two rows of the board at base.
func rows256(base reg.Register, k int) operand.Mem {
	return operand.Mem{Base: base, Disp: firstRow + 32*k}
}

// meet256 adds the cells of vector k to some, and to hits those in watch.
func meet256(k int, cells reg.Register) {
	VPOR(cells, y.some, y.some)
	VPAND(rows256(watch, k), cells, y.part)
	VPOR(y.part, y.hits, y.hits)
}

// step256 does a step of vector k, which is in cur; prior has the old vector before it.
func step256(k int) {
	if k+1 < 2*vectors {
		VMOVDQU(rows256(board, k+1), y.next)
	} else {
		VMOVDQA(y.zero, y.next)
	}
	VPERM2I128(operand.Imm(0x21), y.next, y.cur, y.above) // the upper row of cur, the lower of next
	VPERM2I128(operand.Imm(0x21), y.cur, y.prior, y.under)
	VPSHUFD(operand.Imm(0x4e), y.cur, y.swap)
	VPSLLQ(operand.Imm(1), y.cur, y.to)
	VPSRLQ(operand.Imm(1), y.cur, y.part)
	VPOR(y.above, y.under, y.above)
	VPOR(y.part, y.to, y.to)
	VPSRLQ(operand.Imm(63), y.swap, y.part)
	VPSLLQ(operand.Imm(63), y.swap, y.swap)
	VPOR(y.part, y.above, y.above)
	VPOR(y.swap, y.to, y.to)
	VPOR(y.above, y.to, y.to)
	VPAND(rows256(free, k), y.to, y.to)
	VPXOR(rows256(free, k), y.to, y.part)
	VMOVDQU(y.part, rows256(free, k))
	VMOVDQU(y.to, rows256(board, k))
	meet256(k, y.to)
	VMOVDQA(y.cur, y.prior)
	VMOVDQA(y.next, y.cur)
}

// grow512 writes GrowBy for 1 to 40 steps.
func grow512() {
	TEXT("grow512", NOSPLIT, "func(b *uint64, n int)")
	Doc("grow512 grows a board n times, at most 40, with AVX-512. Bits past a row, which come from its first", "and its last cell, do not reach it before its own cells do.")
	Load(Param("b"), board)
	Load(Param("n"), most)
	load()
	VPXORQ(zero, zero, zero)
	Label("next")
	for k := range vectors {
		before, old, to, under, swap := z[23+k%2], z[23+(k+1)%2], z[25+k%2], z[27+k%2], z[29+k%2]
		if k == 0 {
			before = zero
		}
		neighbours(k, before, to, under, swap)
		VMOVDQA64(z[k], old)
		VPTERNLOGQ(or, to, under, z[k])
	}
	DECQ(most)
	JG(operand.LabelRef("next"))
	mask := z[21] // all bits of the first words, 16 of the second
	VPTERNLOGQ(operand.Imm(0xff), mask, mask, mask)
	MOVL(operand.U32(0xaa), reg.EAX)
	KMOVW(reg.EAX, reg.K1)
	VPSRLQ(operand.Imm(64-16), mask, reg.K1, mask)
	for k := range vectors {
		VPANDQ(mask, z[k], z[k])
	}
	Load(Param("b"), board)
	store()
	VZEROUPPER()
	RET()
}
