package recording

import (
	"fmt"
	"io"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// A replay file of the original has no header: a World, then the events and the Delta of each
// tick, until the file ends.

// openReplay reads the first state of a replay file.
func (r *Reader) openReplay(in io.Reader) error {
	b := protocol.NewReader(in)
	b.Limit(maxBytes)
	readWorld(b, &r.World)
	r.place = func() string { return fmt.Sprintf("tick %d", r.World.CurrentTick) }
	r.next = func() error {
		if b.End() {
			if err := b.Err(); err != nil {
				return err
			}
			return io.EOF
		}
		b.Limit(maxBytes)
		r.Events = readEvents(b, r.Events)
		readDelta(b, &r.Delta)
		return b.Err()
	}
	return b.Err()
}

func readWorld(r *protocol.Reader, w *World) {
	w.NextID = r.Number("next_id")
	w.MapSize = r.Number("map_size")
	if r.Err() == nil && w.MapSize != codecraft.Side {
		r.Refuse("map_size", fmt.Errorf("found %d, expected %d: this is no replay file, or its map has another size", w.MapSize, codecraft.Side))
	}
	r.Header(&w.Header, &w.EntityProperties)
	w.Reserved = r.Signed("the number after current_tick")
	w.Players = readItems(r, w.Players[:0], players.many, players.readKeyed)
	w.Entities = readItems(r, w.Entities[:0], entities.many, entities.readKeyed)
	w.Actions = readItems(r, w.Actions[:0], actions.many, actions.read)
}

// Append appends the state in the form of replay and state files.
func (w *World) Append(dst []byte) []byte {
	dst = protocol.AppendNumber(w.Header.Append(protocol.AppendNumber(dst, w.NextID), &w.EntityProperties), w.Reserved)
	dst = appendItems(dst, w.Players, players.appendKeyed)
	dst = appendItems(dst, w.Entities, entities.appendKeyed)
	return appendItems(dst, w.Actions, actions.append)
}

func readEvents(r *protocol.Reader, dst []Event) []Event {
	return readItems(r, dst, "events", func(r *protocol.Reader) Event {
		r.Tag("event", 1)
		return Event{r.Number("attacker"), r.Number("victim")}
	})
}

func (e *Event) append(dst []byte) []byte {
	return protocol.AppendNumbers(dst, 0, e.Attacker, e.Victim)
}

func readDelta(r *protocol.Reader, d *Delta) {
	d.NextID = r.Number("next_id")
	d.MapSize = r.Number("map_size")
	r.Header(&d.Header, nil)
	d.Reserved = r.Signed("the number after current_tick")
	players.readChanges(r, &d.Players)
	entities.readChanges(r, &d.Entities)
	actions.readChanges(r, &d.Actions)
}

// Append appends the events of a tick and the delta in the form of replay files.
func (d *Delta) Append(dst []byte, events []Event) []byte {
	dst = appendItems(dst, events, (*Event).append)
	dst = protocol.AppendNumber(d.Header.Append(protocol.AppendNumber(dst, d.NextID), nil), d.Reserved)
	dst = players.appendChanges(dst, &d.Players)
	dst = entities.appendChanges(dst, &d.Entities)
	return actions.appendChanges(dst, &d.Actions)
}

func readPlayer(r *protocol.Reader) PlayerRecord {
	return PlayerRecord{r.Number("id of a player"), r.Number("index of a player"), r.Number("score"), r.Number("resource")}
}

func (p *PlayerRecord) append(dst []byte) []byte {
	return protocol.AppendNumbers(dst, p.ID, p.Index, p.Score, p.Resource)
}
