package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// layout returns the packed form of packedDoc for programs: the cells are in the order of a plane,
// and the health in an entry belongs to the plane of its type and owner.
func (e *Encoder) layout() *features.Layout {
	l := &features.Layout{Cells: [][]features.Run{features.Whole(e.Shape())}}
	entry := func(first, width int) features.Bits { return features.Bits{First: first, Step: 16, Width: width} }
	action := func(first, width int) features.Bits {
		return features.Bits{First: entryWords*64 + first, Step: 8, Width: width}
	}
	part := func(plane int, number features.Bits) *features.Part {
		l.Parts = append(l.Parts, features.Part{Plane: plane, Number: number, Times: 1})
		return &l.Parts[len(l.Parts)-1]
	}
	// Type and owner are one number of six bits.
	what := func(t cc.Type, owner int) int { return int(t) + 1 + owner<<(entryRival-entryType) }
	health := func(plane int, in ...int) {
		part(plane, entry(0, 8)).If = &features.Condition{Bits: entry(entryType, entryInactive-entryType), In: in}
	}
	for t := range cc.Type(cc.Types) {
		if t == cc.Resource {
			health(planeResource, what(t, 0))
			continue
		}
		health(planeOwn+int(kindOf[t]), what(t, 0))
		var others []int
		for owner := 1; owner < sim.MaxPlayers; owner++ {
			others = append(others, what(t, owner))
		}
		health(planeEnemy+int(kindOf[t]), others...)
	}
	part(planeVisible, entry(entryVisible, 1))
	part(planeRival, entry(entryRival, entryInactive-entryRival))
	part(planeInactive, entry(entryInactive, 1))
	part(planeAction, action(0, packedGoal))
	part(planeGoal, action(packedGoal, 8-packedGoal))
	part(planeCorner, features.Bits{First: (entryWords + actionWords) * 64, Step: 1, Width: 1})
	return l
}
