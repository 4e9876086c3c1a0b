package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// raiseCurtain raises the curtain of player p where op asks for it and it may be raised, and returns
// these games. Then it makes curtains available in the rounds for it: see Game.resetCurtain of the
// scalar game.
func raiseCurtain(p int, r rounds, op vector, affords reg.OpmaskVirtual) reg.OpmaskVirtual {
	k := compareWord(op, equal, 6)
	may, last := load(of(p, available)), load(of(p, curtain))
	VPTESTMQ(may, may, k, k)
	andCompare(k, r.now, greater, last)
	KANDB(affords, k, k)
	VPXORQ(may, may, k, may)
	VPBROADCASTQ(constant(all), r.resets, may)
	store(may, of(p, available))
	VPADDQ(inTable(curtainRest), r.now, k, last)
	VPMAXSQ(r.before, last, r.resets, last)
	store(last, of(p, curtain))
	return k
}

// addTowers lists the tesla towers that player p has placed at the bits.
func addTowers(p int, now, bit vector, tower, placed reg.OpmaskVirtual) {
	k, first := K(), K()
	KANDB(tower, placed, k)
	KORTESTB(k, k)
	skip := []string{"listedA", "listedB"}[p]
	JEQ(LabelRef(skip))
	count, at, done := load(of(p, teslas)), ZMM(), ZMM()
	VPTESTNMQ(count, count, k, first)
	VPSUBQ_BCST(constant(all), count, k, count)
	store(count, of(p, teslas))
	VPADDQ(inTable(towerTime), now, at)
	VPADDQ_BCST(constant(all), at, done)
	earliest, soonest := load(of(p, ready)), load(of(p, due))
	VPMINSQ(at, earliest, k, earliest)
	store(earliest, of(p, ready))
	VPMINSQ(done, soonest, k, soonest)
	store(soonest, of(p, due))
	second := K()
	KANDNB(k, first, second)
	for n, here := range []reg.OpmaskVirtual{first, second} {
		entry := []int{tower0, tower1}[n]
		VMOVDQU64(bit, here, of(p, entry+towerAt))
		VMOVDQU64(at, here, of(p, entry+towerReady))
		VMOVDQU64(done, here, of(p, entry+towerDue))
	}
	Label(skip)
}

// reviewTowers removes the towers of player p that no longer stand and finishes those that are
// due: see Half.reviewTeslas of the scalar game.
func reviewTowers(p int, now vector) {
	held, living := load(of(p, occupied)), load(of(p, live))
	none := repeated(never)
	var at, readies, dues [2]vector
	var stands [2]reg.OpmaskVirtual
	for n, entry := range []int{tower0, tower1} {
		at[n], readies[n], dues[n] = load(of(p, entry+towerAt)), load(of(p, entry+towerReady)), load(of(p, entry+towerDue))
		stands[n] = K()
		VPTESTMQ(held, at[n], stands[n])
	}
	// The second takes the place of the first where that is gone.
	moves, both := K(), K()
	KANDNB(stands[1], stands[0], moves)
	KANDB(stands[1], stands[0], both)
	gone0 := K()
	KORB(stands[0], stands[1], gone0)
	VPXORQ(at[0], at[0], at[0])
	VMOVDQU64(of(p, tower0+towerAt), stands[0], at[0])
	VMOVDQA64(at[1], moves, at[0])
	for _, v := range [][2]vector{readies, dues} {
		VMOVDQA64(v[1], moves, v[0])
		VPBLENDMQ(v[0], none, gone0, v[0])
		VPBLENDMQ(v[1], none, both, v[1])
	}
	VMOVDQA64_Z(at[1], both, at[1])
	count := ZMM()
	VPXORQ(count, count, count)
	VPSUBQ_BCST(constant(all), count, gone0, count)
	VPSUBQ_BCST(constant(all), count, both, count)
	store(count, of(p, teslas))
	for n, entry := range []int{tower0, tower1} {
		done := compare(now, least, dues[n])
		VPORQ(at[n], living, done, living)
		VMOVDQA64(none, done, dues[n])
		store(at[n], of(p, entry+towerAt))
		store(readies[n], of(p, entry+towerReady))
		store(dues[n], of(p, entry+towerDue))
	}
	store(living, of(p, live))
	VPMINSQ(readies[0], readies[1], readies[1])
	store(readies[1], of(p, ready))
	VPMINSQ(dues[0], dues[1], dues[1])
	store(dues[1], of(p, due))
}

// strikeAll lets the tesla towers of both players shoot: see Game.strike of the scalar game. It
// adds the towers destroyed to ruins.
func strikeAll(now, ruins vector) {
	for p := range 2 {
		enemy := 1 - p
		before := load(of(enemy, live))
		left := buildings{ZMM(), load(of(enemy, extra0)), load(of(enemy, extra1))}
		VMOVDQA64(before, left.live)
		lightning(p, now, left)
		dead := ZMM()
		VPXORQ(before, left.live, dead)
		store(left.live, of(enemy, live))
		store(left.extra1, of(enemy, extra1))
		VPANDNQ(left.extra0, dead, left.extra0)
		store(left.extra0, of(enemy, extra0))
		lost := vacate(enemy, dead, load(of(enemy, type2)), load(of(enemy, type0)))
		VPORQ(lost, ruins, ruins)
	}
}

// vacate frees the dead cells of player p, whose types are t2, one that it loads, and t0. It returns
// the tesla towers among them.
func vacate(p int, dead, t2, t0 vector) vector {
	t1, held, lost := load(of(p, type1)), load(of(p, occupied)), ZMM()
	VMOVDQA64(dead, lost)
	ternary(func(x, y, z uint8) uint8 { return x & y & z }, t2, t1, lost)
	for _, v := range []struct {
		x   vector
		row int
	}{{t2, type2}, {t1, type1}, {t0, type0}, {held, occupied}} {
		VPANDNQ(v.x, dead, v.x)
		store(v.x, of(p, v.row))
	}
	return lost
}

// lightning lets the towers of player p shoot at the buildings left of the enemy, the oldest
// first: see Game.lightning of the scalar game.
func lightning(p int, now vector, left buildings) {
	enemy := 1 - p
	purse, sum, health := load(of(p, energy)), load(of(p, ledger)), load(of(enemy, base))
	cost := load(inTable(shotPrice))
	var readies [2]vector
	for n, entry := range []int{tower0, tower1} {
		at, next := load(of(p, entry+towerAt)), load(of(p, entry+towerReady))
		readies[n] = next
		k := compare(now, least, next)
		andCompare(k, purse, least, cost)
		VPSUBQ(cost, purse, k, purse)
		VPADDQ(inTable(shotEntry), sum, k, sum)
		VPADDQ(inTable(towerPause), now, k, next)
		store(next, of(p, entry+towerReady))
		andCompare(k, now, greater, of(enemy, curtain))
		front := K()
		VPTESTMQ_BCST(constant(column7), at, k, front)
		VPADDQ(inTable(strike), health, front, health)
		hit := lightningHits(left.live, at)
		VPANDNQ(left.live, hit, k, left.live)
		VPANDNQ(left.extra0, hit, k, left.extra0)
		VPANDNQ(left.extra1, hit, k, left.extra1)
	}
	store(purse, of(p, energy))
	store(sum, of(p, ledger))
	store(health, of(enemy, base))
	VPMINSQ(readies[0], readies[1], readies[1])
	store(readies[1], of(p, ready))
}

// lightningHits returns the buildings of live that towers at the bits hit: see LightningHits of
// the scalar game.
func lightningHits(live, at vector) vector {
	cell, line := ZMM(), ZMM()
	VPADDQ_BCST(constant(all), at, cell)
	VPANDNQ(cell, at, cell)
	VPOPCNTQ(cell, cell) // 64 without a tower
	cover := look(reach, cell)
	VPANDQ_BCST(constant(56), cell, line)
	above, same, below := ZMM(), ZMM(), ZMM()
	VPSLLQ(U8(8), live, above)
	VPSRLVQ(line, above, above)
	VPANDQ(cover, above, above)
	VPSRLVQ(line, live, same)
	VPSRLQ(U8(8), same, below)
	VPANDQ(cover, below, below)
	VPANDQ(cover, same, same)
	ternary(func(x, y, z uint8) uint8 { return x &^ (y | z) }, above, same, below)
	VPANDNQ(same, above, same)
	VPSLLVQ(line, above, above)
	VPSRLQ(U8(8), above, above)
	VPSLLVQ(line, same, same)
	VPSLLVQ(line, below, below)
	VPSLLQ(U8(8), below, below)
	ternary(func(x, y, z uint8) uint8 { return x | y | z }, above, same, below)
	return below
}
