package stepper

import (
	"fmt"
	"math"
)

// headRun is a range of adjacent heads with the same number of choices.
type headRun struct {
	from, to int
	last     int32 // the last choice of each
}

// runsOf returns the runs of the heads of an action.
func runsOf(heads []int) (runs []headRun) {
	for h, choices := range heads {
		last := int32(choices - 1)
		if n := len(runs); n > 0 && runs[n-1].last == last {
			runs[n-1].to = h + 1
		} else {
			runs = append(runs, headRun{h, h + 1, last})
		}
	}
	return runs
}

// take checks the caller's actions, and copies them to the slab from which the
// games read unless they read the caller's in place. It sets refused if an
// action is neither −1 nor a choice of its head.
func (k *part) take() {
	heads, src, runs := len(k.stepper.spec.Heads), k.slabs.Action, k.stepper.runs
	k.refused = nil
	defer func() { // nothing has been played, so the next call may succeed
		if fault := recover(); fault != nil {
			k.refused = &PanicError{k.first, len(k.base), fault}
		}
	}()
	inPlace := k.inPlace()
	if heads == 0 || len(runs) == 1 && inPlace && within(src, runs[0].last) { // the rows form one run
		return
	}
	for row := range len(src) / heads {
		mine := src[row*heads:][:heads]
		if !inPlace {
			copy(k.all.Action[k.rowOf(row)*heads:][:heads], mine)
		}
		for _, r := range runs {
			if choices := mine[r.from:r.to]; !within(choices, r.last) {
				if k.refused = k.wrong(row, r, choices); k.refused != nil {
					return
				}
			}
		}
	}
}

// within reports whether all choices are from 0 to last. A row may have
// thousands of choices, so it checks two at a time without branches. The
// highest bit of a choice is set if it is negative; the highest bit of choice +
// (2³¹−1 − last) is set if the choice exceeds last.
func within(choices []int32, last int32) bool {
	const one, high = 1<<32 | 1, 1<<63 | 1<<31
	rest, bad := uint64(math.MaxInt32-last)*one, uint64(0)
	for ; len(choices) >= 8; choices = choices[8:] {
		c := (*[8]int32)(choices)
		a, b := uint64(uint32(c[0]))|uint64(uint32(c[1]))<<32, uint64(uint32(c[2]))|uint64(uint32(c[3]))<<32
		d, e := uint64(uint32(c[4]))|uint64(uint32(c[5]))<<32, uint64(uint32(c[6]))|uint64(uint32(c[7]))<<32
		bad |= a | (a + rest) | b | (b + rest) | d | (d + rest) | e | (e + rest)
	}
	for _, c := range choices {
		a := uint64(uint32(c))
		bad |= a | (a + rest)
	}
	return bad&high == 0
}

// wrong returns an error for the first choice of a run that is neither −1 nor
// in range. It returns nil if all others are −1.
func (k *part) wrong(row int, r headRun, choices []int32) error {
	row = k.rowOf(row)
	game, seat := row/k.players, row%k.players
	for h, a := range choices {
		if a < -1 || a > r.last {
			return fmt.Errorf("game %d, seat %d: action %d of head %d: expected −1 to %d", k.first+game, seat, a, r.from+h, r.last)
		}
	}
	return nil
}
