package codecraft

import "moonfarm/sim"

// An order is a part of the action of one entity, packed so that 0 does nothing:
//
//	bit  0– 2  op: 0 nothing, 1 stop, 2 move, 3 build, 4 attack, 5 auto attack, 6 repair
//	bit  3     and: see And
//	bit  4–27  id of the entity that acts
//	bit 28–31  move: bit 28 find closest position, bit 29 break through, bit 30 to
//	           a target outside of the map, to which (x, y), at the edge, is the
//	           nearest cell
//	           build: type of the entity
//	bit 32–63  move, build: x (32–47) and y (48–63)
//	           attack, repair: id of the target
//	           auto attack: valid types as a set (32–47; empty: all but Resource), pathfind range (48–63)
//
// Coordinates are in the frame of the recordings for all players, (0, 0) at the bottom left.
// An order replaces the whole action of its entity, as an EntityAction of the original does.
// With And it adds its part to the action, so that several orders make one action. Orders for
// entities that do not exist or belong to others do nothing, and so does op 7. Other bits are
// ignored.
const (
	orderAnd       = 1 << 3
	orderIDShift   = 4
	orderIDMask    = 1<<24 - 1
	orderTypeShift = 28
	orderClosest   = 1 << 28
	orderBreak     = 1 << 29
	orderOutside   = 1 << 30
	orderLowShift  = 32
	orderHighShift = 48
)

// Op is what an order does.
type Op uint8

const (
	OpNothing Op = 0
	OpStop    Op = 1
	OpMove    Op = 2
	OpBuild   Op = 3
	OpAttack  Op = 4
	OpAuto    Op = 5
	OpRepair  Op = 6
)

// maxPathfindRange is the limit of the pathfind range in an order; longer ranges become it.
const maxPathfindRange = 1<<16 - 1

// PartsOfAction is the maximum number of orders for one action of an entity.
const PartsOfAction = 5

// Nothing is the order that changes nothing: all entities keep their actions.
const Nothing sim.Order = 0

// Stop makes an entity do nothing.
func Stop(id uint32) sim.Order { return forEntity(OpStop, id) }

// Move sends an entity to (x, y). For a place outside of the map the order holds the nearest
// cell.
func Move(id uint32, x, y int, closest, breakThrough bool) sim.Order {
	nearX, nearY := min(max(x, 0), Side-1), min(max(y, 0), Side-1)
	o := forEntity(OpMove, id) | coordinates(nearX, nearY)
	if nearX != x || nearY != y {
		o |= orderOutside
	}
	if closest {
		o |= orderClosest
	}
	if breakThrough {
		o |= orderBreak
	}
	return o
}

// Build tells an entity to build an entity of type t with its lowest corner on (x, y).
func Build(id uint32, t Type, x, y int) sim.Order {
	return forEntity(OpBuild, id) | sim.Order(t&15)<<orderTypeShift | coordinates(x, y)
}

// Attack tells an entity to attack another while it is in range.
func Attack(id, target uint32) sim.Order {
	return forEntity(OpAttack, id) | sim.Order(target)<<orderLowShift
}

// Auto tells an entity to attack any target of the valid types in range, else to chase a target
// by a path that, with the range of the entity, is not longer than pathfindRange. An empty set
// means all types but Resource.
func Auto(id uint32, pathfindRange int, valid TypeSet) sim.Order {
	r := min(max(pathfindRange, 0), maxPathfindRange)
	return forEntity(OpAuto, id) | sim.Order(valid)<<orderLowShift | sim.Order(r)<<orderHighShift
}

// Repair tells an entity to repair an adjacent entity.
func Repair(id, target uint32) sim.Order {
	return forEntity(OpRepair, id) | sim.Order(target)<<orderLowShift
}

// And makes an order add its part to the action of its entity, instead of
// replacing it.
func And(o sim.Order) sim.Order { return o | orderAnd }

func forEntity(op Op, id uint32) sim.Order {
	return sim.Order(op) | sim.Order(id&orderIDMask)<<orderIDShift
}

func coordinates(x, y int) sim.Order {
	const outside = 1<<16 - 1
	if x < 0 || x > outside {
		x = outside
	}
	if y < 0 || y > outside {
		y = outside
	}
	return sim.Order(x)<<orderLowShift | sim.Order(y)<<orderHighShift
}

// Command has the fields of an order.
type Command struct {
	Op      Op
	And     bool
	ID      uint32
	Type    Type // of a build; may be 10 to 15, which are no types
	Closest bool
	Break   bool
	Outside bool // of a move: its target lies outside of the map, and (X, Y) is the nearest cell
	X, Y    uint16
	Target  uint32
	Valid   TypeSet // as given: the empty set means all but Resource
	Range   uint16
}

// Decode returns the fields of an order. It accepts every order and does not check the values of
// the fields.
func Decode(o sim.Order) Command {
	c := Command{Op: opOf(o), And: o&orderAnd != 0, ID: idOf(o)}
	low, high := uint16(o>>orderLowShift), uint16(o>>orderHighShift)
	switch c.Op {
	case OpMove:
		c.Closest, c.Break, c.X, c.Y = o&orderClosest != 0, o&orderBreak != 0, low, high
		edge := low == 0 || high == 0 || low == Side-1 || high == Side-1
		c.Outside = low >= Side || high >= Side || edge && o&orderOutside != 0
	case OpBuild:
		c.Type, c.X, c.Y = Type(o>>orderTypeShift&15), low, high
	case OpAttack, OpRepair:
		c.Target = uint32(o >> orderLowShift)
	case OpAuto:
		c.Valid, c.Range = TypeSet(low)&EveryType, high
	}
	return c
}

func opOf(o sim.Order) Op     { return Op(o & 7) }
func idOf(o sim.Order) uint32 { return uint32(o >> orderIDShift & orderIDMask) }

// AppendOrders appends the orders that give the action a to entity id.
func (a *Action) AppendOrders(dst []sim.Order, id uint32) []sim.Order {
	first := len(dst)
	if a.Parts&HasMove != 0 {
		o := Move(id, int(a.MoveX), int(a.MoveY), a.Parts&FindClosest != 0, a.Parts&BreakThrough != 0)
		if a.Parts&MoveOutside != 0 {
			o |= orderOutside
		}
		dst = append(dst, o)
	}
	if a.Parts&HasBuild != 0 {
		dst = append(dst, Build(id, a.BuildType, int(a.BuildX), int(a.BuildY)))
	}
	if a.Parts&HasTarget != 0 {
		dst = append(dst, Attack(id, a.Target))
	}
	if a.Parts&HasAuto != 0 {
		dst = append(dst, Auto(id, int(a.Range), a.Valid))
	}
	if a.Parts&HasRepair != 0 {
		dst = append(dst, Repair(id, a.Repair))
	}
	if len(dst) == first {
		return append(dst, Stop(id))
	}
	for i := first + 1; i < len(dst); i++ {
		dst[i] = And(dst[i])
	}
	return dst
}

// outward returns the coordinate beyond the edge if v lies on the right or the upper edge, else v.
func outward(v int) int {
	if v == Side-1 {
		return Side
	}
	return v
}
