package towerdefence

import "math/bits"

// buildTesla places a tesla tower at the bit.
func (g *Game) buildTesla(h *Half, bit uint64, r int) bool {
	if h.Teslas == MaxTeslas || h.Occupied&bit != 0 || h.Energy < g.price[OpTesla] {
		return false
	}
	h.Energy -= g.price[OpTesla]
	h.Ledger += g.entry[OpTesla]
	h.Occupied |= bit
	h.Type2 |= bit
	h.Type1 |= bit
	h.Type0 &^= bit
	h.born(bit, r)
	first := int16(r) + int16(g.rules.Buildings[Tesla].ConstructionTime)
	h.Tesla[h.Teslas] = Tower{Ready: first, Due: first - 1, Cell: uint16(bits.TrailingZeros64(bit))}
	h.Teslas++
	h.agenda()
	return true
}

// agenda recomputes when a tesla of h has something to do next.
func (h *Half) agenda() {
	h.Ready, h.Due = never, never
	for _, t := range h.Tesla[:h.Teslas] {
		h.Ready = min(h.Ready, t.Ready)
		h.Due = min(h.Due, t.Due)
	}
}

// dropTeslas forgets the towers that no longer stand; the order of age stays.
func (h *Half) dropTeslas() {
	n := 0
	for _, t := range h.Tesla[:h.Teslas] {
		if h.Occupied>>t.Cell&1 != 0 {
			h.Tesla[n] = t
			n++
		}
	}
	clear(h.Tesla[n:])
	h.Teslas = uint16(n)
	h.agenda()
}

// mayStrike reports whether a tesla tower of h shoots in round r.
func (g *Game) mayStrike(h *Half, r int) bool {
	return int(h.Ready) <= r && h.Energy >= g.shotPrice
}

// strike lets the tesla towers of both players shoot, and clears away what
// they destroyed. Victims still act in the round: attack buildings have fired
// already, and all towers shoot before any is cleared away.
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
	for i := range h.Tesla[:h.Teslas] {
		t := &h.Tesla[i]
		if int(t.Ready) > r || h.Energy < g.shotPrice {
			continue
		}
		h.Energy -= g.shotPrice
		h.Ledger += int64(g.shotPrice) << 32
		t.Ready = int16(r) + int16(b.Cooldown) + 1
		if int(enemy.Curtain) >= r {
			continue
		}
		x := int(t.Cell) % Width
		if x == Width-1 { // whatever the range
			enemy.hitBase(1, b.Damage)
		}
		hit := lightningHits(enemy.Live, x, int(t.Cell)/Width, b.Range)
		enemy.Live &^= hit
		enemy.Extra0 &^= hit
		enemy.Extra1 &^= hit
	}
	h.agenda()
}

// lightningHits returns the buildings of live that a tower at own (x, y) hits:
// in each column it covers the topmost of rows y−1, y, y+1. The range counts
// columns from the tower on, so the own columns in front of it use it up.
func lightningHits(live uint64, x, y, reach int) uint64 {
	columns := min(reach-(Width-1-x), Width) // enemy columns covered, from the front
	if columns <= 0 {
		return 0
	}
	cover := uint64(0xff) << (Width - columns) & 0xff
	hit, taken := uint64(0), ^cover
	for row := max(0, y-1); row <= min(Height-1, y+1); row++ {
		m := live >> (row * Width) & 0xff &^ taken
		taken |= m
		hit |= m << (row * Width)
	}
	return hit
}
