package wire

import "io"

// Writer writes a replay file. It writes each line at once and with one call;
// compressing and buffering are the caller's.
type Writer struct {
	out   io.Writer
	style Style
	buf   []byte
	err   error
}

// NewWriter begins a replay file with the config line.
func NewWriter(out io.Writer, c *Config, style Style) *Writer {
	w := &Writer{out: out, style: style}
	if style == Local {
		w.buf = append(w.buf, '\n')
	}
	w.buf = style.AppendConfig(w.buf, c)
	if style == Local {
		w.buf = append(w.buf, "\n\n"...)
	}
	w.write()
	return w
}

// Frame writes a frame. The first error sticks and is returned by all further
// calls; that of the config line comes with the first frame.
func (w *Writer) Frame(f *Frame) error {
	if w.err != nil {
		return w.err
	}
	w.buf = w.buf[:0]
	if w.style == Web {
		w.buf = append(w.buf, '\n')
	}
	w.buf = w.style.AppendFrame(w.buf, f)
	if w.style == Local {
		w.buf = append(w.buf, '\n')
	}
	w.write()
	return w.err
}

// write writes the line.
func (w *Writer) write() { _, w.err = w.out.Write(w.buf) }
