package frame

import (
	"fmt"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// eventKeys lists the keys of events, in the original's order.
var eventKeys = [...]string{"selfDestruct", "breach", "damage", "shield", "move", "spawn", "death", "attack", "melee"}

// allEvents reads the nine lists of events.
func (s *scanner) allEvents(e *Events) {
	s.Fields(eventKeys[:], 0, func(i int) {
		switch i {
		case 0:
			e.Targets = e.Targets[:0]
			e.SelfDestructs = readEvents(s, e.SelfDestructs, func() terminal.SelfDestructEvent { return s.selfDestruct(&e.Targets) })
		case 1:
			e.Breaches = readEvents(s, e.Breaches, func() terminal.BreachEvent { return terminal.BreachEvent(s.damage()) })
		case 2:
			e.Damages = readEvents(s, e.Damages, s.damage)
		case 3:
			e.Shields = readEvents(s, e.Shields, s.shield)
		case 4:
			s.moves(e)
		case 5:
			e.Spawns = readEvents(s, e.Spawns, s.spawn)
		case 6:
			s.deaths(e)
		case 7:
			e.Attacks = readEvents(s, e.Attacks, func() terminal.AttackEvent { return s.attack(true) })
		case 8:
			e.Melees = readEvents(s, e.Melees, func() terminal.AttackEvent { return s.attack(false) })
		}
	})
}

// readEvents reads a list of events; one reads the fields of an event.
func readEvents[E any](s *scanner, list []E, one func() E) []E {
	list = list[:0]
	for more := s.Open('[', ']'); more; more = s.More(']') {
		s.Take('[')
		if !s.count() {
			break
		}
		e := one()
		s.Take(']')
		list = append(list, e)
	}
	return list
}

// count counts an event or a target. It returns false after an error.
func (s *scanner) count() bool {
	if s.events++; s.events > MaxEvents {
		s.ErrorAt(s.At, fmt.Sprintf("expected at most %d events in a frame, found more", MaxEvents))
	}
	return s.Err == nil
}

// thenPos reads a cell after another field.
func (s *scanner) thenPos() terminal.Pos {
	s.Take(',')
	return s.pos()
}

// thenFloat reads a number after another field.
func (s *scanner) thenFloat(what string) float32 {
	s.Take(',')
	return s.Float32(what)
}

// thenKind reads a kind of unit, at most last, and an id after another field.
func (s *scanner) thenKind(last terminal.Kind) (terminal.Kind, uint32) {
	s.Take(',')
	k := terminal.Kind(s.Whole(int(last), "a kind of unit"))
	return k, s.thenID()
}

// thenID reads an id after another field.
func (s *scanner) thenID() uint32 {
	s.Take(',')
	return s.id()
}

// thenPlayer reads a player after another field.
func (s *scanner) thenPlayer() sim.Player {
	s.Take(',')
	return s.player()
}

// selfDestruct reads [x,y],[[x,y],…],damage,kind,"id",player.
func (s *scanner) selfDestruct(targets *[]terminal.Pos) (e terminal.SelfDestructEvent) {
	e.At = s.pos()
	s.Take(',')
	e.First = int32(len(*targets))
	for more := s.Open('[', ']'); more && s.count(); more = s.More(']') {
		*targets = append(*targets, s.pos())
	}
	e.Count = int32(len(*targets)) - e.First
	e.Damage = s.thenFloat("damage")
	e.Kind, e.ID = s.thenKind(terminal.Interceptor)
	e.Player = s.thenPlayer()
	return e
}

// damage reads [x,y],damage,kind,"id",player, the fields of damage and breach events.
func (s *scanner) damage() (e terminal.DamageEvent) {
	e.At = s.pos()
	e.Damage = s.thenFloat("damage")
	e.Kind, e.ID = s.thenKind(terminal.Interceptor)
	e.Player = s.thenPlayer()
	return e
}

// shield reads [x,y],[x,y],amount,kind,"support","unit",player.
func (s *scanner) shield() (e terminal.ShieldEvent) {
	e.From, e.To = s.pos(), s.thenPos()
	e.Amount = s.thenFloat("an amount")
	e.Kind, e.ID = s.thenKind(terminal.Interceptor)
	e.Unit, e.Player = s.thenID(), s.thenPlayer()
	return e
}

// moves reads entries [[x,y],[x,y],[x,y],kind,"id",player]. The third cell is the next one
// that the unit will go to, or [0,0].
func (s *scanner) moves(list *Events) {
	list.Planned = list.Planned[:0]
	planned := false
	list.Moves = readEvents(s, list.Moves, func() (e terminal.MoveEvent) {
		e.From, e.To = s.pos(), s.thenPos()
		s.Take(',')
		var next terminal.Pos
		if !s.Word("[0,0]") {
			next = s.plannedPos()
			planned = planned || next != terminal.Pos{}
		}
		list.Planned = append(list.Planned, next)
		e.Kind, e.ID = s.thenKind(terminal.Interceptor)
		e.Player = s.thenPlayer()
		return e
	})
	if !planned {
		list.Planned = list.Planned[:0]
	}
}

// plannedPos reads a cell, or [0,0] with white space between its tokens.
func (s *scanner) plannedPos() terminal.Pos {
	s.Take('[')
	start := s.At
	if s.Whole(terminal.Side-1, "a coordinate") == 0 {
		s.Take(',')
		if s.Whole(terminal.Side-1, "a coordinate") == 0 {
			s.Take(']')
			return terminal.Pos{}
		}
	}
	if s.Err == nil {
		s.At = start
	}
	p := s.cell()
	s.Take(']')
	return p
}

// spawn reads [x,y],kind,"id",player.
func (s *scanner) spawn() (e terminal.SpawnEvent) {
	e.At = s.pos()
	e.Kind, e.ID = s.thenKind(terminal.Upgrade)
	e.Player = s.thenPlayer()
	return e
}

// deaths reads entries [[x,y],kind,"id",player,removed]. Either all of a list have the flag
// removed, or none has it.
func (s *scanner) deaths(list *Events) {
	first := true
	list.Unflagged = false
	list.Deaths = readEvents(s, list.Deaths, func() terminal.DeathEvent {
		e := s.spawn()
		if first {
			list.Unflagged, first = s.Next(']'), false
		}
		removed := false
		if !list.Unflagged {
			s.Take(',')
			removed = s.Bool()
		}
		return terminal.DeathEvent{At: e.At, Kind: e.Kind, Player: e.Player, ID: e.ID, Removed: removed}
	})
}

// attack reads [x,y],[x,y],damage,kind,"id","target",player. A melee event has no target.
func (s *scanner) attack(target bool) (e terminal.AttackEvent) {
	e.From, e.To = s.pos(), s.thenPos()
	e.Damage = s.thenFloat("damage")
	e.Kind, e.ID = s.thenKind(terminal.Interceptor)
	if target {
		e.Target = s.thenID()
	}
	e.Player = s.thenPlayer()
	return e
}
