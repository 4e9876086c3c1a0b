package terminal

import (
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	tm "moonfarm/sim/terminal"
)

// The sequential form adds 3 planes of the own mobile units that wait, by kind, packed as a byte for
// each edge cell and kind, and 2 scalars.
const (
	sequentialPlanes  = planes + mobileKinds
	sequentialBytes   = sequentialPlanes * planeBytes
	sequentialWords   = words + (edgeCells*mobileKinds+7)/8
	scalarStepsLeft   = scalars
	scalarEnded       = scalars + 1
	sequentialScalars = scalars + 2
)

// SequentialEncoder implements features.Encoder for the sequential form. It shows the own half, cores
// and bits after the commands of this turn so far, and those of the enemy at the start of the turn.
type SequentialEncoder struct{ plain *Encoder }

// SequentialKit returns the encoder, the actions and the measures of the sequential form for the
// rules of g.
func SequentialKit(g *tm.Sequential) features.Kit[tm.SequentialState] {
	return features.Kit[tm.SequentialState]{
		Encoder:  NewSequentialEncoder(g),
		Actions:  NewSequentialActions(g),
		Measures: measures(g.Rules(), func(s *tm.SequentialState) *tm.State { return &s.Base }),
		// The position after the commands so far; mobile units that wait are not on the board.
		AppendText: func(dst []byte, s *tm.SequentialState) []byte { return tm.AppendText(dst, g.Game(), &s.View) },
	}
}

// NewSequentialEncoder returns the encoder for the rules of g.
func NewSequentialEncoder(g *tm.Sequential) *SequentialEncoder {
	return &SequentialEncoder{NewEncoder(g.Game())}
}

// Shape returns the sizes: planes [12, 28, 28], 18 scalars, 116 packed words.
func (e *SequentialEncoder) Shape() features.Shape {
	return features.Shape{Planes: sequentialPlanes, Height: side, Width: side, Scalars: sequentialScalars, Words: sequentialWords}
}

// Description documents the planes, the scalars and the packed words.
func (e *SequentialEncoder) Description() features.Description {
	t := e.plain.Description()
	for k := range tm.Kind(mobileKinds) {
		name := (tm.Scout + k).String()
		t.Planes = append(t.Planes, features.Field{Name: "own_" + name + "s", Unit: "units", Scale: 10,
			Doc: "own " + name + "s that wait here for the turn to begin"})
	}
	t.Scalars = append(t.Scalars,
		features.Field{Name: "steps_left", Unit: "steps", Scale: tm.SequentialSteps, Doc: "steps that this turn may still have, this one included"},
		features.Field{Name: "own_ended", Unit: "flag", Scale: 1, Doc: "the own turn is ended: nothing can be done but wait for the enemy"})
	t.Packed, t.PackedLayout = t.Packed+sequentialPackedDoc, sequentialLayout()
	return t
}

const sequentialPackedDoc = " Then 11 words: a byte for each of the 28 edge cells (numbered as in the actions) and the 3 kinds of mobile units, " +
	"byte 3·e + k the number of own units of kind k that wait on edge cell e; the last 4 bytes are 0."

// Planes writes the uint8 planes.
func (e *SequentialEncoder) Planes(dst []uint8, s *tm.SequentialState, p sim.Player) {
	features.CheckLength("planes", len(dst), sequentialBytes)
	b := (*board)(dst)
	blank(b)
	e.plain.fill(b, &s.View, p, p)
	e.plain.fill(b, &s.Base, p^1, p)
	mobile := dst[boardBytes:sequentialBytes]
	clear(mobile)
	for w := s.Waiting[p]; w != 0; w &= w - 1 {
		edge := bits.TrailingZeros32(w)
		at := int(planeAt[p][half[p][edges[edge]].cell])
		for k, n := range s.Mobile[p][edge] {
			mobile[k*planeBytes+at] = n
		}
	}
}

// Packed writes the structures, then the own mobile units that wait.
func (e *SequentialEncoder) Packed(dst []uint64, s *tm.SequentialState, p sim.Player) {
	features.CheckLength("packed", len(dst), sequentialWords)
	l := (*list)(dst)
	clear(l[:])
	e.plain.enter(l, &s.View, p, p)
	e.plain.enter(l, &s.Base, p^1, p)
	mobile := dst[words:sequentialWords]
	clear(mobile)
	for w := s.Waiting[p]; w != 0; w &= w - 1 {
		edge := bits.TrailingZeros32(w)
		for k, n := range s.Mobile[p][edge] {
			i := edge*mobileKinds + k
			mobile[i>>3] |= uint64(n) << (i & 7 * 8)
		}
	}
}

// Scalars writes the scalars of the plain form, then the steps left and whether the own turn is
// ended.
func (e *SequentialEncoder) Scalars(dst []float32, s *tm.SequentialState, p sim.Player) {
	features.CheckLength("scalars", len(dst), sequentialScalars)
	dst = dst[:sequentialScalars]
	e.plain.side(dst[:scalarsPerSide], &s.View, p)
	e.plain.side(dst[scalarsPerSide:scalarTurn], &s.Base, p^1)
	e.plain.common(dst[scalarTurn:], &s.Base)
	dst[scalarStepsLeft] = float32(tm.SequentialSteps - int(s.Steps))
	dst[scalarEnded] = float32(s.Ended[p])
}

// First choices of each command in the sequential form: commands on own cells, commands on edge
// cells, and the end of the turn.
const (
	choicePlace   = 0 // + 210·kind + cell
	choiceUpgrade = choicePlace + tm.Structures*tm.HalfCells
	choiceRemove  = choiceUpgrade + tm.HalfCells
	choiceSpawn   = choiceRemove + tm.HalfCells // + 28·kind + edge cell
	choiceEnd     = choiceSpawn + mobileKinds*edgeCells
	choices       = choiceEnd + 1
	choiceWords   = (choices + 63) / 64
)

// SequentialActions implements features.ActionSpace for the sequential form: one head, with one
// command per step. Its mask is sound and complete.
type SequentialActions struct{ rules tm.Rules }

// NewSequentialActions returns the action space for the rules of g.
func NewSequentialActions(g *tm.Sequential) *SequentialActions {
	return &SequentialActions{g.Rules()}
}

// Heads returns one head of 1135 choices.
func (a *SequentialActions) Heads() []int { return []int{choices} }

// Doc explains the choices.
func (a *SequentialActions) Doc() string {
	return "One choice a step; i is an own cell, numbered from the own end by rows, in each from the left: i = y(y+1) + x − 13 + y;\n" +
		"  e is an edge cell, two in each row y: e = 2y the left one, (13−y, y), e = 2y+1 the right one, (14+y, y).\n" +
		"  0 … 209 place a wall on cell i, 210 … 419 a support, 420 … 629 a turret,\n" +
		"  630 … 839 upgrade what stands on i, 840 … 1049 mark it for removal,\n" +
		"  1050 … 1077 a scout on edge cell e, 1078 … 1105 a demolisher, 1106 … 1133 an interceptor,\n" +
		"  1134 end the turn, or wait when it is ended."
}

// cells is a set of own cells, by their number in terminal.Local.
type cells [4]uint64

func (c *cells) add(i uint8) { c[i>>6] |= 1 << (i & 63) }

// or adds the set to the mask, from bit at on.
func (c *cells) or(dst *[choiceWords]uint64, at int) {
	w, shift := at>>6, at&63
	for _, b := range c {
		if b != 0 {
			dst[w] |= b << shift
			if high := b >> 1 >> (63 - shift); high != 0 {
				dst[w+1] |= high
			}
		}
		w++
	}
}

// Mask writes 18 words.
func (a *SequentialActions) Mask(dst []uint64, s *tm.SequentialState, p sim.Player) {
	features.CheckLength("mask", len(dst), choiceWords)
	m := (*[choiceWords]uint64)(dst)
	clear(m[:])
	m[choiceEnd>>6] = 1 << (choiceEnd & 63)
	if s.Ended[p] != 0 {
		return
	}
	v, r := &s.View, &a.rules
	var taken, upgrade, remove cells
	var built uint32 // edge cells with a structure
	for k := range v.Ages[p] {
		can := r.Upgradable[k] && v.Cores[p] >= r.Upgraded[k].Cores
		ages := &v.Ages[p][k]
		for _, i := range ages.Cell[:ages.N] {
			at := &half[p][i%tm.HalfCells]
			c := v.Cells[at.cell]
			taken.add(i)
			built |= at.edge
			if can && !c.Upgraded() {
				upgrade.add(i)
			}
			if c.RemoveIn() == 0 {
				remove.add(i)
			}
		}
	}
	for w := s.Waiting[p]; w != 0; w &= w - 1 {
		taken.add(edges[bits.TrailingZeros32(w)])
	}
	free := cells{^taken[0], ^taken[1], ^taken[2], ^taken[3] & (1<<(tm.HalfCells-192) - 1)}
	for k := range tm.Structures {
		if v.Cores[p] >= r.Units[k].Cores {
			free.or(m, choicePlace+k*tm.HalfCells)
		}
	}
	upgrade.or(m, choiceUpgrade)
	remove.or(m, choiceRemove)
	open := cells{uint64(^built & (1<<edgeCells - 1))}
	for k := range mobileKinds {
		if v.Bits[p] >= r.Units[int(tm.Scout)+k].Bits {
			open.or(m, choiceSpawn+k*edgeCells)
		}
	}
}

// AppendOrders appends the order of the action.
func (a *SequentialActions) AppendOrders(dst []sim.Order, action []int32, _ *tm.SequentialState, p sim.Player) []sim.Order {
	features.CheckLength("action", len(action), 1)
	c := int(action[0])
	switch {
	case c < 0 || c >= choices:
		return dst
	case c == choiceEnd:
		return append(dst, tm.Nothing)
	case c >= choiceSpawn:
		at := &half[p][edges[(c-choiceSpawn)%edgeCells]]
		return append(dst, tm.Spawn(tm.Scout+tm.Kind((c-choiceSpawn)/edgeCells), int(at.x), int(at.y), 1))
	}
	at := &half[p][c%tm.HalfCells]
	x, y := int(at.x), int(at.y)
	switch {
	case c >= choiceRemove:
		return append(dst, tm.RemoveAt(x, y))
	case c >= choiceUpgrade:
		return append(dst, tm.UpgradeAt(x, y))
	}
	return append(dst, tm.Place(tm.Kind(c/tm.HalfCells), x, y))
}

// Action writes the choice for the first order, the only one that counts. It returns false for
// orders of the referee and for cells in the enemy's half or outside the arena.
func (a *SequentialActions) Action(dst []int32, orders []sim.Order, _ *tm.SequentialState, p sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	dst[0] = choiceEnd
	if len(orders) == 0 || orders[0] == tm.Nothing {
		return true
	}
	c := tm.Decode(orders[0])
	dst[0] = -1
	cell, ok := bitboard.DiamondCell(int(c.X), int(c.Y))
	if !ok || tm.Owner(int(c.Y)) != p {
		return false
	}
	i := int32(listAt[p][cell])
	switch edge := half[p][i].edge; {
	case c.Op == tm.OpPlace && c.Kind.Structure():
		dst[0] = choicePlace + int32(c.Kind)*tm.HalfCells + i
	case c.Op == tm.OpUpgrade:
		dst[0] = choiceUpgrade + i
	case c.Op == tm.OpRemove:
		dst[0] = choiceRemove + i
	case c.Op == tm.OpSpawn && c.Kind.Mobile() && edge != 0:
		dst[0] = choiceSpawn + int32(c.Kind-tm.Scout)*edgeCells + int32(bits.TrailingZeros32(edge))
	}
	return dst[0] >= 0
}
