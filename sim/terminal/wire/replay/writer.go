package replay

import (
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/referee"
)

// Writer writes a replay file. It writes each line with one call, and neither compresses nor
// buffers.
type Writer struct {
	out    io.Writer
	frames frame.Writer
	buf    []byte
	err    error
}

// NewWriter begins a replay file with the config line.
func NewWriter(out io.Writer, c *config.Config, style config.Style) *Writer {
	w := &Writer{out: out, frames: frame.Writer{Style: style}}
	if style == config.Local {
		w.buf = append(w.buf, '\n')
	}
	w.buf = c.Append(w.buf, style)
	if style == config.Local {
		w.buf = append(w.buf, "\n\n"...)
	}
	w.write()
	return w
}

// Frame writes a frame. After an error, that of the config line too, all further calls return
// the same error.
func (w *Writer) Frame(f *frame.Frame) error {
	if w.err != nil {
		return w.err
	}
	w.buf = w.buf[:0]
	if w.frames.Style == config.Web {
		w.buf = append(w.buf, '\n')
	}
	w.buf = w.frames.Append(w.buf, f)
	if w.frames.Style == config.Local {
		w.buf = append(w.buf, '\n')
	}
	w.write()
	return w.err
}

// write writes the line.
func (w *Writer) write() { _, w.err = w.out.Write(w.buf) }

// WriteMatch plays a match and writes it as a replay file. If the orders end before the match
// is over, the file ends with the deploy frame after the last turn.
//
// It fails if the rules cannot be played, if orders are left when the match is over, and with
// the first error of out.
func WriteMatch(out io.Writer, m *Match, style config.Style) error {
	r, err := referee.New(m.Config.Rules)
	if err != nil {
		return err
	}
	r.Name(m.Names)
	w := NewWriter(out, &m.Config, style)
	if err := w.Frame(r.Frame()); err != nil {
		return err
	}
	t := new(sim.Turn)
	for turn := range m.Turns {
		if !r.Waiting() {
			return fmt.Errorf("turn %d: the match is over, but %d turns have orders", turn, m.Turns)
		}
		m.Turn(t, turn)
		r.Submit(t)
		for more := true; more; more = r.Next() {
			if err := w.Frame(r.Frame()); err != nil {
				return err
			}
		}
	}
	return nil
}
