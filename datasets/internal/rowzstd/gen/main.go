// Command gen writes the assembly of package rowzstd. It is a separate module, so that
// nothing else needs avo.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	function("differ512", "AVX-512", func(a, b operand.Mem) {
		VMOVDQU64(a, reg.Z0)
		VPCMPB(operand.Imm(4), b, reg.Z0, reg.K1) // not equal
		KMOVQ(reg.K1, reg.R8)
	})
	function("differ256", "AVX2", func(a, b operand.Mem) {
		for i, v := range []reg.VecPhysical{reg.Y0, reg.Y1} {
			VMOVDQU(a.Offset(32*i), v)
			VPCMPEQB(b.Offset(32*i), v, v)
		}
		VPMOVMSKB(reg.Y0, reg.R8L)
		VPMOVMSKB(reg.Y1, reg.R9L)
		SHLQ(operand.Imm(32), reg.R9)
		ORQ(reg.R9, reg.R8)
		NOTQ(reg.R8)
	})
	Generate()
}

// function writes a function that compares 64 bytes at a time. compare sets R8 to the bits of
// the bytes that differ.
func function(name, what string, compare func(a, b operand.Mem)) {
	TEXT(name, NOSPLIT, "func(dst *uint64, a, b *byte, words int)")
	Doc(name + " sets the bits of the bytes of a and b that differ, 64 in each word of dst, with " + what + ". There is at least one word.")
	Load(Param("dst"), reg.RDI)
	Load(Param("a"), reg.RSI)
	Load(Param("b"), reg.RDX)
	Load(Param("words"), reg.RCX)
	XORQ(reg.RAX, reg.RAX)
	Label("next")
	compare(operand.Mem{Base: reg.RSI}, operand.Mem{Base: reg.RDX})
	MOVQ(reg.R8, operand.Mem{Base: reg.RDI, Index: reg.RAX, Scale: 8})
	ADDQ(operand.Imm(64), reg.RSI)
	ADDQ(operand.Imm(64), reg.RDX)
	INCQ(reg.RAX)
	CMPQ(reg.RAX, reg.RCX)
	JNE(operand.LabelRef("next"))
	VZEROUPPER()
	RET()
}
