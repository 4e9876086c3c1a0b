package batch

import (
	"math/bits"

	"moonfarm/sim/towerdefence"
)

// tables hold the rules in rows. The assembly knows the order. Rows by op have an entry for each
// op of an order; other numbers are repeated eight times.
type tables struct {
	// By op. Besides the cheap placements and opDone, the assembly carries out the placements of
	// tesla towers that Go has found to be allowed.
	price, entry        row
	allow               row // 1 for placements
	keeps               row // all ones where nothing can be refused, and failures are not reset
	logged              row // entry of the log if nothing is placed
	type2, type1, type0 row // all ones where the type has the bit
	quick, slow         row // all ones where the building is finished at the end of the round, or of the next but one

	resets row // bit set of the rounds that make the curtain available

	shotPrice, blow, income, perEnergy, maxRounds, maxFails row

	// For Playout.
	prices                 [5]row // of defense, attack, energy, tesla, curtain
	manyEnergy, muchEnergy row    // income and energy beyond which no energy building is bought
	options                [2]row // by the set of the four kinds that are not options: the ops that are, one in each byte, and the curtain
	withCell               row    // by op: a mask for the cell

	// For Go.
	curtainRounds         uint64
	shot                  int64              // added to Half.Ledger by a shot
	strike                int64              // added to Half.Base by lightning
	towerTime, towerPause int16              // rounds from a placement to the first shot, and from shot to shot
	towerRange            int                // columns
	empty                 towerdefence.Tower // of an entry without a tower
}

// opDone stands for orders that Go has carried out.
const opDone = towerdefence.OpDeconstruct

func newTables(g *towerdefence.Game) *tables {
	t := new(tables)
	r := g.Rules()
	for op := range towerdefence.Op(Games) {
		t.keeps[op], t.logged[op] = ^uint64(0), notPlaced
	}
	t.logged[towerdefence.OpNothing] = nothing
	placements := []towerdefence.Op{towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy, towerdefence.OpTesla}
	for i, op := range placements {
		price, entry := g.Purchase(op)
		t.price[op], t.entry[op] = uint64(price), uint64(entry)
		t.allow[op], t.keeps[op], t.withCell[op] = 1, 0, towerdefence.Cells-1
		t.prices[i] = repeated(uint64(price))
	}
	const yes = ^uint64(0)
	t.type2[towerdefence.OpDefense], t.slow[towerdefence.OpDefense] = yes, yes
	t.quick[towerdefence.OpAttack] = yes
	t.type2[towerdefence.OpEnergy], t.type0[towerdefence.OpEnergy], t.quick[towerdefence.OpEnergy] = yes, yes, yes
	t.type2[towerdefence.OpTesla], t.type1[towerdefence.OpTesla] = yes, yes
	for round := range r.MaxRounds + 1 {
		if g.CurtainReset(int32(round)) == 0 {
			t.resets[round/64&7] |= 1 << (round % 64)
		}
	}
	price, _ := g.Purchase(towerdefence.OpCurtain)
	t.prices[4] = repeated(uint64(price))
	t.curtainRounds = uint64(r.CurtainActiveRounds)
	price, t.shot = g.Shot()
	t.shotPrice = repeated(uint64(price))
	t.blow = repeated(uint64(towerdefence.Blow(r.Buildings[towerdefence.Attack].Damage)))
	t.strike = towerdefence.Blow(r.Buildings[towerdefence.Tesla].Damage)
	tesla := r.Buildings[towerdefence.Tesla]
	t.towerTime, t.towerPause, t.towerRange = int16(tesla.ConstructionTime), int16(tesla.Cooldown)+1, tesla.Range
	t.income, t.perEnergy = repeated(uint64(r.RoundIncome)), repeated(uint64(r.Buildings[towerdefence.Energy].EnergyPerTurn))
	t.maxRounds, t.maxFails = repeated(uint64(r.MaxRounds)), repeated(uint64(r.MaxDoNothings))
	t.manyEnergy, t.muchEnergy = repeated(towerdefence.PlayoutIncome), repeated(towerdefence.PlayoutEnergy)
	for no := range 16 {
		n := 1 // nothing
		for i, op := range placements {
			if no>>i&1 == 0 {
				t.options[no/8][no%8] |= uint64(op) << (8 * n)
				n++
			}
		}
		t.options[no/8][no%8] |= uint64(towerdefence.OpCurtain) << (8 * n)
	}
	var s towerdefence.State
	g.Reset(&s, 0)
	t.empty = s.Half[0].Tesla[0]
	return t
}

func repeated(word uint64) (r row) {
	for i := range r {
		r[i] = word
	}
	return r
}

// first returns the first game of a set, which is not empty.
func first(games uint64) int { return bits.TrailingZeros64(games) & (Games - 1) }
