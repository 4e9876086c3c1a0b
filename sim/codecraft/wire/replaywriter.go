package wire

import (
	"io"

	"moonfarm/sim/codecraft"
)

// Recorder writes a game as it is played as a replay file: make it with the
// game and its first state, then call Tick after every Step.
type Recorder struct {
	out        *ReplayWriter
	game       *codecraft.Game
	record     codecraft.Record
	last, next World
	events     []Event
	delta      Delta
}

// NewRecorder begins the file and has the game note its events for it, until
// Close.
func NewRecorder(out io.Writer, g *codecraft.Game, s *codecraft.State) *Recorder {
	r := &Recorder{game: g}
	r.last.Fill(g, s)
	r.out = NewReplayWriter(out, &r.last)
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
	return r.out.Tick(r.events, &r.delta)
}

// Close ends the recording; the game goes on without. It returns the first
// error of the file.
func (r *Recorder) Close() error {
	r.game.Record(nil)
	return r.out.err
}

// Fill makes d what leads from one world to another, both sorted by id.
func (d *Delta) Fill(before, after *World) {
	d.NextID, d.MapSize, d.FogOfWar = after.NextID, after.MapSize, after.FogOfWar
	d.MaxTickCount, d.MaxPathfindNodes = after.MaxTickCount, after.MaxPathfindNodes
	d.CurrentTick, d.Reserved = after.CurrentTick, after.Reserved
	fillChanges(&d.Players, before.Players, after.Players, seatID, func(a, b *Seat) bool { return *a == *b })
	fillChanges(&d.Entities, before.Entities, after.Entities, entityID, func(a, b *Entity) bool { return *a == *b })
	fillChanges(&d.Actions, before.Actions, after.Actions, orderID, func(a, b *EntityOrder) bool {
		return equalActions(&a.EntityAction, &b.EntityAction)
	})
}

// fillChanges merges two lists that are sorted by id.
func fillChanges[T any](c *Changes[T], before, after []T, id func(*T) int32, equal func(a, b *T) bool) {
	c.clear()
	i, k := 0, 0
	for i < len(before) || k < len(after) {
		switch {
		case k == len(after) || i < len(before) && id(&before[i]) < id(&after[k]):
			c.Removed = append(c.Removed, id(&before[i]))
			i++
		case i == len(before) || id(&after[k]) < id(&before[i]):
			c.New = append(c.New, after[k])
			k++
		default:
			if !equal(&before[i], &after[k]) {
				c.Changed = append(c.Changed, after[k])
			}
			i, k = i+1, k+1
		}
	}
}
