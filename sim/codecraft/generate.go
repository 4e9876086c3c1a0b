package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// The map generator (RULES.md, 2.7 and 2.8). The original's generator is unknown; this one makes
// maps of the same kind: blobs and bands of resources, symmetric for the
// players. It adds up a few octaves of gradient noise (Perlin: "An image
// synthesizer", SIGGRAPH 1985, with the interpolation of "Improving noise", 2002),
// adds to each cell its images under the rotations, and puts resources on the
// highest cells. It computes in fixed point with fixedBits fractional bits, so that a seed gives
// the same map on every machine.
const (
	fixedBits = 16
	fixedOne  = 1 << fixedBits

	// shortestWave, in tenths of cells, is the least wavelength of an octave. Shorter
	// waves do not show on whole cells and are left out.
	shortestWave = 20

	// maxLattice is the limit of lattice points of an octave along a side: 80 cells have
	// at most 40 waves, which have 41 ends, and the shift adds a point.
	maxLattice = Side*10/shortestWave + 2

	// nth sorts heights by two halves of heightHalf bits each. An octave is below 1 in
	// absolute value, and at most 8 octaves and 4 images are added, so heights lie within
	// ±2^21 and, with heightZero added, from 0 to 2^22.
	heightHalf = 11
	heightZero = 1 << 21
)

// noise is the scratch memory of the generator.
type noise struct {
	height [Cells]int32
	slopes [maxLattice * maxLattice]slope
	along  [Side]latticePlace // the places of the columns in the lattice of the octave
	up     [Side]latticePlace // the places of the rows
	count  [1 << heightHalf]uint16
}

// slope is the gradient at a lattice point, of length 1.
type slope struct{ x, y int32 }

// latticePlace is the place of a column or row in a lattice: the point before it, the distance
// from this point, and the weight of the next point.
type latticePlace struct{ point, part, weight int32 }

// compass has 16 directions of length 1.
var compass = func() (t [16]slope) {
	// cos 0°, 22.5°, 45°, 67.5°, 90° in fixed point.
	c := [5]int32{65536, 60547, 46341, 25080, 0}
	for i := range 4 {
		x, y := c[i], c[4-i]
		t[i], t[i+4], t[i+8], t[i+12] = slope{x, y}, slope{-y, x}, slope{-x, -y}, slope{y, -x}
	}
	return t
}()

// generate puts the resources of a new map on the board.
func (g *Game) generate(s *State) {
	rules := &g.rules.Generator
	r := prng.New(stream(s.Seed, 0, chanceMap))
	wave := rules.MinWave + int32(r.IntN(int(rules.MaxWave-rules.MinWave)+1))
	g.height = [Cells]int32{}
	amplitude := int64(fixedOne)
	for octave := range rules.Octaves {
		if wave>>octave < shortestWave {
			break
		}
		g.addOctave(&r, int64(wave), int(octave), amplitude)
		amplitude = amplitude * int64(rules.Persistence) / 1000
	}
	if g.rules.Players == 2 {
		g.foldHalves()
	} else {
		g.foldQuarters()
	}

	cells := g.clearStarts()
	least, most := cells*int(rules.MinShare)/1000, cells*int(rules.MaxShare)/1000
	if wanted := least + r.IntN(most-least+1); wanted > 0 {
		g.placeResources(s, g.nth(wanted))
	}
}

// addOctave adds an octave of noise to the heights. Its wavelength is wave tenths of cells,
// halved octave times.
func (g *Game) addOctave(r *prng.Rand, wave int64, octave int, amplitude int64) {
	g.measure(&g.along, r, wave, octave)
	g.measure(&g.up, r, wave, octave)
	columns, rows := int(g.along[Side-1].point)+2, int(g.up[Side-1].point)+2
	for i := range rows {
		for k := range columns {
			g.slopes[i*maxLattice+k] = compass[r.Uint64()>>60]
		}
	}
	var steep, level [maxLattice]int64 // slope and value at each lattice column in the row
	for y := range Side {
		at := g.up[y]
		low := g.slopes[int(at.point)*maxLattice:][:columns]
		high := g.slopes[int(at.point+1)*maxLattice:][:columns]
		part, weight := int64(at.part), int64(at.weight)
		for k := range low {
			a, b := low[k], high[k]
			below, above := int64(a.y)*part>>fixedBits, int64(b.y)*(part-fixedOne)>>fixedBits
			steep[k] = int64(a.x) + int64(b.x-a.x)*weight>>fixedBits
			level[k] = below + (above-below)*weight>>fixedBits
		}
		line := g.height[y*Side:][:Side]
		for x := range line {
			at := g.along[x]
			k, part := at.point, int64(at.part)
			left := steep[k]*part>>fixedBits + level[k]
			right := steep[k+1]*(part-fixedOne)>>fixedBits + level[k+1]
			line[x] += int32((left + (right-left)*int64(at.weight)>>fixedBits) * amplitude >> fixedBits)
		}
	}
}

// measure lays a lattice along a side, shifted by a random part of a wave.
func (g *Game) measure(places *[Side]latticePlace, r *prng.Rand, wave int64, octave int) {
	shift := int64(r.IntN(fixedOne))
	for i := range places {
		c := int64(i)*10<<octave<<fixedBits/wave + shift
		t := c & (fixedOne - 1)
		// 6t⁵ − 15t⁴ + 10t³
		weight := 6*t - 15*fixedOne
		weight = weight*t>>fixedBits + 10*fixedOne
		weight = (weight * t >> fixedBits * t >> fixedBits) * t >> fixedBits
		places[i] = latticePlace{int32(c >> fixedBits), int32(t), int32(weight)}
	}
}

// foldHalves adds to each height the height of the cell rotated by 180°.
func (g *Game) foldHalves() {
	for i := range Cells / 2 {
		k := Cells - 1 - i
		sum := g.height[i] + g.height[k]
		g.height[i], g.height[k] = sum, sum
	}
}

// foldQuarters adds to each height the heights of the cells rotated by 90°, 180° and 270°.
func (g *Game) foldQuarters() {
	for y := range Side / 2 {
		for x := range Side / 2 {
			a, b := CellOf(x, y), CellOf(Side-1-y, x)
			c, d := CellOf(Side-1-x, Side-1-y), CellOf(y, Side-1-x)
			sum := g.height[a] + g.height[b] + g.height[c] + g.height[d]
			g.height[a], g.height[b], g.height[c], g.height[d] = sum, sum, sum, sum
		}
	}
}

// clearedHeight is the height of cells that get no resource. All other heights are greater.
const clearedHeight = -heightZero

// clearStarts clears the players' starts of resources, and returns the number of other cells.
func (g *Game) clearStarts() int {
	left := Cells
	for p := range sim.Player(g.rules.Players) {
		x0, y0, x1, y1 := g.startArea(p)
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				g.height[CellOf(x, y)] = clearedHeight
			}
		}
		left -= (x1 - x0 + 1) * (y1 - y0 + 1)
	}
	return left
}

// startMargin is the distance by which the cleared area of a start reaches beyond the entities.
const startMargin = 2

// startArea returns the cleared area of a player: the bounding box of the start entities and the
// margin. It is empty (x0 > x1) without start entities. Areas of different players do not
// overlap: they end at 21 in the frame of their owner.
func (g *Game) startArea(p sim.Player) (x0, y0, x1, y1 int) {
	if g.rules.Start.N == 0 {
		return 0, 0, -1, -1
	}
	x0, y0 = Side, Side
	for _, t := range g.rules.Start.All() {
		c, size := startCorner[t], int(g.rules.Types[t].Size)
		x0, y0 = min(x0, int(c.x)), min(y0, int(c.y))
		x1, y1 = max(x1, int(c.x)+size-1), max(y1, int(c.y)+size-1)
	}
	x0, y0 = TurnBack(p, x0-startMargin, y0-startMargin, 1)
	x1, y1 = TurnBack(p, x1+startMargin, y1+startMargin, 1)
	return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
}

// nth returns the n-th highest of all heights, counted from 1.
func (g *Game) nth(n int) int32 {
	const mask = 1<<heightHalf - 1
	g.count = [1 << heightHalf]uint16{}
	for _, h := range g.height {
		g.count[(h+heightZero)>>heightHalf&mask]++
	}
	top := mask
	for ; n > int(g.count[top]); top-- {
		n -= int(g.count[top])
	}
	g.count = [1 << heightHalf]uint16{}
	for _, h := range g.height {
		if int((h+heightZero)>>heightHalf) == top {
			g.count[(h+heightZero)&mask]++
		}
	}
	low := mask
	for ; n > int(g.count[low]); low-- {
		n -= int(g.count[low])
	}
	return int32(top<<heightHalf+low) - heightZero
}

// placeResources puts a resource on every cell that is not cleared and whose height is at least
// least. Cells that are images of each other have the same height, so either all or none of
// them get a resource.
func (g *Game) placeResources(s *State, least int32) {
	for y := range Side {
		for x, h := range g.height[y*Side:][:Side] {
			if h >= least && h != clearedHeight {
				s.addResource(x, y, uint8(g.rules.Types[Resource].MaxHealth))
			}
		}
	}
}
