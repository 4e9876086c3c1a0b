package datasets

import "moonfarm/datasets/internal/arrowfile"

// empty takes all rows out, and keeps the memory.
func (b *Batch) empty(t *arrowfile.Table) {
	*b = Batch{
		Episode: b.Episode[:0], Turn: b.Turn[:0], Seat: b.Seat[:0], Planes: b.Planes[:0], Packed: b.Packed[:0], Scalars: b.Scalars[:0],
		Mask: b.Mask[:0], Action: b.Action[:0], Orders: b.Orders[:0], OrderEnds: b.OrderEnds[:0],
		Reward: b.Reward[:0], Return: b.Return[:0], Outcome: b.Outcome[:0], Terminated: b.Terminated[:0], Truncated: b.Truncated[:0],
		Chosen: b.Chosen[:0], SearchValue: b.SearchValue[:0], SearchPolicy: b.SearchPolicy[:0], SearchCounts: b.SearchCounts[:0],
		SearchEnds: b.SearchEnds[:0], SearchChoices: b.SearchChoices[:0], SearchChoiceEnds: b.SearchChoiceEnds[:0],
		NStep: b.NStep[:0], Opponent: b.Opponent[:0], table: t,
	}
}

// take appends a row of another batch.
func (b *Batch) take(from *Batch, row int) {
	n := from.Rows
	b.Episode, b.Turn, b.Seat = taken(b.Episode, from.Episode, row, n), taken(b.Turn, from.Turn, row, n), taken(b.Seat, from.Seat, row, n)
	b.Planes, b.Packed, b.Scalars = taken(b.Planes, from.Planes, row, n), taken(b.Packed, from.Packed, row, n), taken(b.Scalars, from.Scalars, row, n)
	b.Mask, b.Action, b.Opponent = taken(b.Mask, from.Mask, row, n), taken(b.Action, from.Action, row, n), taken(b.Opponent, from.Opponent, row, n)
	b.Reward, b.Return, b.NStep = taken(b.Reward, from.Reward, row, n), taken(b.Return, from.Return, row, n), taken(b.NStep, from.NStep, row, n)
	b.Outcome, b.Chosen = taken(b.Outcome, from.Outcome, row, n), taken(b.Chosen, from.Chosen, row, n)
	b.Terminated, b.Truncated = taken(b.Terminated, from.Terminated, row, n), taken(b.Truncated, from.Truncated, row, n)
	b.SearchValue = taken(b.SearchValue, from.SearchValue, row, n)
	b.Orders, b.OrderEnds = takenList(b.Orders, b.OrderEnds, from.Orders, from.OrderEnds, row)
	ends := b.SearchEnds // of both lists of moves
	b.SearchCounts, b.SearchEnds = takenList(b.SearchCounts, ends, from.SearchCounts, from.SearchEnds, row)
	b.SearchPolicy, _ = takenList(b.SearchPolicy, ends, from.SearchPolicy, from.SearchEnds, row)
	b.SearchChoices, b.SearchChoiceEnds = takenList(b.SearchChoices, b.SearchChoiceEnds, from.SearchChoices, from.SearchChoiceEnds, row)
	b.Rows++
}

// taken appends row of n of a column; nothing if there is no such column.
func taken[T any](to, from []T, row, n int) []T {
	if from == nil {
		return nil
	}
	size := len(from) / n
	return append(to, from[row*size:(row+1)*size]...)
}

// takenList appends the values of a row of a column of lists and where they end.
func takenList[T any](to []T, ends []int32, from []T, fromEnds []int32, row int) ([]T, []int32) {
	if fromEnds == nil {
		return nil, nil
	}
	if len(ends) == 0 {
		ends = append(ends, 0)
	}
	if to == nil && from != nil {
		to = []T{} // a column of lists, all of which may be empty
	}
	if n := int(fromEnds[row+1] - fromEnds[row]); from != nil {
		to = append(to, from[fromEnds[row]:][:n]...)
	}
	return to, append(ends, ends[len(ends)-1]+fromEnds[row+1]-fromEnds[row])
}
