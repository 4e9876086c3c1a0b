// Package towerdefence has the scripts and the tree search of Tower Defence: the scripts are
// listed in Scripts, the search in Search.
package towerdefence

import (
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/towerdefence"
)

// Scripts are the scripted policies of Tower Defence.
var Scripts = []script.Script{
	newScript("playout", "any affordable kind, nothing or the curtain, then any free cell; never deconstructs (as the recordings of that name)",
		(*seat).playout),
	newScript("econ", "energy first, then attack towers massed in the enemy's weakest rows, walls where it shoots",
		(*seat).econ),
	newScript("turtle", "walls before every row that is shot at, energy behind them, counter-attacks there",
		(*seat).turtle),
	newScript("rush", "attack towers from the start in one row after the other, hardly any energy, no walls",
		(*seat).rush),
	newScript("tesla", "saves for two tesla towers at the front, behind a few walls, and keeps them fed",
		(*seat).tesla),
	newScript("planner", "plays the next rounds for each order that it might give, and judges where that leads; the strongest script",
		(*seat).planner),
}

// newScript returns a script whose rule gives the order of the round.
func newScript(name, doc string, rule func(c *seat) sim.Order) script.Script {
	return script.New(name, doc, 1, env.WantRowSeed, func() (*view, func()) {
		c := new(seat)
		return &c.view, func() {
			c.me, c.foe = &c.State.Half[c.Player], &c.State.Half[c.Player^1]
			c.Orders = append(c.Orders, rule(c))
		}
	})
}

type view = script.View[towerdefence.State, towerdefence.Rules, *towerdefence.Game]

// seat is a state as a script sees it from one seat. Boards have the layout of
// towerdefence.Half: bit y*8 + x in the coordinates of the half's owner, x = 7 at the front.
type seat struct {
	view

	me    *towerdefence.Half
	foe   *towerdefence.Half
	legal towerdefence.Legal
	rows  [towerdefence.Height]row // see survey
	ahead towerdefence.State       // of a forecast
}

// row counts the buildings in one row of the board.
type row struct {
	attack, walls       int // own attack towers and walls, finished or not
	foeAttack, foeWalls int // the enemy's
	foeTesla            int // the enemy's tesla towers
	foeOther            int // the enemy's other buildings
}

// The columns of a half, named by their use in the scripts.
const (
	backColumns  = 0x0303030303030303 // x 0 and 1: energy
	midColumns   = 0x7c7c7c7c7c7c7c7c // x 2 … 6: attack
	frontColumns = 0xc0c0c0c0c0c0c0c0 // x 6 and 7: walls
	frontColumn  = 0x8080808080808080 // x 7
	rowMask      = 0xff               // of row 0; row y is shifted by 8·y
)

// survey counts the buildings of the rows and finds the legal orders.
func (c *seat) survey() {
	c.Game.Legal(&c.legal, c.State, c.Player)
	foeAttack, foeWalls := c.foe.Standing(towerdefence.Attack), c.foe.Standing(towerdefence.Defense)
	foeTesla := c.foe.Standing(towerdefence.Tesla)
	foeOther := c.foe.Occupied &^ foeAttack &^ foeWalls &^ foeTesla
	counts := [...]uint64{
		bitboard.RowCounts(c.me.Standing(towerdefence.Attack)), bitboard.RowCounts(c.me.Standing(towerdefence.Defense)),
		bitboard.RowCounts(foeAttack), bitboard.RowCounts(foeWalls), bitboard.RowCounts(foeTesla), bitboard.RowCounts(foeOther),
	}
	for y := range c.rows {
		at := func(i int) int { return int(counts[i] >> (8 * y) & 0xff) }
		r := &c.rows[y] // in place: a row that is made and copied takes three times as long
		r.attack, r.walls = at(0), at(1)
		r.foeAttack, r.foeWalls, r.foeTesla, r.foeOther = at(2), at(3), at(4), at(5)
	}
}

// standing counts the own buildings of kind k.
func (c *seat) standing(k towerdefence.Kind) int {
	return bits.OnesCount64(c.me.Standing(k))
}

// affords reports whether kind k may be placed anywhere.
func (c *seat) affords(k towerdefence.Kind) bool { return c.legal.Build(k) != 0 }

// place returns the order to place kind k on one of the cells, drawn uniformly; nothing if it may
// stand on none of them.
func (c *seat) place(k towerdefence.Kind, cells uint64) sim.Order {
	cells &= c.legal.Build(k)
	if cells == 0 {
		return towerdefence.Nothing
	}
	cell := bitboard.Select(cells, c.Random.IntN(bits.OnesCount64(cells)))
	return towerdefence.Build(k, cell%towerdefence.Width, cell/towerdefence.Width)
}

// front returns the order to place kind k on the cell of row y, among the columns, that is
// nearest to the enemy; nothing if y is negative or the energy does not suffice yet.
func (c *seat) front(k towerdefence.Kind, y int, columns uint64) sim.Order {
	if y < 0 {
		return towerdefence.Nothing
	}
	cells := columns & (rowMask << (8 * y)) & c.legal.Build(k)
	if cells == 0 {
		return towerdefence.Nothing
	}
	return c.place(k, 1<<(bits.Len64(cells)-1))
}

// least returns the row with the lowest rank among the rows with a free cell in columns, and
// draws among equals; −1 if no row has a free cell.
func (c *seat) least(columns uint64, rank func(r *row) int) int {
	best, low, ties := -1, 0, 0
	for y := range c.rows {
		if columns>>(8*y)&rowMask&^(c.me.Occupied>>(8*y)) == 0 {
			continue
		}
		switch n := rank(&c.rows[y]); {
		case best < 0 || n < low:
			best, low, ties = y, n, 1
		case n == low:
			ties++
			if c.Random.IntN(ties) == 0 {
				best = y
			}
		}
	}
	return best
}

// playout gives the order of towerdefence.Game.Playout, as in the recordings of that name.
func (c *seat) playout() sim.Order {
	return c.Game.Playout(c.State, c.Player, &c.Random)
}
