package towerdefence

import "moonfarm/sim"

// An order is one command of one player. It is packed so that 0 does nothing,
// and so that the step uses its parts without branching on them:
//
//	bit  0– 5  own cell y*8 + x of the command
//	bit  6– 8  op: 0 nothing, else the original's command id + 1
//	             (1 defense, 2 attack, 3 energy, 4 deconstruct, 5 tesla, 6 iron curtain);
//	             7 a well-formed command for a cell outside of the own half: always refused
//	bit  9–10  failures from reading the text, added before the op
//	bit 11     the text that makes the original engine throw: the match is aborted
//
// Other bits are ignored. A player gives one order per round; the first counts.
const (
	orderCellMask  = 63
	orderOpShift   = 6
	orderFailShift = 9
	orderAbort     = 1 << 11
	orderBits      = 12
	orderUsed      = 1<<orderBits - 1 // the bits with a meaning
	orderPlain     = 1<<8 - 1         // orders up to here do nothing or build one of the three cheap kinds
)

// Op is the command of an order: the original's command id + 1.
type Op uint8

const (
	OpNothing     Op = 0
	OpDefense     Op = 1
	OpAttack      Op = 2
	OpEnergy      Op = 3
	OpDeconstruct Op = 4
	OpTesla       Op = 5
	OpCurtain     Op = 6
	OpRefused     Op = 7 // well-formed, but outside of the own half
)

// Nothing is the order that does nothing.
const Nothing sim.Order = 0

// Curtain is the order that raises the iron curtain.
const Curtain = sim.Order(OpCurtain) << orderOpShift

// Refused is a well-formed command that no state accepts, such as a cell
// outside of the own half: it resets the count of failures and fails once.
const Refused = sim.Order(OpRefused) << orderOpShift

// Aborted is the text (only commas) at which the original engine throws an
// unhandled error: the match ends without a result.
const Aborted sim.Order = orderAbort

// Build returns the order to place a building of kind k on own cell (x, y).
func Build(k Kind, x, y int) sim.Order { return at(Op(k)+1, x, y) }

// Deconstruct returns the order to remove the own building on (x, y).
func Deconstruct(x, y int) sim.Order { return at(OpDeconstruct, x, y) }

func at(op Op, x, y int) sim.Order {
	if uint(x) >= Width || uint(y) >= Height {
		return Refused
	}
	return OrderAt(op, y*Width+x)
}

// OrderAt returns the order to do op on own cell y*8+x, which is below 64.
func OrderAt(op Op, cell int) sim.Order {
	return sim.Order(op)<<orderOpShift | sim.Order(cell&orderCellMask)
}

// Failed returns o with n failures (0 … 2) added, which reading its text cost.
func Failed(o sim.Order, n int) sim.Order { return o | sim.Order(n&3)<<orderFailShift }

// Command is a decoded order.
type Command struct {
	Op       Op
	X, Y     int // own cell, for building and deconstructing
	Failures int // cost of reading the text
}

// Decode returns the parts of an order.
func Decode(o sim.Order) Command {
	cell := int(o & orderCellMask)
	return Command{Op(o >> orderOpShift & 7), cell % Width, cell / Width, int(o >> orderFailShift & 3)}
}
