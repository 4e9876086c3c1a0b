package features

import "fmt"

// Layout tells where the packed words hold what the planes show, so that one
// short function unpacks the observations of every game: Unpacker here, and
// those in Python and JavaScript in datasets/examples.
//
// The bits of the words are numbered through: bit i is bit i%64 of word i/64.
// A plane is the sum of its Parts, and 0 in every cell that none of them
// reaches.
type Layout struct {
	Cells [][]Run `json:"cells"` // lists of cells, in the order in which the words hold them
	Parts []Part  `json:"parts"`
}

// Run is the cells First, First + Step, …, Count of them: each the index
// y*Width + x in a plane.
type Run struct {
	First int `json:"first"`
	Step  int `json:"step"`
	Count int `json:"count"`
}

// Bits are numbers of Width bits, the lowest first: that of cell k of a list
// begins at bit First + k*Step. No number reaches over the end of a word's lower
// or upper half.
type Bits struct {
	First int `json:"first"`
	Step  int `json:"step"`
	Width int `json:"width"`
}

// Part adds numbers to one plane. Without At it does so in every cell of a
// list; with At in one of them: the cell whose place in the list is the number
// At.First says, or in none if the list is not so long. With If it adds only
// where the number If.Bits says for the cell is one of If.In.
type Part struct {
	Plane  int        `json:"plane"`
	Cells  int        `json:"cells"`  // index of the list in Layout.Cells
	Number Bits       `json:"number"` // what is added; of width 0 it is 1
	Times  int        `json:"times"`  // factor of the number
	At     *Bits      `json:"at,omitempty"`
	If     *Condition `json:"if,omitempty"`
}

// Condition is true where a number is one of some.
type Condition struct {
	Bits
	In []int `json:"in"`
}

// Whole is the list of all cells of a plane, in their order.
func Whole(s Shape) []Run { return []Run{{0, 1, s.Height * s.Width}} }

// Bounds of a Layout, so that what is read from a file asks for no more memory
// than its planes.
const (
	maxPackedWidth    = 16      // bits of a number
	maxConditionWidth = 8       // of one in a condition
	maxPackedCells    = 1 << 20 // of a plane, and of all lists together
	maxPackedWords    = 1 << 20
	maxPackedPlanes   = 1 << 10
)

// check tells what is wrong with a layout for planes of the shape.
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

// checkCells tells what is wrong with the lists of cells.
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

// fit reports whether n numbers lie within so many bits and none over a border.
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

// length is the number of cells of a list.
func length(runs []Run) (n int) {
	for _, r := range runs {
		n += r.Count
	}
	return n
}
