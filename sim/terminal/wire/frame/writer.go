package frame

import (
	"math"

	"moonfarm/sim/terminal/wire/config"
)

// Writer writes the frames of a match one after the other, with the bytes of Frame.Append.
// It copies the text of structures that have not changed since the frame before. That is
// much faster, because most of a frame is structures. The zero value is ready for use, in
// the Local style.
type Writer struct {
	Style config.Style
	last  [2][8]writtenUnits
}

// Append appends a frame without the end of line.
func (w *Writer) Append(dst []byte, f *Frame) []byte {
	out := writer{buf: dst, style: w.Style, last: &w.last}
	out.frame(f)
	return out.buf
}

// writtenUnits holds a list of units as it was written last.
type writtenUnits struct {
	units []Unit
	text  []byte  // of the list, without its brackets
	ends  []int32 // by unit, where its text ends
	next  []int32 // the ends of the list being written
}

// entry returns the text of unit i with its brackets.
func (w *writtenUnits) entry(i int) []byte {
	if i == 0 {
		return w.text[:w.ends[0]]
	}
	return w.text[w.ends[i-1]+1 : w.ends[i]] // after the comma
}

// has reports whether unit i has the same bits as u.
func (w *writtenUnits) has(i int, u *Unit) bool {
	v := &w.units[i]
	return v.ID == u.ID && v.At == u.At && math.Float32bits(v.Value) == math.Float32bits(u.Value)
}

// equal reports whether the list is the one that was written last.
func (w *writtenUnits) equal(list []Unit) bool {
	if len(w.units) != len(list) {
		return false
	}
	for i := range list {
		if !w.has(i, &list[i]) {
			return false
		}
	}
	return true
}

// changedUnits writes a list of units, copies the text of entries that are in k, and stores
// the list in k.
func (w *writer) changedUnits(list []Unit, k *writtenUnits) {
	if k.equal(list) {
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
