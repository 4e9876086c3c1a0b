package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// colour is one of the two colours of a Diamond: 16 rows of 16 cells in two registers of eight rows.
type colour int

const (
	a colour = iota
	b
)

// The registers. A frontier has the cells that the last step reached, left has the cells not yet
// reached, and high those reached with bit 1 of the distance set.
var (
	frontier = [2][2]reg.VecPhysical{{reg.X0, reg.X1}, {reg.X2, reg.X3}}
	left     = [2][2]reg.VecPhysical{{reg.X4, reg.X5}, {reg.X6, reg.X7}}
	high     = [2][2]reg.VecPhysical{{reg.X8, reg.X9}, {reg.X10, reg.X11}}
	shifted  = [2]reg.VecPhysical{reg.X12, reg.X13}
	both     = [2]reg.VecPhysical{reg.X14, reg.X15}
)

// half returns eight rows of a colour of a Diamond.
func half(at reg.GPPhysical, c colour, h int) operand.Mem {
	return operand.Mem{Base: at, Disp: 32*int(c) + 16*h}
}

// fill writes the flood fill from the goals of one colour, as the portable function in field.go. Its
// steps depend on each other, so its speed is their latency: three instructions a step. Eight rows
// to a register need no instruction that crosses lanes, which would take longer.
func fill(name, portable string, goal colour) {
	f, free, goals, wanted := reg.RAX, reg.RBX, reg.RCX, reg.RDX
	other := 1 - goal
	TEXT(name, NOSPLIT, "func(f, free, goals, wanted *byte)")
	Doc(name + " does the work of " + portable + " with AVX-512.")
	Load(Param("f"), f)
	Load(Param("free"), free)
	Load(Param("goals"), goals)
	Load(Param("wanted"), wanted)
	for h := range 2 {
		VMOVDQU(half(goals, goal, h), frontier[goal][h])
		VPANDN(half(free, goal, h), frontier[goal][h], left[goal][h])
		VPAND(half(free, goal, h), frontier[goal][h], frontier[goal][h])
		VMOVDQU(half(free, other, h), left[other][h])
		for c := range 2 {
			VPXOR(high[c][h], high[c][h], high[c][h])
		}
	}
	Label(name + "Round")
	step(goal, false)
	step(other, true)
	step(goal, true)
	step(other, false)
	VPOR(frontier[goal][0], frontier[goal][1], shifted[0])
	VPTEST(shifted[0], shifted[0])
	JE(operand.LabelRef(name + "End"))
	VPAND(half(wanted, a, 0), left[a][0], shifted[0])
	VPTERNLOGQ(orBoth, half(wanted, a, 1), left[a][1], shifted[0])
	VPTERNLOGQ(orBoth, half(wanted, b, 0), left[b][0], shifted[0])
	VPTERNLOGQ(orBoth, half(wanted, b, 1), left[b][1], shifted[0])
	VPTEST(shifted[0], shifted[0])
	JNE(operand.LabelRef(name + "Round"))
	Label(name + "End")
	for c := range 2 {
		for h := range 2 {
			VPTERNLOGQ(andNeither, half(free, colour(c), h), high[c][h], left[c][h])
			VMOVDQU(left[c][h], half(f, colour(c), h))
			VMOVDQU(high[c][h], operand.Mem{Base: f, Disp: 64 + 32*c + 16*h})
		}
	}
	RET()
}

// step writes a step from a colour to the other one: from A the cells with the same bit and the
// next one, and these in the row before; from B in the opposite directions. The cells have bit 1 of
// their distance set if mark is true.
func step(from colour, mark bool) {
	x, to := frontier[from], 1-from
	if from == a {
		VPALIGNR(operand.U8(2), x[0], x[1], shifted[0])
		VPSRLDQ(operand.U8(2), x[1], shifted[1])
	} else {
		VPALIGNR(operand.U8(14), x[0], x[1], shifted[1])
		VPSLLDQ(operand.U8(2), x[0], shifted[0])
	}
	sideways := VPSLLW
	if from == b {
		sideways = VPSRLW
	}
	for h := range 2 {
		y := frontier[to][h]
		sideways(operand.U8(1), x[h], y)
		sideways(operand.U8(1), shifted[h], both[h])
		VPTERNLOGQ(or, x[h], shifted[h], y)
		VPTERNLOGQ(orThenAnd, left[to][h], both[h], y)
		VPXOR(y, left[to][h], left[to][h])
		if mark {
			VPOR(y, high[to][h], high[to][h])
		}
	}
}

// Bytes of an Around: of a window, and before inside.
const (
	windowBytes = 128
	insideAt    = 16 * windowBytes
)

// around512 writes Around.Of: it puts the byte of each cell in the cell's place and tests its bit. The upper registers
// need no VZEROUPPER.
func around512() {
	list, board, cell, first, colour, cells := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI
	TEXT("around512", NOSPLIT, "func(list, board *byte, cell int) (cells uint64)")
	Doc("around512 does the work of Around.portable with AVX-512.")
	Load(Param("list"), list)
	Load(Param("board"), board)
	Load(Param("cell"), cell)
	MOVQ(cell, first)
	SHRQ(operand.U8(3), first)
	MOVQ(first, colour)
	ANDQ(operand.U32(32), colour) // 32 for cells of colour B: firstA − firstB
	SUBQ(colour, first)
	MOVQ(cell, cells)
	ANDQ(operand.U32(7), cells)
	SHRQ(operand.U8(2), colour)
	ORQ(colour, cells)
	SHLQ(operand.U8(7), cells) // windowBytes
	VMOVDQU64(operand.Mem{Base: list, Index: cells, Scale: 1}, reg.Z16)
	VPERMB(operand.Mem{Base: board, Index: first, Scale: 1, Disp: 64 - 11}, reg.Z16, reg.Z16)
	VPTESTMB(operand.Mem{Base: list, Index: cells, Scale: 1, Disp: 64}, reg.Z16, reg.K1)
	KMOVQ(reg.K1, cells)
	ANDQ(operand.Mem{Base: list, Index: cell, Scale: 8, Disp: insideAt}, cells)
	Store(cells, ReturnIndex(0))
	RET()
}

// join writes Diamond.Join. It ends before an index that is not below the number of entries. The upper registers
// need no VZEROUPPER.
func join() {
	d, table, entries, list, n, i, at := reg.RAX, reg.RBX, reg.RCX, reg.RDX, reg.RSI, reg.RDI, reg.R8
	TEXT("join512", NOSPLIT, "func(d, table *byte, entries int, list *uint16, n int) (joined int)")
	Doc("join512 joins the entries of a list, up to the first that the table does not have, with AVX-512.")
	Load(Param("d"), d)
	Load(Param("table"), table)
	Load(Param("entries"), entries)
	Load(Param("list"), list)
	Load(Param("n"), n)
	VMOVDQU64(operand.Mem{Base: d}, reg.Z16)
	XORQ(i, i)
	Label("joinNext")
	CMPQ(i, n)
	JGE(operand.LabelRef("joinEnd"))
	MOVWQZX(operand.Mem{Base: list, Index: i, Scale: 2}, at)
	CMPQ(at, entries)
	JGE(operand.LabelRef("joinEnd"))
	SHLQ(operand.U8(6), at)
	VPORQ(operand.Mem{Base: table, Index: at, Scale: 1}, reg.Z16, reg.Z16)
	INCQ(i)
	JMP(operand.LabelRef("joinNext"))
	Label("joinEnd")
	VMOVDQU64(reg.Z16, operand.Mem{Base: d})
	Store(i, ReturnIndex(0))
	RET()
}
