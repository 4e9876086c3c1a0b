package arrowfile

import (
	"bytes"
	"fmt"
)

// Difference returns the first row in which the column differs from got, which has the
// same shape, and a text with both values; the text is "" if they are equal.
func (d *Data) Difference(got *Data, rows int) (row int, found string) {
	n := d.Column.Values()
	if d.Fixed == nil {
		for k := range rows * n {
			if w, g := d.List(k), got.List(k); !bytes.Equal(w, g) {
				return k / n, fmt.Sprintf("found %s, expected %s", got.ListText(k), d.ListText(k))
			}
		}
		return 0, ""
	}
	w, g := d.Values(rows), got.Values(rows)
	if bytes.Equal(w, g) {
		return 0, ""
	}
	at := 0
	for w[at] == g[at] {
		at++
	}
	value := at / (d.Column.Width() / n)
	row = value / n
	text := fmt.Sprintf("found %s, expected %s", got.ValueText(value), d.ValueText(value))
	if n > 1 {
		text = fmt.Sprintf("value %d: %s", value%n, text)
	}
	return row, text
}
