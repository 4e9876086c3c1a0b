package datasets

import (
	"bytes"
	"fmt"

	"moonfarm/datasets/internal/arrowfile"
)

// comparer compares the batches of a file with what they should be.
type comparer struct {
	cursor *fileCursor
}

// batch reads the next batch of the file and compares it with want, bit for
// bit. The error names the file, the column, the row and both values.
func (c comparer) batch(want *arrowfile.Table) error {
	first, name := c.cursor.rows, c.cursor.file.Path
	more, err := c.cursor.next()
	if err != nil {
		return err
	}
	got := c.cursor.t.table
	if !more {
		return fmt.Errorf("%s: row %d is missing", name, first)
	}
	if got.Rows != want.Rows {
		return fmt.Errorf("%s: the batch at row %d has %d rows, expected %d", name, first, got.Rows, want.Rows)
	}
	for i, w := range want.Data {
		if row, found := differ(w, got.Data[i], want.Rows); found != "" {
			return fmt.Errorf("%s: column %s, row %d (%s): %s", name, w.Column.Name, first+uint64(row), where(want, row), found)
		}
	}
	return nil
}

// end checks that the file has no more rows.
func (c comparer) end() error {
	more, err := c.cursor.next()
	if more {
		return fmt.Errorf("%s: more rows than expected", c.cursor.file.Path)
	}
	return err
}

// where names the row by its episode, turn and seat.
func where(t *arrowfile.Table, row int) string {
	text := fmt.Sprintf("episode %d", arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[row])
	if d := t.Col(ColTurn); d != nil {
		text += fmt.Sprintf(", turn %d, seat %d", arrowfile.View[int32](d.Fixed)[row], t.Col(ColSeat).Fixed[row])
	}
	return text
}

// differ finds the first row in which two columns differ, and says how; found
// is "" if they are equal.
func differ(want, got *arrowfile.Data, rows int) (row int, found string) {
	n := want.Column.Values()
	if want.Fixed == nil {
		for k := range rows * n {
			if w, g := want.List(k), got.List(k); !bytes.Equal(w, g) {
				return k / n, fmt.Sprintf("found %s, expected %s", got.ListText(k), want.ListText(k))
			}
		}
		return 0, ""
	}
	w, g := columnBytes(want, rows), columnBytes(got, rows)
	if bytes.Equal(w, g) {
		return 0, ""
	}
	at := 0
	for w[at] == g[at] {
		at++
	}
	value := at / (want.Column.Width() / n)
	row = value / n
	text := fmt.Sprintf("found %s, expected %s", got.ValueText(value), want.ValueText(value))
	if n > 1 {
		text = fmt.Sprintf("value %d: %s", value%n, text)
	}
	return row, text
}
