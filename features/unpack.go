package features

import "math/bits"

// Unpacker writes planes from packed words by a Layout. It is immutable, so
// that goroutines may share it.
type Unpacker struct {
	words  int
	bytes  int
	groups []group
}

// group holds the parts with the same cells and numbers. One walk over the words
// serves all of them.
type group struct {
	cells            []int32    // indices in a plane
	number, when, at Bits       // of the Part; Width 0: none
	targets          [][]target // by the condition's number
}

// target is the plane that a number is added to, and its factor.
type target struct {
	plane int32 // index of the plane's first byte
	times uint8
}

// NewUnpacker returns an Unpacker for observations of the shape. It fails if
// the layout does not fit such words and planes.
func NewUnpacker(s Shape, l *Layout) (*Unpacker, error) {
	if err := l.check(s); err != nil {
		return nil, err
	}
	u := &Unpacker{words: s.Words, bytes: s.PlaneBytes()}
	lists := make([][]int32, len(l.Cells))
	for i, runs := range l.Cells {
		for _, r := range runs {
			for k := range r.Count {
				lists[i] = append(lists[i], int32(r.First+k*r.Step))
			}
		}
	}
	type key struct {
		cells            int
		number, when, at Bits
	}
	index := map[key]int{}
	for _, p := range l.Parts {
		k := key{cells: p.Cells, number: p.Number}
		in := []int{0}
		if p.If != nil {
			k.when, in = p.If.Bits, p.If.In
		}
		if p.At != nil {
			k.at = *p.At
		}
		i, ok := index[k]
		if !ok {
			i = len(u.groups)
			index[k] = i
			u.groups = append(u.groups, group{lists[p.Cells], k.number, k.when, k.at, make([][]target, 1<<k.when.Width)})
		}
		targets := u.groups[i].targets
		for _, n := range in {
			if n >= 0 && n < len(targets) {
				targets[n] = append(targets[n], target{int32(p.Plane * s.Height * s.Width), uint8(p.Times)})
			}
		}
	}
	return u, nil
}

// Unpack writes the planes, uint8 [Planes, Height, Width], from the packed
// words of one observation [Words]. It allocates nothing. It panics if a slab
// is too short.
func (u *Unpacker) Unpack(planes []uint8, packed []uint64) {
	planes, packed = planes[:u.bytes], packed[:u.words]
	clear(planes)
	for i := range u.groups {
		g := &u.groups[i]
		if g.at.Width > 0 {
			if k := g.at.number(packed, 0); k < len(g.cells) {
				g.add(planes, packed, 0, g.cells[k], g.value(packed, 0))
			}
		} else if g.number.even() {
			g.addNonzero(planes, packed)
		} else {
			for k, cell := range g.cells {
				g.add(planes, packed, k, cell, g.value(packed, k))
			}
		}
	}
}

// value returns the number that is added for cell k.
func (g *group) value(packed []uint64, k int) uint8 {
	if g.number.Width == 0 {
		return 1
	}
	return uint8(g.number.number(packed, k))
}

// number returns the number for cell k, 0 with Width 0.
func (b *Bits) number(packed []uint64, k int) int {
	if b.Width == 0 {
		return 0
	}
	at := b.First + k*b.Step
	return int(packed[at>>6] >> (at & 63) & (1<<b.Width - 1))
}

// add adds the value for cell k of the list to a cell of every target.
func (g *group) add(planes []uint8, packed []uint64, k int, cell int32, value uint8) {
	for _, t := range g.targets[g.when.number(packed, k)] {
		planes[t.plane+cell] += value * t.times
	}
}

// even reports whether the numbers lie at the same bits of every word.
func (b *Bits) even() bool {
	return b.Width > 0 && b.Step > 0 && 64%b.Step == 0 && b.First%b.Step+b.Width <= b.Step
}

// addNonzero goes through the words and adds the numbers that are not 0, which
// are few: one observation of towerdefence takes 2.5 µs instead of 16 µs. The
// numbers lie at the same bits of every word.
func (g *group) addNonzero(planes []uint8, packed []uint64) {
	n := &g.number
	low := uint64(1)<<n.Width - 1
	mask := uint64(0)
	for at := n.First % n.Step; at < 64; at += n.Step {
		mask |= low << at
	}
	shift := bits.TrailingZeros(uint(n.Step))
	first, last := n.First>>6, (n.First+(len(g.cells)-1)*n.Step)>>6
	k := -(n.First & 63 >> shift) // k is the cell of the word's first number; negative if that lies before the list
	for _, w := range packed[first : last+1] {
		for w &= mask; w != 0; {
			lane := bits.TrailingZeros64(w) >> shift
			at := lane<<shift + n.First%n.Step
			if cell := k + lane; uint(cell) < uint(len(g.cells)) {
				g.add(planes, packed, cell, g.cells[cell], uint8(w>>at&low))
			}
			w &^= low << at
		}
		k += 64 >> shift
	}
}
