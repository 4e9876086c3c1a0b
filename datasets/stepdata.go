package datasets

import "moonfarm/datasets/internal/arrowfile"

// stepData are the columns of a table of steps or finals. Columns that the table
// does not have are nil.
type stepData struct {
	episode               []uint64
	turn                  []int32
	seat                  []uint8
	planes                []uint8
	packed                []uint64
	scalars               []float32
	mask                  []uint64
	action                []int32
	orders                *arrowfile.Data
	reward, ret, outcome  []float32
	terminated, truncated []uint8
	chosen                []uint8
	value                 []float32
	search                [searchLists]*arrowfile.Data
}

// The lists of moves of searches, in stepData.search.
const (
	searchPolicy = iota
	searchChoices
	searchCounts
	searchLists
)

// newStepData returns the first rows of the columns of a table.
func newStepData(t *arrowfile.Table, rows int) stepData {
	b := func(name string) []byte {
		if d := t.Col(name); d != nil {
			return columnBytes(d, rows)
		}
		return nil
	}
	s := stepData{
		episode: arrowfile.View[uint64](b(ColEpisode)), turn: arrowfile.View[int32](b(ColTurn)), seat: b(ColSeat),
		planes: b(ColPlanes), packed: arrowfile.View[uint64](b(ColPacked)), scalars: arrowfile.View[float32](b(ColScalars)),
		mask: arrowfile.View[uint64](b(ColMask)), action: arrowfile.View[int32](b(ColAction)), orders: t.Col(ColOrders),
		reward: arrowfile.View[float32](b(ColReward)), ret: arrowfile.View[float32](b(ColReturn)),
		outcome: arrowfile.View[float32](b(ColOutcome)), terminated: b(ColTerminated), truncated: b(ColTruncated), chosen: b(ColChosen),
		value: arrowfile.View[float32](b(ColSearchValue)),
	}
	for i, name := range [searchLists]string{ColSearchPolicy, ColSearchChoices, ColSearchCounts} {
		s.search[i] = t.Col(name)
	}
	return s
}

// part returns the values of n rows of a column from the given row on; nil without
// that column.
func part[T any](column []T, row, n, size int) []T {
	if column == nil {
		return nil
	}
	return column[row*size : (row+n)*size]
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
