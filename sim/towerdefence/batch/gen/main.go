// Command gen writes the assembly of package batch: a round of eight games and the draw of
// their random orders, with AVX-512. It is a separate module, so that nothing else needs avo.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	step()
	writeConstants()
	Generate()
}

// row is the size of a row: one 64-bit word of each game.
const row = 64

// The rows of type half in block.go.
const (
	occupied = iota * row
	live
	extra0
	extra1
	type2
	type1
	type0
	wait0
	wait1
	own
	_
	_
	_
	far
	_
	_
	_
	base
	ledger
	energy
	curtain
	ready
	due
	available
	failures
	teslas
	tower0 // of type tower
	_
	_
	tower1
	_
	_
	halfSize
	round = 2 * halfSize // in Block, after both halves
)

// The rows of type tower in block.go.
const (
	towerAt = iota * row
	towerReady
	towerDue
)

// The rows of type tables in tables.go.
const (
	price = iota * row
	entry
	allow
	keeps
	logged
	typed2
	typed1
	typed0
	quickly
	slowly
	resets
	curtainRest
	towerTime
	towerPause
	shotPrice
	shotEntry
	blow
	strike
	reach
	income
	perEnergy
	maxRounds
	maxFails
	prices // five rows
	_
	_
	_
	_
	manyEnergy
	muchEnergy
	options // two rows
	_
	withCell
)

const (
	column0   = 0x0101010101010101
	column7   = column0 << 7
	columns01 = column0 * 3
	all       = 1<<64 - 1
	never     = 1<<15 - 1 // a round that does not come
)

// The registers that keep their meaning throughout a function.
var (
	block  = reg.RAX
	table  = reg.RBX
	orders = reg.RCX
	log    = reg.RDX
	stage  = reg.RSI
	random = reg.RDI
	mask   = reg.R8
	left   = reg.R9 // rounds
)

type vector = reg.VecVirtual

// of returns the location of a row of a player's half.
func of(player, row int) Mem { return Mem{Base: block, Disp: player*halfSize + row} }

func inTable(row int) Mem { return Mem{Base: table, Disp: row} }

// load returns a register that holds the row.
func load(m Mem) vector {
	x := ZMM()
	VMOVDQU64(m, x)
	return x
}

// repeated returns a register that holds the word in all lanes.
func repeated(word uint64) vector {
	x := ZMM()
	VPBROADCASTQ(constant(word), x)
	return x
}

func store(x reg.VecVirtual, m Mem) { VMOVDQU64(x, m) }

// look returns the entries of a table of eight words, one for each index.
func look(row int, index vector) vector {
	x := ZMM()
	VPERMQ(inTable(row), index, x)
	return x
}

// ternary sets x to f of x, y and z, bit by bit. z may be in memory.
func ternary(f func(x, y, z uint8) uint8, z Op, y, x vector) {
	VPTERNLOGQ(U8(f(0xf0, 0xcc, 0xaa)), z, y, x)
}

// ternaryWord is ternary where z is a word in all lanes.
func ternaryWord(f func(x, y, z uint8) uint8, word uint64, y, x vector) {
	VPTERNLOGQ_BCST(U8(f(0xf0, 0xcc, 0xaa)), constant(word), y, x)
}

func xOrYZ(x, y, z uint8) uint8 { return x | y&z }

// The predicates of VPCMPQ.
const (
	equal   = Imm8(0)
	less    = Imm8(1)
	least   = Imm8(5) // at least
	greater = Imm8(6)
)

// Imm8 is the immediate byte of an instruction.
type Imm8 uint8

// compare returns the mask of x predicate y. y may be in memory.
func compare(x vector, predicate Imm8, y Op) reg.OpmaskVirtual {
	k := K()
	VPCMPQ(U8(predicate), y, x, k)
	return k
}

// compareWord returns the mask of x predicate the word.
func compareWord(x vector, predicate Imm8, word uint64) reg.OpmaskVirtual {
	k := K()
	VPCMPQ_BCST(U8(predicate), constant(word), x, k)
	return k
}

// andCompare restricts k to x predicate y.
func andCompare(k reg.OpmaskVirtual, x vector, predicate Imm8, y Op) {
	VPCMPQ(U8(predicate), y, x, k, k)
}

// constants are the words that the functions use. Instructions repeat one in all lanes (BCST):
// the linker would not align whole rows.
var constants []uint64

// constant returns the location of the word.
func constant(word uint64) Mem {
	at := 0
	for at < len(constants) && constants[at] != word {
		at++
	}
	if at == len(constants) {
		constants = append(constants, word)
	}
	return NewDataAddr(NewStaticSymbol("constants"), 8*at)
}

func writeConstants() {
	GLOBL("constants", attr.RODATA|attr.NOPTR)
	for at, word := range constants {
		DATA(8*at, U64(word))
	}
}

// bitsAt sets k to the bits of the words that the bytes of index choose, each byte in the word
// of its place. avo lacks the instruction.
func bitsAt(index, words reg.VecVirtual, k reg.OpmaskVirtual) {
	Instruction(&ir.Instruction{
		Opcode: "VPSHUFBITQMB", Operands: []Op{index, words, k},
		Inputs: []Op{index, words}, Outputs: []Op{k}, ISA: []string{"AVX512BITALG"},
	})
}
