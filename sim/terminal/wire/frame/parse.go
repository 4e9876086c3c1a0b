package frame

import (
	"fmt"

	"moonfarm/sim/terminal"
	"moonfarm/sim/texts/jsonscan"
)

// Parse reads one frame of any year since 2018 into f: a line of a replay file, or a line
// that the original sends to bots. The line must have each key once, in any order, and no
// others; endStats may be missing.
//
// Parse reuses the memory of f's lists; once they have grown, it allocates nothing but End.
// Errors have the form "column 7: p1Units: expected …, found …" and leave f undefined. Parse
// fails for wrong types and lengths of lists, cells outside the arena, ids above
// terminal.MaxID, numbers beyond float32, and more than MaxUnits units or MaxEvents events.
// It does not check whether a match can have the frame.
func Parse(f *Frame, line []byte) error {
	s := scanner{Scanner: jsonscan.Scanner{Text: line}}
	s.frame(f)
	return s.Err
}

// frameKeys lists the keys of a frame.
var frameKeys = [...]string{"p2Units", "turnInfo", "p1Stats", "endStats", "p1Units", "p2Stats", "events"}

const endStatsKey = 3

// frame reads the whole text.
func (s *scanner) frame(f *Frame) {
	f.End = nil
	s.Fields(frameKeys[:], 1<<endStatsKey, func(i int) {
		switch i {
		case 0:
			s.unitLists(&f.Units[1])
		case 1:
			s.turnInfo(f)
		case 2:
			s.stats(&f.Stats[0])
		case endStatsKey:
			f.End = new(EndStats)
			s.endStats(f.End)
		case 4:
			s.unitLists(&f.Units[0])
		case 5:
			s.stats(&f.Stats[1])
		case 6:
			s.allEvents(&f.Events)
		}
	})
	s.End()
}

// turnInfo reads [phase, turn, frame, index]; the index may be missing.
func (s *scanner) turnInfo(f *Frame) {
	s.Take('[')
	f.Phase = s.Whole(PhaseEnd, "a phase from 0 to 2")
	s.Take(',')
	f.Turn = s.Whole(maxTurn, "a turn")
	s.Take(',')
	f.Number = -1
	if s.Next('-') {
		if !s.Word("-1") {
			s.Fail("a frame number from -1 on")
		}
	} else {
		f.Number = s.Whole(maxFrame, "a frame number from -1 on")
	}
	f.Index = -1
	if s.Next(',') {
		s.At++
		f.Index = s.Whole(maxFrame, "an index from 0 on")
	}
	s.Take(']')
}

// stats reads [health, cores, bits, milliseconds].
func (s *scanner) stats(t *Stats) {
	s.Take('[')
	t.Health = s.Float32("health")
	s.Take(',')
	t.Cores = s.Float32("cores")
	s.Take(',')
	t.Bits = s.Float32("bits")
	s.Take(',')
	t.Time = s.Float64("milliseconds")
	s.Take(']')
}

// unitLists reads a player's seven or eight lists of units.
func (s *scanner) unitLists(u *Units) {
	s.Take('[')
	for k := range u {
		if k > 0 {
			if k == int(terminal.Upgrade) && s.Next(']') {
				u[k] = nil
				break
			}
			s.Take(',')
		}
		if u[k] == nil {
			u[k] = []Unit{}
		}
		u[k] = s.unitList(u[k][:0])
	}
	s.Take(']')
}

// unitList reads [[x,y,value,"id"],…].
func (s *scanner) unitList(list []Unit) []Unit {
	for more := s.Open('[', ']'); more; more = s.More(']') {
		if s.units++; s.units > MaxUnits {
			s.ErrorAt(s.At, fmt.Sprintf("expected at most %d units in a frame, found more", MaxUnits))
			break
		}
		var u Unit
		s.Take('[')
		u.At = s.cell()
		s.Take(',')
		u.Value = s.Float32("a unit's health or turns")
		s.Take(',')
		u.ID = s.id()
		s.Take(']')
		list = append(list, u)
	}
	return list
}

// endKeys lists the keys of endStats.
var endKeys = [...]string{"duration", "winner", "player1", "frames", "player2", "turns"}

// endStats reads the totals of a match.
func (s *scanner) endStats(e *EndStats) {
	s.Fields(endKeys[:], 0, func(i int) {
		switch i {
		case 0:
			e.Duration = s.Float64("milliseconds")
		case 1:
			e.Winner = s.Whole(2, "0 (nobody) or player 1 or 2")
		case 2:
			s.playerEnd(&e.Players[0])
		case 3:
			e.Frames = s.Whole(maxFrame, "a number of frames")
		case 4:
			s.playerEnd(&e.Players[1])
		case 5:
			e.Turns = s.Whole(maxTurn, "a number of turns")
		}
	})
}

// playerKeys lists the keys of a player in endStats. Files of 2018 lack some.
var playerKeys = [...]string{
	"stationary_resource_spent", "dynamic_resource_spoiled", "crashed", "name", "dynamic_resource_destroyed",
	"time_damage_taken", "dynamic_resource_spent", "stationary_resource_left_on_board", "timeout_death",
	"points_scored", "total_computation_time",
}

// values returns pointers to the values of playerKeys, with their names in errors.
func (p *PlayerEnd) values() [len(playerKeys)]playerValue {
	const amount = "an amount"
	return [...]playerValue{
		{&p.StructureSpent, amount}, {&p.MobileSpoiled, amount}, {&p.Crashed, ""}, {&p.Name, "a name"}, {&p.MobileLost, amount},
		{&p.TimeDamage, "health"}, {&p.MobileSpent, amount}, {&p.StructureLeft, amount}, {&p.TimeoutDeath, ""},
		{&p.Points, "points"}, {&p.Time, "milliseconds"},
	}
}

// playerValue is a pointer to a value of a player, and its name in errors.
type playerValue struct {
	at   any // *float32, *float64, *bool or *string
	name string
}

// playerEnd reads a player's totals, in which keys may be missing.
func (s *scanner) playerEnd(p *PlayerEnd) {
	const all = 1<<len(playerKeys) - 1
	values := p.values()
	seen := s.Fields(playerKeys[:], all, func(i int) {
		switch at := values[i].at.(type) {
		case *float32:
			*at = s.Float32(values[i].name)
		case *float64:
			*at = s.Float64(values[i].name)
		case *bool:
			*at = s.Bool()
		case *string:
			*at = string(s.Quoted(values[i].name))
		}
	})
	p.absent = uint16(^seen & all)
}
