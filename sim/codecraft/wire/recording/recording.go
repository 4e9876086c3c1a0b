// Package recording reads and writes recordings of the original CodeCraft 2020: replay files,
// which begin with a state and hold the changes of every tick; state files, which are the
// beginnings of replay files; and recordings of games, views and messages as JSON Lines. It
// makes states of them. It neither plays games nor checks rules; package replay does.
package recording

import (
	"bufio"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Bounds of the input: a small or damaged file must not take much memory or time.
const (
	maxItems = 1 << 15 // entities, actions or events in a state or a tick: more than the cells of the map
	maxBytes = 1 << 24 // bytes of a state or a tick of a replay file; a full map has a tenth
	maxLine  = 1 << 22 // bytes of a line of JSON; the longest of the recordings has 180 KB, and a full map with an action for every cell 1.5 MB
	maxBlank = 1 << 16 // bytes of consecutive blank lines: a small compressed file can hold gigabytes of them
)

// World is a complete state as in the original's replay files, in the frame of the world. Its
// lists are maps of the original by id; they stay in the order in which they were read until
// Apply sorts them.
type World struct {
	NextID int32
	protocol.Header
	EntityProperties protocol.PropertyMap
	Reserved         int32 // 0 in all known files; its meaning is unknown
	Players          []PlayerRecord
	Entities         []protocol.Entity
	Actions          []protocol.EntityOrder // the stored ones
}

// PlayerRecord is a player in a World.
type PlayerRecord struct {
	ID       int32 `json:"id"`
	Index    int32 `json:"index"` // from 0
	Score    int32 `json:"score"`
	Resource int32 `json:"resource"`
}

// Event is an attack. Events are in the order in which the original processes them.
type Event struct{ Attacker, Victim int32 }

// Delta has the changes of a World in a tick. Its actions are in effect during the tick.
type Delta struct {
	NextID          int32
	protocol.Header // after the tick
	Reserved        int32
	Players         Changes[PlayerRecord]
	Entities        Changes[protocol.Entity]
	Actions         Changes[protocol.EntityOrder]
}

// Reader reads a recorded game with complete states: a replay file of the original, or JSON
// Lines.
type Reader struct {
	World  World   // before the tick read last; after the last tick, the final state
	Events []Event // of the tick read last
	Delta  Delta   // of the tick read last

	name  string
	next  func() error
	read  bool          // a tick was read and is not yet applied to World
	place func() string // where the reader is, for errors
	lines *jsonLines    // nil: a replay file
}

// NewReader returns a Reader that has read the first state of a recording. The name is for
// errors.
func NewReader(name string, in io.Reader) (*Reader, error) {
	r := &Reader{name: name}
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	var err error
	if looksJSON(head) {
		err = r.openJSON(b)
	} else {
		err = r.openReplay(b)
	}
	if err != nil {
		return nil, r.Errorf("%w", err)
	}
	return r, nil
}

// Next reads a tick into Events and Delta, and sets World to the state before it. After the
// last tick it returns io.EOF, and World is the final state.
func (r *Reader) Next() error {
	if r.read {
		if err := r.World.Apply(&r.Delta); err != nil {
			return r.Errorf("%w", err)
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
		return r.Errorf("%w", err)
	}
	if want := r.World.CurrentTick + 1; d.CurrentTick != want {
		return r.Errorf("found tick %d, expected %d", d.CurrentTick, want)
	}
	if d.CurrentTick > r.World.MaxTickCount {
		return r.Errorf("found tick %d, expected the end: max_tick_count is %d", d.CurrentTick, r.World.MaxTickCount)
	}
	r.read = true
	return nil
}

// Line returns the number of the line read last, from 1; 0 in a replay file.
func (r *Reader) Line() int {
	if r.lines == nil {
		return 0
	}
	return r.lines.line
}

// Inapplicable reports whether the last call of Next failed because the tick before it cannot
// be applied to World.
func (r *Reader) Inapplicable() bool { return r.read }

// Errorf returns an error with the name of the recording and the place that was read last.
func (r *Reader) Errorf(format string, args ...any) error {
	where := ""
	if r.place != nil {
		where = r.place() + ": "
	}
	return fmt.Errorf("recording %s: %s%w", r.name, where, fmt.Errorf(format, args...))
}

// Apply changes the world by the delta. It fails if a removed or changed item does not exist,
// or a new item already exists.
func (w *World) Apply(d *Delta) error {
	same := w.Header
	same.CurrentTick = d.CurrentTick
	if d.Header != same {
		return fmt.Errorf("tick %d: the rules change", d.CurrentTick)
	}
	var err error
	if w.Players, err = players.apply(w.Players, &d.Players); err == nil {
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

// CopyTo copies the world to dst and reuses the memory of the lists that Apply changes.
func (w *World) CopyTo(dst *World) {
	old := *dst
	*dst = *w
	dst.Players = append(old.Players[:0], w.Players...)
	dst.Entities = append(old.Entities[:0], w.Entities...)
	dst.Actions = append(old.Actions[:0], w.Actions...)
}

// Fill sets d to the changes from one world to another. Both must be sorted by id.
func (d *Delta) Fill(before, after *World) {
	d.NextID, d.Header, d.Reserved = after.NextID, after.Header, after.Reserved
	players.compare(&d.Players, before.Players, after.Players)
	entities.compare(&d.Entities, before.Entities, after.Entities)
	actions.compare(&d.Actions, before.Actions, after.Actions)
}

// SortByID sorts the players and the entities of the world.
func (w *World) SortByID() {
	sortByID(w.Players, playerID)
	SortEntities(w.Entities)
}

// SameState reports whether two worlds have the same players, entities, actions, tick and next
// id, in any order.
func (w *World) SameState(o *World) bool {
	return w.CurrentTick == o.CurrentTick && w.NextID == o.NextID && players.same(w.Players, o.Players) &&
		entities.same(w.Entities, o.Entities) && actions.same(w.Actions, o.Actions)
}

// Orders sets t to the orders with which the players of w give their entities the new actions
// of this tick. With the seed of the game these orders play the game again, except that no
// recording has the order to an entity in the tick of its death.
func (d *Delta) Orders(t *sim.Turn, w *World, r *codecraft.Rules) {
	t.Clear()
	var orders [codecraft.PartsOfAction]sim.Order
	for _, list := range [2][]protocol.EntityOrder{d.Actions.New, d.Actions.Changed} {
		for i := range list {
			at, ok := findByID(w.Entities, list[i].ID, entityID)
			if !ok || !w.Entities[at].PlayerID.Given {
				continue
			}
			p := w.Entities[at].PlayerID.Value - 1
			if p < 0 || p >= r.Players {
				continue
			}
			a := protocol.ActionOf(&list[i].EntityAction, 0, r)
			for _, o := range a.AppendOrders(orders[:0], uint32(list[i].ID)) {
				t.Add(sim.Player(p), o)
			}
		}
	}
}
