package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The fields of linesWork in path_amd64.go.
const (
	linesDst = 8 * iota
	linesX
	linesY
	linesDstLine
	linesXLine
	linesYLine
	linesN
	linesCount
	linesOp
	linesNumber // 1: x is a number, 2: y is a number
)

// The registers of the functions of lines.
var (
	toAt    = reg.RDI
	xAt     = reg.RSI
	yAt     = reg.RBX
	at      = reg.RCX // the offset in the line, in bytes
	whole   = reg.RDX // the bytes of a line that fill vectors
	few     = reg.R8  // the elements after them
	toLine  = reg.R9
	xLine   = reg.R10
	yLine   = reg.R11
	lines   = reg.R12
	scratch = reg.R13
)

// The vectors of the functions of lines.
const (
	lX    = iota
	lY    // y, or free if the function ignores it
	lOut  // the result
	lTmp  // free
	lOne  // 1
	lZero // 0
	lBits // a constant of the function
	lMask // of the last elements, with AVX2
)

// The masks of the functions of lines, with AVX-512.
var (
	is   = reg.K1
	last = reg.K2 // of the last elements
)

// Predicates of comparisons, by the number of the instruction's operand.
const (
	equal          = 0
	unordered      = 3
	unequal        = 4
	less           = 17
	lessOrEqual    = 18
	greaterOrEqual = 29
	greater        = 30
)

// lineOp is a function of two numbers, or of one. bits is a constant that it needs in lBits.
type lineOp struct {
	alone bool
	bits  uint32
	f     func(i *isa)
}

// lineOps are the functions in the order of the kernel's constants, from 1.
var lineOps = []lineOp{
	{f: func(i *isa) { VADDPS(i.vector(lY), i.vector(lX), i.vector(lOut)) }},
	{f: func(i *isa) { VSUBPS(i.vector(lY), i.vector(lX), i.vector(lOut)) }},
	{f: func(i *isa) { VMULPS(i.vector(lY), i.vector(lX), i.vector(lOut)) }},
	{f: func(i *isa) { VDIVPS(i.vector(lY), i.vector(lX), i.vector(lOut)) }},
	{bits: math.MaxUint32, f: func(i *isa) { // of two zeros the second one written first is the result, so both orders are computed
		VMINPS(i.vector(lX), i.vector(lY), i.vector(lTmp))
		VMINPS(i.vector(lY), i.vector(lX), i.vector(lOut))
		i.or(i.vector(lTmp), i.vector(lOut), i.vector(lOut))
		i.spreadNaN()
	}},
	{bits: math.MaxUint32, f: func(i *isa) {
		VMAXPS(i.vector(lX), i.vector(lY), i.vector(lTmp))
		VMAXPS(i.vector(lY), i.vector(lX), i.vector(lOut))
		i.and(i.vector(lTmp), i.vector(lOut), i.vector(lOut))
		i.spreadNaN()
	}},
	// If both numbers are 0 or one is NaN, the result is x, which is written first.
	{f: func(i *isa) { VMAXPS(i.vector(lX), i.vector(lY), i.vector(lOut)) }},
	{f: func(i *isa) { VMINPS(i.vector(lX), i.vector(lY), i.vector(lOut)) }},
	compared(equal), compared(unequal), compared(less), compared(lessOrEqual), compared(greater), compared(greaterOrEqual),
	logical(func(i *isa) { i.and(i.vector(lOut), i.vector(lTmp), i.vector(lOut)) }),
	logical(func(i *isa) { i.or(i.vector(lOut), i.vector(lTmp), i.vector(lOut)) }),
	logical(func(i *isa) { i.xor(i.vector(lOut), i.vector(lTmp), i.vector(lOut)) }),
	{alone: true, bits: math.MaxInt32, f: func(i *isa) { i.and(i.vector(lX), i.vector(lBits), i.vector(lOut)) }},
	{alone: true, bits: 1 << 31, f: func(i *isa) { i.xor(i.vector(lX), i.vector(lBits), i.vector(lOut)) }},
	{alone: true, bits: math.Float32bits(-1), f: func(i *isa) {
		VMOVAPS(i.vector(lX), i.vector(lOut))
		i.blend(greater, lOne)
		i.blend(less, lBits)
	}},
	rounded(1), rounded(2), rounded(0), rounded(3),
}

// compared is a comparison of x with y.
func compared(predicate uint64) lineOp {
	return lineOp{f: func(i *isa) { i.compare(predicate, i.vector(lY), i.vector(lX), i.vector(lOut)) }}
}

// logical is a function of whether x and y differ from 0, which f computes from lOut and lTmp.
func logical(f func(i *isa)) lineOp {
	return lineOp{f: func(i *isa) {
		i.compare(unequal, i.vector(lZero), i.vector(lX), i.vector(lOut))
		i.compare(unequal, i.vector(lZero), i.vector(lY), i.vector(lTmp))
		f(i)
	}}
}

// rounded rounds to a whole number in a mode of the instruction.
func rounded(mode uint64) lineOp {
	return lineOp{alone: true, f: func(i *isa) {
		if i.bytes == 64 {
			VRNDSCALEPS(operand.Imm(mode), i.vector(lX), i.vector(lOut))
		} else {
			VROUNDPS(operand.Imm(mode), i.vector(lX), i.vector(lOut))
		}
	}}
}

// compare sets `to` to 1 where a comparison of x with y is true, to 0 elsewhere.
func (i *isa) compare(predicate uint64, y, x, to reg.VecPhysical) {
	if i.bytes == 64 {
		VCMPPS(operand.Imm(predicate), y, x, is)
		VMOVAPS_Z(i.vector(lOne), is, to)
	} else {
		VCMPPS(operand.Imm(predicate), y, x, to)
		VANDPS(i.vector(lOne), to, to)
	}
}

// blend sets lOut to another vector where a comparison of x with 0 is true.
func (i *isa) blend(predicate uint64, from int) {
	if i.bytes == 64 {
		VCMPPS(operand.Imm(predicate), i.vector(lZero), i.vector(lX), is)
		VMOVAPS(i.vector(from), is, i.vector(lOut))
	} else {
		VCMPPS(operand.Imm(predicate), i.vector(lZero), i.vector(lX), i.vector(lTmp))
		VBLENDVPS(i.vector(lTmp), i.vector(from), i.vector(lOut), i.vector(lOut))
	}
}

// spreadNaN sets lOut to NaN where x or y is NaN; lBits is a NaN.
func (i *isa) spreadNaN() {
	if i.bytes == 64 {
		VCMPPS(operand.Imm(unordered), i.vector(lY), i.vector(lX), is)
		VMOVAPS(i.vector(lBits), is, i.vector(lOut))
	} else {
		VCMPPS(operand.Imm(unordered), i.vector(lY), i.vector(lX), i.vector(lTmp))
		VORPS(i.vector(lTmp), i.vector(lOut), i.vector(lOut))
	}
}

// set sets all elements of a vector to a number with these bits.
func (i *isa) set(bits uint32, to reg.VecPhysical) {
	MOVL(operand.U32(bits), scratch.As32())
	VMOVD(scratch.As32(), to.AsX())
	VPBROADCASTD(to.AsX(), to)
}

func linesField(offset int) operand.Mem { return operand.Mem{Base: work, Disp: offset} }

// lines writes the function of an instruction set: it jumps to the function of numbers, which has a loop for each case of
// numbers and adjacent elements.
func (i *isa) lines(name string) {
	TEXT(name, NOSPLIT, "func(w *byte)")
	Doc(name + " computes a function of the elements of lines.")
	Load(Param("w"), work)
	for _, f := range []struct {
		from int
		to   reg.GPPhysical
	}{{linesDst, toAt}, {linesX, xAt}, {linesY, yAt}, {linesDstLine, toLine}, {linesXLine, xLine}, {linesYLine, yLine}, {linesN, whole}, {linesCount, lines}} {
		MOVQ(linesField(f.from), f.to)
	}
	MOVQ(whole, few)
	ANDQ(operand.Imm(uint64(i.bytes/4-1)), few)
	SUBQ(few, whole)
	SHLQ(operand.Imm(2), whole)
	if i.bytes == 64 {
		MOVQ(few, reg.RCX)
		MOVL(operand.U32(1), scratch.As32())
		SHLL(reg.CL, scratch.As32())
		DECL(scratch.As32())
		KMOVW(scratch.As32(), last)
	} else {
		LEAQ(operand.NewDataAddr(operand.NewStaticSymbol("fewMasks"), 32), scratch)
		SHLQ(operand.Imm(2), few)
		SUBQ(few, scratch)
		SHRQ(operand.Imm(2), few)
		VMOVUPS(operand.Mem{Base: scratch}, i.vector(lMask))
	}
	i.set(math.Float32bits(1), i.vector(lOne))
	i.clear(i.vector(lZero))
	MOVQ(linesField(linesOp), scratch)
	for op := range lineOps {
		CMPQ(scratch, operand.Imm(uint64(op+1)))
		JEQ(operand.LabelRef(fmt.Sprintf("op%d", op+1)))
	}
	RET()
	for op := range lineOps {
		i.lineOp(op + 1)
	}
}

// lineOp writes the loops of one function.
func (i *isa) lineOp(number int) {
	op, label := &lineOps[number-1], fmt.Sprintf("op%d", number)
	Label(label)
	if op.bits != 0 {
		i.set(op.bits, i.vector(lBits))
	}
	if op.alone {
		i.lineLoop(op, label+"x", true, false)
		return
	}
	MOVQ(linesField(linesNumber), scratch)
	CMPQ(scratch, operand.Imm(1))
	JEQ(operand.LabelRef(label + "y"))
	JHI(operand.LabelRef(label + "x"))
	i.lineLoop(op, label+"xy", true, true)
	Label(label + "x")
	i.lineLoop(op, label+"xn", true, false)
	Label(label + "y")
	i.lineLoop(op, label+"yn", false, true)
}

// lineLoop writes a loop over lines, where x and y are adjacent elements or a number.
func (i *isa) lineLoop(op *lineOp, label string, x, y bool) {
	Label(label + "line")
	if !x {
		VBROADCASTSS(operand.Mem{Base: xAt}, i.vector(lX))
	}
	if !y && !op.alone {
		VBROADCASTSS(operand.Mem{Base: yAt}, i.vector(lY))
	}
	XORQ(at, at)
	CMPQ(at, whole)
	JEQ(operand.LabelRef(label + "few"))
	Label(label + "next")
	for _, from := range []struct {
		is   bool
		base reg.GPPhysical
		to   int
	}{{x, xAt, lX}, {y, yAt, lY}} {
		if from.is {
			VMOVUPS(operand.Mem{Base: from.base, Index: at, Scale: 1}, i.vector(from.to))
		}
	}
	op.f(i)
	VMOVUPS(i.vector(lOut), operand.Mem{Base: toAt, Index: at, Scale: 1})
	ADDQ(operand.Imm(uint64(i.bytes)), at)
	CMPQ(at, whole)
	JNE(operand.LabelRef(label + "next"))
	Label(label + "few")
	TESTQ(few, few)
	JEQ(operand.LabelRef(label + "end"))
	if x {
		i.loadFew(operand.Mem{Base: xAt, Index: at, Scale: 1}, i.vector(lX))
	}
	if y {
		i.loadFew(operand.Mem{Base: yAt, Index: at, Scale: 1}, i.vector(lY))
	}
	op.f(i)
	if i.bytes == 64 {
		VMOVUPS(i.vector(lOut), last, operand.Mem{Base: toAt, Index: at, Scale: 1})
	} else {
		VMASKMOVPS(i.vector(lOut), i.vector(lMask), operand.Mem{Base: toAt, Index: at, Scale: 1})
	}
	Label(label + "end")
	ADDQ(toLine, toAt)
	ADDQ(xLine, xAt)
	ADDQ(yLine, yAt)
	DECQ(lines)
	JNE(operand.LabelRef(label + "line"))
	VZEROUPPER()
	RET()
}

// loadFew loads the last elements of a line, and 0 for the others of the vector.
func (i *isa) loadFew(from operand.Mem, to reg.VecPhysical) {
	if i.bytes == 64 {
		VMOVUPS_Z(from, last, to)
	} else {
		VMASKMOVPS(from, i.vector(lMask), to)
	}
}

// writeFewMasks writes the masks of the last elements of a line: the mask of n elements begins n words before the middle.
func writeFewMasks() {
	GLOBL("fewMasks", attr.RODATA|attr.NOPTR)
	for word := range 16 {
		bits := uint32(0)
		if word < 8 {
			bits = math.MaxUint32
		}
		DATA(4*word, operand.U32(bits))
	}
}

// sums writes the function that adds lines to sums in float64: sets of `abreast` vectors first, then single ones. n is a
// multiple of a vector's float64.
func (i *isa) sums(name string) {
	const abreast = 4
	TEXT(name, NOSPLIT, "func(sums *float64, src *float32, n, count, step int)")
	Doc(name + " adds src[i·step+j] to sums[j] for i below count and j below n, a multiple of 8; step is in bytes.")
	Load(Param("sums"), toAt)
	Load(Param("src"), xAt)
	Load(Param("n"), whole)
	Load(Param("count"), lines)
	Load(Param("step"), xLine)
	each := i.bytes / 8
	for _, vectors := range []int{abreast, 1} {
		label := fmt.Sprintf("of%d", vectors)
		Label(label)
		CMPQ(whole, operand.Imm(uint64(vectors*each)))
		JLT(operand.LabelRef(label + "end"))
		for v := range vectors {
			VMOVUPD(operand.Mem{Base: toAt, Disp: v * i.bytes}, i.vector(v))
		}
		MOVQ(xAt, yAt)
		MOVQ(lines, few)
		Label(label + "next")
		for v := range vectors {
			VCVTPS2PD(operand.Mem{Base: yAt, Disp: v * i.bytes / 2}, i.vector(abreast+v))
			VADDPD(i.vector(abreast+v), i.vector(v), i.vector(v))
		}
		ADDQ(xLine, yAt)
		DECQ(few)
		JNE(operand.LabelRef(label + "next"))
		for v := range vectors {
			VMOVUPD(i.vector(v), operand.Mem{Base: toAt, Disp: v * i.bytes})
		}
		ADDQ(operand.U32(vectors*i.bytes), toAt)
		ADDQ(operand.U32(vectors*i.bytes/2), xAt)
		SUBQ(operand.Imm(uint64(vectors*each)), whole)
		JMP(operand.LabelRef(label))
		Label(label + "end")
	}
	VZEROUPPER()
	RET()
}

// extremes writes the function for the smallest and the largest number in each lane. The last vector may overlap the one
// before it.
func (i *isa) extremes(name string) {
	TEXT(name, NOSPLIT, "func(src *float32, n int, lanes *byte)")
	Doc(name + " finds the smallest and the largest of n floats in each lane of a vector, as ordered numbers; n is at least the number of lanes.")
	Load(Param("src"), xAt)
	Load(Param("n"), whole)
	Load(Param("lanes"), toAt)
	value, flip, most, low, high := i.vector(0), i.vector(1), i.vector(2), i.vector(3), i.vector(4)
	i.set(math.MaxInt32, most)
	i.set(math.MaxInt32, low)
	i.set(1<<31, high)
	LEAQ(operand.Mem{Base: xAt, Index: whole, Scale: 4, Disp: -i.bytes}, few) // the last vector
	next := func() {
		VMOVUPS(operand.Mem{Base: xAt}, value)
		VPSRAD(operand.Imm(31), value, flip)
		i.and(most, flip, flip)
		i.xor(flip, value, value)
		VPMINSD(value, low, low)
		VPMAXSD(value, high, high)
	}
	Label("next")
	CMPQ(xAt, few)
	JCC(operand.LabelRef("last"))
	next()
	ADDQ(operand.Imm(uint64(i.bytes)), xAt)
	JMP(operand.LabelRef("next"))
	Label("last")
	MOVQ(few, xAt)
	next()
	VMOVUPS(low, operand.Mem{Base: toAt})
	VMOVUPS(high, operand.Mem{Base: toAt, Disp: 64})
	VZEROUPPER()
	RET()
}
