package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// one256 writes the function for AVX2, which has no masks: it spreads the byte of a row
// over eight bytes and compares each with its bit.
func one256() {
	cells := GLOBL("cells", attr.RODATA|attr.NOPTR) // the bit of each column, in the enemy's half in reverse
	for i := range 4 {
		columns := uint64(0x8040201008040201)
		if i%2 > 0 {
			columns = 0x0102040810204080
		}
		DATA(8*i, operand.U64(columns))
	}
	spread := GLOBL("spread", attr.RODATA|attr.NOPTR) // for VPSHUFB: two rows of both halves
	for i := range 16 {
		row := uint64(i / 2)
		DATA(8*i, operand.U64((row+uint64(i%2)*8)*0x0101010101010101))
	}
	TEXT("one256", NOSPLIT, "func(first *byte, own, enemy *uint64)")
	Doc("one256 writes the planes of the first viewer with AVX2.")
	Load(Param("first"), first)
	Load(Param("own"), own)
	Load(Param("enemy"), enemy)
	rows := []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3}
	for i, v := range rows {
		VMOVDQU(spread.Offset(32*i), v)
	}
	VMOVDQU(cells, reg.Y4)
	weights := []reg.VecPhysical{reg.Y5, reg.Y6, reg.Y7}
	for i, v := range weights {
		x := v.(reg.Vec).AsX()
		MOVL(operand.U32(uint32(1)<<i), reg.R8L)
		MOVQ(reg.R8, x)
		VPBROADCASTB(x, v)
	}
	boards := []reg.VecPhysical{reg.Y8, reg.Y9, reg.Y10}
	word := 0
	for plane, width := range widths {
		opposite, _ := across(plane, word, width)
		for i := range width {
			x := boards[i].(reg.Vec).AsX()
			VMOVQ(operand.Mem{Base: own, Disp: 8 * (word + i)}, x)
			VPINSRQ(operand.Imm(1), operand.Mem{Base: enemy, Disp: 8 * (opposite + i)}, x, x)
			VINSERTI128(operand.Imm(1), x, boards[i], boards[i])
		}
		word += width
		for pair, from := range rows {
			for i := range width {
				VPSHUFB(from, boards[i], reg.Y11)
				VPAND(reg.Y4, reg.Y11, reg.Y11)
				VPCMPEQB(reg.Y4, reg.Y11, reg.Y11)
				if i == 0 {
					VPAND(weights[0], reg.Y11, reg.Y12)
					continue
				}
				VPAND(weights[i], reg.Y11, reg.Y11)
				VPOR(reg.Y11, reg.Y12, reg.Y12)
			}
			VMOVDQU(reg.Y12, operand.Mem{Base: first, Disp: planeBytes*plane + 32*pair})
		}
	}
	VZEROUPPER()
	RET()
}
