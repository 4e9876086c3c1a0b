package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// World is a whole state as the original's replay files hold it: everything, in
// the frame of the world. Its lists are maps of the original by id; they stay
// in the order in which they were read until Apply sorts them.
type World struct {
	NextID int32
	Header
	EntityProperties PropertyMap
	Reserved         int32 // 0 in all files there are; nobody knows what it is
	Players          []Seat
	Entities         []Entity
	Actions          []EntityOrder // the stored ones
}

// Seat is a player as a World has it.
type Seat struct {
	ID       int32 `json:"id"`
	Index    int32 `json:"index"` // from 0
	Score    int32 `json:"score"`
	Resource int32 `json:"resource"`
}

// Event is an attack, in the order in which they are processed.
type Event struct{ Attacker, Victim int32 }

// Delta is what a tick changes of a World. The actions are those that are in
// effect during the tick.
type Delta struct {
	NextID   int32
	Header   // after it
	Reserved int32
	Players  Changes[Seat]
	Entities Changes[Entity]
	Actions  Changes[EntityOrder]
}

// Recording reads a recorded game of which everything is known: a replay file
// of the original, or JSON Lines.
type Recording struct {
	World  World   // before the tick read last; after all are read the last there is
	Events []Event // of the tick read last
	Delta  Delta   // of the tick read last

	name string
	next func() error
	read bool // a tick was read
	at   func() string
	json bool
}

// NewRecording reads the state that a recording begins with. The name is for
// errors.
func NewRecording(name string, in io.Reader) (*Recording, error) {
	r := &Recording{name: name}
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	var err error
	if r.json = looksJSON(head); r.json {
		err = r.openJSON(b)
	} else {
		err = r.openReplay(b)
	}
	if err != nil {
		return nil, r.errorf("%w", err)
	}
	return r, nil
}

// looksJSON tells JSON Lines from a replay file by its first bytes. One could
// begin with these bytes only if its map had more than 500 million cells.
func looksJSON(head []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(head), []byte(`{"kind"`)) }

// Next reads a tick into Events and Delta, and World becomes what it was before
// it. After the last tick it returns io.EOF, and World is what is left.
func (r *Recording) Next() error {
	if r.read {
		if err := r.World.Apply(&r.Delta); err != nil {
			return r.errorf("%w", err)
		}
	}
	r.read = false
	r.Events = r.Events[:0]
	d := &r.Delta
	d.Players.clear()
	d.Entities.clear()
	d.Actions.clear()
	switch err := r.next(); {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return r.errorf("%w", err)
	}
	if want := r.World.CurrentTick + 1; d.CurrentTick != want {
		return r.errorf("found tick %d, want %d", d.CurrentTick, want)
	}
	if d.CurrentTick > r.World.MaxTickCount {
		return r.errorf("found tick %d, want the end: max_tick_count is %d", d.CurrentTick, r.World.MaxTickCount)
	}
	r.read = true
	return nil
}

// errorf is an error at the place that was read last.
func (r *Recording) errorf(format string, args ...any) error {
	where := ""
	if r.at != nil {
		where = r.at() + ": "
	}
	return fmt.Errorf("recording %s: %s%w", r.name, where, fmt.Errorf(format, args...))
}

// Apply makes the world what it is after the delta. It fails if something that
// is to go or to change is not there, or something new is there already.
func (w *World) Apply(d *Delta) error {
	same := w.Header
	same.CurrentTick = d.CurrentTick
	if d.Header != same {
		return fmt.Errorf("tick %d: the rules change", d.CurrentTick)
	}
	var err error
	if w.Players, err = seats.apply(w.Players, &d.Players); err == nil {
		if w.Entities, err = entities.apply(w.Entities, &d.Entities); err == nil {
			w.Actions, err = actions.apply(w.Actions, &d.Actions)
		}
	}
	if err != nil {
		return fmt.Errorf("tick %d: %w", d.CurrentTick, err)
	}
	w.NextID, w.Header, w.Reserved = d.NextID, d.Header, d.Reserved
	return nil
}

// copyTo copies the world; the lists that Apply changes keep the memory they
// have in dst.
func (w *World) copyTo(dst *World) {
	players, list, acts := dst.Players[:0], dst.Entities[:0], dst.Actions[:0]
	*dst = *w
	dst.Players = append(players, w.Players...)
	dst.Entities = append(list, w.Entities...)
	dst.Actions = append(acts, w.Actions...)
}

// Fill makes d what leads from one world to another, both sorted by id.
func (d *Delta) Fill(before, after *World) {
	d.NextID, d.Header, d.Reserved = after.NextID, after.Header, after.Reserved
	seats.compare(&d.Players, before.Players, after.Players)
	entities.compare(&d.Entities, before.Entities, after.Entities)
	actions.compare(&d.Actions, before.Actions, after.Actions)
}

// sameState reports whether two worlds have the same players, entities, ids and
// actions, in whatever order.
func (w *World) sameState(o *World) bool {
	return w.CurrentTick == o.CurrentTick && w.NextID == o.NextID && seats.same(w.Players, o.Players) &&
		entities.same(w.Entities, o.Entities) && actions.same(w.Actions, o.Actions)
}
