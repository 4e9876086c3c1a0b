package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// acts are the rows that a player's command leaves for the rest of the round.
type acts struct {
	shots       vector
	quick, slow vector // buildings placed in this round that are finished at its end, or later
}

// rounds has the round of each game; its last bit and the bit before, each repeated in all bits of a
// word; the round before; and the games in which the round makes the curtains available.
type rounds struct {
	now, odd, half, before vector
	resets                 reg.OpmaskVirtual
}

// step writes the function that plays rounds. It follows Game.Play of the scalar game, after
// Game.Playout if orders are drawn. It stops before a round's commands if Go has to carry out or
// draw orders.
func step() {
	TEXT("step512", NOSPLIT, "func(b, t, orders, log, random *byte, from, rounds uint64) (next, games, left uint64)")
	Doc("step512 plays rounds of eight games from a stage on, by orders that are given or drawn. It returns the next stage,",
		"for which games, and how many rounds are left.")
	Load(Param("b"), block)
	Load(Param("t"), table)
	Load(Param("orders"), orders)
	Load(Param("log"), log)
	Load(Param("random"), random)
	Load(Param("from"), stage)
	Load(Param("rounds"), left)
	var o [2]vector
	for p := range o {
		o[p] = ZMM()
	}
	TESTQ(stage, stage)
	JNE(LabelRef("given"))
	TESTQ(random, random)
	JNE(LabelRef("draw"))
	rareOrders()

	Label("given")
	for p := range o {
		VMOVDQU64(Mem{Base: orders, Disp: p * row}, o[p])
	}
	Label("commands")
	now := load(of(0, round))
	r := roundBits(now)
	var a [2]acts
	var strikes [2]reg.OpmaskVirtual
	for p := range a {
		a[p] = acts{ZMM(), ZMM(), ZMM()}
		strikes[p] = command(p, r, o[p], a[p])
	}
	ruins := ZMM()
	VPXORQ(ruins, ruins, ruins)
	KORTESTB(strikes[0], strikes[1])
	JNE(LabelRef("strike"))
	Label("missiles")
	deep := stacks(a)
	KORTESTB(deep, deep)
	JNE(LabelRef("deep"))
	fly(now, a, ruins, flyPairs)
	Label("end")
	end(now, ruins)
	Label("draw")
	draw(o)

	Label("deep")
	fly(now, a, ruins, flyDeep)
	JMP(LabelRef("end"))
	Label("strike")
	strikeAll(now, ruins)
	JMP(LabelRef("missiles"))
}

// leave returns the next stage, mask and left.
func leave(next uint64) {
	MOVQ(U32(next), stage)
	Store(stage, ReturnIndex(0))
	Store(mask, ReturnIndex(1))
	Store(left, ReturnIndex(2))
	VZEROUPPER()
	RET()
}

// rareOrders leaves with the games that have orders for Go: deconstruction, and failures from
// reading the text.
func rareOrders() {
	ka, kb := K(), K()
	for p, k := range []reg.OpmaskVirtual{ka, kb} {
		order, op := load(Mem{Base: orders, Disp: p * row}), ZMM()
		VPTESTMQ_BCST(constant(0xe00), order, k)
		VPANDQ_BCST(constant(0x1c0), order, op)
		KORB(compareWord(op, equal, 4<<6), k, k)
	}
	KORB(ka, kb, ka)
	KMOVB(ka, mask.As32())
	TESTL(mask.As32(), mask.As32())
	JEQ(LabelRef("given"))
	leave(1)
}

func roundBits(now vector) rounds {
	r := rounds{now, ZMM(), ZMM(), ZMM(), K()}
	VPSLLQ(U8(63), now, r.odd)
	VPSRAQ(U8(63), r.odd, r.odd)
	VPSLLQ(U8(62), now, r.half)
	VPSRAQ(U8(63), r.half, r.half)
	VPADDQ_BCST(constant(all), now, r.before)
	at := ZMM()
	VPSRLQ(U8(6), now, at)
	word := look(resets, at)
	VPRORVQ(now, word, word)
	VPTESTMQ_BCST(constant(1), word, r.resets)
	return r
}

// command carries out the orders of player p: see Game.place, buildTesla and raiseCurtain of the
// scalar game. It sets a, and returns the games in which a tesla tower shoots.
func command(p int, r rounds, order vector, a acts) (strikes reg.OpmaskVirtual) {
	op, cell := ZMM(), ZMM()
	VPSRLQ(U8(6), order, op)
	VPANDQ_BCST(constant(7), op, op)
	VPANDQ_BCST(constant(63), order, cell)
	bit := look(allow, op)
	VPSLLVQ(cell, bit, bit)
	cost, purse, held := look(price, op), load(of(p, energy)), load(of(p, occupied))
	affords := compare(purse, least, cost)
	tower, full := compareWord(op, equal, 5), K()
	VPCMPQ_BCST(U8(greater), constant(1), load(of(p, teslas)), tower, full)
	may := K()
	KANDNB(affords, full, may)
	VPANDNQ_Z(bit, held, may, bit)
	placed, keep, done := K(), K(), K()
	VPTESTMQ(bit, bit, placed)
	kept := look(keeps, op)
	VPMOVQ2M(kept, keep)
	KORB(placed, keep, done)
	raised := raiseCurtain(p, r, op, affords)
	KORB(raised, done, done)
	VPSUBQ(cost, purse, done, purse)
	store(purse, of(p, energy))
	strikes = compare(r.now, least, of(p, ready)) // a new tower does not shoot yet
	andCompare(strikes, purse, least, inTable(shotPrice))
	points, sum := look(entry, op), load(of(p, ledger))
	VPADDQ(points, sum, done, sum)
	store(sum, of(p, ledger))
	VPORQ(bit, held, held)
	store(held, of(p, occupied))

	fails, failed, refused := load(of(p, failures)), K(), K()
	VPTESTMQ(fails, fails, failed)
	VPANDQ(kept, fails, fails)
	KNOTB(done, refused)
	VPBROADCASTQ(constant(1), refused, fails)
	store(fails, of(p, failures))
	born := look(logged, op)
	VPBROADCASTQ(constant(255), failed, born)
	VMOVDQU64(cell, placed, born)
	VPMOVQB(born, Mem{Base: log, Disp: p * 8})

	place(p, r, op, bit, a.shots)
	VPANDQ(look(quickly, op), bit, a.quick)
	VPANDQ(look(slowly, op), bit, a.slow)
	addTowers(p, r.now, bit, tower, placed)
	return strikes
}

// place writes the types of the buildings at the bits. An attack building has the phase after
// this round. It sets shots to the cells whose attack buildings shoot: see fire of the scalar game.
func place(p int, r rounds, op, bit, shots vector) {
	t2, kind2 := load(of(p, type2)), look(typed2, op)
	ternary(xOrYZ, kind2, bit, t2)
	store(t2, of(p, type2))
	phase1 := ZMM()
	VPXORQ(r.odd, r.half, phase1)
	t1, kind1 := load(of(p, type1)), look(typed1, op)
	ternary(func(x, y, z uint8) uint8 { return x | ^y&z }, phase1, kind2, kind1)
	ternary(xOrYZ, kind1, bit, t1)
	store(t1, of(p, type1))
	t0, kind0 := load(of(p, type0)), look(typed0, op)
	ternary(func(x, y, z uint8) uint8 { return x | ^y&^z }, r.odd, kind2, kind0)
	ternary(xOrYZ, kind0, bit, t0)
	store(t0, of(p, type0))
	ternary(func(x, y, z uint8) uint8 { return (x ^ y) | z }, t2, r.odd, t0)
	ternary(func(x, y, z uint8) uint8 { return x | (y ^ z) }, r.half, t1, t0)
	VPANDNQ(of(p, live), t0, shots)
}

// stacks returns the games with more than two missiles on a cell.
func stacks(a [2]acts) reg.OpmaskVirtual {
	deep := K()
	sum := ZMM()
	for p := range a {
		x := load(of(p, own+row))
		VPANDQ(a[p].shots, x, x)
		if p == 1 {
			VPORQ(sum, x, x)
		}
		y := load(of(p, own+2*row))
		ternary(func(x, y, z uint8) uint8 { return x | y | z }, of(p, far+2*row), y, x)
		VMOVDQA64(x, sum)
	}
	VPTESTMQ(sum, sum, deep)
	return deep
}

// buildings are the buildings of a half while missiles hit it: see type health of the scalar game.
type buildings struct{ live, extra0, extra1 vector }

// minus takes one hit from the live buildings at hit.
func (b buildings) minus(hit vector) {
	kill, held := ZMM(), ZMM()
	VMOVDQA64(hit, kill)
	ternary(func(hit, e0, e1 uint8) uint8 { return hit &^ e0 &^ e1 }, b.extra1, b.extra0, kill)
	VPXORQ(kill, b.live, b.live)
	VPANDNQ(hit, b.extra0, held)
	VPANDNQ(b.extra1, held, b.extra1)
	VPXORQ(hit, b.extra0, b.extra0)
}

// fly moves the missiles of both players with pass, and ends the round for the buildings they
// meet. It adds the tesla towers destroyed to ruins.
func fly(now vector, a [2]acts, ruins vector, pass func(p int, now vector, a acts, left buildings) vector) {
	for p := range a {
		enemy := 1 - p
		left := buildings{load(of(enemy, live)), load(of(enemy, extra0)), load(of(enemy, extra1))}
		gone := pass(p, now, a[p], left)
		health := ZMM()
		VPXORQ(health, health, health)
		VPSADBW(health, gone, health)
		VPMULLQ(inTable(blow), health, health)
		VPADDQ(of(enemy, base), health, health)
		store(health, of(enemy, base))
		lost := settle(enemy, a[enemy], left)
		VPORQ(lost, ruins, ruins)
	}
}

// end reviews the tesla towers where that is needed, and moves on to the next round: see Game.end
// of the scalar game. It leaves if a match is over or no round is left.
func end(now, ruins vector) {
	over, review := K(), K()
	next := ZMM()
	VPSUBQ_BCST(constant(all), now, next)
	store(next, of(0, round))
	VPCMPQ(U8(greater), inTable(maxRounds), next, over)
	VPTESTMQ(ruins, ruins, review)
	for p := range 2 {
		KORB(compareWord(load(of(p, base)), less, 1<<32), over, over)
		KORB(compare(load(of(p, failures)), least, inTable(maxFails)), over, over)
		KORB(compare(now, least, of(p, due)), review, review)
	}
	KMOVB(over, mask.As32())
	KORTESTB(review, review)
	JNE(LabelRef("review"))
	Label("next")
	SUBQ(U8(1), left)
	JEQ(LabelRef("leave"))
	TESTL(mask.As32(), mask.As32())
	JNE(LabelRef("leave"))
	ADDQ(U8(16), log)
	TESTQ(random, random)
	JNE(LabelRef("draw"))
	Label("leave")
	leave(2)
	Label("review")
	for p := range 2 {
		reviewTowers(p, now)
	}
	JMP(LabelRef("next"))
}

// settle ends the round for the buildings of player p: see Half.settle and vacate of the scalar
// game. It returns the tesla towers destroyed.
func settle(p int, a acts, left buildings) vector {
	dead, pay := ZMM(), ZMM()
	VPXORQ(of(p, live), left.live, dead)
	t2, t0 := load(of(p, type2)), load(of(p, type0))
	VMOVDQA64(left.live, pay)
	ternary(func(x, y, z uint8) uint8 { return x & y & z }, t0, t2, pay)
	VPOPCNTQ(pay, pay)
	VPMULUDQ(inTable(perEnergy), pay, pay)
	VPADDQ(inTable(income), pay, pay)
	VPADDQ(of(p, energy), pay, pay)
	store(pay, of(p, energy))
	done, wait := load(of(p, wait1)), load(of(p, wait0))
	store(wait, of(p, wait1))
	store(a.slow, of(p, wait0))
	ternary(func(x, y, z uint8) uint8 { return x | y | z }, a.quick, done, left.live)
	store(left.live, of(p, live))
	ternary(func(x, y, z uint8) uint8 { return (x | y) &^ z }, dead, done, left.extra0)
	store(left.extra0, of(p, extra0))
	VPORQ(done, left.extra1, left.extra1)
	store(left.extra1, of(p, extra1))
	return vacate(p, dead, t2, t0)
}
