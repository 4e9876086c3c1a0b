package view

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"moonfarm/features"
)

// maxBuckets bounds the parts of a game whose events heat.json sums apart.
const maxBuckets = 64

// heat sums the amounts of events by kind, by bucket of turns and by cell. An event without an amount counts 1. An event
// that goes from one place to another counts where it arrives; a place beside the board counts in the nearest cell.
type heat struct {
	turns         int
	bucket        int // turns of a bucket; the last may have fewer
	width, height int // in cells
	sums          map[string][]map[int]float64
}

// newHeat returns the heat of a game without events.
func newHeat(h *head) *heat {
	size := max((h.Turns+maxBuckets-1)/maxBuckets, 1)
	return &heat{h.Turns, size, int(math.Ceil(float64(h.Width))), int(math.Ceil(float64(h.Height))), map[string][]map[int]float64{}}
}

// add adds the events of a scene of position n, which turn n−1 leads to.
func (t *heat) add(n int, s *features.Scene) {
	bucket := max(n-1, 0) / t.bucket
	for i := range s.Events {
		e := &s.Events[i]
		list := t.sums[e.Kind]
		for len(list) <= bucket {
			list = append(list, map[int]float64{})
		}
		t.sums[e.Kind] = list
		amount := float64(e.Amount)
		if amount == 0 || math.IsNaN(amount) || math.IsInf(amount, 0) {
			amount = 1
		}
		list[bucket][cell(e.Y2, t.height)*t.width+cell(e.X2, t.width)] += amount
	}
}

// cell returns the column or row of a coordinate.
func cell(v float32, cells int) int {
	if !(v > 0) { // or no number
		return 0
	}
	return int(min(v, float32(cells-1)))
}

// json returns the JSON of heat.json.
func (t *heat) json() []byte {
	out := append([]byte(`{"turns":`), strconv.Itoa(t.turns)...)
	out = append(append(out, `,"bucket":`...), strconv.Itoa(t.bucket)...)
	out = append(append(out, `,"width":`...), strconv.Itoa(t.width)...)
	out = append(out, `,"kinds":[`...)
	for i, name := range slices.Sorted(maps.Keys(t.sums)) {
		out = append(appendText(append(comma(out, i), `{"kind":`...), name), `,"sums":[`...)
		for k, sums := range t.sums[name] {
			out = append(comma(out, k), '[')
			for n, c := range slices.Sorted(maps.Keys(sums)) {
				out = append(integers(comma(out, n), c), ',')
				out = strconv.AppendFloat(out, math.Round(sums[c]*1000)/1000, 'f', -1, 64)
			}
			out = append(out, ']')
		}
		out = append(out, `]}`...)
	}
	return append(out, `]}`...)
}

// Heat returns the JSON of heat.json: for each kind of event, by bucket of turns, the cells of the board (row · width +
// column) with the sums of the amounts of the events there, as a spectator sees them.
func (f *Film) Heat() ([]byte, error) {
	t := newHeat(&f.head)
	for first := 0; first <= f.head.Turns; first += Chunk { // others can use the film between two chunks
		n := first
		at := func(position int) error { n = position; return nil }
		if err := f.EachFrame(features.Spectator, first, min(first+Chunk-1, f.head.Turns), at, func(s *features.Scene) { t.add(n, s) }); err != nil {
			return nil, err
		}
	}
	return t.json(), nil
}
