package bitboard

// Field is a distance field on a Diamond: the number of steps from each cell to
// the nearest goal, modulo 4. This suffices to walk to the goal: the next step
// from a cell with distance d goes to a neighbour with distance d−1 modulo 4,
// as distances of neighbours differ by one. The distance is even on the goals'
// colour and odd on the other colour, so only one more bit needs to be stored.
type Field struct {
	Step [2]Diamond // cells reached, by bit 1 of their distance
}

// Reached reports whether a goal can be reached from the cell.
func (f *Field) Reached(cell int) bool {
	return (f.Step[0][cell>>6&7]|f.Step[1][cell>>6&7])>>(cell&63)&1 != 0
}

// Phase returns the distance modulo 4 of a cell that was reached. goal is the
// colour of the goals: 0 or 1, bit 8 of their cells.
func (f *Field) Phase(cell, goal int) uint8 {
	high := f.Step[1][cell>>6&7] >> (cell & 63) & 1
	return uint8(high<<1) | uint8((cell>>8^goal)&1)
}

// Fill computes the field of the free cells. The goals are the cells of the set
// goals that are free and have the colour goal: 0 (words 0–3) or 1 (words 4–7).
// Fill is a flood fill that ends within four steps after it has reached all
// wanted cells, or when it can reach no more cells. Cells that it has not
// reached by then count as not reached.
//
// The frontier changes its colour with every step. Within a colour's words, a
// step from A to B is one of the shifts 0, +1, −16, −15, so the next frontier
// is y | y>>16 with y = x | x<<1; from B to A the shifts are reversed.
func (f *Field) Fill(free, goals *Diamond, goal int, wanted *Diamond) {
	if has512 {
		f.fill512(free, goals, goal, wanted)
	} else {
		f.fillPortable(free, goals, goal, wanted)
	}
}

// fillPortable is Fill without assembly, and its twin.
func (f *Field) fillPortable(free, goals *Diamond, goal int, wanted *Diamond) {
	if goal == 0 {
		f.fillA(free, goals, wanted)
	} else {
		f.fillB(free, goals, wanted)
	}
}

// fillA is Fill from colour A. A round makes four steps: to B, to A, to B, and
// to A. The distances after the second and third step have bit 1 set.
func (f *Field) fillA(free, goals, wanted *Diamond) {
	b0, b1, b2, b3 := free[4], free[5], free[6], free[7] // cells not yet reached
	x0, x1, x2, x3 := goals[0]&free[0], goals[1]&free[1], goals[2]&free[2], goals[3]&free[3]
	a0, a1, a2, a3 := free[0]&^x0, free[1]&^x1, free[2]&^x2, free[3]&^x3
	var p0, p1, p2, p3, q0, q1, q2, q3 uint64 // cells with bit 1 of the distance set, of A and B
	var y0, y1, y2, y3, t0, t1, t2, t3 uint64
	for {
		t0, t1, t2, t3 = x0|x0<<1, x1|x1<<1, x2|x2<<1, x3|x3<<1
		y0, y1, y2, y3 = (t0|t0>>16|t1<<48)&b0, (t1|t1>>16|t2<<48)&b1, (t2|t2>>16|t3<<48)&b2, (t3|t3>>16)&b3
		if y0|y1|y2|y3 == 0 {
			break
		}
		b0, b1, b2, b3 = b0^y0, b1^y1, b2^y2, b3^y3

		t0, t1, t2, t3 = y0|y0>>1, y1|y1>>1, y2|y2>>1, y3|y3>>1
		x0, x1, x2, x3 = (t0|t0<<16)&a0, (t1|t1<<16|t0>>48)&a1, (t2|t2<<16|t1>>48)&a2, (t3|t3<<16|t2>>48)&a3
		if x0|x1|x2|x3 == 0 {
			break
		}
		a0, a1, a2, a3 = a0^x0, a1^x1, a2^x2, a3^x3
		p0, p1, p2, p3 = p0|x0, p1|x1, p2|x2, p3|x3

		t0, t1, t2, t3 = x0|x0<<1, x1|x1<<1, x2|x2<<1, x3|x3<<1
		y0, y1, y2, y3 = (t0|t0>>16|t1<<48)&b0, (t1|t1>>16|t2<<48)&b1, (t2|t2>>16|t3<<48)&b2, (t3|t3>>16)&b3
		if y0|y1|y2|y3 == 0 {
			break
		}
		b0, b1, b2, b3 = b0^y0, b1^y1, b2^y2, b3^y3
		q0, q1, q2, q3 = q0|y0, q1|y1, q2|y2, q3|y3

		t0, t1, t2, t3 = y0|y0>>1, y1|y1>>1, y2|y2>>1, y3|y3>>1
		x0, x1, x2, x3 = (t0|t0<<16)&a0, (t1|t1<<16|t0>>48)&a1, (t2|t2<<16|t1>>48)&a2, (t3|t3<<16|t2>>48)&a3
		if x0|x1|x2|x3 == 0 {
			break
		}
		a0, a1, a2, a3 = a0^x0, a1^x1, a2^x2, a3^x3
		if a0&wanted[0]|a1&wanted[1]|a2&wanted[2]|a3&wanted[3]|b0&wanted[4]|b1&wanted[5]|b2&wanted[6]|b3&wanted[7] == 0 {
			break
		}
	}
	f.Step[0] = Diamond{free[0] &^ (a0 | p0), free[1] &^ (a1 | p1), free[2] &^ (a2 | p2), free[3] &^ (a3 | p3),
		free[4] &^ (b0 | q0), free[5] &^ (b1 | q1), free[6] &^ (b2 | q2), free[7] &^ (b3 | q3)}
	f.Step[1] = Diamond{p0, p1, p2, p3, q0, q1, q2, q3}
}

// fillB is Fill from colour B: fillA with the colours exchanged.
func (f *Field) fillB(free, goals, wanted *Diamond) {
	a0, a1, a2, a3 := free[0], free[1], free[2], free[3]
	y0, y1, y2, y3 := goals[4]&free[4], goals[5]&free[5], goals[6]&free[6], goals[7]&free[7]
	b0, b1, b2, b3 := free[4]&^y0, free[5]&^y1, free[6]&^y2, free[7]&^y3
	var p0, p1, p2, p3, q0, q1, q2, q3 uint64
	var x0, x1, x2, x3, t0, t1, t2, t3 uint64
	for {
		t0, t1, t2, t3 = y0|y0>>1, y1|y1>>1, y2|y2>>1, y3|y3>>1
		x0, x1, x2, x3 = (t0|t0<<16)&a0, (t1|t1<<16|t0>>48)&a1, (t2|t2<<16|t1>>48)&a2, (t3|t3<<16|t2>>48)&a3
		if x0|x1|x2|x3 == 0 {
			break
		}
		a0, a1, a2, a3 = a0^x0, a1^x1, a2^x2, a3^x3

		t0, t1, t2, t3 = x0|x0<<1, x1|x1<<1, x2|x2<<1, x3|x3<<1
		y0, y1, y2, y3 = (t0|t0>>16|t1<<48)&b0, (t1|t1>>16|t2<<48)&b1, (t2|t2>>16|t3<<48)&b2, (t3|t3>>16)&b3
		if y0|y1|y2|y3 == 0 {
			break
		}
		b0, b1, b2, b3 = b0^y0, b1^y1, b2^y2, b3^y3
		q0, q1, q2, q3 = q0|y0, q1|y1, q2|y2, q3|y3

		t0, t1, t2, t3 = y0|y0>>1, y1|y1>>1, y2|y2>>1, y3|y3>>1
		x0, x1, x2, x3 = (t0|t0<<16)&a0, (t1|t1<<16|t0>>48)&a1, (t2|t2<<16|t1>>48)&a2, (t3|t3<<16|t2>>48)&a3
		if x0|x1|x2|x3 == 0 {
			break
		}
		a0, a1, a2, a3 = a0^x0, a1^x1, a2^x2, a3^x3
		p0, p1, p2, p3 = p0|x0, p1|x1, p2|x2, p3|x3

		t0, t1, t2, t3 = x0|x0<<1, x1|x1<<1, x2|x2<<1, x3|x3<<1
		y0, y1, y2, y3 = (t0|t0>>16|t1<<48)&b0, (t1|t1>>16|t2<<48)&b1, (t2|t2>>16|t3<<48)&b2, (t3|t3>>16)&b3
		if y0|y1|y2|y3 == 0 {
			break
		}
		b0, b1, b2, b3 = b0^y0, b1^y1, b2^y2, b3^y3
		if a0&wanted[0]|a1&wanted[1]|a2&wanted[2]|a3&wanted[3]|b0&wanted[4]|b1&wanted[5]|b2&wanted[6]|b3&wanted[7] == 0 {
			break
		}
	}
	f.Step[0] = Diamond{free[0] &^ (a0 | p0), free[1] &^ (a1 | p1), free[2] &^ (a2 | p2), free[3] &^ (a3 | p3),
		free[4] &^ (b0 | q0), free[5] &^ (b1 | q1), free[6] &^ (b2 | q2), free[7] &^ (b3 | q3)}
	f.Step[1] = Diamond{p0, p1, p2, p3, q0, q1, q2, q3}
}

// Everywhere, as the wanted cells of Fill, makes it reach all cells that it
// can. It contains bits that are no cells, which are never reached.
var Everywhere = Diamond{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// DiamondBoard is the set of all cells.
var DiamondBoard = func() (d Diamond) {
	for y := range DiamondSide {
		for x := range DiamondSide {
			if cell, ok := DiamondCell(x, y); ok {
				d.Add(cell)
			}
		}
	}
	return d
}()
