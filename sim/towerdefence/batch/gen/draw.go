package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// draw draws the orders of both players: see Game.Playout of the scalar game. It leaves with the
// games in which it has found no free cell.
func draw(o [2]vector) {
	state := load(Mem{Base: random})
	var rare [2]reg.OpmaskVirtual
	for p := range rare {
		VPADDQ_BCST(constant(0x9e3779b97f4a7c15), state, state)
		rare[p] = drawOne(p, mixed(state), o[p])
	}
	KORTESTB(rare[1], rare[0])
	JNE(LabelRef("redraw"))
	store(state, Mem{Base: random})
	JMP(LabelRef("commands"))
	Label("redraw")
	KORB(rare[1], rare[0], rare[0])
	KMOVB(rare[0], mask.As32())
	for p := range o {
		store(o[p], Mem{Base: orders, Disp: p * row})
	}
	leave(1)
}

// mixed returns the finalizer of SplitMix64: see prng.Mix.
func mixed(state vector) vector {
	x, y := ZMM(), ZMM()
	VMOVDQA64(state, x)
	for _, m := range []struct{ shift, factor uint64 }{{30, 0xbf58476d1ce4e5b9}, {27, 0x94d049bb133111eb}, {31, 0}} {
		VPSRLQ(U8(m.shift), x, y)
		VPXORQ(y, x, x)
		if m.factor != 0 {
			VPMULLQ_BCST(constant(m.factor), x, x)
		}
	}
	return x
}

// drawOne draws the order of player p from one random word, and returns the games in which no
// cell was found.
func drawOne(p int, x, order vector) reg.OpmaskVirtual {
	op := drawOp(p, x)
	free, cells, found := ZMM(), repeated(0x3f3f_1e18_120c_0600), K()
	VPANDNQ_BCST(constant(all), load(of(p, occupied)), free)
	VPMULTISHIFTQB(x, cells, cells)
	bitsAt(cells, free, found)
	// The number of bits below the first byte with a free cell.
	at, below := ZMM(), ZMM()
	VPMOVM2B(found, at)
	VPANDQ_BCST(constant(1<<48-1), at, at)
	none := K()
	VPTESTNMQ(at, at, none)
	VPADDQ_BCST(constant(all), at, below)
	VPANDNQ(below, at, at)
	VPOPCNTQ(at, at)
	VPSRLVQ(at, cells, cells)
	VPANDQ(look(withCell, op), cells, cells)
	VPSLLQ(U8(6), op, op)
	VPORQ(cells, op, order)
	return none
}

// drawOp draws what player p does.
func drawOp(p int, x vector) vector {
	purse := load(of(p, energy))
	pay := load(of(p, live))
	ternary(func(x, y, z uint8) uint8 { return x & y & z }, of(p, type0), load(of(p, type2)), pay)
	VPOPCNTQ(pay, pay)
	VPMULUDQ(inTable(perEnergy), pay, pay)
	VPADDQ(inTable(income), pay, pay)
	rich := compare(pay, greater, inTable(manyEnergy))
	andCompare(rich, purse, greater, inTable(muchEnergy))
	no := ZMM()
	VPXORQ(no, no, no)
	count := repeated(5)
	for i := range 4 { // defense, attack, energy, tesla
		lacks := compare(purse, less, inTable(prices+i*row))
		switch i {
		case 2:
			KORB(rich, lacks, lacks)
		case 3:
			KORB(compare(load(of(p, teslas)), greater, repeated(1)), lacks, lacks)
		}
		VPORQ_BCST(constant(1<<i), no, lacks, no)
	}
	used := ZMM()
	VPOPCNTQ(no, used)
	VPSUBQ(used, count, count)
	curtainUp := K()
	ready := load(of(p, available))
	VPTESTMQ(ready, ready, curtainUp)
	andCompare(curtainUp, purse, least, inTable(prices+4*row))
	andCompare(curtainUp, load(of(0, round)), greater, of(p, curtain))
	VPSUBQ_BCST(constant(all), count, curtainUp, count)
	// The upper word of x·count.
	high, low := ZMM(), ZMM()
	VPSRLQ(U8(32), x, high)
	VPMULUDQ(count, high, high)
	VPMULUDQ(count, x, low)
	VPSRLQ(U8(32), low, low)
	VPADDQ(low, high, high)
	VPSRLQ(U8(29), high, high)
	VPANDQ_BCST(constant(0x38), high, high)
	VPERMI2Q(inTable(options+row), load(inTable(options)), no)
	VPSRLVQ(high, no, no)
	VPANDQ_BCST(constant(7), no, no)
	return no
}
