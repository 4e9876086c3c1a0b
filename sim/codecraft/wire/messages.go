package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// looksRaw tells by the first bytes that a file holds raw messages to a client, as
// clients log what they receive: a GetAction or DebugUpdate, whose view begins with
// a player and the size of the map. A replay file has that size elsewhere.
func looksRaw(head []byte) bool {
	if len(head) < 13 {
		return false
	}
	kind := ServerKind(binary.LittleEndian.Uint32(head))
	player, side := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	return (kind == GetAction || kind == DebugUpdate) && player >= 1 && player <= sim.MaxPlayers &&
		side == codecraft.Side && head[12] < 2
}

// MessageReader reads recorded messages to clients: raw bytes, one message behind
// the other, or JSON Lines whose objects have the kind "raw_get_action" and the
// bytes of one message as base64.
type MessageReader struct {
	name  string
	lines *jsonLines   // nil: raw
	raw   *Reader      // of all messages of a raw file
	ahead bytes.Buffer // what raw has read of the file and no message has had yet
	count int          // messages read
	bytes []byte
}

// NewMessageReader returns a reader; the name is for errors.
func NewMessageReader(name string, in io.Reader) *MessageReader {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	r := &MessageReader{name: name}
	if looksJSON(head) {
		r.lines = newJSONLines(b)
	} else {
		r.raw = NewReader(io.TeeReader(b, &r.ahead))
	}
	return r
}

// Line is the number of the line read last, from 1; 0 in a raw file.
func (r *MessageReader) Line() int {
	if r.lines == nil {
		return 0
	}
	return r.lines.line
}

// Bytes are those of the message read last. They stay valid until the next call of
// Next.
func (r *MessageReader) Bytes() []byte { return r.bytes }

// Next reads a message into m, whose memory is used again; io.EOF after the last.
// The entities of a view stay in the order of the message.
func (r *MessageReader) Next(m *ServerMessage) error {
	if r.lines != nil {
		return r.nextLine(m)
	}
	if r.raw.End() {
		if r.raw.err != nil {
			return r.errorf("%w", r.raw.err)
		}
		return io.EOF
	}
	r.count++
	from := r.raw.Offset()
	r.raw.Limit(maxBytes)
	if err := r.raw.ServerMessage(m); err != nil {
		return r.errorf("%w", err)
	}
	r.bytes = r.ahead.Next(int(r.raw.Offset() - from))
	return nil
}

// nextLine reads the message of a line.
func (r *MessageReader) nextLine(m *ServerMessage) error {
	var l jsonLine
	switch err := r.lines.next(&l); {
	case err == io.EOF:
		return err
	case err == nil && l.Kind != "raw_get_action":
		return r.errorf("found a line of kind %.40q, want %q", l.Kind, "raw_get_action")
	case err != nil:
		return r.errorf("%w", err)
	}
	r.bytes = l.Base64
	b := NewReader(bytes.NewReader(l.Base64))
	err := b.ServerMessage(m)
	if err == nil && !b.End() {
		err = fmt.Errorf("byte %d: something follows the message", b.Offset())
	}
	if err != nil {
		return r.errorf("%w", err)
	}
	return nil
}

func (r *MessageReader) errorf(format string, args ...any) error {
	where := fmt.Sprintf("message %d", r.count)
	if r.lines != nil {
		where = fmt.Sprintf("line %d", r.lines.line)
	}
	return fmt.Errorf("messages %s: %s: %w", r.name, where, fmt.Errorf(format, args...))
}

// EachView calls f with every view of a file that KindOf says holds views or
// messages; a Finish has none. f must not keep the view. The first error of the
// file or of f ends it and is returned.
func EachView(name string, in io.Reader, f func(v *PlayerView) error) error {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	if KindOf(head) == HoldsViews {
		r := NewViewReader(name, b)
		var v PlayerView
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
	var m ServerMessage
	for {
		if err := r.Next(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if m.Kind == Finish {
			continue
		}
		if err := f(&m.View); err != nil {
			return err
		}
	}
}
