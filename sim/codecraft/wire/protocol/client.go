package protocol

import (
	"fmt"

	"moonfarm/sim/codecraft"
)

// Action has the new actions of some entities of a player. It is a map: of entries with the
// same id the last counts.
type Action struct {
	EntityActions []EntityOrder
}

// EntityOrder is an entry of an Action: an entity and its action.
type EntityOrder struct {
	ID int32
	EntityAction
}

// EntityAction is the action of one entity. An action without parts does nothing.
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

// BuildAction tells an entity to build an entity of a type, whose lowest corner is (X, Y).
type BuildAction struct {
	Type codecraft.Type
	X, Y int32
}

// AttackAction tells an entity to attack a target, or to look for targets.
type AttackAction struct {
	Target Optional[int32]      `json:"target"`
	Auto   Optional[AutoAttack] `json:"auto"`
}

// AutoAttack tells an entity to look for targets. An empty list of types means all types but
// resources.
type AutoAttack struct {
	PathfindRange int32 `json:"pathfind_range"`
	ValidTargets  Kinds `json:"valid_targets"`
}

// RepairAction tells an entity to repair another.
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

// ClientMessage reads a message of a client into m and reuses the memory of m: the caller must
// not keep parts of it. A message beyond MaxAction or MaxDebug is an error.
func (r *Reader) ClientMessage(m *ClientMessage) error {
	m.Kind = ClientKind(r.Tag("message of a client", clientKinds))
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

// action reads an action into a, whose list is empty.
func (r *Reader) action(a *Action) {
	r.types = r.types[:0]
	n := r.Count("entity_actions", 8)
	if n > maxActions {
		r.Refuse("entity_actions", fmt.Errorf("found a count of %d, expected at most %d: a map has no room for more entities", n, maxActions))
	}
	for i := 0; i < n && r.err == nil; i++ {
		a.EntityActions = append(a.EntityActions, EntityOrder{r.Number("id of an entity"), r.entityAction((*Reader).Number)})
	}
}

// Append appends the message in its binary form.
func (c *ClientMessage) Append(dst []byte) []byte {
	dst = AppendNumber(dst, int32(c.Kind))
	switch c.Kind {
	case DebugMessage:
		dst = c.Command.append(dst)
	case ActionMessage:
		dst = AppendNumber(dst, int32(len(c.Action.EntityActions)))
		for i := range c.Action.EntityActions {
			dst = c.Action.EntityActions[i].Append(dst)
		}
	}
	return dst
}

// StoredOrder reads an entry of the stored actions in a replay file. Unlike a client's
// message it may have negative coordinates, because it is in the frame of the world, and its
// lists are not reused.
func (r *Reader) StoredOrder() EntityOrder {
	id := r.Number("id of an entity with an action")
	r.types = nil
	return EntityOrder{id, r.entityAction((*Reader).Signed)}
}

// entityAction reads an action. coordinate reads its coordinates, which must not be negative
// in messages of clients.
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
		a.Repair.Value.Target = r.Number("target of a repair")
	}
	return a
}

func (r *Reader) attack() (a AttackAction) {
	if a.Target.Given = r.truth("target of an attack"); a.Target.Given {
		a.Target.Value = r.Number("target of an attack")
	}
	if a.Auto.Given = r.truth("auto_attack"); a.Auto.Given {
		a.Auto.Value.PathfindRange = r.Number("pathfind_range")
		from := len(r.types)
		r.types = r.kinds(r.types, "valid_targets")
		a.Auto.Value.ValidTargets = r.types[from:len(r.types):len(r.types)]
	}
	return a
}

// Append appends the id and the action in their binary form.
func (e *EntityOrder) Append(dst []byte) []byte {
	return e.EntityAction.append(AppendNumber(dst, e.ID))
}

func (e *EntityAction) append(dst []byte) []byte {
	dst = appendTruth(dst, e.Move.Given)
	if m := &e.Move.Value; e.Move.Given {
		dst = appendTruth(appendTruth(AppendNumbers(dst, m.X, m.Y), m.FindClosestPosition), m.BreakThrough)
	}
	dst = appendTruth(dst, e.Build.Given)
	if b := &e.Build.Value; e.Build.Given {
		dst = AppendNumbers(dst, int32(b.Type), b.X, b.Y)
	}
	dst = appendTruth(dst, e.Attack.Given)
	if e.Attack.Given {
		dst = e.Attack.Value.append(dst)
	}
	dst = appendTruth(dst, e.Repair.Given)
	if e.Repair.Given {
		dst = AppendNumber(dst, e.Repair.Value.Target)
	}
	return dst
}

func (a *AttackAction) append(dst []byte) []byte {
	dst = appendTruth(dst, a.Target.Given)
	if a.Target.Given {
		dst = AppendNumber(dst, a.Target.Value)
	}
	dst = appendTruth(dst, a.Auto.Given)
	if a.Auto.Given {
		dst = appendKinds(AppendNumber(dst, a.Auto.Value.PathfindRange), a.Auto.Value.ValidTargets)
	}
	return dst
}
