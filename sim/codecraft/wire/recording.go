package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
)

// World is a whole state as the original's replay files hold it: everything, in
// the frame of the world. Its lists are maps of the original by id; they stay
// in the order in which they were read until Apply sorts them.
type World struct {
	NextID           int32
	MapSize          int32
	FogOfWar         bool
	EntityProperties []TypeProperties
	MaxTickCount     int32
	MaxPathfindNodes int32
	CurrentTick      int32
	Reserved         int32 // 0 in all files there are; nobody knows what it is
	Players          []Seat
	Entities         []Entity
	Actions          []EntityOrder // the stored ones
}

// Seat is a player as a World has it.
type Seat struct {
	ID       int32
	Index    int32 // from 0
	Score    int32
	Resource int32
}

// Event is an attack, in the order in which they are processed.
type Event struct{ Attacker, Victim int32 }

// Delta is what a tick changes of a World. The actions are those that are in
// effect during the tick.
type Delta struct {
	NextID           int32
	MapSize          int32
	FogOfWar         bool
	MaxTickCount     int32
	MaxPathfindNodes int32
	CurrentTick      int32 // after it
	Reserved         int32
	Players          Changes[Seat]
	Entities         Changes[Entity]
	Actions          Changes[EntityOrder]
}

// Changes are what becomes of a map: items that are new, the ids of those that
// go, and the new values of others.
type Changes[T any] struct {
	New     []T
	Removed []int32
	Changed []T
}

func (c *Changes[T]) clear() {
	c.New, c.Removed, c.Changed = c.New[:0], c.Removed[:0], c.Changed[:0]
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
	if d.MapSize != w.MapSize || d.FogOfWar != w.FogOfWar || d.MaxTickCount != w.MaxTickCount || d.MaxPathfindNodes != w.MaxPathfindNodes {
		return fmt.Errorf("tick %d: the rules change", d.CurrentTick)
	}
	var err error
	if w.Players, err = apply(w.Players, &d.Players, seatID); err != nil {
		return fmt.Errorf("tick %d: player %w", d.CurrentTick, err)
	}
	if w.Entities, err = apply(w.Entities, &d.Entities, entityID); err != nil {
		return fmt.Errorf("tick %d: entity %w", d.CurrentTick, err)
	}
	if w.Actions, err = apply(w.Actions, &d.Actions, orderID); err != nil {
		return fmt.Errorf("tick %d: action of entity %w", d.CurrentTick, err)
	}
	w.NextID, w.CurrentTick, w.Reserved = d.NextID, d.CurrentTick, d.Reserved
	return nil
}

func seatID(p *Seat) int32         { return p.ID }
func entityID(e *Entity) int32     { return e.ID }
func orderID(a *EntityOrder) int32 { return a.ID }

// apply changes a map and leaves it sorted by id.
func apply[T any](list []T, c *Changes[T], id func(*T) int32) ([]T, error) {
	sortByID(list, id)
	for i := range c.Changed {
		at, ok := findByID(list, id(&c.Changed[i]), id)
		if !ok {
			return list, fmt.Errorf("%d changes, but is not there", id(&c.Changed[i]))
		}
		list[at] = c.Changed[i]
	}
	gone := slices.Clone(c.Removed)
	slices.Sort(gone)
	for i, of := range gone {
		if _, ok := findByID(list, of, id); !ok || i > 0 && gone[i-1] == of {
			return list, fmt.Errorf("%d is removed, but is not there", of)
		}
	}
	if len(gone) > 0 {
		to := 0
		for i := range list {
			if len(gone) > 0 && gone[0] == id(&list[i]) {
				gone = gone[1:]
				continue
			}
			list[to] = list[i]
			to++
		}
		list = list[:to]
	}
	list = append(list, c.New...)
	sortByID(list, id)
	for i := 1; i < len(list); i++ {
		if id(&list[i-1]) == id(&list[i]) {
			return list, fmt.Errorf("%d is there twice", id(&list[i]))
		}
	}
	return list, nil
}

// sortByID sorts what mostly is sorted.
func sortByID[T any](list []T, id func(*T) int32) {
	for i := 1; i < len(list); i++ {
		if id(&list[i-1]) > id(&list[i]) {
			slices.SortStableFunc(list, func(a, b T) int { return int(id(&a)) - int(id(&b)) })
			return
		}
	}
}

// findByID looks for an item of a sorted list.
func findByID[T any](list []T, of int32, id func(*T) int32) (int, bool) {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if id(&list[mid]) < of {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(list) && id(&list[lo]) == of
}
