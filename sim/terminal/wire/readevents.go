package wire

import (
	"fmt"

	"moonfarm/sim/terminal"
)

// eventKeys are the keys of events, in the original's order.
var eventKeys = [...]string{"selfDestruct", "breach", "damage", "shield", "move", "spawn", "death", "attack", "melee"}

// allEvents reads the nine lists.
func (s *scanner) allEvents(e *Events) {
	var seen uint
	level := s.level
	for more := s.open('{', '}'); more; more = s.more('}') {
		switch s.key(eventKeys[:], &seen) {
		case 0:
			s.selfDestructs(e)
		case 1:
			s.breaches(e)
		case 2:
			s.damages(e)
		case 3:
			s.shields(e)
		case 4:
			s.moves(e)
		case 5:
			s.spawns(e)
		case 6:
			s.deaths(e)
		case 7:
			s.attacks(e)
		case 8:
			s.melees(e)
		}
		s.leave(level)
	}
	s.complete(eventKeys[:], seen)
}

// event begins the next event of a list, or reports that there is none.
func (s *scanner) event(more bool) bool {
	if !more {
		return false
	}
	s.take('[')
	return s.count()
}

// count counts an event or a target.
func (s *scanner) count() bool {
	if s.events++; s.events > MaxEvents {
		s.errorAt(s.at, fmt.Sprintf("expected at most %d events in a frame, found more", MaxEvents))
	}
	return s.err == nil
}

// kind reads a kind of unit, up to the given one.
func (s *scanner) kind(last terminal.Kind) terminal.Kind {
	return terminal.Kind(s.whole(int(last), "a kind of unit"))
}

// selfDestructs reads [[x,y],[[x,y],…],damage,kind,"id",player].
func (s *scanner) selfDestructs(list *Events) {
	list.SelfDestructs, list.Targets = list.SelfDestructs[:0], list.Targets[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.SelfDestructEvent
		e.At = s.pos()
		s.take(',')
		e.First = int32(len(list.Targets))
		for target := s.open('[', ']'); target && s.count(); target = s.more(']') {
			list.Targets = append(list.Targets, s.pos())
		}
		e.Count = int32(len(list.Targets)) - e.First
		s.take(',')
		e.Damage = s.float("damage")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.SelfDestructs = append(list.SelfDestructs, e)
	}
}

// breaches reads [[x,y],damage,kind,"id",player].
func (s *scanner) breaches(list *Events) {
	list.Breaches = list.Breaches[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.BreachEvent
		e.At = s.pos()
		s.take(',')
		e.Damage = s.float("damage")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Breaches = append(list.Breaches, e)
	}
}

// damages reads [[x,y],damage,kind,"id",player].
func (s *scanner) damages(list *Events) {
	list.Damages = list.Damages[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.DamageEvent
		e.At = s.pos()
		s.take(',')
		e.Damage = s.float("damage")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Damages = append(list.Damages, e)
	}
}

// shields reads [[x,y],[x,y],amount,kind,"support","unit",player].
func (s *scanner) shields(list *Events) {
	list.Shields = list.Shields[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.ShieldEvent
		e.From = s.pos()
		s.take(',')
		e.To = s.pos()
		s.take(',')
		e.Amount = s.float("an amount")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Unit = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Shields = append(list.Shields, e)
	}
}

// moves reads [[x,y],[x,y],[x,y],kind,"id",player], where the third cell is
// the next one planned, or [0,0].
func (s *scanner) moves(list *Events) {
	list.Moves, list.Planned = list.Moves[:0], list.Planned[:0]
	planned := false
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.MoveEvent
		e.From = s.pos()
		s.take(',')
		e.To = s.pos()
		s.take(',')
		var next terminal.Pos
		if !s.word("[0,0]") {
			next = s.plannedPos()
			planned = planned || next != terminal.Pos{}
		}
		list.Planned = append(list.Planned, next)
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Moves = append(list.Moves, e)
	}
	if !planned {
		list.Planned = list.Planned[:0]
	}
}

// plannedPos reads a cell, or [0,0] with white space in it.
func (s *scanner) plannedPos() terminal.Pos {
	s.take('[')
	start := s.at
	if s.whole(terminal.Side-1, "a coordinate") == 0 {
		s.take(',')
		if s.whole(terminal.Side-1, "a coordinate") == 0 {
			s.take(']')
			return terminal.Pos{}
		}
	}
	if s.err == nil {
		s.at = start
	}
	p := s.cell()
	s.take(']')
	return p
}

// spawns reads [[x,y],kind,"id",player].
func (s *scanner) spawns(list *Events) {
	list.Spawns = list.Spawns[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.SpawnEvent
		e.At = s.pos()
		s.take(',')
		e.Kind = s.kind(terminal.Upgrade)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Spawns = append(list.Spawns, e)
	}
}

// deaths reads [[x,y],kind,"id",player,removed], all with the flag or all
// without.
func (s *scanner) deaths(list *Events) {
	list.Deaths, list.Unflagged = list.Deaths[:0], false
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.DeathEvent
		e.At = s.pos()
		s.take(',')
		e.Kind = s.kind(terminal.Upgrade)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		if len(list.Deaths) == 0 {
			list.Unflagged = s.next(']')
		}
		if !list.Unflagged {
			s.take(',')
			e.Removed = s.flag()
		}
		s.take(']')
		list.Deaths = append(list.Deaths, e)
	}
}

// attacks reads [[x,y],[x,y],damage,kind,"id","target",player].
func (s *scanner) attacks(list *Events) {
	list.Attacks = list.Attacks[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.AttackEvent
		e.From = s.pos()
		s.take(',')
		e.To = s.pos()
		s.take(',')
		e.Damage = s.float("damage")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Target = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Attacks = append(list.Attacks, e)
	}
}

// melees reads [[x,y],[x,y],damage,kind,"id",player].
func (s *scanner) melees(list *Events) {
	list.Melees = list.Melees[:0]
	for more := s.event(s.open('[', ']')); more; more = s.event(s.more(']')) {
		var e terminal.AttackEvent
		e.From = s.pos()
		s.take(',')
		e.To = s.pos()
		s.take(',')
		e.Damage = s.float("damage")
		s.take(',')
		e.Kind = s.kind(terminal.Interceptor)
		s.take(',')
		e.ID = s.id()
		s.take(',')
		e.Player = s.player()
		s.take(']')
		list.Melees = append(list.Melees, e)
	}
}
