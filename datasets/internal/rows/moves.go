package rows

import "moonfarm/rollout"

// Moves finds the moves of rows in the search results of an episode.
type Moves struct {
	searches *rollout.SearchResults
	choices  []int32 // where the choices of each row end
}

// Set takes the search results of the next episode.
func (m *Moves) Set(f *rollout.SearchResults) {
	m.searches, m.choices = f, f.AppendChoiceEnds(m.choices[:0])
}

// Before returns how many moves, and how many choices of moves, the rows before the
// given one have.
func (m *Moves) Before(row int) (moves, choices int) {
	if row == 0 || len(m.choices) == 0 {
		return 0, 0
	}
	return int(m.searches.Ends[row-1]), int(m.choices[row-1])
}

// Ends returns where the moves and the choices of each of some rows end, counted from
// the beginning of the episode.
func (m *Moves) Ends(from, to int) (moves, choices []int32) {
	return m.searches.Ends[from:to], m.choices[from:to]
}

// Of returns the moves of some rows: their Shares, Choices and Counts.
func (m *Moves) Of(from, to int) rollout.SearchResults {
	move, choice := m.Before(from)
	last, end := m.Before(to)
	f := rollout.SearchResults{Shares: m.searches.Shares[move:last], Choices: m.searches.Choices[choice:end]}
	if len(m.searches.Counts) > 0 {
		f.Counts = m.searches.Counts[move:last]
	}
	return f
}
