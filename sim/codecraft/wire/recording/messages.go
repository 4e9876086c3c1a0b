package recording

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"moonfarm/sim/codecraft/wire/protocol"
)

// MessageReader reads recorded messages to clients: raw bytes, one message after the other, or
// JSON Lines whose objects have the kind "raw_get_action" and the bytes of a message as
// base64.
type MessageReader struct {
	name  string
	lines *jsonLines       // nil: a raw file
	raw   *protocol.Reader // the messages of a raw file
	ahead bytes.Buffer     // bytes that raw has read from the file ahead of the messages
	count int              // messages read
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
		r.raw = protocol.NewReader(io.TeeReader(b, &r.ahead))
	}
	return r
}

// Line returns the number of the line read last, from 1; 0 in a raw file.
func (r *MessageReader) Line() int {
	if r.lines == nil {
		return 0
	}
	return r.lines.line
}

// Bytes returns the bytes of the message read last. They are valid until the next call of Next.
func (r *MessageReader) Bytes() []byte { return r.bytes }

// Next reads a message into m and reuses the memory of m. It returns io.EOF after the last
// message. The entities of a view stay in the order of the message.
func (r *MessageReader) Next(m *protocol.ServerMessage) error {
	if r.lines != nil {
		return r.nextLine(m)
	}
	if r.raw.End() {
		if err := r.raw.Err(); err != nil {
			return r.Errorf("%w", err)
		}
		return io.EOF
	}
	r.count++
	from := r.raw.Offset()
	r.raw.Limit(maxBytes)
	if err := r.raw.ServerMessage(m); err != nil {
		return r.Errorf("%w", err)
	}
	r.bytes = r.ahead.Next(int(r.raw.Offset() - from))
	return nil
}

// nextLine reads the message of a line.
func (r *MessageReader) nextLine(m *protocol.ServerMessage) error {
	var l jsonLine
	switch err := r.lines.next(&l); {
	case err == io.EOF:
		return err
	case err == nil && l.Kind != "raw_get_action":
		return r.Errorf("found a line of kind %.40q, expected %q", l.Kind, "raw_get_action")
	case err != nil:
		return r.Errorf("%w", err)
	}
	r.bytes = l.Base64
	b := protocol.NewReader(bytes.NewReader(l.Base64))
	err := b.ServerMessage(m)
	if err == nil && !b.End() {
		err = fmt.Errorf("byte %d: something follows the message", b.Offset())
	}
	if err != nil {
		return r.Errorf("%w", err)
	}
	return nil
}

// Errorf returns an error with the name of the recording and the place that was read last.
func (r *MessageReader) Errorf(format string, args ...any) error {
	where := fmt.Sprintf("message %d", r.count)
	if r.lines != nil {
		where = fmt.Sprintf("line %d", r.lines.line)
	}
	return fmt.Errorf("messages %s: %s: %w", r.name, where, fmt.Errorf(format, args...))
}
