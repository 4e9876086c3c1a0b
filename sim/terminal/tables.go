package terminal

import (
	"math"
	"math/bits"
	"slices"

	"moonfarm/sim/bitboard"
)

// tables holds values for the action phase, computed from the rules. A form is a kind of
// structure, upgraded or not: kind, or 3 + kind if upgraded. Mobile kinds are numbered from
// Scout = 0. Each different squared range has a number, its class.
type tables struct {
	decay  float32
	period [MobileKinds]int32 // frames between two steps of a mobile kind; 0: it varies

	squares []int32            // by class: the squared range
	orders  []nearest          // by class: the cells within the range, without lists unless listClass made them
	discs   []bitboard.Diamond // by class and cell: see within

	damage       [forms]float32          // of a shot at mobile units
	amount       [2][forms][Side]float32 // of a shield, by player and y of the support
	turretRange  reachRange
	supportRange reachRange

	// frontier has bit m set, by player and cell, if an enemy structure can be in range of
	// a unit of mobile kind m on the cell.
	frontier [2][bitboard.DiamondSpan]uint8

	mobileRange [MobileKinds][MobileKinds]int32 // squared range of a mobile kind against a mobile kind; −1: it does no damage
	mutual      [MobileKinds][MobileKinds]int32 // the longer of two kinds' ranges against each other
	formRange   [MobileKinds][forms]int16       // class of the range of a mobile kind against a form
	siegeRange  [MobileKinds]int16              // class of the range against all forms, or noRange, or severalRanges
	blastRange  [MobileKinds]int16              // class of its explosion

	earlierTargets, bare, byText bool // earlier engines' choice of targets: see weakestUnit
}

const forms = 2 * Structures

// Values that replace a class.
const (
	noRange       = -1 // does no damage
	severalRanges = -2 // forms have different ranges
)

// reachRange holds the ranges of turrets or supports for mobile units. Forms are 0 for the base
// form, 1 for the upgraded form.
type reachRange struct {
	class  [MobileKinds][2]int16 // by mobile kind and form
	widest [2]int16              // by form: the longest range; noRange if the form has no effect on mobile units
	alike  uint64                // all ones if both forms have the same ranges; all then count as base forms
}

// Bits of a cell in a packed word, and the mask for indices by cell.
const (
	cellBits = 9
	cellMask = bitboard.DiamondSpan - 1
)

// cellOf returns the first cell of the bits set in word w of a board.
func cellOf(w int, set uint64) int { return w<<6 | bits.TrailingZeros64(set) }

// within returns the cells whose squared distance from a cell is at most the squared range of the
// class.
func (t *tables) within(class int16, cell int) *bitboard.Diamond {
	return &t.discs[int(class)<<cellBits|cell]
}

// squaredDistance returns the squared distance of two cells.
func squaredDistance(a, b uint16) int32 {
	p, q := positions[a&cellMask], positions[b&cellMask]
	dx, dy := int32(p.X)-int32(q.X), int32(p.Y)-int32(q.Y)
	return dx*dx + dy*dy
}

// square returns the greatest squared distance within a range. It fits, because Rules.Validate
// bounds ranges.
func square(reach, radius float32) int32 {
	r := float64(reach) + float64(radius)
	return int32(r * r)
}

// class returns the class of a squared range. It adds the class if it is new.
func (t *tables) class(square int32) int16 {
	if i := slices.Index(t.squares, square); i >= 0 {
		return int16(i)
	}
	t.squares = append(t.squares, square)
	discs := make([]bitboard.Diamond, bitboard.DiamondSpan)
	r := int(math.Sqrt(float64(square)))
	eachCell(func(cell uint16, at Pos) {
		for y := int(at.Y) - r; y <= int(at.Y)+r; y++ {
			for x := int(at.X) - r; x <= int(at.X)+r; x++ {
				if other, ok := bitboard.DiamondCell(x, y); ok && squaredDistance(cell, uint16(other)) <= square {
					discs[cell].Add(other)
				}
			}
		}
	})
	t.discs = append(t.discs, discs...)
	t.orders = append(t.orders, nearest{})
	return int16(len(t.squares) - 1)
}

// listClass makes the lists of a class where the processor gathers fast.
func (t *tables) listClass(class int16) {
	if o := &t.orders[class]; o.lists == nil && bitboard.GathersFast() {
		o.make(t.squares[class])
	}
}

// eachCell calls visit for the cells of the arena.
func eachCell(visit func(cell uint16, at Pos)) {
	for cell, at := range positions {
		if bitboard.DiamondBoard.Has(cell) {
			visit(uint16(cell), at)
		}
	}
}

// make fills the tables.
func (t *tables) make(r *Rules) {
	t.decay = r.Units[Support].ShieldDecay
	t.bare, t.byText = r.BareWeakest, r.TiesByText
	t.earlierTargets = t.bare || t.byText
	for f := range forms {
		u := r.Structure(Kind(f%Structures), f >= Structures)
		t.damage[f] = u.DamageMobile
		for y := range Side {
			t.amount[0][f][y], t.amount[1][f][y] = u.ShieldAt(y), u.ShieldAt(Side-1-y)
		}
	}
	t.turretRange = t.reach(r, Turret, func(u *Unit) (float32, bool) { return u.AttackRange, u.AttackRange > 0 && u.DamageMobile != 0 })
	for form, widest := range t.turretRange.widest {
		for m := range MobileKinds {
			if widest != noRange {
				t.listClass(t.turretRange.class[m][form])
			}
		}
	}
	t.supportRange = t.reach(r, Support, func(u *Unit) (float32, bool) { return u.ShieldRange, u.Shield != 0 || u.ShieldPerY != 0 })
	for m := range MobileKinds {
		t.mobile(r, m)
	}
	for m := range MobileKinds {
		for n := range MobileKinds {
			t.mutual[m][n] = max(t.mobileRange[m][n], t.mobileRange[n][m])
		}
	}
}

// reach returns the ranges of the forms of a kind of structure. of returns the range of a unit,
// and whether the unit has an effect on mobile units.
func (t *tables) reach(r *Rules, k Kind, of func(u *Unit) (reach float32, acts bool)) (ranges reachRange) {
	ranges.widest = [2]int16{noRange, noRange}
	for form, u := range []*Unit{&r.Units[k], &r.Upgraded[k]} {
		reach, acts := of(u)
		if !acts {
			continue
		}
		radius := float32(0)
		for m := range MobileKinds {
			own := r.Units[int(Scout)+m].HitRadius
			ranges.class[m][form] = t.class(square(reach, own))
			radius = max(radius, own)
		}
		ranges.widest[form] = t.class(square(reach, radius))
	}
	if base, _ := of(&r.Units[k]); ranges.widest[0] != noRange && ranges.widest[1] != noRange {
		if upgraded, _ := of(&r.Upgraded[k]); base == upgraded {
			ranges.alike, ranges.widest[1] = ^uint64(0), noRange
		}
	}
	return ranges
}

// mobile fills the tables of one mobile kind.
func (t *tables) mobile(r *Rules, m int) {
	u := &r.Units[int(Scout)+m]
	if frac, _ := math.Frexp(float64(u.Speed)); frac == 0.5 && u.Speed <= 1 {
		t.period[m] = int32(1 / u.Speed) // the speed is a power of two, so sums are exact
	}
	for n := range MobileKinds {
		t.mobileRange[m][n] = noRange
		if u.AttackRange > 0 && u.DamageMobile != 0 {
			t.mobileRange[m][n] = square(u.AttackRange, r.Units[int(Scout)+n].HitRadius)
		}
	}
	t.siegeRange[m] = noRange
	for f := range forms {
		v := r.Structure(Kind(f%Structures), f >= Structures)
		if f >= Structures && !r.Upgradable[f-Structures] {
			v = &r.Units[f-Structures] // never on the board, so any class will do
		}
		reach := square(u.AttackRange, v.HitRadius)
		t.formRange[m][f] = t.class(reach)
		if u.AttackRange <= 0 || u.DamageStruct == 0 {
			continue
		}
		t.widenFrontier(reach, m)
		if f == 0 {
			t.siegeRange[m] = t.formRange[m][f]
		} else if t.siegeRange[m] != t.formRange[m][f] {
			t.siegeRange[m] = severalRanges
		}
	}
	if class := t.siegeRange[m]; class >= 0 {
		t.listClass(class)
	}
	t.blastRange[m] = t.class(square(u.BlastRange, 0))
}

// nearest is an order of the cells within a range of a cell, the nearest first. The board of targets
// in this order has the nearest target as its first bit. Cells at the same distance are in the same
// list of up to 64. Ranges with more than two lists have none: no rules of a season have such.
type nearest struct {
	offsets []offset              // from the cell
	steps   [2][2 * listed]uint16 // by colour of the cell and offset: the difference of the cells modulo 2^16
	ends    []uint8               // by offset: the place in its list after those at the same distance
	lists   []bitboard.Around     // of `listed` offsets each
}

// offset is the difference of two cells.
type offset struct{ x, y int8 }

// listed is the number of offsets to a list.
const listed = 64

// make orders the cells up to a squared distance.
func (n *nearest) make(square int32) {
	*n = nearest{}
	var ring []offset
	for d := int32(1); d <= square; d++ {
		ring = appendRing(ring[:0], d)
		if left := listed - len(n.offsets)%listed; left < len(ring) {
			n.offsets = append(n.offsets, make([]offset, left)...) // the cell itself, which has no structure
			n.ends = append(n.ends, make([]uint8, left)...)
		}
		n.offsets = append(n.offsets, ring...)
		for end := (len(n.offsets)-1)%listed + 1; len(n.ends) < len(n.offsets); {
			n.ends = append(n.ends, uint8(end))
		}
		if len(n.offsets) > 2*listed {
			*n = nearest{}
			return
		}
	}
	lists, ok := make([]bitboard.Around, (len(n.offsets)+listed-1)/listed), true
	eachCell(func(cell uint16, at Pos) {
		for i, o := range n.offsets {
			if c, inside := bitboard.DiamondCell(int(at.X)+int(o.x), int(at.Y)+int(o.y)); inside && o != (offset{}) {
				ok = ok && lists[i/listed].Put(i%listed, int(cell), c)
				n.steps[colour(cell)][i] = uint16(c) - cell
			}
		}
	})
	if ok {
		n.lists = lists
	}
}

// appendRing appends the offsets at a squared distance.
func appendRing(dst []offset, square int32) []offset {
	r := int32(math.Sqrt(float64(square)))
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			if x*x+y*y == square {
				dst = append(dst, offset{int8(x), int8(y)})
			}
		}
	}
	return dst
}

// cell returns the cell of an offset from a cell.
func (n *nearest) cell(from uint16, i int) int {
	return int((from + n.steps[colour(from)][i&(2*listed-1)]) & cellMask)
}

// widenFrontier adds the cells within a squared range of the enemy's half to the frontier of
// mobile kind m.
func (t *tables) widenFrontier(square int32, m int) {
	eachCell(func(cell uint16, at Pos) {
		rows := int32(at.Y) - (Side/2 - 1) // to player 1's half
		for p, rows := range [2]int32{1 - rows, rows} {
			if rows = max(rows, 0); rows*rows <= square {
				t.frontier[p][cell] |= 1 << m
			}
		}
	})
}
