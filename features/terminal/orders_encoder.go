package terminal

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// The form of single orders adds 4 planes: own mobile units that wait, by kind, and what was ordered
// on each own cell in this turn. They are packed as a byte for each edge cell and kind, and as three
// sets of own cells.
const (
	planeWaiting = planes
	planeOrdered = planeWaiting + mobileKinds
	ordersPlanes = planeOrdered + 1
	ordersBytes  = ordersPlanes * planeBytes

	wordWaiting = words
	wordOrdered = wordWaiting + (edgeCells*mobileKinds+7)/8
	wordsOfHalf = (tm.HalfCells + 63) / 64
	orderedBits = 3 // of the values of planeOrdered: placed, upgraded, marked for removal
	ordersWords = wordOrdered + orderedBits*wordsOfHalf
)

// Scalars that the form of single orders adds.
const (
	scalarStartCores = scalars + iota
	scalarStartBits
	scalarOrders
	scalarCursor
	scalarPhase   // 6 scalars
	scalarEnded   = scalarPhase + phases
	ordersScalars = scalarEnded + 1
)

// Phases of a turn: walls, supports, turrets, upgrades, removals, mobile units.
const phases = 6

// ordersEncoder implements features.Encoder for the form of single orders. It shows the own half,
// cores and bits after the orders of this turn so far, and those of the enemy at the start of the
// turn.
type ordersEncoder struct{ plain *Encoder }

// Shape returns the sizes: planes [13, 28, 28], 27 scalars, 128 packed words.
func (e *ordersEncoder) Shape() features.Shape {
	return features.Shape{Planes: ordersPlanes, Height: side, Width: side, Scalars: ordersScalars, Words: ordersWords}
}

// Description documents the planes, the scalars and the packed words.
func (e *ordersEncoder) Description() features.Description {
	t := e.plain.Description()
	for k := range tm.Kind(mobileKinds) {
		name := (tm.Scout + k).String()
		t.Planes = append(t.Planes, features.Field{Name: "own_" + name + "s", Unit: "units", Scale: 10,
			Doc: "own " + name + "s ordered in this turn, which wait here for it to be played; at most 255"})
	}
	t.Planes = append(t.Planes, features.Field{Name: "ordered", Unit: "bits", Scale: 7,
		Doc: "sum of what was ordered here in this turn: 1 a structure was placed, 2 it was upgraded, 4 it was marked for removal"})
	scalar := func(name, unit string, scale float32, doc string) {
		t.Scalars = append(t.Scalars, features.Field{Name: name, Unit: unit, Scale: scale, Doc: doc})
	}
	scalar("own_start_cores", "cores", 40, "own cores at the start of the turn; own_cores is what the orders so far have left")
	scalar("own_start_bits", "bits", 40, "own bits at the start of the turn; own_bits is what the orders so far have left")
	scalar("orders", "orders", 10, "orders given in this turn so far")
	scalar("cursor", "choices", choiceEnd, "choices that the order of a turn has passed: those below it cannot be chosen any more")
	for _, name := range []string{"walls", "supports", "turrets", "upgrades", "removals", "mobile"} {
		scalar("phase_"+name, "flag", 1, "the cursor is at the choices of this kind; the turn may go on with them or with later ones")
	}
	scalar("own_ended", "flag", 1, "the last action has ended the own turn: nothing can be done but wait for the enemy")
	t.Packed, t.PackedLayout = t.Packed+ordersPackedDoc, ordersLayout()
	return t
}

const ordersPackedDoc = " Then 11 words: a byte for each of the 28 edge cells (numbered as in the actions) and the 3 kinds of mobile units, " +
	"byte 3·e + k the number of own units of kind k that wait on edge cell e; the last 4 bytes are 0. " +
	"Then three sets of own cells of 4 words each, cell i is bit i: placed, upgraded, and marked for removal in this turn."

// Planes writes the uint8 planes at the start of a turn.
func (e *ordersEncoder) Planes(dst []uint8, s *tm.State, p sim.Player) {
	features.CheckLength("planes", len(dst), ordersBytes)
	e.plain.Planes(dst, s, p)
	clear(dst[boardBytes:ordersBytes])
}

// Packed writes the packed words at the start of a turn.
func (e *ordersEncoder) Packed(dst []uint64, s *tm.State, p sim.Player) {
	features.CheckLength("packed", len(dst), ordersWords)
	e.plain.Packed(dst, s, p)
	clear(dst[words:ordersWords])
}

// Scalars writes the scalars at the start of a turn.
func (e *ordersEncoder) Scalars(dst []float32, s *tm.State, p sim.Player) {
	features.CheckLength("scalars", len(dst), ordersScalars)
	e.plain.Scalars(dst, s, p)
	clear(dst[scalars:ordersScalars])
	dst[scalarStartCores], dst[scalarStartBits], dst[scalarPhase] = s.Cores[p], s.Bits[p], 1
}

// shown holds the observation of a draft, as far as it was asked for. It is made once in a turn; the
// orders after that change what they concern. The planes are written from the packed words.
type shown struct {
	listed, counted bool // packed and scalars are those of the draft

	packed  [ordersWords]uint64
	stands  [(arenaCells + 63) / 64]uint64 // cells with a structure, in the order of the packed words
	scalars [ordersScalars]float32
}

// row is a draft with its observation.
type row struct {
	draft
	shown shown
}

// observe writes the observation of a draft.
func (e *ordersEncoder) observe(dst features.Rows, d *row) {
	o := &d.shown
	if !o.listed && (dst.Planes != nil || dst.Packed != nil) {
		e.list(d)
	}
	if dst.Planes != nil {
		features.CheckLength("planes", len(dst.Planes), ordersBytes)
		o.draw((*[ordersBytes]uint8)(dst.Planes), d)
	}
	if dst.Packed != nil {
		features.CheckLength("packed", len(dst.Packed), ordersWords)
		copy(dst.Packed, o.packed[:])
	}
	if dst.Scalars != nil {
		features.CheckLength("scalars", len(dst.Scalars), ordersScalars)
		if !o.counted {
			e.count(d)
		}
		copy(dst.Scalars, o.scalars[:])
	}
}

// draw writes the planes of a draft.
func (s *shown) draw(dst *[ordersBytes]uint8, d *row) {
	*(*[planeBytes]uint8)(dst[:]) = arena
	clear(dst[planeBytes:])
	for w, b := range s.stands {
		for ; b != 0; b &= b - 1 {
			i := w<<6 | bits.TrailingZeros64(b)
			at, entry := int(arenaAt[i]), s.packed[i>>2]>>(i&3*16)
			first := planeOwn * planeBytes
			if i >= tm.HalfCells {
				first = planeEnemy * planeBytes
			}
			dst[first+int(entry>>entryKind&3)*planeBytes+at] = uint8(entry)
			dst[planeUpgraded*planeBytes+at] = uint8(entry >> entryUpgraded & 1)
			dst[planeRemoval*planeBytes+at] = uint8(entry >> entryRemoval & 15)
		}
	}
	for cells := d.Waiting; cells != 0; cells &= cells - 1 {
		edge := bits.TrailingZeros32(cells)
		for k, n := range d.Units[edge] {
			dst[(planeWaiting+k)*planeBytes+int(arenaAt[edges[edge]])] = uint8(min(n, 255))
		}
	}
	ordered := (*[planeBytes]uint8)(dst[planeOrdered*planeBytes:])
	for w := range orderedBits * wordsOfHalf {
		for b := s.packed[wordOrdered+w]; b != 0; b &= b - 1 {
			ordered[arenaAt[w%wordsOfHalf<<6|bits.TrailingZeros64(b)]] |= 1 << (w / wordsOfHalf)
		}
	}
}

// list makes the packed words of a draft.
func (e *ordersEncoder) list(d *row) {
	o, at := &d.shown, &listAt[d.Player]
	o.listed, o.packed, o.stands = true, [ordersWords]uint64{}, [len(o.stands)]uint64{}
	for q := range d.View.Own {
		for w, b := range d.View.Own[q] {
			for ; b != 0; b &= b - 1 {
				cell := w<<6 | bits.TrailingZeros64(b)
				i := at[cell]
				o.stands[i>>6] |= 1 << (i & 63)
				o.packed[i>>2] |= e.plain.entry(d.View.Cells[cell]) << (i & 3 * 16)
			}
		}
	}
	for cells := d.Waiting; cells != 0; cells &= cells - 1 {
		o.listUnits(d, bits.TrailingZeros32(cells))
	}
	o.listSets(d)
}

// listCell packs own cell i, on which something was ordered.
func (e *ordersEncoder) listCell(d *row, i int) {
	d.shown.stands[i>>6] |= 1 << (i & 63)
	w, shift := &d.shown.packed[i>>2], i&3*16
	*w = *w&^(0xffff<<shift) | e.plain.entry(d.View.Cells[half[d.Player][i].cell])<<shift
}

// listUnits packs the units that wait on an edge cell.
func (s *shown) listUnits(d *row, edge int) {
	for k, n := range d.Units[edge] {
		i := edge*mobileKinds + k
		w, shift := &s.packed[wordWaiting+i>>3], i&7*8
		*w = *w&^(0xff<<shift) | uint64(min(n, 255))<<shift
	}
}

// listSets packs the sets of cells on which something was ordered.
func (s *shown) listSets(d *row) {
	sets := (*[orderedBits * wordsOfHalf]uint64)(s.packed[wordOrdered:])
	for w := range wordsOfHalf {
		sets[w] = d.Placed[0][w] | d.Placed[1][w] | d.Placed[2][w]
		sets[wordsOfHalf+w] = d.Upgraded[w]
		sets[2*wordsOfHalf+w] = d.Marked[w]
	}
}

// count makes the scalars of a draft.
func (e *ordersEncoder) count(d *row) {
	o := &d.shown
	o.counted = true
	e.Scalars(o.scalars[:], &d.View, d.Player)
	more := &o.scalars
	clear(more[scalars:])
	more[scalarStartCores], more[scalarStartBits] = d.purse[0], d.purse[1]
	more[scalarOrders] = float32(d.given)
	next := d.last + 1
	if d.last >= 0 && d.ahead(d.last) {
		next = d.last
	}
	more[scalarCursor] = float32(next)
	more[scalarPhase+min(next/tm.HalfCells, phases-1)] = 1
	more[scalarEnded] = float32(flag(d.ended))
}

// update changes what a choice that was taken concerns.
func (e *ordersEncoder) update(d *row, c int) {
	o := &d.shown
	o.counted = false
	switch {
	case d.ended:
	case c < choiceStack:
		if o.listed {
			e.listCell(d, c%tm.HalfCells)
			o.listSets(d)
		}
	case o.listed:
		o.listUnits(d, stackAt((c-choiceStack)/sizesOfStack)/mobileKinds)
	}
}
