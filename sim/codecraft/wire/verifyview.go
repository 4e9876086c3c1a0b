package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// kindKey finds the kind of a line of JSON.
var kindKey = regexp.MustCompile(`^\s*\{"kind"\s*:\s*"([a-z_]+)"`)

// jsonKind is the kind of a line of JSON.
func jsonKind(head []byte) string {
	if m := kindKey.FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}

// ViewReader reads views of players as JSON Lines.
type ViewReader struct {
	name  string
	lines *jsonLines
}

// NewViewReader returns a reader; the name is for errors.
func NewViewReader(name string, in io.Reader) *ViewReader {
	return &ViewReader{name, newJSONLines(in)}
}

// Line is the number of the line read last, from 1.
func (r *ViewReader) Line() int { return r.lines.line }

// Next reads a view into v; io.EOF after the last. A line without properties has
// those of the line before, which must be in v. The entities stay in the order
// of the line.
func (r *ViewReader) Next(v *PlayerView) error {
	var l jsonLine
	err := r.lines.next(&l)
	if err == io.EOF {
		return err
	}
	if err == nil && l.Kind != "view" {
		err = fmt.Errorf("found a line of kind %.40q, want %q", l.Kind, "view")
	}
	if err != nil {
		return r.errorf("%w", err)
	}
	v.MyID, v.Header, v.Players, v.Entities = l.MyID, l.Header, v.Players[:0], append(v.Entities[:0], l.Entities...)
	if l.Properties != nil {
		v.EntityProperties = l.Properties
	}
	for _, p := range l.Players {
		v.Players = append(v.Players, Player{p.ID, p.Score, p.Resource})
	}
	return nil
}

func (r *ViewReader) errorf(format string, args ...any) error {
	return fmt.Errorf("views %s: line %d: %w", r.name, r.lines.line, fmt.Errorf(format, args...))
}

// views checks a file of views.
func (v *verifier) views(name string, in *bufio.Reader) error {
	r := NewViewReader(name, in)
	var view PlayerView
	for {
		if err := r.Next(&view); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		v.line = r.Line()
		if err := v.view(&view); err != nil {
			return r.errorf("%w", err)
		}
	}
}

// view checks a view: of a state with what is in it, its player sees the same.
func (v *verifier) view(view *PlayerView) error {
	rules, err := view.Rules(v.base)
	if err != nil {
		return err
	}
	var p codecraft.Position
	if err := view.Position(&p, &rules); err != nil {
		return err
	}
	g, err := codecraft.New(rules)
	if err != nil {
		return err
	}
	s := new(codecraft.State)
	if err := g.Restore(s, &p); err != nil {
		return err
	}
	v.report.Views++
	v.report.Entities += len(view.Entities)
	var seen PlayerView
	View(&seen, g, s, sim.Player(view.MyID-1))
	sortByID(view.Entities, entityID)
	if len(view.EntityProperties) == 0 {
		seen.EntityProperties = nil
	}
	if d := viewsDiffer(view, &seen); d != nil {
		v.differ(d)
	}
	return nil
}

// viewsDiffer finds the first difference of a recorded view.
func viewsDiffer(want, got *PlayerView) *Difference {
	d := &Difference{Tick: int(want.CurrentTick)}
	for i := range want.Entities {
		e := &want.Entities[i]
		d.Entity = e.ID
		seen, ok := find(got.Entities, e.ID)
		if !ok {
			d.Field, d.Want, d.Got = "in sight", "yes", "no"
			return d
		}
		if *seen != *e {
			d.Field, d.Want, d.Got = "entity", fmt.Sprintf("%+v", *e), fmt.Sprintf("%+v", *seen)
			return d
		}
	}
	d.Entity = 0
	a, b := *want, *got // what is left is as it is written
	a.Entities, b.Entities = nil, nil
	a.EntityProperties, b.EntityProperties = slices.Clone(a.EntityProperties), slices.Clone(b.EntityProperties)
	slices.SortFunc(a.EntityProperties, func(a, b TypeProperties) int { return int(a.Type) - int(b.Type) })
	if len(want.Entities) != len(got.Entities) {
		d.Field, d.Want, d.Got = "entities", fmt.Sprint(len(want.Entities)), fmt.Sprint(len(got.Entities))
		return d
	}
	if !bytes.Equal(a.append(nil), b.append(nil)) {
		d.Field, d.Want, d.Got = "view", fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)
		return d
	}
	return nil
}

// messages checks a file of messages to clients: written again they are the
// same bytes, and their views are as views must be.
func (v *verifier) messages(name string, in *bufio.Reader) error {
	r := NewMessageReader(name, in)
	var m ServerMessage
	for {
		if err := r.Next(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		v.line = r.Line()
		v.report.Messages++
		if again := m.Append(nil); !bytes.Equal(again, r.Bytes()) {
			v.differ(&Difference{
				Tick: int(m.View.CurrentTick), Field: "message",
				Want: fmt.Sprintf("%d bytes", len(r.Bytes())), Got: fmt.Sprintf("%d other bytes", len(again)),
			})
		} else if m.Kind == Finish {
			continue // it has no view
		} else if err := v.view(&m.View); err != nil {
			return r.errorf("%w", err)
		}
	}
}
