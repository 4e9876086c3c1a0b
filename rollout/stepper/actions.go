package stepper

import (
	"fmt"
	"math"
)

// alike are some heads side by side with the same number of choices.
type alike struct {
	from, to int
	last     int32 // choice
}

// runsOf are the runs of the heads of an action.
func runsOf(heads []int) (runs []alike) {
	for h, choices := range heads {
		last := int32(choices - 1)
		if n := len(runs); n > 0 && runs[n-1].last == last {
			runs[n-1].to = h + 1
		} else {
			runs = append(runs, alike{h, h + 1, last})
		}
	}
	return runs
}

// take checks the actions of the caller, and copies them to where the games read
// them if these do not read the caller's. It sets refused if one is neither −1 nor a
// choice of its head.
func (k *part) take() {
	heads, src, runs := len(k.stepper.spec.Heads), k.slabs.Action, k.stepper.runs
	k.refused = nil
	defer func() { // nothing has been played: what was wrong may be right the next time
		if fault := recover(); fault != nil {
			k.refused = &PanicError{k.first, len(k.base), fault}
		}
	}()
	if heads == 0 || len(runs) == 1 && k.seats == nil && within(src, runs[0].last) { // the rows are one run
		return
	}
	for row := range len(src) / heads {
		mine := src[row*heads:][:heads]
		if k.seats != nil {
			copy(k.all.Action[(row*k.players+int(k.seats[row]))*heads:][:heads], mine)
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

// within reports whether all choices are from 0 to last. There may be thousands of
// them for a row, so two are looked at at once, and there are no branches: the
// highest bit of one is set if it is negative, and that of its sum with what makes
// 2³¹−1 of last if it is larger than last.
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

// wrong is the error about a row in which choices of a run are not within it; nil
// if they are −1.
func (k *part) wrong(row int, r alike, choices []int32) error {
	game, seat := row, 0
	if k.seats == nil {
		game, seat = row/k.players, row%k.players
	} else {
		seat = int(k.seats[row])
	}
	for h, a := range choices {
		if a < -1 || a > r.last {
			return fmt.Errorf("game %d, seat %d: action %d of head %d: want −1 to %d", k.first+game, seat, a, r.from+h, r.last)
		}
	}
	return nil
}
