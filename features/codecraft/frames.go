package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// sceneFrames draws ticks with their events. It plays on a game of its own, since
// the caller's game may have a Record.
type sceneFrames struct {
	encoder *Encoder
	game    *cc.Game // made by the first play
	record  cc.Record
	before  cc.State
	dst     features.Scene
}

// play implements features.Kit.Frames: the state after the tick, with the events
// of the tick. Events are at the places of the entities before the tick, when
// attacks, builds and repairs happen; moves come after them. A seat sees the
// events whose places it sees, both if there are two.
func (f *sceneFrames) play(s *cc.State, t *sim.Turn, seat int, frame func(*features.Scene)) {
	if f.game == nil {
		f.game, _ = cc.New(f.encoder.rules) // they are the rules of a game, so there is no error
		f.game.Record(&f.record)
	}
	f.before.Clone(s)
	f.game.Step(s, t)
	f.encoder.scene(&f.dst, s, seat)
	tick := ticking{before: f.encoder.look(&f.dst, &f.before, seat), after: f.encoder.look(&f.dst, s, seat)}
	tick.attacks(&f.record)
	for _, w := range f.record.Builds { // the new entity is in the state after the tick only
		tick.work("build", w, tick.after, 1)
	}
	for _, w := range f.record.Repairs {
		tick.work("repair", w, tick.before, float32(w.Health))
	}
	for _, id := range f.record.Died {
		tick.death(id)
	}
	tick.completions()
	frame(&f.dst)
}

// ticking adds the events of a tick to a scene: what the seat sees of the state
// before the tick, and of the state after it.
type ticking struct{ before, after scenery }

// end is an entity at one end of an event.
type end struct {
	x, y float32 // its middle
	kind cc.Type
	of   int8
	seen bool
}

// end returns the entity with an id.
func (s *scenery) end(id uint32) end {
	x, y, half, seen := s.target(id)
	e := end{x: x + half, y: y + half, kind: cc.Resource, of: features.Nobody, seen: seen}
	if i := s.s.Find(id); i >= 0 {
		e.kind, e.of = s.s.Units[i].Type, int8(s.s.Units[i].Owner)
	}
	return e
}

// add adds an event between two entities if the seat sees both. It adds no
// amounts of equal events: a seat does not see the events between them.
func (t *ticking) add(kind string, owner int8, from, to end, amount float32, note string) {
	if from.seen && to.seen {
		dst := t.after.dst
		dst.Events = append(dst.Events, features.Event{Kind: kind, Owner: owner, X1: from.x, Y1: from.y, X2: to.x, Y2: to.y, Amount: amount, Note: note})
	}
}

// attacks adds the attacks with their damage. An attack by which its player gets
// resource is a "collect" with the amount of resource.
func (t *ticking) attacks(r *cc.Record) {
	for i, h := range r.Attacks {
		from, to := t.before.end(h.Attacker), t.before.end(h.Victim)
		types := &t.before.rules.Types
		kind, amount, note := "attack", r.Dealt[i], kindName(from.kind)
		if n := amount * types[to.kind].Yield; n != 0 && types[from.kind].Collects {
			kind, amount = "collect", n
		}
		if amount == 0 {
			note += ", wasted"
		}
		t.add(kind, from.of, from, to, float32(amount), note)
	}
}

// work adds a build or a repair. The state that has the target is in.
func (t *ticking) work(kind string, w cc.Work, in scenery, amount float32) {
	from, to := t.before.end(w.Worker), in.end(w.Target)
	t.add(kind, from.of, from, to, amount, kindName(to.kind))
}

// death adds the removal of an entity, at its place before the tick.
func (t *ticking) death(id uint32) {
	e := t.before.end(id)
	t.add("death", e.of, e, e, 1, kindName(e.kind))
}

// completions adds the entities that the tick made active, except those that are
// active from their first tick on.
func (t *ticking) completions() {
	s := t.after.s
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if at := t.before.s.Find(u.ID); at >= 0 && u.Active && !t.before.s.Units[at].Active {
			e := t.after.end(u.ID)
			t.add("complete", e.of, e, e, 1, kindName(e.kind))
		}
	}
}
