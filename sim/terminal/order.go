package terminal

import (
	"math"

	"moonfarm/sim"
)

// An order is one command, packed so that 0 does nothing:
//
//	bit  0– 3  op: 0 nothing, 1 place, 2 upgrade, 3 remove, 4 spawn, 5 clock, 6 penalty
//	bit  4– 7  kind of unit: 0–2 for place, 3–5 for spawn
//	bit  8–12  x
//	bit 13–17  y
//	bit 18     the other line: see Swap
//	bit 32–63  spawn: number of units (0 counts as 1);
//	           clock: milliseconds; penalty: health as a float32
//
// Coordinates are those of recordings for both players, with (0, 0) at the bottom left. Other bits
// are ignored. An order with another op, or with a kind or a cell that does not fit the op, does
// nothing.
//
// Orders of a seat are carried out in the order given, but line by line, as in the original: seat
// 0's first line, seat 1's first, seat 0's second, seat 1's second. Place, upgrade and remove belong
// to the first line and spawn to the second, unless Swap has moved them. Clock and penalty come
// first; the referee gives them, not the player.
const (
	orderOp         = 15
	orderKindShift  = 4
	orderKind       = 15
	orderXShift     = 8
	orderYShift     = 13
	orderCoordinate = 31
	orderSwap       = 1 << 18
	orderCommand    = orderSwap - 1 // op, kind, x and y
	orderCountShift = 32
)

// Op is the operation of an order.
type Op uint8

const (
	OpNothing Op = 0
	OpPlace   Op = 1
	OpUpgrade Op = 2
	OpRemove  Op = 3
	OpSpawn   Op = 4
	OpClock   Op = 5
	OpPenalty Op = 6
)

// Nothing is the order to do nothing.
const Nothing sim.Order = 0

// Place returns the order to build a structure of kind k on (x, y).
func Place(k Kind, x, y int) sim.Order { return at(OpPlace, x, y) | sim.Order(k)<<orderKindShift }

// UpgradeAt returns the order to upgrade the own structure on (x, y).
func UpgradeAt(x, y int) sim.Order { return at(OpUpgrade, x, y) }

// RemoveAt returns the order to mark the own structure on (x, y) for removal.
func RemoveAt(x, y int) sim.Order { return at(OpRemove, x, y) }

// Spawn returns the order to put n mobile units of kind k on (x, y). It is the same as n orders for
// one unit.
func Spawn(k Kind, x, y, n int) sim.Order {
	return at(OpSpawn, x, y) | sim.Order(k)<<orderKindShift | sim.Order(uint32(n))<<orderCountShift
}

// Clock returns the order that adds milliseconds to the thinking time of a player, which decides
// matches that are equal otherwise.
func Clock(milliseconds uint32) sim.Order {
	return sim.Order(OpClock) | sim.Order(milliseconds)<<orderCountShift
}

// Penalty returns the order that takes health from a player before the action phase, for thinking
// too long or for a crash: see Rules.TimePenalty and Rules.CrashPenalty. Penalties that are not
// above 0, or above 10,000,000, are ignored.
func Penalty(health float32) sim.Order {
	return sim.Order(OpPenalty) | sim.Order(math.Float32bits(health))<<orderCountShift
}

// Swap returns the order moved to the other line: a structure's order to the second line, a mobile
// unit's to the first.
func Swap(o sim.Order) sim.Order { return o ^ orderSwap }

func at(op Op, x, y int) sim.Order {
	if x&orderCoordinate != x || y&orderCoordinate != y {
		return Nothing
	}
	return sim.Order(op) | sim.Order(x)<<orderXShift | sim.Order(y)<<orderYShift
}

// Command holds the fields of an order.
type Command struct {
	Op      Op
	Kind    Kind
	X, Y    uint8
	Swapped bool   // see Swap
	Count   uint32 // bits 32–63: units (at least 1 for a spawn), milliseconds, or health as float32 bits
}

func opOf(o sim.Order) Op     { return Op(o & orderOp) }
func kindOf(o sim.Order) Kind { return Kind(o >> orderKindShift & orderKind) }

// ownCell returns the cell of an order, or 0 if it is not in the half of player p. 0 is not a cell.
func ownCell(o sim.Order, p sim.Player) int {
	if Owner(int(o>>orderYShift&orderCoordinate)) != p {
		return 0
	}
	return int(cellAt[o>>orderXShift&(1<<10-1)])
}

// Decode returns the fields of an order, even if they make no valid order.
func Decode(o sim.Order) Command {
	c := Command{
		Op: opOf(o), Kind: kindOf(o),
		X: uint8(o >> orderXShift & orderCoordinate), Y: uint8(o >> orderYShift & orderCoordinate),
		Swapped: o&orderSwap != 0, Count: uint32(o >> orderCountShift),
	}
	if c.Op == OpSpawn && c.Count == 0 {
		c.Count = 1
	}
	return c
}
