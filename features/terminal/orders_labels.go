package terminal

import (
	"math/bits"

	tm "moonfarm/sim/terminal"
)

// next returns the next choice on the way to the turn that goal makes, and whether it leads there.
func (d *draft) next(goal *tm.Draft, r *tm.Rules) (choice int, said bool) {
	choice, said = choiceEnd, true
	cores := d.View.Cores[d.Player]
	for k := range tm.Structures {
		can := d.Free
		if cores < r.Units[k].Cores {
			can = tm.HalfSet{}
		}
		d.seek(&choice, &said, choicePlace+k*tm.HalfCells, &goal.Placed[k], &d.Placed[k], &can)
	}
	can := everywhere // as long as placements come first, which can make it so
	if choice == choiceEnd {
		can = tm.HalfSet{}
		for k := range tm.Structures {
			if cores >= r.Upgraded[k].Cores {
				for w, b := range d.Upgradable[k] {
					can[w] |= b
				}
			}
		}
	}
	d.seek(&choice, &said, choiceUpgrade, &goal.Upgraded, &d.Upgraded, &can)
	if can = everywhere; choice == choiceEnd {
		can = d.Unmarked
	}
	d.seek(&choice, &said, choiceRemove, &goal.Marked, &d.Marked, &can)
	if d.Waiting|goal.Waiting != 0 {
		d.seekStacks(&choice, &said, goal, r)
	}
	return choice, said
}

var everywhere = tm.HalfSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// seek looks for the lowest choice that adds a wanted cell which is not done yet. first is the
// choice of cell 0. It clears said if cells were done that are not wanted, if a wanted one lies
// behind the cursor, or if the rules would refuse it.
func (d *draft) seek(choice *int, said *bool, first int, wanted, done, can *tm.HalfSet) {
	for w := range wanted {
		if done[w]&^wanted[w] != 0 {
			*said = false
		}
		left := wanted[w] &^ done[w]
		if left == 0 {
			continue
		}
		open := left & can[w] & d.from(first+w*64)
		if open != left {
			*said = false
		}
		if open != 0 {
			*choice = min(*choice, first+w*64+bits.TrailingZeros64(open))
		}
	}
}

// from returns the choices from first to first + 63 that come after the last one, as bits.
func (d *draft) from(first int) uint64 {
	switch passed := d.last + 1 - first; {
	case passed <= 0:
		return ^uint64(0)
	case passed >= 64:
		return 0
	default:
		return ^uint64(0) << passed
	}
}

// seekStacks looks for the lowest choice that adds wanted units.
func (d *draft) seekStacks(choice *int, said *bool, goal *tm.Draft, r *tm.Rules) {
	for cells := d.Waiting | goal.Waiting; cells != 0; cells &= cells - 1 {
		e := bits.TrailingZeros32(cells)
		for k := range mobileKinds {
			left := goal.Units[e][k] - d.Units[e][k]
			if left == 0 {
				continue
			}
			first := choiceStack + stackAt(e*mobileKinds+k)*sizesOfStack
			size, whole := d.sizeOf(left, first, tm.Scout+tm.Kind(k), r)
			*said = *said && whole
			if size < sizesOfStack && d.Built>>e&1 == 0 {
				*choice = min(*choice, first+size)
			}
		}
	}
}

// sizeFrom returns the first size, from sizeAgain on, that may still be chosen of the stacks whose
// first choice is given.
func (d *draft) sizeFrom(first int) int {
	size := sizeAgain
	for size < sizesOfStack && !d.ahead(first+size) {
		size++
	}
	return size
}

// sizeOf returns the largest size that may still be chosen and does not exceed the units left, and
// whether it leads to all of them. If there is no such size it returns sizesOfStack.
func (d *draft) sizeOf(left int32, first int, k tm.Kind, r *tm.Rules) (size int, whole bool) {
	if left < 0 {
		return sizesOfStack, false
	}
	buys := int32(d.affords(r, k, int(left)+1))
	if buys == left && d.ahead(first+sizeAll) {
		return sizeAll, true
	}
	size = d.sizeFrom(first)
	whole = left <= min(buys, unitsLeft[size])
	for size < sizesOfStack && stackSizes[size] > int(min(left, buys)) {
		size++
	}
	return size, whole
}
