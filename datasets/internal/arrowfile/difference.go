package arrowfile

import (
	"bytes"
	"fmt"
)

// Difference returns the first row in which the column differs from got, which has the
// same shape, and a text with both values; the text is "" if they are equal.
func (d *Data) Difference(got *Data, rows int) (row int, found string) {
	n := d.Column.Values()
	if d.Fixed != nil && bytes.Equal(d.Values(rows), got.Values(rows)) {
		return 0, ""
	}
	for k := range rows * n {
		if bytes.Equal(d.value(k), got.value(k)) {
			continue
		}
		found = fmt.Sprintf("found %s, expected %s", got.ValueText(k), d.ValueText(k))
		if d.Fixed != nil && n > 1 {
			found = fmt.Sprintf("value %d: %s", k%n, found)
		}
		return k / n, found
	}
	return 0, ""
}
