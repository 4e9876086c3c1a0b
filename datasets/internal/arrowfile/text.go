package arrowfile

import (
	"fmt"
	"strconv"
	"strings"
)

// value returns value, list or text number k as bytes.
func (d *Data) value(k int) []byte {
	if d.Fixed == nil {
		return d.List(k)
	}
	size := d.Column.Type.size()
	return d.Fixed[k*size : (k+1)*size]
}

// mostValues is the most values of a list in a text.
const mostValues = 8

// ValueText returns value, list or text number k as text.
func (d *Data) ValueText(k int) string {
	b := d.value(k)
	if d.Column.Type == Utf8 {
		return strconv.Quote(string(b))
	}
	if !d.Column.List {
		return valueText(d.Column.Type, b)
	}
	size := d.Column.Type.size()
	var s []string
	for ; len(b) > 0; b = b[size:] {
		if len(s) == mostValues {
			s = append(s, fmt.Sprintf("… %d more", len(b)/size))
			break
		}
		s = append(s, valueText(d.Column.Type, b[:size]))
	}
	return "[" + strings.Join(s, " ") + "]"
}

func valueText(t Type, b []byte) string {
	switch t {
	case Int32:
		return fmt.Sprint(View[int32](b)[0])
	case Uint64:
		return fmt.Sprint(View[uint64](b)[0])
	case Float32:
		return fmt.Sprint(View[float32](b)[0])
	case Float64:
		return fmt.Sprint(View[float64](b)[0])
	}
	return fmt.Sprint(b[0])
}
