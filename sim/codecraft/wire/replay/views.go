package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// views checks a file of views, or of messages to clients: these must have the same bytes when
// they are written again, and their views must pass the check of views.
func (v *verifier) views(name string, in *bufio.Reader) error {
	r := recording.NewViewReader(name, in)
	for {
		if err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		v.line = r.Line()
		m := &r.Message
		if r.Bytes != nil {
			v.report.Messages++
			if again := m.Append(nil); !bytes.Equal(again, r.Bytes) {
				v.addDifference(&Difference{
					Tick: int(m.View.CurrentTick), Field: "message",
					Want: fmt.Sprintf("%d bytes", len(r.Bytes)), Got: fmt.Sprintf("%d other bytes", len(again)),
				})
				continue
			}
		}
		if m.Kind == protocol.Finish {
			continue // it has no view
		}
		if err := v.view(&m.View); err != nil {
			return r.Errorf("%w", err)
		}
	}
}

// view checks a view: its player must have the same view of the state made of it.
func (v *verifier) view(view *protocol.PlayerView) error {
	g, s, err := recording.Restore(view, v.base)
	if err != nil {
		return err
	}
	v.report.Views++
	v.report.Entities += len(view.Entities)
	var seen protocol.PlayerView
	protocol.View(&seen, g, s, sim.Player(view.MyID-1))
	recording.SortEntities(view.Entities)
	if len(view.EntityProperties) == 0 {
		seen.EntityProperties = nil
	}
	if d := viewsDiffer(view, &seen); d != nil {
		v.addDifference(d)
	}
	return nil
}

// viewsDiffer returns the first difference between a recorded view and a view, nil if there is none.
func viewsDiffer(want, got *protocol.PlayerView) *Difference {
	d := &Difference{Tick: int(want.CurrentTick)}
	for i := range want.Entities {
		e := &want.Entities[i]
		d.Entity = e.ID
		seen, ok := recording.FindEntity(got.Entities, e.ID)
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
	a, b := *want, *got // all other fields are compared by their binary form
	a.Entities, b.Entities = nil, nil
	a.EntityProperties, b.EntityProperties = slices.Clone(a.EntityProperties), slices.Clone(b.EntityProperties)
	slices.SortFunc(a.EntityProperties, func(a, b protocol.TypeProperties) int { return int(a.Type) - int(b.Type) })
	if len(want.Entities) != len(got.Entities) {
		d.Field, d.Want, d.Got = "entities", fmt.Sprint(len(want.Entities)), fmt.Sprint(len(got.Entities))
		return d
	}
	if !bytes.Equal(a.Append(nil), b.Append(nil)) {
		d.Field, d.Want, d.Got = "view", fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b)
		return d
	}
	return nil
}
