package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"moonfarm/sim/codecraft/wire/protocol"
)

// ViewReader reads views of players as JSON Lines.
type ViewReader struct {
	name  string
	lines *jsonLines
}

// NewViewReader returns a reader; the name is for errors.
func NewViewReader(name string, in io.Reader) *ViewReader {
	return &ViewReader{name, newJSONLines(in)}
}

// Line returns the number of the line read last, from 1.
func (r *ViewReader) Line() int { return r.lines.line }

// Next reads a view into v. It returns io.EOF after the last view. A line without properties
// keeps the properties of the line before, which must be in v. The entities stay in the order
// of the line.
func (r *ViewReader) Next(v *protocol.PlayerView) error {
	var l jsonLine
	err := r.lines.next(&l)
	if err == io.EOF {
		return err
	}
	if err == nil && l.Kind != "view" {
		err = fmt.Errorf("found a line of kind %.40q, expected %q", l.Kind, "view")
	}
	if err != nil {
		return r.Errorf("%w", err)
	}
	v.MyID, v.Header, v.Players, v.Entities = l.MyID, l.Header, v.Players[:0], append(v.Entities[:0], l.Entities...)
	if l.Properties != nil {
		v.EntityProperties = l.Properties
	}
	for _, p := range l.Players {
		v.Players = append(v.Players, protocol.Standing{ID: p.ID, Score: p.Score, Resource: p.Resource})
	}
	return nil
}

// Errorf returns an error with the name of the recording and the place that was read last.
func (r *ViewReader) Errorf(format string, args ...any) error {
	return fmt.Errorf("views %s: line %d: %w", r.name, r.lines.line, fmt.Errorf(format, args...))
}

// eachView calls f with every view of a recording of views or messages, by KindOf. f must not
// keep the view. eachView stops at the first error of the file or of f, and returns it.
func eachView(name string, in io.Reader, f func(v *protocol.PlayerView) error) error {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	if KindOf(head) == HoldsViews {
		r := NewViewReader(name, b)
		var v protocol.PlayerView
		for {
			if err := r.Next(&v); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := f(&v); err != nil {
				return err
			}
		}
	}
	r := NewMessageReader(name, b)
	var m protocol.ServerMessage
	for {
		if err := r.Next(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if m.Kind == protocol.Finish {
			continue
		}
		if err := f(&m.View); err != nil {
			return err
		}
	}
}

// ReadView reads one view: the bytes of a GetAction or DebugUpdate as a client gets it, or of
// its PlayerView alone, or a line of JSON of a recording of views or messages. It fails if
// anything follows; an error names the field that cannot be read.
func ReadView(text []byte) (*protocol.PlayerView, error) {
	v := new(protocol.PlayerView)
	if looksJSON(text) {
		n := 0
		err := eachView("of a line", bytes.NewReader(text), func(one *protocol.PlayerView) error {
			if n++; n > 1 {
				return errors.New("a second view follows, expected one")
			}
			*v = *one
			v.Players, v.Entities = slices.Clone(one.Players), slices.Clone(one.Entities)
			return nil
		})
		if err == nil && n == 0 {
			err = errors.New("there is no view in it")
		}
		return v, err
	}
	r := protocol.NewReader(bytes.NewReader(text))
	r.Limit(maxBytes)
	var err error
	if looksRaw(text) {
		m := new(protocol.ServerMessage)
		err = r.ServerMessage(m)
		v = &m.View
	} else {
		err = r.PlayerView(v)
	}
	if err == nil && !r.End() {
		err = fmt.Errorf("byte %d: something follows", r.Offset())
	}
	if err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	return v, nil
}
