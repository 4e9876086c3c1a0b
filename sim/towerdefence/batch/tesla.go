package batch

import "moonfarm/sim/towerdefence"

// The functions of this file do for one game what those of the same names in the scalar game's
// tesla.go do.

// addTower lists a tesla tower of player p on the cell if it may be placed there. The vector
// instructions place it.
func (g *Game) addTower(b *Block, p, i, cell int) bool {
	h := &b.half[p]
	n := h.teslas[i]
	if n >= towerdefence.MaxTeslas || h.occupied[i]>>cell&1 != 0 || int64(h.energy[i]) < int64(g.tables.price[towerdefence.OpTesla]) {
		return false
	}
	ready := int16(b.round[i]) + g.tables.towerTime
	b.towers[p][i][n] = towerdefence.Tower{Ready: ready, Due: ready - 1, Cell: uint16(cell)}
	h.teslas[i] = n + 1
	b.schedule(p, i)
	return true
}

// schedule recomputes when a tesla tower of player p acts next.
func (b *Block) schedule(p, i int) {
	h, t := &b.half[p], &b.towers[p][i]
	h.ready[i] = uint64(int64(min(t[0].Ready, t[1].Ready)))
	h.due[i] = uint64(int64(min(t[0].Due, t[1].Due)))
}

// drop removes the towers that no longer stand.
func (g *Game) drop(b *Block, p, i int) {
	h, t, n := &b.half[p], &b.towers[p][i], uint64(0)
	for _, tower := range t[:min(h.teslas[i], towerdefence.MaxTeslas)] {
		if h.occupied[i]>>(tower.Cell&63)&1 != 0 {
			t[n] = tower
			n++
		}
	}
	h.teslas[i] = n
	for ; n < towerdefence.MaxTeslas; n++ {
		t[n] = g.tables.empty
	}
	b.schedule(p, i)
}

// review removes the towers destroyed in the round that has ended, and finishes those that are
// due.
func (g *Game) review(b *Block, i int) {
	r := int64(b.round[i]) - 1
	for p := range b.half {
		g.drop(b, p, i)
		h, towers := &b.half[p], &b.towers[p][i]
		for n := range towers {
			if t := &towers[n]; int64(t.Due) <= r {
				h.live[i] |= 1 << (t.Cell & 63)
				t.Due = g.tables.empty.Due
			}
		}
		b.schedule(p, i)
	}
}

// strike lets the tesla towers of both players shoot in game i.
func (g *Game) strike(b *Block, i int) {
	liveA, liveB := b.half[0].live[i], b.half[1].live[i]
	g.lightning(b, 0, i)
	g.lightning(b, 1, i)
	g.remove(b, 0, i, liveA&^b.half[0].live[i])
	g.remove(b, 1, i, liveB&^b.half[1].live[i])
}

// lightning lets the towers of player p shoot, oldest first.
func (g *Game) lightning(b *Block, p, i int) {
	h, enemy, r, t := &b.half[p], &b.half[p^1], b.round[i], g.tables
	for n := range b.towers[p][i] {
		tower := &b.towers[p][i][n]
		if int64(tower.Ready) > int64(r) || int64(h.energy[i]) < int64(t.shotPrice[0]) {
			continue
		}
		h.energy[i] -= t.shotPrice[0]
		h.ledger[i] += uint64(t.shot)
		tower.Ready = int16(r) + t.towerPause
		if int64(enemy.curtain[i]) >= int64(r) {
			continue
		}
		x := int(tower.Cell) % towerdefence.Width
		if x == towerdefence.Width-1 { // whatever its range
			enemy.base[i] += uint64(t.strike)
		}
		hit := towerdefence.LightningHits(enemy.live[i], x, int(tower.Cell)/towerdefence.Width, t.towerRange)
		enemy.live[i] &^= hit
		enemy.extra0[i] &^= hit
		enemy.extra1[i] &^= hit
	}
	b.schedule(p, i)
}

// remove clears the dead buildings of player p.
func (g *Game) remove(b *Block, p, i int, dead uint64) {
	h := &b.half[p]
	teslas := dead & h.type2[i] & h.type1[i]
	h.occupied[i] &^= dead
	h.extra0[i] &^= dead
	h.type2[i] &^= dead
	h.type1[i] &^= dead
	h.type0[i] &^= dead
	if teslas != 0 {
		g.drop(b, p, i)
	}
}
