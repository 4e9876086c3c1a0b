package rollout

import (
	"math"
	"slices"

	"moonfarm/sim"
)

// SearchResults are the results of the searches of an episode, row after row: seat p in
// turn t has row t*Players+p. A row without a search has no moves, and its value is
// NaN.
//
// Moves are stored as actions, like the played orders in env.Batch.Played, by the
// numbers of choices: choice c of head h has the number c + the number of choices of
// the heads before h, as in env.Batch.Mask. In games of one head a move is one
// number. In games of several heads a move is the list of its choices that are not
// choice 0. −1−h means that no choice of head h encodes the move's orders.
type SearchResults struct {
	Value   []float32 // SearchResult.Value of each row
	Ends    []int32   // the moves of a row are Ends[row-1] (with Ends[-1] = 0) up to Ends[row]
	Shares  []float32 // SearchResult.Shares of each move
	Choices []int32   // the choices of all moves, one move after the other
	Counts  []int32   // the number of Choices of each move; empty in games of one head
}

// unsearched is the value of a row without a search: a NaN with the same bits on all machines.
var unsearched = math.Float32frombits(0x7fc00000)

// AppendChoiceEnds appends, for each row, the number of Choices up to its end: of this
// row and the rows before it.
func (s *SearchResults) AppendChoiceEnds(dst []int32) []int32 {
	move, end := 0, int32(0)
	for _, last := range s.Ends {
		if len(s.Counts) == 0 {
			end = last
		}
		for ; move < int(last) && len(s.Counts) > 0; move++ {
			end += s.Counts[move]
		}
		dst = append(dst, end)
	}
	return dst
}

// Move is a move of a search in a row.
type Move struct {
	Share   float32
	Choices []int32 // as in SearchResults
}

// Moves returns the moves of a row, which share the memory of s.
func (s *SearchResults) Moves(row int) []Move {
	if row < 0 || row >= len(s.Ends) {
		return nil
	}
	first, at := 0, 0
	if row > 0 {
		first = int(s.Ends[row-1])
	}
	if at = first; len(s.Counts) > 0 {
		at = 0
		for _, n := range s.Counts[:first] {
			at += int(n)
		}
	}
	var list []Move
	for m := first; m < int(s.Ends[row]); m++ {
		n := 1
		if len(s.Counts) > 0 {
			n = int(s.Counts[m])
		}
		list = append(list, Move{s.Shares[m], s.Choices[at : at+n]})
		at += n
	}
	return list
}

// empty returns s without rows, in the same memory.
func (s SearchResults) empty() SearchResults {
	return SearchResults{s.Value[:0], s.Ends[:0], s.Shares[:0], s.Choices[:0], s.Counts[:0]}
}

// add appends o, which has one row.
func (s *SearchResults) add(o *SearchResults) {
	s.Value = append(s.Value, o.Value...)
	s.Shares = append(s.Shares, o.Shares...)
	s.Choices = append(s.Choices, o.Choices...)
	s.Counts = append(s.Counts, o.Counts...)
	s.Ends = append(s.Ends, int32(len(s.Shares)))
}

// searches holds the results of the Searchers in the current turn.
type searches struct {
	firsts []int32         // the number of the first choice of each head
	action []int32         // scratch
	rows   []SearchResults // per row of the batch, its result as one row
}

// findSearchers prepares for results if a policy searches.
func (g *Games) findSearchers() {
	if !slices.ContainsFunc(g.seats, Has[Searcher]) {
		return
	}
	spec, x := g.v.Spec(), &searches{rows: make([]SearchResults, g.players*len(g.playing))}
	first := int32(0)
	for _, n := range spec.Heads {
		x.firsts = append(x.firsts, first)
		first += int32(n)
	}
	x.action = make([]int32, len(spec.Heads))
	for row := range x.rows {
		x.rows[row].Value = []float32{unsearched}
	}
	g.searches = x
}

// skip stores that a row has no search.
func (s *searches) skip(row int32) {
	f := &s.rows[row]
	*f = f.empty()
	f.Value = append(f.Value, unsearched)
}

// collect stores the results of seat p's searches for its rows in the latest Act.
func (g *Games) collect(p int, rows []int32) {
	for _, row := range rows {
		s := ResultOf(g.seats[p], g.batch, row)
		if s == nil {
			g.searches.skip(row)
			continue
		}
		f := &g.searches.rows[row]
		*f = f.empty()
		f.Value = append(f.Value, float32(s.Value))
		f.Shares = append(f.Shares, s.Shares...)
		for k := range s.Shares {
			g.label(f, int(row)/g.players, sim.Player(p), s.OrdersOf(k))
		}
	}
}

// label appends the choices of a move of seat p in game i.
func (g *Games) label(f *SearchResults, i int, p sim.Player, orders []sim.Order) {
	x := g.searches
	g.v.Label(x.action, i, p, orders)
	before := len(f.Choices)
	for h, c := range x.action {
		switch {
		case c < 0:
			f.Choices = append(f.Choices, int32(-1-h))
		case c > 0 || len(x.action) == 1:
			f.Choices = append(f.Choices, x.firsts[h]+c)
		}
	}
	if len(x.action) > 1 {
		f.Counts = append(f.Counts, int32(len(f.Choices)-before))
	}
}
