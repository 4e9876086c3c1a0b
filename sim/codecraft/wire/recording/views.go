package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"moonfarm/sim/codecraft/wire/protocol"
)

// ViewReader reads recordings of views of players, and of messages to clients: views as JSON
// Lines; messages as raw bytes, one after the other, or as JSON Lines whose objects have the
// kind "raw_get_action" and the bytes of a message as base64.
type ViewReader struct {
	Message protocol.ServerMessage // read last; a GetAction for a view alone
	Bytes   []byte                 // of the message read last, until the next call of Next; nil for a view alone

	name  string
	views bool             // the recording holds views alone
	lines *jsonLines       // nil: a raw file
	raw   *protocol.Reader // the messages of a raw file
	ahead bytes.Buffer     // bytes that raw has read from the file ahead of the messages
	count int              // messages of the raw file read
}

// NewViewReader returns a reader; the name is for errors.
func NewViewReader(name string, in io.Reader) *ViewReader {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	r := &ViewReader{name: name, views: KindOf(head) == HoldsViews}
	if looksJSON(head) {
		r.lines = newJSONLines(b)
	} else {
		r.raw = protocol.NewReader(io.TeeReader(b, &r.ahead))
	}
	return r
}

// Line returns the number of the line read last, from 1; 0 in a raw file.
func (r *ViewReader) Line() int {
	if r.lines == nil {
		return 0
	}
	return r.lines.line
}

// Next reads a view or a message into Message and reuses its memory. It returns io.EOF after the
// last one. A view without properties keeps the properties of the view before. The entities stay
// in their order.
func (r *ViewReader) Next() error {
	read := r.nextRaw
	if r.lines != nil {
		read = r.nextLine
	}
	err := read()
	if err != nil && err != io.EOF {
		err = r.Errorf("%w", err)
	}
	return err
}

func (r *ViewReader) nextRaw() error {
	if r.raw.End() {
		return cmp.Or(r.raw.Err(), io.EOF)
	}
	r.count++
	from := r.raw.Offset()
	r.raw.Limit(maxBytes)
	err := r.raw.ServerMessage(&r.Message)
	if err == nil {
		r.Bytes = r.ahead.Next(int(r.raw.Offset() - from))
	}
	return err
}

func (r *ViewReader) nextLine() error {
	var l jsonLine
	if err := r.lines.next(&l); err != nil {
		return err
	}
	kind := "raw_get_action"
	if r.views {
		kind = "view"
	}
	if l.Kind != kind {
		return fmt.Errorf("found a line of kind %.40q, expected %q", l.Kind, kind)
	}
	if r.views {
		r.view(&l)
		return nil
	}
	r.Bytes = l.Base64
	b := protocol.NewReader(bytes.NewReader(l.Base64))
	err := b.ServerMessage(&r.Message)
	if err == nil && !b.End() {
		err = fmt.Errorf("byte %d: something follows the message", b.Offset())
	}
	return err
}

// view takes the view of a line.
func (r *ViewReader) view(l *jsonLine) {
	r.Message.Kind = protocol.GetAction
	v := &r.Message.View
	v.MyID, v.Header, v.Players, v.Entities = l.MyID, l.Header, v.Players[:0], append(v.Entities[:0], l.Entities...)
	if l.Properties != nil {
		v.EntityProperties = l.Properties
	}
	for _, p := range l.Players {
		v.Players = append(v.Players, protocol.Standing{ID: p.ID, Score: p.Score, Resource: p.Resource})
	}
}

// Errorf returns an error with the name of the recording and the place that was read last.
func (r *ViewReader) Errorf(format string, args ...any) error {
	holds, where := HoldsMessages, fmt.Sprintf("message %d", r.count)
	if r.views {
		holds = HoldsViews
	}
	if r.lines != nil {
		where = fmt.Sprintf("line %d", r.lines.line)
	}
	return fmt.Errorf("%s %s: %s: %w", holds, r.name, where, fmt.Errorf(format, args...))
}

// eachView calls f with every view of a recording of views or messages. f must not keep the
// view. eachView stops at the first error of the file or of f, and returns it.
func eachView(name string, in io.Reader, f func(v *protocol.PlayerView) error) error {
	r := NewViewReader(name, in)
	for {
		err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && r.Message.Kind != protocol.Finish {
			err = f(&r.Message.View)
		}
		if err != nil {
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
