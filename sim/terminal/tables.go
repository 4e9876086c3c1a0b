package terminal

import (
	"math"
	"slices"

	"moonfarm/sim/bitboard"
)

// tables are the rules in the shape the action phase wants them. A form is a
// kind of structure, upgraded or not: kind, or 3 + kind when upgraded. Mobile
// kinds are numbered from Scout = 0.
//
// Ranges are tables of boards: reach[class<<9|cell] are the cells whose squared
// distance from the cell is at most that of the class.
type tables struct {
	gives  bool // some structure gives bits or cores
	decay  float32
	period [3]int32 // frames from step to step of a mobile kind; 0: not always the same

	reach   []bitboard.Diamond
	squares []int32 // by class: the squared range

	shoots  [forms]bool
	shields [forms]bool
	shot    [forms]float32          // damage to mobile units
	amount  [2][forms][Side]float32 // of a shield, by player and y of the support
	guns    [3][]rangeOf            // by mobile kind: who shoots at it
	wards   [3][]rangeOf            // who shields it
	// By mobile kind and form: its entry in guns and in wards, −1 if it is in none.
	gunEntry, wardEntry [3][forms]int8

	group  [3]uint8 // mobile kinds that all these ranges treat alike share the first's number
	groups []uint8  // these numbers

	// zones tell a player's units on a cell whether structures of the enemy can
	// be in range at all: bit m for mobile kind m.
	zones [2][bitboard.DiamondSpan]uint8

	power   [3][2]float32   // damage of a mobile kind's shot to mobile units, to structures
	duel    [3][3]int32     // squared range of a mobile kind against a mobile kind; −1: harmless
	clash   [3][3]int32     // the longer of two kinds' ranges against each other
	aimAt   [3][forms]int16 // class in which a mobile kind hits a form
	oneAim  [3]int16        // that class if it is the same for all forms, −1 if it is harmless to them, else −2
	blastAt [3]int16        // class of its explosion
}

const forms = 2 * Structures

// rangeOf is a class with the forms, as bits, that have this range.
type rangeOf struct {
	class int16
	forms uint8
}

// with adds a form to the ranges.
func with(list []rangeOf, class int16, form int) []rangeOf {
	for i := range list {
		if list[i].class == class {
			list[i].forms |= 1 << form
			return list
		}
	}
	return append(list, rangeOf{class, 1 << form})
}

// square is the greatest squared distance within a range; Rules.Validate
// bounds ranges, so it fits.
func square(reach, radius float32) int32 {
	r := float64(reach) + float64(radius)
	return int32(r * r)
}

// class returns the class of a squared range, and makes it if it is new.
func (t *tables) class(sq int32) int16 {
	if i := slices.Index(t.squares, sq); i >= 0 {
		return int16(i)
	}
	t.squares = append(t.squares, sq)
	boards := make([]bitboard.Diamond, bitboard.DiamondSpan)
	r := int(math.Sqrt(float64(sq)))
	for _, half := range localCell {
		for _, cell := range half[:HalfCells] {
			at := positions[cell]
			for y := int(at.Y) - r; y <= int(at.Y)+r; y++ {
				for x := int(at.X) - r; x <= int(at.X)+r; x++ {
					if other, ok := bitboard.DiamondCell(x, y); ok && distance(int(cell), other) <= sq {
						boards[cell].Add(other)
					}
				}
			}
		}
	}
	t.reach = append(t.reach, boards...)
	return int16(len(t.squares) - 1)
}

// zone sets a bit on the cells within a squared range of the enemy's half.
func (t *tables) zone(sq int32, bit uint8) {
	for p := range t.zones {
		for _, half := range localCell {
			for _, cell := range half[:HalfCells] {
				rows := int32(positions[cell].Y) - (Side/2 - 1) // to player 1's half
				if p == 0 {
					rows = 1 - rows
				}
				if rows = max(rows, 0); rows*rows <= sq {
					t.zones[p][cell] |= bit
				}
			}
		}
	}
}

// distance is the squared distance of two cells.
func distance(a, b int) int32 {
	p, q := positions[a&511], positions[b&511]
	dx, dy := int32(p.X)-int32(q.X), int32(p.Y)-int32(q.Y)
	return dx*dx + dy*dy
}

// make fills the tables.
func (t *tables) make(r *Rules) {
	for f := range forms {
		u := r.structure(Kind(f%Structures), f >= Structures)
		t.gives = t.gives || u.GivesBits != 0 || u.GivesCores != 0
		t.shoots[f] = u.AttackRange > 0 && u.DamageMobile != 0
		t.shields[f] = u.Shield != 0 || u.ShieldPerY != 0
		t.shot[f] = u.DamageMobile
		for y := range Side {
			for p, rows := range [2]int{y, Side - 1 - y} {
				t.amount[p][f][y] = u.Shield + float32(u.ShieldPerY*float32(rows))
			}
		}
		for m := range 3 {
			radius := r.Units[int(Scout)+m].HitRadius
			if t.shoots[f] {
				t.guns[m] = with(t.guns[m], t.class(square(u.AttackRange, radius)), f)
			}
			if t.shields[f] {
				t.wards[m] = with(t.wards[m], t.class(square(u.ShieldRange, radius)), f)
			}
		}
	}
	t.decay = r.Units[Support].ShieldDecay
	for m := range 3 {
		t.gunEntry[m], t.wardEntry[m] = entries(t.guns[m]), entries(t.wards[m])
		t.mobile(r, m)
	}
	for m := range 3 {
		for n := range 3 {
			t.clash[m][n] = max(t.duel[m][n], t.duel[n][m])
		}
	}
}

// mobile fills the tables of one mobile kind.
func (t *tables) mobile(r *Rules, m int) {
	u := &r.Units[int(Scout)+m]
	t.power[m] = [2]float32{u.DamageMobile, u.DamageStruct}
	if frac, _ := math.Frexp(float64(u.Speed)); frac == 0.5 && u.Speed <= 1 {
		t.period[m] = int32(1 / u.Speed) // a power of two: the sums are exact
	}
	for n := range 3 {
		t.duel[m][n] = -1
		if u.AttackRange > 0 && u.DamageMobile != 0 {
			t.duel[m][n] = square(u.AttackRange, r.Units[int(Scout)+n].HitRadius)
		}
	}
	t.oneAim[m] = -1
	for f := range forms {
		v := r.structure(Kind(f%Structures), f >= Structures)
		if f >= Structures && !r.Upgradable[f-Structures] {
			v = &r.Units[f-Structures] // never on the board: any class will do
		}
		t.aimAt[m][f] = t.class(square(u.AttackRange, v.HitRadius))
		if u.AttackRange <= 0 || u.DamageStruct == 0 {
			continue
		}
		t.zone(square(u.AttackRange, v.HitRadius), 1<<m)
		if f == 0 {
			t.oneAim[m] = t.aimAt[m][f]
		} else if t.oneAim[m] != t.aimAt[m][f] {
			t.oneAim[m] = -2
		}
	}
	t.blastAt[m] = t.class(square(u.BlastRange, 0))
	t.group[m] = uint8(m)
	for n := m - 1; n >= 0; n-- {
		if slices.Equal(t.guns[m], t.guns[n]) && slices.Equal(t.wards[m], t.wards[n]) {
			t.group[m] = t.group[n]
		}
	}
	if t.group[m] == uint8(m) {
		t.groups = append(t.groups, uint8(m))
	}
}

// entries finds the entry of each form in a list.
func entries(list []rangeOf) (entry [forms]int8) {
	for f := range entry {
		entry[f] = int8(slices.IndexFunc(list, func(r rangeOf) bool { return r.forms>>f&1 != 0 }))
	}
	return entry
}

// Sides of the arena, as targets of mobile units; bit 0 is the colour of their
// cells.
const (
	topRight    = 0
	topLeft     = 1
	bottomLeft  = 2
	bottomRight = 3
)

// sides are the cells of the four sides.
var sides = func() (t [4]bitboard.Diamond) {
	for i := range 14 {
		for side, at := range [4][2]int{{14 + i, 27 - i}, {13 - i, 27 - i}, {13 - i, i}, {14 + i, i}} {
			cell, _ := bitboard.DiamondCell(at[0], at[1])
			t[side].Add(cell)
		}
	}
	return t
}()

// rowCells are the cells of each row y.
var rowCells = func() (t [Side]bitboard.Diamond) {
	for y := range Side {
		for x := range Side {
			if cell, ok := bitboard.DiamondCell(x, y); ok {
				t[y].Add(cell)
			}
		}
	}
	return t
}()

// beyond are the cells of row n and all further ones, counted from the end that
// is far from the top sides ([0]) and from the bottom sides ([1]).
var beyond = func() (t [2][Side]bitboard.Diamond) {
	for n := range Side {
		for row := n; row < Side; row++ {
			for w := range t[0][n] {
				t[0][n][w] |= rowCells[row][w]
				t[1][n][w] |= rowCells[Side-1-row][w]
			}
		}
	}
	return t
}()

// Directions of a step, in the order in which a tie is scanned for the last
// time (3.5); each is the bit of its neighbour in a set of candidates.
const (
	stepUp    = 0
	stepRight = 1
	stepLeft  = 2
	stepDown  = 3
)

// Axes of a unit's previous step.
const (
	axisNone       = 0
	axisVertical   = 1
	axisHorizontal = 2
)

var (
	stepAxis  = [4]uint8{axisVertical, axisHorizontal, axisHorizontal, axisVertical}
	stepDelta = [2][4]int16{{256, 257, 240, 241}, {-241, -240, -257, -256}} // by colour of the cell left
)

// A lane is the side that a unit is bound for and the axis of its previous step,
// side<<6 | axis<<4. choice[lane|candidates] is the step it takes, of the set of
// neighbours that are nearest (3.4, 3.5): the direction, and the axis<<4.
var choice = func() (t [256]uint8) {
	for side := range 4 {
		for axis := range uint8(3) {
			for set := range 16 {
				d := choose(side, axis, set)
				t[side<<6|int(axis)<<4|set] = d | stepAxis[d]<<4
			}
		}
	}
	return t
}()

func choose(side int, axis uint8, set int) uint8 {
	const vertical, horizontal = 1<<stepUp | 1<<stepDown, 1<<stepLeft | 1<<stepRight
	prefer, other := vertical, horizontal // the axis not used last; a unit that has not moved prefers vertical
	if axis == axisVertical {
		prefer, other = horizontal, vertical
	}
	back := set&prefer == 0 // it goes on along the axis of its previous step
	if back {
		prefer = other
	}
	toward := 1<<stepUp | 1<<stepRight // the directions towards the side
	switch side {
	case topLeft:
		toward = 1<<stepUp | 1<<stepLeft
	case bottomLeft:
		toward = 1<<stepDown | 1<<stepLeft
	case bottomRight:
		toward = 1<<stepDown | 1<<stepRight
	}
	if back && axis != axisNone {
		toward = 1<<stepUp | 1<<stepLeft
	}
	set &= prefer
	if set&toward != 0 {
		set &= toward
	}
	for d := range uint8(4) {
		if set>>d&1 != 0 {
			return d
		}
	}
	return 0
}
