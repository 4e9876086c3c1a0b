package wire

import (
	"fmt"
	"io"
	"math"

	"moonfarm/sim"
)

// Writer writes a replay file. It writes each line at once and with one call;
// compressing and buffering are the caller's.
type Writer struct {
	out    io.Writer
	frames FrameWriter
	buf    []byte
	err    error
}

// NewWriter begins a replay file with the config line.
func NewWriter(out io.Writer, c *Config, style Style) *Writer {
	w := &Writer{out: out, frames: FrameWriter{Style: style}}
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
	if w.frames.Style == Web {
		w.buf = append(w.buf, '\n')
	}
	w.buf = w.frames.Append(w.buf, f)
	if w.frames.Style == Local {
		w.buf = append(w.buf, '\n')
	}
	w.write()
	return w.err
}

// write writes the line.
func (w *Writer) write() { _, w.err = w.out.Write(w.buf) }

// WriteMatch plays a match and writes it as a replay file. A match whose orders
// end before it is over becomes a recording that broke off: it ends with the
// deploy frame after the last turn.
//
// It fails if the rules cannot be played, if orders are left when the match is
// over, and with the first error of out.
func WriteMatch(out io.Writer, m *Match, style Style) error {
	r, err := NewReferee(m.Config.Rules)
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

// FrameWriter writes the frames of a match one after the other, as
// Style.AppendFrame does. Units that are as they were in the frame before are not
// written anew, which takes a fraction of the time: most of a frame is structures.
// The zero value is ready for use, in the Local style.
type FrameWriter struct {
	Style Style
	kept  [2][8]keptUnits
}

// Append appends a frame without the end of line.
func (w *FrameWriter) Append(dst []byte, f *Frame) []byte {
	out := writer{buf: dst, style: w.Style, kept: &w.kept}
	out.frame(f)
	return out.buf
}

// keptUnits is a list of units as it was written last.
type keptUnits struct {
	units      []Unit
	text       []byte  // of the list, without its brackets
	ends, next []int32 // by unit, where its text ends; those of the list being written
}

// entry is the text of unit i with its brackets.
func (k *keptUnits) entry(i int) []byte {
	if i == 0 {
		return k.text[:k.ends[0]]
	}
	return k.text[k.ends[i-1]+1 : k.ends[i]] // behind the comma
}

// has reports whether unit i is u, to the bit.
func (k *keptUnits) has(i int, u *Unit) bool {
	v := &k.units[i]
	return v.ID == u.ID && v.At == u.At && math.Float32bits(v.Value) == math.Float32bits(u.Value)
}

// is reports whether the list is the one that was written last.
func (k *keptUnits) is(list []Unit) bool {
	if len(k.units) != len(list) {
		return false
	}
	for i := range list {
		if !k.has(i, &list[i]) {
			return false
		}
	}
	return true
}

// keptUnits writes a list of units.
func (w *writer) keptUnits(list []Unit, k *keptUnits) {
	if k.is(list) {
		w.buf = append(w.buf, k.text...)
		return
	}
	begin, old := len(w.buf), 0
	k.next = k.next[:0]
	for i := range list {
		if i > 0 {
			w.raw(",")
		}
		u := &list[i]
		for old < len(k.units) && k.units[old].ID < u.ID {
			old++
		}
		if old < len(k.units) && k.has(old, u) {
			w.buf = append(w.buf, k.entry(old)...)
		} else {
			w.unit(u)
		}
		k.next = append(k.next, int32(len(w.buf)-begin))
	}
	k.units = append(k.units[:0], list...)
	k.text = append(k.text[:0], w.buf[begin:]...)
	k.ends, k.next = k.next, k.ends
}
