package features

import "fmt"

// Layout describes where the packed words hold the values of the planes. With it
// one short function unpacks the observations of every game: Unpacker in this
// package, and the functions in Python and JavaScript in datasets/examples.
//
// The bits of the words are numbered from 0: bit i is bit i%64 of word i/64. A
// plane is the sum of its Parts, and 0 in every cell that no part covers.
type Layout struct {
	Cells [][]Run `json:"cells"` // lists of cells, in the order in which the words hold them
	Parts []Part  `json:"parts"`
}

// Run is a list of Count cells: First, First + Step, First + 2*Step and so on.
// A cell is the index y*Width + x in a plane.
type Run struct {
	First int `json:"first"`
	Step  int `json:"step"`
	Count int `json:"count"`
}

// Bits locates numbers of Width bits in the words, least significant bit first.
// The number for cell k of a list begins at bit First + k*Step. No number
// crosses the border between the two halves of a word.
type Bits struct {
	First int `json:"first"`
	Step  int `json:"step"`
	Width int `json:"width"`
}

// Part adds numbers to one plane. Without At it adds to every cell of a list.
// With At it adds to one cell: the number at bit At.First is the cell's
// position in the list; a position past the end of the list adds nothing. With
// If it adds only where the number located by If.Bits for the cell is in If.In.
type Part struct {
	Plane  int        `json:"plane"`
	Cells  int        `json:"cells"`  // index of the list in Layout.Cells
	Number Bits       `json:"number"` // the number to add; with Width 0 it is 1
	Times  int        `json:"times"`  // the number is multiplied by Times
	At     *Bits      `json:"at,omitempty"`
	If     *Condition `json:"if,omitempty"`
}

// Condition holds where the number located by Bits is in In.
type Condition struct {
	Bits
	In []int `json:"in"`
}

// Whole returns the list of all cells of a plane, in order.
func Whole(s Shape) []Run { return []Run{{0, 1, s.Height * s.Width}} }

// Bounds of a Layout, which keep one from a file from taking more memory than
// its planes.
const (
	maxPackedWidth    = 16      // of Bits.Width
	maxConditionWidth = 8       // of Bits.Width in a Condition
	maxPackedCells    = 1 << 20 // in a plane, and in all lists together
	maxPackedWords    = 1 << 20
	maxPackedPlanes   = 1 << 10
)

// check returns an error if the layout does not fit planes of the shape.
func (l *Layout) check(s Shape) error {
	if s.Planes < 1 || s.Planes > maxPackedPlanes || s.Height < 1 || s.Width < 1 || s.Words < 1 || s.Height > maxPackedCells/s.Width || s.Words > maxPackedWords {
		return fmt.Errorf("packed layout: planes [%d, %d, %d] in %d words", s.Planes, s.Height, s.Width, s.Words)
	}
	if err := l.checkCells(s.Height * s.Width); err != nil {
		return err
	}
	bits := s.Words * 64
	for i, p := range l.Parts {
		if p.Plane < 0 || p.Plane >= s.Planes || p.Cells < 0 || p.Cells >= len(l.Cells) || p.Times < 1 || p.Times > 255 {
			return fmt.Errorf("packed layout: part %d: plane %d of %d, list %d of %d, times %d",
				i, p.Plane, s.Planes, p.Cells, len(l.Cells), p.Times)
		}
		n := length(l.Cells[p.Cells])
		if p.At != nil {
			n = 1
		}
		ok := p.Number.fit(n, bits, maxPackedWidth)
		if p.At != nil {
			ok = ok && p.At.Width > 0 && p.At.fit(1, bits, maxPackedWidth)
		}
		if p.If != nil {
			ok = ok && p.If.Width > 0 && p.If.fit(n, bits, maxConditionWidth)
		}
		if !ok {
			return fmt.Errorf("packed layout: part %d: its numbers do not lie in %d words: %+v", i, s.Words, p)
		}
	}
	return nil
}

// checkCells returns an error if a list of cells is not within a plane.
func (l *Layout) checkCells(cells int) error {
	all := 0
	for i, runs := range l.Cells {
		for _, r := range runs {
			last := int64(r.First) + (int64(r.Count)-1)*int64(r.Step)
			if r.Count < 1 || r.Count > cells || r.First < 0 || r.First >= cells || r.Step < -cells || r.Step > cells ||
				last < 0 || last >= int64(cells) {
				return fmt.Errorf("packed layout: list %d: cells %+v, a plane has %d", i, r, cells)
			}
			if all += r.Count; all > maxPackedCells {
				return fmt.Errorf("packed layout: list %d: more than %d cells in all lists", i, maxPackedCells)
			}
		}
		if len(runs) == 0 {
			return fmt.Errorf("packed layout: list %d has no cells", i)
		}
	}
	return nil
}

// fit reports whether n numbers lie within the first bits bits, and none of
// them crosses the middle or the end of a word.
func (b Bits) fit(n, bits, widest int) bool {
	if b.Width == 0 {
		return b.First == 0 && b.Step == 0
	}
	if b.Width < 0 || b.Width > widest || b.First < 0 || b.First > bits-b.Width || b.Step < 0 || b.Step > bits {
		return false
	}
	if n > 1 && (b.Step < b.Width || int64(n-1)*int64(b.Step) > int64(bits-b.Width-b.First)) {
		return false
	}
	for k := range n {
		if at := (b.First + k*b.Step) % 32; at+b.Width > 32 {
			return false
		}
	}
	return true
}

// length returns the number of cells of a list.
func length(runs []Run) (n int) {
	for _, r := range runs {
		n += r.Count
	}
	return n
}
