package towerdefence

import (
	"moonfarm/features"
	td "moonfarm/sim/towerdefence"
)

// Fields of a tower in the word of the tesla towers, in bits.
const (
	towerBits = 32
	towerDone = 8
	towerIdle = 16
)

// layout returns as data what packedDoc explains to people: for each half a
// list of its cells, in which the columns of the enemy's half are mirrored, and
// the boards. Under rules with counters above 3, the words and the planes
// unpacked from them hold 3.
func layout() *features.Layout {
	l := &features.Layout{Cells: make([][]features.Run, 2)}
	for y := range td.Height {
		l.Cells[0] = append(l.Cells[0], features.Run{First: y * width, Step: 1, Count: td.Width})
		l.Cells[1] = append(l.Cells[1], features.Run{First: y*width + width - 1, Step: -1, Count: td.Width})
	}
	for side := range 2 {
		first := side * wordsPerHalf
		part := func(plane, word, times int) {
			l.Parts = append(l.Parts, features.Part{
				Plane: plane, Cells: side, Number: features.Bits{First: 64 * (first + word), Step: 1, Width: 1}, Times: times,
			})
		}
		for kind, word := range []int{wordDefense, wordAttack, wordEnergy, wordTesla} {
			if word != wordTesla { // those have parts of their own, see towers
				part(planeDefense+kind, word, 1)
			}
			part(planeHits, word, 1)
		}
		for bit := range 2 {
			part(planeBuilding, wordBuilding0+bit, 1<<bit)
			part(planeHits, wordExtra0+bit, 1<<bit)
			part(planeIdle, wordIdle0+bit, 1<<bit)
		}
		owner, visitor := planeOwn, planeEnemy
		if side == 1 {
			owner, visitor = visitor, owner
		}
		for i := range td.MaxStack {
			part(owner, wordOwner+i, 1)
			part(visitor, wordVisitor+i, 1)
		}
		l.Parts = append(l.Parts, towerParts(side, 64*(first+wordTowers))...)
	}
	return l
}

// towerParts returns the parts of the tesla towers of a half, whose word begins
// at bit first. Each tower names its cell.
func towerParts(side, first int) (parts []features.Part) {
	for i := range td.MaxTeslas {
		at := &features.Bits{First: first + i*towerBits, Width: 8}
		parts = append(parts, features.Part{Plane: planeTesla, Cells: side, At: at, Times: i + 1})
		number := func(plane, bit int) features.Part {
			n := features.Bits{First: first + i*towerBits + bit, Width: 8}
			return features.Part{Plane: plane, Cells: side, At: at, Number: n, Times: 1}
		}
		parts = append(parts, number(planeBuilding, towerDone), number(planeIdle, towerIdle))
	}
	return parts
}
