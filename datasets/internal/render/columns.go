// Package render makes step rows of episodes by playing them again, straight into
// the memory that a reader hands on: in order, or shuffled in windows, with
// several workers. What it makes depends on the episodes and the Config, not on
// the workers. It knows no files.
package render

import "moonfarm/datasets/internal/arrowfile"

// Column is a column of fixed shape.
type Column int

// The columns.
const (
	Episode Column = iota
	Turn
	Seat
	Planes
	Packed
	Scalars
	Mask
	Action
	Opponent
	Reward
	Return
	NStep
	Outcome
	Terminated
	Truncated
	Chosen
	SearchValue
	Kept    // 1: Config.Keep wants the row
	Columns // how many there are
)

// Slabs are the memory of rows of some columns.
type Slabs struct {
	width [Columns]int // bytes of a row; 0: not there
	data  [Columns][]byte
}

// newSlabs has room for rows of the columns that have a width.
func newSlabs(width [Columns]int, rows int) *Slabs {
	s := &Slabs{width: width}
	for c, w := range width {
		s.data[c] = arrowfile.Aligned(rows * w)
		largePages(s.data[c])
	}
	return s
}

// grow makes room for that many rows; what was in it is lost.
func (s *Slabs) grow(rows int) {
	for c, w := range s.width {
		if w > 0 && len(s.data[c]) < rows*w {
			*s = *newSlabs(s.width, rows+rows/2)
			return
		}
	}
}

// bytes are n rows of a column from a row on; nil if it is not there.
func (s *Slabs) bytes(c Column, row, n int) []byte {
	w := s.width[c]
	if w == 0 {
		return nil
	}
	return s.data[c][row*w : (row+n)*w : (row+n)*w]
}

// Rows are n rows of a column from a row on, as numbers of its type; nil if the
// column is not there.
func Rows[T arrowfile.Number](s *Slabs, c Column, row, n int) []T {
	return arrowfile.View[T](s.bytes(c, row, n))
}
