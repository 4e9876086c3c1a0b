// Command gen writes the assembly of package bitboard for amd64. It is a separate module, so that
// nothing else needs avo. With -out FILE it writes to this file.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

func main() {
	ConstraintExpr("amd64,!purego")
	fill("fillA512", "fillA", a)
	fill("fillB512", "fillB", b)
	around512()
	join()
	flood512().write()
	flood256().write()
	grow512()
	Generate()
}

// Truth tables for VPTERNLOGQ(table, z, y, x), which changes x.
const (
	or         = operand.U8(0xFE) // x | y | z
	orThenAnd  = operand.U8(0xA8) // (x | y) & z
	orBoth     = operand.U8(0xF8) // x | y & z
	andNeither = operand.U8(0x02) // z &^ (x | y)
)
