package terminal

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// sceneFrames draws the frames of action phases. It plays on a game of its own,
// since the caller's game may have a Record or be in an action phase.
type sceneFrames struct {
	rules  tm.Rules
	game   *tm.Game // made by the first play
	record tm.Record
	mobile []tm.Piece
	dst    features.Scene
}

// play implements features.Kit.Frames: a scene after the commands, a scene after
// each action frame, and the state after the restore. The first two have the
// mobile units. The ids of units and of structures are those of the game.
func (f *sceneFrames) play(s *tm.State, t *sim.Turn, _ int, frame func(*features.Scene)) {
	if f.game == nil {
		f.game, _ = tm.New(f.rules) // they are the rules of a game, so there is no error
		f.game.Record(&f.record)
	}
	f.record.Clear()
	f.game.Deploy(s, t)
	f.moment(s, ", after the commands")
	AddEvents(&f.dst, &tm.Events{Spawns: f.record.Spawns})
	frame(&f.dst)
	for i, more := 0, true; more; i++ {
		more = f.game.Frame(s)
		f.moment(s, fmt.Sprintf(", after frame %d", i))
		events := f.record.Frame(i)
		if i == 0 {
			events.Spawns = nil // the scene before has them
		}
		AddEvents(&f.dst, &events)
		frame(&f.dst)
	}
	f.game.Restore(s)
	scene(&f.dst, f.game, &f.rules, s)
	AddEvents(&f.dst, &tm.Events{Deaths: f.record.Removed})
	frame(&f.dst)
}

// moment draws the state in an action phase, with the mobile units.
func (f *sceneFrames) moment(s *tm.State, when string) {
	scene(&f.dst, f.game, &f.rules, s)
	f.dst.Title += when
	f.mobile = f.game.AppendMobile(f.game.AppendMobile(f.mobile[:0], 0), 1)
	AddMobile(&f.dst, &f.rules, f.mobile)
}

// AddEvents adds the events of a frame to its scene, except the moves of units.
// Events have the names of the original. A spawn is one of the commands: "spawn",
// "upgrade" or "removal", which is a mark only. An explosion is a "self-destruct" to
// each of its targets, or at its own cell if it has none. A structure that its owner
// removed is "removed". Notes have the kind of the unit. The amounts of units that
// did the same at the same place are added.
func AddEvents(dst *features.Scene, f *tm.Events) {
	add := func(kind string, k tm.Kind, p sim.Player, from, to tm.Pos, amount float32) {
		x1, y1 := middle(from)
		x2, y2 := middle(to)
		e := features.Event{Kind: kind, Owner: int8(p), X1: x1, Y1: y1, X2: x2, Y2: y2, Amount: amount}
		if k < tm.Kinds {
			e.Note = k.String()
		}
		dst.AddEvent(e)
	}
	for i := range f.Spawns {
		e, kind := &f.Spawns[i], "spawn"
		if e.Kind == tm.Upgrade || e.Kind == tm.Removal {
			kind = e.Kind.String()
		}
		add(kind, e.Kind, e.Player, e.At, e.At, 1)
	}
	for _, e := range f.Breaches {
		add("breach", e.Kind, e.Player, e.At, e.At, e.Damage)
	}
	for _, e := range f.Shields {
		add("shield", e.Kind, e.Player, e.From, e.To, e.Amount)
	}
	for _, e := range f.SelfDestructs {
		targets := f.TargetsOf(e)
		if len(targets) == 0 {
			add("self-destruct", e.Kind, e.Player, e.At, e.At, 0)
		}
		for _, at := range targets {
			add("self-destruct", e.Kind, e.Player, e.At, at, e.Damage)
		}
	}
	for _, e := range f.Attacks {
		add("attack", e.Kind, e.Player, e.From, e.To, e.Damage)
	}
	for _, e := range f.Damages {
		add("damage", e.Kind, e.Player, e.At, e.At, e.Damage)
	}
	for _, e := range f.Deaths {
		kind := "death"
		if e.Removed {
			kind = "removed"
		}
		if !e.Repeated {
			add(kind, e.Kind, e.Player, e.At, e.At, 1)
		}
	}
}

// middle returns the middle of a cell.
func middle(at tm.Pos) (x, y float32) { return float32(at.X) + 0.5, float32(at.Y) + 0.5 }
