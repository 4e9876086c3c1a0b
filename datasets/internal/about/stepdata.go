package about

import (
	"moonfarm/datasets/internal/arrowfile"
)

// StepData holds the columns of a table of steps or finals. Columns that the table does
// not have are nil.
type StepData struct {
	Episode                 []uint64
	Turn                    []int32
	Seat                    []uint8
	Planes                  []uint8
	Packed                  []uint64
	Scalars                 []float32
	Mask                    []uint64
	Action, Asked           []int32
	Orders                  *arrowfile.Data
	Reward, Return, Outcome []float32
	Terminated, Truncated   []uint8
	Chosen                  []uint8
	Value                   []float32
	Search                  [SearchLists]*arrowfile.Data
}

// The lists of moves of searches, in stepData.search.
const (
	SearchPolicy = iota
	SearchChoices
	SearchCounts
	SearchLists
)

// NewStepData returns the first rows of the columns of a table.
func NewStepData(t *arrowfile.RecordBatch, rows int) StepData {
	b := func(name string) []byte {
		if d := t.Col(name); d != nil {
			return d.Values(rows)
		}
		return nil
	}
	s := StepData{
		Episode: arrowfile.View[uint64](b(ColEpisode)), Turn: arrowfile.View[int32](b(ColTurn)), Seat: b(ColSeat),
		Planes: b(ColPlanes), Packed: arrowfile.View[uint64](b(ColPacked)), Scalars: arrowfile.View[float32](b(ColScalars)),
		Mask: arrowfile.View[uint64](b(ColMask)), Action: arrowfile.View[int32](b(ColAction)), Orders: t.Col(ColOrders),
		Asked:  arrowfile.View[int32](b(ColAsked)),
		Reward: arrowfile.View[float32](b(ColReward)), Return: arrowfile.View[float32](b(ColReturn)),
		Outcome: arrowfile.View[float32](b(ColOutcome)), Terminated: b(ColTerminated), Truncated: b(ColTruncated), Chosen: b(ColChosen),
		Value: arrowfile.View[float32](b(ColSearchValue)),
	}
	for i, name := range [SearchLists]string{ColSearchPolicy, ColSearchChoices, ColSearchCounts} {
		s.Search[i] = t.Col(name)
	}
	return s
}

// RowsOf returns the values of n rows of a column from the given row on; nil without
// that column.
func RowsOf[T any](column []T, row, n, size int) []T {
	if column == nil {
		return nil
	}
	return column[row*size : (row+n)*size]
}

// Flag returns 1 for true.
func Flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
