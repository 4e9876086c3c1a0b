package batch

import (
	"math/bits"

	"moonfarm/sim/towerdefence"
)

// tables hold the rules in rows. The assembly knows the order. Rows by op have an entry for each
// op of an order; other numbers are repeated eight times.
type tables struct {
	// By op, of which opDone stands for orders that Go has carried out.
	price, entry        row
	allow               row // 1 for placements
	keeps               row // all ones where nothing can be refused, and failures are not reset
	logged              row // entry of the log if nothing is placed
	type2, type1, type0 row // all ones where the type has the bit
	quick, slow         row // all ones where the building is finished at the end of the round, or of the next but one

	resets row // bit set of the rounds that make the curtain available

	curtainRest           row // rounds that a curtain protects after that of its command
	towerTime, towerPause row // rounds from a placement to the first shot, and from shot to shot
	shotPrice, shotEntry  row
	blow, strike          row // added to Half.Base by a missile and by lightning
	reach                 row // by own x of a tower: the enemy's columns that it covers, in the first byte

	income, perEnergy, maxRounds, maxFails row

	// For Playout.
	prices                 [5]row // of defense, attack, energy, tesla, curtain
	manyEnergy, muchEnergy row    // income and energy beyond which no energy building is bought
	options                [2]row // by the set of the four kinds that are not options: the ops that are, one in each byte, and the curtain
	withCell               row    // by op: a mask for the cell
}

// opDone stands for orders that Go has carried out.
const opDone = towerdefence.OpDeconstruct

func newTables(g *towerdefence.Game) *tables {
	t := new(tables)
	r := g.Rules()
	for op := range towerdefence.Op(Games) {
		t.keeps[op], t.logged[op] = ^uint64(0), notPlaced
	}
	t.logged[towerdefence.OpNothing], t.keeps[towerdefence.OpRefused] = nothing, 0
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
	t.fillCurtain(g)
	t.fillTowers(g)
	t.blow = repeated(uint64(towerdefence.Blow(r.Buildings[towerdefence.Attack].Damage)))
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
	return t
}

// fillCurtain fills the rows of curtains.
func (t *tables) fillCurtain(g *towerdefence.Game) {
	r := g.Rules()
	price, entry := g.Purchase(towerdefence.OpCurtain)
	t.price[towerdefence.OpCurtain], t.entry[towerdefence.OpCurtain] = uint64(price), uint64(entry)
	t.prices[4] = repeated(uint64(price))
	t.keeps[towerdefence.OpCurtain] = 0
	t.curtainRest = repeated(uint64(r.CurtainActiveRounds - 1))
	for round := range r.MaxRounds + 1 {
		if g.CurtainReset(int32(round)) == 0 {
			t.resets[round/64&7] |= 1 << (round % 64)
		}
	}
}

// fillTowers fills the rows of tesla towers.
func (t *tables) fillTowers(g *towerdefence.Game) {
	r := g.Rules().Buildings[towerdefence.Tesla]
	t.towerTime, t.towerPause = repeated(uint64(r.ConstructionTime)), repeated(uint64(r.Cooldown+1))
	price, entry := g.Shot()
	t.shotPrice, t.shotEntry = repeated(uint64(price)), repeated(uint64(entry))
	t.strike = repeated(uint64(towerdefence.Blow(r.Damage)))
	for x := range towerdefence.Width {
		t.reach[x] = towerdefence.LightningHits(0xff, x, 0, r.Range)
	}
}

func repeated(word uint64) (r row) {
	for i := range r {
		r[i] = word
	}
	return r
}

// first returns the first game of a set, which is not empty.
func first(games uint64) int { return bits.TrailingZeros64(games) & (Games - 1) }
