package wire

import (
	"fmt"
	"io"

	"moonfarm/sim/codecraft"
)

// A replay file of the original has no header: a World, then for each tick its
// events and its Delta, until the file ends.

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
	r.header(&w.Header, &w.EntityProperties)
	w.Reserved = r.signed("the number after current_tick")
	w.Players = readItems(r, w.Players[:0], seats.many, seats.readKeyed)
	w.Entities = readItems(r, w.Entities[:0], entities.many, entities.readKeyed)
	w.Actions = readItems(r, w.Actions[:0], actions.many, actions.read)
}

// Append appends the state as a replay file begins with it.
func (w *World) Append(dst []byte) []byte {
	dst = appendNumber(w.Header.append(appendNumber(dst, w.NextID), &w.EntityProperties), w.Reserved)
	dst = appendItems(dst, w.Players, seats.appendKeyed)
	dst = appendItems(dst, w.Entities, entities.appendKeyed)
	return appendItems(dst, w.Actions, actions.append)
}

func (r *Reader) events(dst []Event) []Event {
	return readItems(r, dst, "events", func(r *Reader) Event {
		r.tag("event", 1)
		return Event{r.number("attacker"), r.number("victim")}
	})
}

func (e *Event) append(dst []byte) []byte {
	return appendNumbers(dst, 0, e.Attacker, e.Victim)
}

func (r *Reader) delta(d *Delta) {
	d.NextID = r.number("next_id")
	d.MapSize = r.number("map_size")
	r.header(&d.Header, nil)
	d.Reserved = r.signed("the number after current_tick")
	seats.readChanges(r, &d.Players)
	entities.readChanges(r, &d.Entities)
	actions.readChanges(r, &d.Actions)
}

// Append appends the events of a tick and the delta as replay files hold them.
func (d *Delta) Append(dst []byte, events []Event) []byte {
	dst = appendItems(dst, events, (*Event).append)
	dst = appendNumber(d.Header.append(appendNumber(dst, d.NextID), nil), d.Reserved)
	dst = seats.appendChanges(dst, &d.Players)
	dst = entities.appendChanges(dst, &d.Entities)
	return actions.appendChanges(dst, &d.Actions)
}

func (r *Reader) seat() Seat {
	return Seat{r.number("id of a player"), r.number("index of a player"), r.number("score"), r.number("resource")}
}

func (p *Seat) append(dst []byte) []byte {
	return appendNumbers(dst, p.ID, p.Index, p.Score, p.Resource)
}

// order reads a stored action. Other than what a client sends it may go to
// places below the map, for it is in the frame of the world.
func (r *Reader) order() EntityOrder {
	id := r.number("id of an entity with an action")
	r.types = nil // it is kept from tick to tick
	return EntityOrder{id, r.entityAction((*Reader).signed)}
}

// Recorder writes a game as it is played as a replay file: make it with the
// game and its first state, then call Tick after every Step.
type Recorder struct {
	out        io.Writer
	err        error // the first
	file       []byte
	game       *codecraft.Game
	record     codecraft.Record
	last, next World
	events     []Event
	delta      Delta
}

// NewRecorder begins the file and has the game note its events for it, until
// Close. Of a game that begins as Reset begins it the file tells the seed:
// World.Seed.
func NewRecorder(out io.Writer, g *codecraft.Game, s *codecraft.State) *Recorder {
	r := &Recorder{out: out, game: g}
	r.last.Fill(g, s)
	r.write(r.last.tellSeed(g, s).Append(nil))
	g.Record(&r.record)
	return r
}

// Tick writes the tick that led to s. The first error of the file sticks.
func (r *Recorder) Tick(s *codecraft.State) error {
	r.next.Fill(r.game, s)
	r.events = r.events[:0]
	for _, h := range r.record.Attacks {
		r.events = append(r.events, Event{int32(h.Attacker), int32(h.Victim)})
	}
	r.delta.Fill(&r.last, &r.next)
	r.last, r.next = r.next, r.last
	return r.write(r.delta.Append(r.file[:0], r.events))
}

// Close ends the recording; the game goes on without. It returns the first
// error of the file.
func (r *Recorder) Close() error {
	r.game.Record(nil)
	return r.err
}

func (r *Recorder) write(b []byte) error {
	if r.file = b; r.err == nil {
		_, r.err = r.out.Write(b)
	}
	return r.err
}
