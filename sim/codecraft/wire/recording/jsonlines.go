package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
)

// Recordings of games and views as JSON Lines: each line is an object with the key "kind". The
// README of traces/codecraft, in the folder of recordings, describes them.

// jsonLines reads JSON Lines.
type jsonLines struct {
	in   *bufio.Scanner
	line int
}

func newJSONLines(in io.Reader) *jsonLines {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	return &jsonLines{in: s}
}

// next reads the next line that is not blank into v. It returns io.EOF after the last line.
func (j *jsonLines) next(v any) error {
	blank := 0
	for {
		j.line++
		if !j.in.Scan() {
			switch err := j.in.Err(); {
			case errors.Is(err, bufio.ErrTooLong):
				return fmt.Errorf("the line is longer than %d bytes", maxLine)
			case err != nil:
				return err
			}
			return io.EOF
		}
		if err := j.in.Err(); err != nil {
			return err // the text is only a part of a line
		}
		if text := bytes.TrimSpace(j.in.Bytes()); len(text) > 0 {
			return json.Unmarshal(text, v)
		}
		if blank += len(j.in.Bytes()) + 1; blank > maxBlank {
			return fmt.Errorf("found more than %d bytes of blank lines, expected an object or the end", maxBlank)
		}
	}
}

// jsonLine is the object of a line of any kind.
type jsonLine struct {
	Kind   string `json:"kind"`
	Base64 []byte `json:"base64"`
	NextID int32  `json:"next_id"`
	MyID   int32  `json:"my_id"`
	protocol.Header
	Properties      protocol.PropertyMap             `json:"properties"`
	Players         []PlayerRecord                   `json:"players"`
	Entities        []protocol.Entity                `json:"entities"`
	Actions         map[string]protocol.EntityAction `json:"actions"`
	ActionsSet      map[string]protocol.EntityAction `json:"actions_set"`
	ActionsRemoved  []int32                          `json:"actions_removed"`
	Events          []jsonEvent                      `json:"events"`
	EntitiesNew     []protocol.Entity                `json:"entities_new"`
	EntitiesRemoved []int32                          `json:"entities_removed"`
	EntitiesUpdated []protocol.Entity                `json:"entities_updated"`
}

type jsonEvent struct {
	Type     string `json:"type"`
	Attacker int32  `json:"attacker"`
	Target   int32  `json:"target"`
}

// appendOrders appends the actions of a map in the order of their ids.
func appendOrders(dst []protocol.EntityOrder, m map[string]protocol.EntityAction) ([]protocol.EntityOrder, error) {
	from := len(dst)
	for key, a := range m {
		id, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return dst, fmt.Errorf("actions: found key %.40q, expected the id of an entity", key)
		}
		dst = append(dst, protocol.EntityOrder{ID: int32(id), EntityAction: a})
	}
	sortByID(dst[from:], orderID)
	return dst, nil
}

// openJSON reads the first line of a recorded game as JSON Lines.
func (r *Reader) openJSON(in io.Reader) error {
	l := newJSONLines(in)
	r.lines, r.place = l, func() string { return fmt.Sprintf("line %d", l.line) }
	var first jsonLine
	switch err := l.next(&first); {
	case err != nil:
		return err
	case first.Kind != "initial":
		return fmt.Errorf("found a line of kind %.40q, expected %q: it holds no game", first.Kind, "initial")
	case first.MapSize != codecraft.Side:
		return fmt.Errorf("found map_size %d, expected %d", first.MapSize, codecraft.Side)
	}
	if err := first.world(&r.World); err != nil {
		return err
	}
	r.next = func() error { return r.nextJSON(l) }
	return nil
}

// world sets w to the state of the line.
func (j *jsonLine) world(w *World) (err error) {
	*w = World{NextID: j.NextID, Header: j.Header, EntityProperties: j.Properties, Players: j.Players, Entities: j.Entities}
	w.Actions, err = appendOrders(nil, j.Actions)
	return err
}

// nextJSON reads the line of a tick.
func (r *Reader) nextJSON(l *jsonLines) error {
	var t jsonLine
	if err := l.next(&t); err != nil {
		return err
	}
	if t.Kind != "tick" {
		return fmt.Errorf("found a line of kind %.40q, expected %q", t.Kind, "tick")
	}
	for _, e := range t.Events {
		if e.Type != "attack" {
			return fmt.Errorf("found an event of type %.40q, expected %q", e.Type, "attack")
		}
		r.Events = append(r.Events, Event{e.Attacker, e.Target})
	}
	w, d := &r.World, &r.Delta
	d.NextID, d.Header, d.Reserved = t.NextID, w.Header, w.Reserved
	d.CurrentTick = t.CurrentTick
	for _, p := range t.Players {
		if i := slices.IndexFunc(w.Players, func(q PlayerRecord) bool { return q.ID == p.ID }); i < 0 {
			return fmt.Errorf("found player %d, expected those of the first line", p.ID)
		} else if w.Players[i] != p {
			d.Players.Changed = append(d.Players.Changed, p)
		}
	}
	d.Entities.New = append(d.Entities.New, t.EntitiesNew...)
	d.Entities.Changed = append(d.Entities.Changed, t.EntitiesUpdated...)
	d.Entities.Removed = append(d.Entities.Removed, t.EntitiesRemoved...)
	d.Actions.Removed = append(d.Actions.Removed, t.ActionsRemoved...)
	set, err := appendOrders(nil, t.ActionsSet)
	if err != nil {
		return err
	}
	known := map[int32]bool{}
	for i := range w.Actions {
		known[w.Actions[i].ID] = true
	}
	for _, a := range set {
		if known[a.ID] {
			d.Actions.Changed = append(d.Actions.Changed, a)
		} else {
			d.Actions.New = append(d.Actions.New, a)
		}
	}
	return nil
}

// AppendLine appends the world as a line of JSON, the first line of a recorded game: a state
// file that people can read and change.
func (w *World) AppendLine(dst []byte) []byte {
	l := struct {
		Kind   string `json:"kind"`
		NextID int32  `json:"next_id"`
		protocol.Header
		Players    []PlayerRecord       `json:"players"`
		Entities   []protocol.Entity    `json:"entities"`
		Properties protocol.PropertyMap `json:"properties"`
		Actions    json.RawMessage      `json:"actions"`
	}{"initial", w.NextID, w.Header, append([]PlayerRecord{}, w.Players...), append([]protocol.Entity{}, w.Entities...), w.EntityProperties, protocol.AppendActions(nil, w.Actions)}
	text, _ := json.Marshal(l) // cannot fail: all values are numbers, names and valid JSON
	return append(append(dst, text...), '\n')
}
