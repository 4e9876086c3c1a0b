package towerdefence

import "math/bits"

// buildTesla places a tesla tower at the bit.
func (g *Game) buildTesla(h *Half, bit uint64, r int) bool {
	if h.Teslas == MaxTeslas || h.Occupied&bit != 0 || h.Energy < g.price[OpTesla] {
		return false
	}
	g.pay(h, OpTesla)
	h.Occupied |= bit
	h.Type2 |= bit
	h.Type1 |= bit
	h.Type0 &^= bit
	h.setBorn(bit, r)
	first := int16(r) + int16(g.rules.Buildings[Tesla].ConstructionTime)
	h.Tesla[h.Teslas] = Tower{Ready: first, Due: first - 1, Cell: uint16(bits.TrailingZeros64(bit))}
	h.Teslas++
	h.scheduleTeslas()
	return true
}

// noTower fills the unused entries of Half.Tesla. It never acts, so that the
// loops below need not know the number of towers.
var noTower = Tower{Ready: never, Due: never}

// scheduleTeslas recomputes when a tesla of h acts next.
func (h *Half) scheduleTeslas() {
	h.Ready = min(h.Tesla[0].Ready, h.Tesla[1].Ready)
	h.Due = min(h.Tesla[0].Due, h.Tesla[1].Due)
}

// dropTeslas removes the towers that no longer stand, and keeps the order of
// age.
func (h *Half) dropTeslas() {
	n := 0
	for _, t := range h.Tesla[:h.Teslas] {
		if h.Occupied>>t.Cell&1 != 0 {
			h.Tesla[n] = t
			n++
		}
	}
	for i := n; i < MaxTeslas; i++ {
		h.Tesla[i] = noTower
	}
	h.Teslas = uint16(n)
	h.scheduleTeslas()
}

// mayStrike returns 0 or more if a tesla tower of h shoots in round r. The
// result is a sign instead of a bool, so that both players together cost one
// branch.
func (g *Game) mayStrike(h *Half, r int) int {
	return (r - int(h.Ready)) | int(h.Energy-g.shotPrice)
}

// strike lets the tesla towers of both players shoot (RULES.md, 3.7–3.13), and
// removes what they destroyed. Victims still act in this round: attack buildings have fired
// already, and all towers shoot before any is removed.
func (g *Game) strike(a, b *Half, r int) {
	liveA, liveB := a.Live, b.Live
	g.lightning(a, b, r)
	g.lightning(b, a, r)
	a.remove(liveA &^ a.Live)
	b.remove(liveB &^ b.Live)
}

// lightning lets the tesla towers of h shoot at the enemy, oldest first.
func (g *Game) lightning(h, enemy *Half, r int) {
	b := &g.rules.Buildings[Tesla]
	for i := range h.Tesla {
		t := &h.Tesla[i]
		if int(t.Ready) > r || h.Energy < g.shotPrice {
			continue
		}
		h.Energy -= g.shotPrice
		h.Ledger += g.shotEntry
		t.Ready = int16(r) + int16(b.Cooldown) + 1
		if int(enemy.Curtain) >= r {
			continue
		}
		x := int(t.Cell) % Width
		if x == Width-1 { // whatever its range
			enemy.hitBase(1, b.Damage)
		}
		hit := LightningHits(enemy.Live, x, int(t.Cell)/Width, b.Range)
		enemy.Live &^= hit
		enemy.Extra0 &^= hit
		enemy.Extra1 &^= hit
	}
	h.scheduleTeslas()
}

// LightningHits returns the buildings of live, a board of the enemy, that a tower
// at own (x, y) hits: in each column the topmost building of rows y−1, y, y+1.
// The range counts columns from the tower on, including the own columns in front
// of it.
func LightningHits(live uint64, x, y, reach int) uint64 {
	columns := min(reach-(Width-1-x), Width) // enemy columns in range, from the front
	if columns <= 0 {
		return 0
	}
	cover := uint64(0xff) << (Width - columns) & 0xff
	row := 8 * y & 63
	above, same, below := live<<8>>row&cover, live>>row&cover, live>>row>>8&cover // 0 outside of the map
	below &^= above | same
	same &^= above
	return above<<row>>8 | same<<row | below<<row<<8
}

// reviewTeslas removes the tesla towers destroyed in round r and finishes those
// that are due.
func (h *Half) reviewTeslas(r int) {
	h.dropTeslas()
	h.finishTeslas(r)
}

// finishTeslas makes the tesla towers live whose construction ends in round r.
func (h *Half) finishTeslas(r int) {
	for i := range h.Tesla[:h.Teslas] {
		t := &h.Tesla[i]
		if int(t.Due) <= r {
			h.Live |= 1 << t.Cell
			t.Due = never
		}
	}
	h.scheduleTeslas()
}
