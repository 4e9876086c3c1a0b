// Command gen writes the assembly of package halves. It is a separate module, so that
// nothing else needs avo.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// widths are the bits of the numbers of each plane: the constants of the same names in
// halves.go.
var widths = []int{1, 1, 1, 1, 2, 3, 2, 3, 3}

// swapped is the first of the two planes that change places for the other viewer. The first has
// the missiles of the viewer: of the owner on the own half, of the visitor on the enemy's.
const swapped = 7

const planeBytes = 128

// The registers that keep their meaning throughout a function.
var (
	first, second = reg.RAX, reg.RBX // the planes of the two viewers
	own, enemy    = reg.RCX, reg.RDX // the words of the halves of the first and the second viewer
	mirror        = reg.Z0           // for VPSHUFB: the columns of each row in reverse
	order         = reg.Z1           // for VPERMQ: the rows 0 4 1 5 2 6 3 7
	bit           = []reg.VecPhysical{reg.Z2, reg.Z3, reg.Z4}
)

func main() {
	ConstraintExpr("amd64,!purego")
	mirrored, ordered := constants()
	function("both512", "func(first, second *byte, own, enemy *uint64)",
		"both512 writes the planes of both viewers with AVX-512.", mirrored, ordered, true)
	function("one512", "func(first *byte, own, enemy *uint64)",
		"one512 writes the planes of the first viewer with AVX-512.", mirrored, ordered, false)
	one256()
	Generate()
}

// constants writes the constants of mirror and order.
func constants() (mirrored, ordered operand.Mem) {
	mirrored = GLOBL("mirrored", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		from := uint64(i % 2 * 8) // VPSHUFB counts bytes within 16
		DATA(8*i, operand.U64(0x0001020304050607+from*0x0101010101010101))
	}
	ordered = GLOBL("ordered", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(8*i, operand.U64(i/2+i%2*4))
	}
	return mirrored, ordered
}

// function writes a function for one viewer or both.
func function(name, signature, doc string, mirrored, ordered operand.Mem, both bool) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc)
	Load(Param("first"), first)
	if both {
		Load(Param("second"), second)
	}
	Load(Param("own"), own)
	Load(Param("enemy"), enemy)
	VMOVDQU64(mirrored, mirror)
	VMOVDQU64(ordered, order)
	for i, v := range bit {
		MOVL(operand.U32(uint32(1)<<i), reg.R8L)
		VPBROADCASTB(reg.R8L, v)
	}
	word := 0
	for plane, width := range widths {
		a, b := reg.Z5, reg.Z6
		numbers(a, own, word, width)
		opposite, other := across(plane, word, width)
		numbers(b, enemy, opposite, width)
		word += width
		VPSHUFB(mirror, b, reg.Z8)
		rows(first, plane, a, reg.Z8)
		if !both {
			continue
		}
		VPSHUFB(mirror, a, reg.Z7)
		rows(second, other, b, reg.Z7)
	}
	VZEROUPPER()
	RET()
}

// across returns the first word of the enemy's half for a plane, and the plane of the other
// viewer for the same words.
func across(plane, word, width int) (opposite, other int) {
	switch plane {
	case swapped:
		return word + width, plane + 1
	case swapped + 1:
		return word - width, plane - 1
	}
	return word, plane
}

// numbers sets v to the numbers of a half: eight rows of eight bytes in the order of
// register order.
func numbers(v reg.VecPhysical, words reg.Register, word, width int) {
	for i := range width {
		KMOVQ(operand.Mem{Base: words, Disp: 8 * (word + i)}, reg.K1)
		if i == 0 {
			VMOVDQU8_Z(bit[0], reg.K1, v)
		} else {
			VPADDB(bit[i], v, reg.K1, v)
		}
	}
	VPERMQ(v, order, v)
}

// rows writes a plane: each row of the left half, followed by the row of the right half.
func rows(to reg.Register, plane int, left, right reg.VecPhysical) {
	VPUNPCKLQDQ(right, left, reg.Z9)
	VPUNPCKHQDQ(right, left, reg.Z10)
	VMOVDQU64(reg.Z9, operand.Mem{Base: to, Disp: planeBytes * plane})
	VMOVDQU64(reg.Z10, operand.Mem{Base: to, Disp: planeBytes*plane + 64})
}
