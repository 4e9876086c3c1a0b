package wire

import (
	"fmt"
	"io"

	"moonfarm/sim/codecraft"
)

// A replay file of the original has no header: a World, then for each tick its
// events and its Delta, until the file ends.

// maxEntities is the most entities, actions or events in a state or a tick of a
// file: more than the cells of the map could hold.
const maxEntities = 1 << 15

// maxBytes is the most bytes of a state or a tick; a full map has a tenth.
const maxBytes = 1 << 24

// openReplay reads the state at the start of a replay file.
func (r *Recording) openReplay(in io.Reader) error {
	b := NewReader(in)
	b.Limit(maxBytes)
	b.world(&r.World)
	r.at = func() string { return fmt.Sprintf("tick %d", r.World.CurrentTick) }
	r.next = func() error {
		if b.End() {
			if b.err != nil {
				return b.err
			}
			return io.EOF
		}
		b.Limit(maxBytes)
		r.Events = b.events(r.Events)
		b.delta(&r.Delta)
		return b.err
	}
	return b.err
}

func (r *Reader) world(w *World) {
	w.NextID = r.number("next_id")
	w.MapSize = r.number("map_size")
	if r.err == nil && w.MapSize != codecraft.Side {
		r.at -= 4
		r.fail("map_size", fmt.Errorf("found %d, want %d: no replay file, or of another map", w.MapSize, codecraft.Side))
	}
	w.FogOfWar = r.truth("fog_of_war")
	w.EntityProperties = r.allProperties(w.EntityProperties[:0])
	w.MaxTickCount = r.number("max_tick_count")
	w.MaxPathfindNodes = r.number("max_pathfind_nodes")
	w.CurrentTick = r.number("current_tick")
	w.Reserved = r.signed("the number after current_tick")
	w.Players = items(r, w.Players[:0], "players", (*Reader).keyedSeat)
	w.Entities = items(r, w.Entities[:0], "entities", (*Reader).keyedEntity)
	w.Actions = items(r, w.Actions[:0], "actions", (*Reader).order)
}

// Append appends the state as a replay file begins with it.
func (w *World) Append(dst []byte) []byte {
	dst = appendTruth(appendNumber(appendNumber(dst, w.NextID), w.MapSize), w.FogOfWar)
	dst = appendAllProperties(dst, w.EntityProperties)
	dst = appendNumber(appendNumber(dst, w.MaxTickCount), w.MaxPathfindNodes)
	dst = appendNumber(appendNumber(dst, w.CurrentTick), w.Reserved)
	dst = appendItems(dst, w.Players, keyed(seatID, (*Seat).append))
	dst = appendItems(dst, w.Entities, keyed(entityID, (*Entity).append))
	return appendItems(dst, w.Actions, (*EntityOrder).appendStored)
}

func (r *Reader) events(dst []Event) []Event {
	return items(r, dst, "events", func(r *Reader) Event {
		r.tag("event", 1)
		return Event{r.number("attacker"), r.number("victim")}
	})
}

func (e *Event) append(dst []byte) []byte {
	return appendNumber(appendNumber(appendNumber(dst, 0), e.Attacker), e.Victim)
}

func (r *Reader) delta(d *Delta) {
	d.NextID = r.number("next_id")
	d.MapSize = r.number("map_size")
	d.FogOfWar = r.truth("fog_of_war")
	d.MaxTickCount = r.number("max_tick_count")
	d.MaxPathfindNodes = r.number("max_pathfind_nodes")
	d.CurrentTick = r.number("current_tick")
	d.Reserved = r.signed("the number after current_tick")
	readChanges(r, &d.Players, "players", (*Reader).seat, (*Reader).keyedSeat)
	readChanges(r, &d.Entities, "entities", (*Reader).entity, (*Reader).keyedEntity)
	readChanges(r, &d.Actions, "actions", (*Reader).order, (*Reader).keyedOrder)
}

// Append appends the events of a tick and the delta as replay files hold them.
func (d *Delta) Append(dst []byte, events []Event) []byte {
	dst = appendItems(dst, events, (*Event).append)
	dst = appendTruth(appendNumber(appendNumber(dst, d.NextID), d.MapSize), d.FogOfWar)
	dst = appendNumber(appendNumber(dst, d.MaxTickCount), d.MaxPathfindNodes)
	dst = appendNumber(appendNumber(dst, d.CurrentTick), d.Reserved)
	dst = appendChanges(dst, &d.Players, seatID, (*Seat).append)
	dst = appendChanges(dst, &d.Entities, entityID, (*Entity).append)
	return appendChanges(dst, &d.Actions, orderID, (*EntityOrder).appendStored)
}

// items appends a list, whose memory grows with what is really read.
func items[T any](r *Reader, dst []T, what string, read func(*Reader) T) []T {
	n := r.count(what, 4)
	if r.err == nil && n > maxEntities {
		r.at -= 4
		r.fail(what, fmt.Errorf("found %d, want at most %d", n, maxEntities))
	}
	for i := 0; i < n && r.err == nil; i++ {
		dst = append(dst, read(r))
	}
	return dst
}

func appendItems[T any](dst []byte, list []T, item func(*T, []byte) []byte) []byte {
	dst = appendNumber(dst, int32(len(list)))
	for i := range list {
		dst = item(&list[i], dst)
	}
	return dst
}

func readChanges[T any](r *Reader, c *Changes[T], what string, item, keyed func(*Reader) T) {
	c.New = items(r, c.New, "new "+what, item)
	c.Removed = items(r, c.Removed, "removed "+what, func(r *Reader) int32 { return r.number("id that is removed") })
	c.Changed = items(r, c.Changed, "changed "+what, keyed)
}

func appendChanges[T any](dst []byte, c *Changes[T], id func(*T) int32, item func(*T, []byte) []byte) []byte {
	dst = appendItems(dst, c.New, item)
	dst = appendItems(dst, c.Removed, func(n *int32, dst []byte) []byte { return appendNumber(dst, *n) })
	return appendItems(dst, c.Changed, keyed(id, item))
}

// keyed writes an item of a map whose values hold their keys, too.
func keyed[T any](id func(*T) int32, item func(*T, []byte) []byte) func(*T, []byte) []byte {
	return func(v *T, dst []byte) []byte { return item(v, appendNumber(dst, id(v))) }
}

// key checks that a value has the id that it is found under.
func (r *Reader) key(key, id int32) {
	if r.err == nil && key != id {
		r.fail("item of a map", fmt.Errorf("found id %d under key %d", id, key))
	}
}

func (r *Reader) seat() Seat {
	return Seat{r.number("id of a player"), r.number("index of a player"), r.number("score"), r.number("resource")}
}

func (p *Seat) append(dst []byte) []byte {
	return appendNumber(appendNumber(appendNumber(appendNumber(dst, p.ID), p.Index), p.Score), p.Resource)
}

func (r *Reader) keyedSeat() Seat {
	key := r.number("key of a player")
	p := r.seat()
	r.key(key, p.ID)
	return p
}

func (r *Reader) keyedEntity() Entity {
	key := r.number("key of an entity")
	e := r.entity()
	r.key(key, e.ID)
	return e
}

func (r *Reader) keyedOrder() EntityOrder {
	key := r.number("key of an action")
	a := r.order()
	r.key(key, a.ID)
	return a
}

// order reads a stored action. Other than what a client sends it may go to
// places below the map, for it is in the frame of the world.
func (r *Reader) order() (a EntityOrder) {
	a.ID = r.number("id of an entity with an action")
	if a.Move.Given = r.truth("move_action"); a.Move.Given {
		a.Move.Value = MoveAction{r.signed("x of a move"), r.signed("y of a move"), r.truth("find_closest_position"), r.truth("break_through")}
	}
	if a.Build.Given = r.truth("build_action"); a.Build.Given {
		a.Build.Value = BuildAction{r.kind("type to build"), r.signed("x of a build"), r.signed("y of a build")}
	}
	if a.Attack.Given = r.truth("attack_action"); a.Attack.Given {
		r.types = nil // it is kept from tick to tick
		a.Attack.Value = r.attack()
	}
	if a.Repair.Given = r.truth("repair_action"); a.Repair.Given {
		a.Repair.Value.Target = r.number("target of a repair")
	}
	return a
}

func (a *EntityOrder) appendStored(dst []byte) []byte {
	return a.EntityAction.append(appendNumber(dst, a.ID))
}

// ReplayWriter writes a replay file. The first error sticks and is returned by
// every later call.
type ReplayWriter struct {
	out io.Writer
	buf []byte
	err error
}

// NewReplayWriter writes the state that a replay file begins with.
func NewReplayWriter(out io.Writer, w *World) *ReplayWriter {
	r := &ReplayWriter{out: out}
	r.write(w.Append(nil))
	return r
}

// Tick writes a tick.
func (w *ReplayWriter) Tick(events []Event, d *Delta) error {
	return w.write(d.Append(w.buf[:0], events))
}

func (w *ReplayWriter) write(b []byte) error {
	if w.buf = b; w.err == nil {
		_, w.err = w.out.Write(b)
	}
	return w.err
}
