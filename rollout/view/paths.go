package view

import (
	"fmt"
	"strconv"

	"moonfarm/features"
)

// Paths returns the JSON of paths.json: for the positions from first on, at most Chunk, the ways that units or missiles would take from
// each place where they can start: [seat, x, y of the start, 1 if it stops early, the steps, a note if there is one], a step being "r", "l", "u" or
// "d": towards greater x, less x, greater y, less y.
func (f *Film) Paths(first int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.head.Paths || first < 0 || first > f.head.Turns {
		return nil, fmt.Errorf("paths from position %d, expected 0 to %d of a game that has them", first, f.head.Turns)
	}
	out := append([]byte(`{"from":`), strconv.Itoa(first)...)
	out = append(out, `,"positions":[`...)
	for n := first; n <= min(first+Chunk-1, f.head.Turns); n++ {
		if err := f.seek(n); err != nil {
			return nil, err
		}
		out = append(comma(out, n-first), '[')
		k := 0
		f.painter.Paths(0, func(p *features.Path) {
			out = appendPath(comma(out, k), p)
			k++
		})
		out = append(out, ']')
	}
	return append(out, `]}`...), nil
}

// appendPath appends a way.
func appendPath(out []byte, p *features.Path) []byte {
	at := p.Cells[0]
	out = integers(append(out, '['), int(p.Owner), int(at.X), int(at.Y), bit(p.Stops, 1))
	out = append(out, `,"`...)
	for _, next := range p.Cells[1:] {
		switch {
		case next.X > at.X:
			out = append(out, 'r')
		case next.X < at.X:
			out = append(out, 'l')
		case next.Y > at.Y:
			out = append(out, 'u')
		default:
			out = append(out, 'd')
		}
		at = next
	}
	out = append(out, '"')
	if p.Note != "" {
		out = appendText(append(out, ','), p.Note)
	}
	return append(out, ']')
}
