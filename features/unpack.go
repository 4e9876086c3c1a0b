package features

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/sim/bitboard"
)

// Unpacker writes planes from packed words by a Layout. It is immutable, so
// that goroutines may share it.
type Unpacker struct {
	words  int
	bytes  int
	groups []group
	spots  []spot
}

// group holds the parts with the same cells, numbers and condition. One walk
// over the words serves all of them.
type group struct {
	cells   []int32 // indices in a plane
	number  Bits
	when    Bits // the condition's number; Width 0: no condition
	targets [][]target
	octets  []octet // for groups of single bits without a condition and with cells in rows of eight; else nil
}

// octet is eight adjacent cells of a row, from the left, or from the right if
// back is set.
type octet struct {
	left int32
	back bool
}

// target is the plane that a number is added to, and its factor.
type target struct {
	plane int32 // index of the plane's first byte
	times uint8
}

// spot is a Part with At, which adds to a single cell.
type spot struct {
	cells  []int32
	at     Bits
	number Bits
	when   Bits
	in     [1 << maxConditionWidth]bool
	target
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
		cells        int
		number, when Bits
	}
	index := map[key]int{}
	for _, p := range l.Parts {
		to := target{int32(p.Plane * s.Height * s.Width), uint8(p.Times)}
		k := key{cells: p.Cells, number: p.Number}
		in := []int{0}
		if p.If != nil {
			k.when, in = p.If.Bits, p.If.In
		}
		if p.At != nil {
			x := spot{cells: lists[p.Cells], at: *p.At, number: p.Number, when: k.when, target: to}
			for _, n := range in {
				if n >= 0 && n < len(x.in) {
					x.in[n] = true
				}
			}
			u.spots = append(u.spots, x)
			continue
		}
		i, ok := index[k]
		if !ok {
			i = len(u.groups)
			index[k] = i
			g := group{lists[p.Cells], p.Number, k.when, make([][]target, 1<<k.when.Width), nil}
			if p.If == nil && p.Number.Width == 1 && p.Number.Step == 1 && p.Number.First%8 == 0 {
				g.octets = octets(g.cells)
			}
			u.groups = append(u.groups, g)
		}
		for _, n := range in {
			if n >= 0 && n < len(u.groups[i].targets) {
				u.groups[i].targets[n] = append(u.groups[i].targets[n], to)
			}
		}
	}
	return u, nil
}

// octets cuts cells into octets. It returns nil if eight cells in sequence are
// not adjacent.
func octets(cells []int32) (list []octet) {
	if len(cells)%8 != 0 {
		return nil
	}
	for i := 0; i < len(cells); i += 8 {
		step := cells[i+1] - cells[i]
		for k := 1; k < 8; k++ {
			if cells[i+k]-cells[i+k-1] != step || step != 1 && step != -1 {
				return nil
			}
		}
		list = append(list, octet{min(cells[i], cells[i+7]), step < 0})
	}
	return list
}

// Unpack writes the planes, uint8 [Planes, Height, Width], from the packed
// words of one observation [Words]. It allocates nothing. It panics if a slab
// is too short.
func (u *Unpacker) Unpack(planes []uint8, packed []uint64) {
	planes, packed = planes[:u.bytes], packed[:u.words]
	clear(planes)
	for i := range u.groups {
		g := &u.groups[i]
		if g.octets != nil {
			g.addOctets(planes, packed)
		} else if g.number.even() {
			g.addNonzero(planes, packed)
		} else {
			g.addEach(planes, packed)
		}
	}
	for i := range u.spots {
		u.spots[i].put(planes, packed)
	}
}

// even reports whether the numbers lie at the same bits of every word.
func (b *Bits) even() bool {
	return b.Width > 0 && b.Step > 0 && 64%b.Step == 0 && b.First%b.Step+b.Width <= b.Step
}

// number returns the number for cell k.
func (b *Bits) number(packed []uint64, k int) int {
	if b.Width == 0 {
		return 0
	}
	at := b.First + k*b.Step
	return int(packed[at>>6] >> (at & 63) & (1<<b.Width - 1))
}

// add adds a number to cell k of every target.
func (g *group) add(planes []uint8, packed []uint64, k int, number uint8) {
	cell := g.cells[k]
	for _, t := range g.targets[g.when.number(packed, k)] {
		planes[t.plane+cell] += number * t.times
	}
}

// addEach adds the numbers of all cells, one by one.
func (g *group) addEach(planes []uint8, packed []uint64) {
	for k := range g.cells {
		number := uint8(1)
		if g.number.Width > 0 {
			number = uint8(g.number.number(packed, k))
		}
		g.add(planes, packed, k, number)
	}
}

// addOctets adds single bits, eight cells at once in one uint64: the sums of
// bytes do not carry.
func (g *group) addOctets(planes []uint8, packed []uint64) {
	at := g.number.First
	for _, o := range g.octets {
		b := uint8(packed[at>>6] >> (at & 63))
		at += 8
		if b == 0 {
			continue
		}
		row := bitboard.Spread(b)
		if o.back {
			row = bits.ReverseBytes64(row)
		}
		for _, t := range g.targets[0] {
			dst := planes[t.plane+o.left:][:8]
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(dst)+row*uint64(t.times))
		}
	}
}

// addNonzero goes through the words and adds the numbers that are not 0, which
// are few. The numbers lie at the same bits of every word.
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
				g.add(planes, packed, cell, uint8(w>>at&low))
			}
			w &^= low << at
		}
		k += 64 >> shift
	}
}

// put adds the number to the cell that the words name.
func (s *spot) put(planes []uint8, packed []uint64) {
	k := s.at.number(packed, 0)
	if k >= len(s.cells) || !s.in[s.when.number(packed, 0)] {
		return
	}
	number := uint8(1)
	if s.number.Width > 0 {
		number = uint8(s.number.number(packed, 0))
	}
	planes[s.plane+s.cells[k]] += number * s.times
}
