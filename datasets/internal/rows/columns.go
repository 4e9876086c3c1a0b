// Package rows makes the step rows of episodes: from the rows that a rollout kept
// while it played, or by playing the episode again. A Maker writes them into memory
// that the caller owns, such as the columns of a batch of a file. A Stream makes those
// of many episodes for a reader, in order or shuffled in windows, with several
// workers. Rows depend on the episodes and the Spec, not on the workers. The package
// reads and writes no files.
package rows

import "moonfarm/datasets/internal/arrowfile"

// Column is a column of fixed shape.
type Column int

// The columns. Playing yields those from Planes to Opponent turn by turn; the others
// follow from the episode and its rewards. The columns NextPlanes to NextMask are the same
// as Planes to Mask, Spec.Steps actions of the seat later, or after the last turn.
const (
	Episode Column = iota
	Turn
	Seat
	Planes
	Packed
	Scalars
	Mask
	Action
	Asked // the action of the policy that was asked
	NextPlanes
	NextPacked
	NextScalars
	NextMask
	Opponent
	Reward
	Return
	NextDiscount // weight of the value of the next observation; 0: the rules had ended the episode
	NStep
	Outcome
	Terminated
	Truncated
	Chosen
	SearchValue
	Step    // number of the action in its turn, in a sequential form
	Wanted  // 1: Spec.Keep wants the row
	Columns // number of columns
)

// played reports whether playing yields the column turn by turn.
func (c Column) played() bool { return c >= Planes && c <= Opponent }

// Slabs are memory for rows, a slab for each column.
type Slabs struct {
	width [Columns]int // bytes of a row; 0: the column does not exist
	data  [Columns][]byte
}

// Over returns Slabs in memory of the caller. width is the bytes of a row of each
// column, 0 where data has none.
func Over(width [Columns]int, data [Columns][]byte) *Slabs { return &Slabs{width, data} }

// newSlabs returns memory for rows of the columns that have a width.
func newSlabs(width [Columns]int, rows int) *Slabs {
	s := &Slabs{width: width}
	for c, w := range width {
		s.data[c] = arrowfile.Aligned(rows * w)
		largePages(s.data[c])
	}
	return s
}

// grow makes room for at least that many rows, and may lose the rows it has.
func (s *Slabs) grow(rows int) {
	for c, w := range s.width {
		if w > 0 && len(s.data[c]) < rows*w {
			*s = *newSlabs(s.width, rows+rows/2)
			return
		}
	}
}

// Bytes returns n rows of a column from the given row on; nil without that column.
func (s *Slabs) Bytes(c Column, row, n int) []byte {
	w := s.width[c]
	if w == 0 {
		return nil
	}
	return s.data[c][row*w : (row+n)*w : (row+n)*w]
}

// view returns n rows of a column from the given row on, as numbers of its type; nil
// without that column.
func view[T arrowfile.Number](s *Slabs, c Column, row, n int) []T {
	return arrowfile.View[T](s.Bytes(c, row, n))
}
