package arrowfile

import (
	"fmt"
	"strconv"
	"strings"
)

// ValueText returns value number i of a column of fixed shape as text.
func (d *Data) ValueText(i int) string {
	size := d.Column.Type.size()
	return valueText(d.Column.Type, d.Fixed[i*size:(i+1)*size])
}

// mostValues is the most values of a list in a text.
const mostValues = 8

// ListText returns list or text number k as text.
func (d *Data) ListText(k int) string {
	b := d.List(k)
	if !d.Column.List {
		return strconv.Quote(string(b))
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
