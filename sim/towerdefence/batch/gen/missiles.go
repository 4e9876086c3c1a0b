package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tier is one board of the missiles of a player. Tier i has the cells with more than i missiles.
type tier struct {
	far           vector
	first, second vector // missiles that cross to the enemy's half in each step
}

// launch loads tier i of player p, adds the shots, and moves its missiles on the own half two cells
// on. It leaves in shots the shots for the next tier: from cells that have a missile in this one.
func launch(p, i int, open reg.OpmaskVirtual, shots vector, last bool) tier {
	t := tier{load(of(p, far+i*row)), ZMM(), ZMM()}
	x := load(of(p, own+i*row))
	if !last {
		y := ZMM()
		VPANDQ(x, shots, y)
		VPORQ(x, shots, x)
		VMOVDQA64(y, shots)
	} else {
		VPORQ(x, shots, x)
	}
	VPANDQ_BCST_Z(constant(column7), x, open, t.first)
	VPSLLQ(U8(1), x, t.second)
	VPANDQ_BCST_Z(constant(column7), t.second, open, t.second)
	VPSLLQ(U8(2), x, x)
	VPANDQ_BCST(constant(all^columns01), x, x)
	store(x, of(p, own+i*row))
	return t
}

// advance moves the missiles of a tier on the enemy's half one cell on. It adds the missiles that
// leave the map to gone, in column 0, and the missiles entering from the own half to the tier.
func (t tier) advance(entering, gone vector, first bool) {
	if first {
		VPANDQ_BCST(constant(column0), t.far, gone)
	} else {
		x := ZMM()
		VPANDQ_BCST(constant(column0), t.far, x)
		VPADDQ(x, gone, gone)
	}
	VPSRLQ(U8(1), t.far, t.far)
	ternaryWord(func(x, y, z uint8) uint8 { return x&^z | y }, column7, entering, t.far)
}

// launched returns the missiles of player p in two or four tiers, launched.
func launched(p int, now vector, a acts, tiers int) (list []tier) {
	open := compare(now, greater, of(1-p, curtain))
	rest := ZMM()
	VMOVDQA64(a.shots, rest)
	for i := range tiers {
		list = append(list, launch(p, i, open, rest, i == tiers-1))
	}
	return list
}

// flyPairs moves the missiles of player p in stacks of up to two, which hit the buildings left:
// see Game.flyPairs of the scalar game. It returns how many reach the base, in column 0.
func flyPairs(p int, now vector, a acts, left buildings) vector {
	t, gone := launched(p, now, a, 2), ZMM()
	for step := range 2 {
		t[0].advance([]vector{t[0].first, t[0].second}[step], gone, step == 0)
		t[1].advance([]vector{t[1].first, t[1].second}[step], gone, false)
		hit1, hit2 := ZMM(), ZMM()
		VPANDQ(t[0].far, left.live, hit1)
		left.minus(hit1)
		VMOVDQA64(t[1].far, hit2)
		ternary(func(x, y, z uint8) uint8 { return x & y & z }, left.live, hit1, hit2)
		left.minus(hit2)
		ternary(func(hit2, hit1, far2 uint8) uint8 { return hit1&^far2 | hit2 }, t[1].far, hit1, hit2)
		VPANDNQ(t[0].far, hit2, t[0].far)
		VPANDNQ(t[1].far, hit1, t[1].far)
	}
	store(t[0].far, of(p, far))
	store(t[1].far, of(p, far+row))
	return gone
}

// flyDeep moves the missiles of player p in stacks of any height: see Game.stepStacked of the
// scalar game.
func flyDeep(p int, now vector, a acts, left buildings) vector {
	const tiers = 4
	t, gone := launched(p, now, a, tiers), ZMM()
	for step := range 2 {
		for i := range t {
			t[i].advance([]vector{t[i].first, t[i].second}[step], gone, step == 0 && i == 0)
		}
		for range tiers {
			hit := ZMM()
			VPANDQ(t[0].far, left.live, hit)
			left.minus(hit)
			for i := range tiers - 1 {
				ternary(func(x, y, z uint8) uint8 { return x&^z | y&z }, hit, t[i+1].far, t[i].far)
			}
			VPANDNQ(t[tiers-1].far, hit, t[tiers-1].far)
		}
	}
	for i := range t {
		store(t[i].far, of(p, far+i*row))
	}
	return gone
}
