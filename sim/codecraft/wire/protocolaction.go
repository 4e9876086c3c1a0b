package wire

import (
	"fmt"

	"moonfarm/sim/codecraft"
)

// Action is what a player wants: new actions for some entities. It is a map;
// of items with the same id the last counts.
type Action struct {
	EntityActions []EntityOrder
}

// EntityOrder is an item of the map of an Action.
type EntityOrder struct {
	ID int32
	EntityAction
}

// EntityAction is the action of one entity. With no part at all it does
// nothing.
type EntityAction struct {
	Move   Optional[MoveAction]   `json:"move"`
	Build  Optional[BuildAction]  `json:"build"`
	Attack Optional[AttackAction] `json:"attack"`
	Repair Optional[RepairAction] `json:"repair"`
}

// MoveAction sends an entity to a cell.
type MoveAction struct {
	X, Y                int32
	FindClosestPosition bool
	BreakThrough        bool
}

// BuildAction has an entity build one of a type with its lowest corner there.
type BuildAction struct {
	Type codecraft.Type
	X, Y int32
}

// AttackAction has an entity attack a target, or what it finds.
type AttackAction struct {
	Target Optional[int32]      `json:"target"`
	Auto   Optional[AutoAttack] `json:"auto"`
}

// AutoAttack has an entity look for targets; no types stand for all but
// resources.
type AutoAttack struct {
	PathfindRange int32 `json:"pathfind_range"`
	ValidTargets  Kinds `json:"valid_targets"`
}

// RepairAction has an entity repair another.
type RepairAction struct {
	Target int32
}

// ClientKind is the tag of a message from a client.
type ClientKind int32

const (
	DebugMessage      ClientKind = 0
	ActionMessage     ClientKind = 1
	DebugUpdateDone   ClientKind = 2
	RequestDebugState ClientKind = 3

	clientKinds = 4
)

// ClientMessage is a message from a client.
type ClientMessage struct {
	Kind    ClientKind
	Command DebugCommand // of DebugMessage
	Action  Action       // of ActionMessage
}

// ClientMessage reads a message of a client into m, whose memory is used again:
// what was in m must not be kept. A message beyond MaxAction or MaxDebug is refused.
func (r *Reader) ClientMessage(m *ClientMessage) error {
	m.Kind = ClientKind(r.tag("message of a client", clientKinds))
	m.Action.EntityActions = m.Action.EntityActions[:0]
	switch {
	case r.err != nil:
	case m.Kind == DebugMessage:
		r.within(MaxDebug, func() { r.debugCommand(&m.Command) })
	case m.Kind == ActionMessage:
		r.within(MaxAction, func() { r.action(&m.Action) })
	}
	return r.err
}

// action reads an action whose list is empty.
func (r *Reader) action(a *Action) {
	r.types = r.types[:0]
	n := r.count("entity_actions", 8)
	if n > maxActions {
		r.at -= 4
		r.fail("entity_actions", fmt.Errorf("found a count of %d, want at most %d: a map has no room for more entities", n, maxActions))
	}
	for i := 0; i < n && r.err == nil; i++ {
		a.EntityActions = append(a.EntityActions, EntityOrder{r.number("id of an entity"), r.entityAction((*Reader).number)})
	}
}

// Append appends the message as it is sent.
func (m *ClientMessage) Append(dst []byte) []byte {
	dst = appendNumber(dst, int32(m.Kind))
	switch m.Kind {
	case DebugMessage:
		dst = m.Command.append(dst)
	case ActionMessage:
		dst = appendNumber(dst, int32(len(m.Action.EntityActions)))
		for i := range m.Action.EntityActions {
			dst = m.Action.EntityActions[i].append(dst)
		}
	}
	return dst
}

// entityAction reads an action, whose coordinates coordinate reads: those that a
// client sends are not negative.
func (r *Reader) entityAction(coordinate func(r *Reader, what string) int32) (a EntityAction) {
	if a.Move.Given = r.truth("move_action"); a.Move.Given {
		a.Move.Value = MoveAction{
			coordinate(r, "x of a move"), coordinate(r, "y of a move"), r.truth("find_closest_position"), r.truth("break_through"),
		}
	}
	if a.Build.Given = r.truth("build_action"); a.Build.Given {
		a.Build.Value = BuildAction{r.kind("type to build"), coordinate(r, "x of a build"), coordinate(r, "y of a build")}
	}
	if a.Attack.Given = r.truth("attack_action"); a.Attack.Given {
		a.Attack.Value = r.attack()
	}
	if a.Repair.Given = r.truth("repair_action"); a.Repair.Given {
		a.Repair.Value.Target = r.number("target of a repair")
	}
	return a
}

func (r *Reader) attack() (a AttackAction) {
	if a.Target.Given = r.truth("target of an attack"); a.Target.Given {
		a.Target.Value = r.number("target of an attack")
	}
	if a.Auto.Given = r.truth("auto_attack"); a.Auto.Given {
		a.Auto.Value.PathfindRange = r.number("pathfind_range")
		from := len(r.types)
		r.types = r.kinds(r.types, "valid_targets")
		a.Auto.Value.ValidTargets = r.types[from:len(r.types):len(r.types)]
	}
	return a
}

func (a *EntityOrder) append(dst []byte) []byte {
	return a.EntityAction.append(appendNumber(dst, a.ID))
}

func (a *EntityAction) append(dst []byte) []byte {
	dst = appendTruth(dst, a.Move.Given)
	if m := &a.Move.Value; a.Move.Given {
		dst = appendTruth(appendTruth(appendNumbers(dst, m.X, m.Y), m.FindClosestPosition), m.BreakThrough)
	}
	dst = appendTruth(dst, a.Build.Given)
	if b := &a.Build.Value; a.Build.Given {
		dst = appendNumbers(dst, int32(b.Type), b.X, b.Y)
	}
	dst = appendTruth(dst, a.Attack.Given)
	if a.Attack.Given {
		dst = a.Attack.Value.append(dst)
	}
	dst = appendTruth(dst, a.Repair.Given)
	if a.Repair.Given {
		dst = appendNumber(dst, a.Repair.Value.Target)
	}
	return dst
}

func (a *AttackAction) append(dst []byte) []byte {
	dst = appendTruth(dst, a.Target.Given)
	if a.Target.Given {
		dst = appendNumber(dst, a.Target.Value)
	}
	dst = appendTruth(dst, a.Auto.Given)
	if a.Auto.Given {
		dst = appendKinds(appendNumber(dst, a.Auto.Value.PathfindRange), a.Auto.Value.ValidTargets)
	}
	return dst
}
