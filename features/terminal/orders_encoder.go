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
type ordersEncoder struct {
	game  *tm.Game
	plain *Encoder
}

func newOrdersEncoder(g *tm.Game) *ordersEncoder { return &ordersEncoder{g, NewEncoder(g)} }

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

// observe writes the observation of a draft.
func (e *ordersEncoder) observe(dst features.Rows, d *draft) {
	if dst.Planes != nil {
		e.planes(dst.Planes, d)
	}
	if dst.Packed != nil {
		e.packed(dst.Packed, d)
	}
	if dst.Scalars != nil {
		e.scalars(dst.Scalars, d)
	}
}

// planes writes the uint8 planes of a draft. The own orders have not changed the enemy's half of the
// view.
func (e *ordersEncoder) planes(dst []uint8, d *draft) {
	features.CheckLength("planes", len(dst), ordersBytes)
	e.plain.Planes(dst, &d.View, d.Player)
	more := (*[ordersBytes - boardBytes]uint8)(dst[boardBytes:])
	clear(more[:])
	at := &planeAt[0]
	for w := d.Waiting; w != 0; w &= w - 1 {
		edge := bits.TrailingZeros32(w)
		cell := int(at[half[0][edges[edge]].cell])
		for k, n := range d.Units[edge] {
			more[k*planeBytes+cell] = uint8(min(n, 255))
		}
	}
	ordered := (*[planeBytes]uint8)(more[mobileKinds*planeBytes:])
	for k := range d.Placed {
		mark(ordered, &d.Placed[k], 1)
	}
	mark(ordered, &d.Upgraded, 2)
	mark(ordered, &d.Marked, 4)
}

// mark adds a value to the own cells of a set.
func mark(plane *[planeBytes]uint8, set *tm.HalfSet, value uint8) {
	for w, b := range set {
		for ; b != 0; b &= b - 1 {
			plane[planeAt[0][half[0][w<<6|bits.TrailingZeros64(b)].cell]] += value
		}
	}
}

// packed writes the packed words of a draft.
func (e *ordersEncoder) packed(dst []uint64, d *draft) {
	features.CheckLength("packed", len(dst), ordersWords)
	e.plain.Packed(dst, &d.View, d.Player)
	waiting := (*[wordOrdered - wordWaiting]uint64)(dst[wordWaiting:])
	clear(waiting[:])
	for w := d.Waiting; w != 0; w &= w - 1 {
		edge := bits.TrailingZeros32(w)
		for k, n := range d.Units[edge] {
			i := edge*mobileKinds + k
			waiting[i>>3] |= uint64(min(n, 255)) << (i & 7 * 8)
		}
	}
	sets := (*[orderedBits * wordsOfHalf]uint64)(dst[wordOrdered:])
	for w := range wordsOfHalf {
		sets[w] = d.Placed[0][w] | d.Placed[1][w] | d.Placed[2][w]
		sets[wordsOfHalf+w] = d.Upgraded[w]
		sets[2*wordsOfHalf+w] = d.Marked[w]
	}
}

// scalars writes the scalars of a draft.
func (e *ordersEncoder) scalars(dst []float32, d *draft) {
	features.CheckLength("scalars", len(dst), ordersScalars)
	e.plain.Scalars(dst, &d.View, d.Player)
	clear(dst[scalars:ordersScalars])
	dst[scalarStartCores], dst[scalarStartBits] = d.purse[0], d.purse[1]
	dst[scalarOrders] = float32(d.given)
	next := d.last + 1
	if d.last >= 0 && d.ahead(d.last) {
		next = d.last
	}
	dst[scalarCursor] = float32(next)
	dst[scalarPhase+min(next/tm.HalfCells, phases-1)] = 1
	if d.ended {
		dst[scalarEnded] = 1
	}
}
