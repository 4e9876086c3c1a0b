package stepper

import "fmt"

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

// take copies the actions of the caller to where the games read them. It fails if
// one is neither −1 nor a choice of its head.
func (k *part) take() error {
	heads, src, dst := len(k.stepper.spec.Heads), k.slabs.Action, k.all.Action
	runs := k.stepper.runs
	if k.seats == nil && heads == 1 && within(src, runs[0].last) { // the rows are one run
		copy(dst, src)
		return nil
	}
	for row := range len(src) / max(heads, 1) {
		to := row
		if k.seats != nil {
			to = row*k.players + int(k.seats[row])
		}
		mine := src[row*heads:][:heads]
		copy(dst[to*heads:][:heads], mine)
		for _, r := range runs {
			if choices := mine[r.from:r.to]; !within(choices, r.last) {
				if err := k.wrong(row, r, choices); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// within reports whether all choices are from 0 to last. There may be thousands of
// them for a row, so there are no branches: a choice less last+1, as an unsigned
// number, is negative if it is one.
func within(choices []int32, last int32) bool {
	ok, end, n := int64(-1), int64(last)+1, 0
	for ; n+4 <= len(choices); n += 4 {
		c := (*[4]int32)(choices[n:])
		ok &= (int64(uint32(c[0])) - end) & (int64(uint32(c[1])) - end) & (int64(uint32(c[2])) - end) & (int64(uint32(c[3])) - end)
	}
	for _, c := range choices[n:] {
		ok &= int64(uint32(c)) - end
	}
	return ok < 0
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
