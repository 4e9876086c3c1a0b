package about

import (
	"fmt"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// CheckEnds fails if orders are not those of lists with these ends.
func CheckEnds(orders []sim.Order, ends []int32) error {
	from := int32(0)
	for k, to := range ends {
		if to < from || int(to) > len(orders) {
			return fmt.Errorf("ends of orders go from %d to %d of %d at %d", from, to, len(orders), k)
		}
		from = to
	}
	if int(from) != len(orders) {
		return fmt.Errorf("%d orders, of which %d belong to a turn", len(orders), from)
	}
	return nil
}

// FoundError fails if f cannot be the search results of that number of rows in a game
// with these heads.
func FoundError(f *rollout.SearchResults, rows int, heads []int) error {
	if len(f.Value) != rows || len(f.Ends) != rows {
		return fmt.Errorf("%d values and %d ends of searches for %d rows", len(f.Value), len(f.Ends), rows)
	}
	moves := int32(0)
	for row, end := range f.Ends {
		if n := int(end) - int(moves); n < 0 || n > MaxMoves || int(end) > len(f.Shares) {
			return fmt.Errorf("ends of searches go from %d to %d of %d at row %d", moves, end, len(f.Shares), row)
		}
		moves = end
	}
	choices, counted := len(f.Shares), 0
	if len(heads) > 1 {
		choices, counted = 0, len(f.Shares)
	}
	if int(moves) != len(f.Shares) || len(f.Counts) != counted {
		return fmt.Errorf("%d moves with %d counts, of which %d belong to a row", len(f.Shares), len(f.Counts), moves)
	}
	for _, n := range f.Counts {
		if n < 0 || int(n) > len(heads) {
			return fmt.Errorf("a move of %d choices, there are %d heads", n, len(heads))
		}
		choices += int(n)
	}
	if choices != len(f.Choices) {
		return fmt.Errorf("%d choices of searches, of which %d belong to a move", len(f.Choices), choices)
	}
	all := 0
	for _, n := range heads {
		all += n
	}
	for _, c := range f.Choices {
		if int(c) < -len(heads) || int(c) >= all {
			return fmt.Errorf("choice %d of a search, there are %d", c, all)
		}
	}
	return nil
}
