// Package distinct counts different numbers in bounded memory.
package distinct

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Most is how many numbers a Set holds: 16 MiB of them. Up to so many different
// ones are counted exactly.
const Most = 1 << 21

// Set is a set of numbers whose bits are as good as random, such as hashes. It
// counts exactly while there are at most Most. Beyond, it holds those whose last
// Shift bits are 0, for the least Shift at which they are at most Most, and takes
// them for 1 in 2^Shift of all (adaptive sampling, Flajolet: "On adaptive
// sampling", Computing 43, 1990): the standard error is 0.12 % at most. What it
// holds depends on the numbers alone, not on their order. The zero value is empty.
// It is not safe for concurrent use.
type Set struct {
	shift  uint8
	sorted []uint64 // different ones, all with shift zero bits at the end
	fresh  []uint64 // added since, in any order
}

// Add adds a number.
func (s *Set) Add(x uint64) {
	if x&(1<<s.shift-1) != 0 {
		return
	}
	if s.fresh = append(s.fresh, x); len(s.fresh) >= max(1024, len(s.sorted)/2) {
		s.settle()
	}
}

// settle sorts what was added into the rest.
func (s *Set) settle() {
	if len(s.fresh) > 0 {
		s.sorted = append(s.sorted, s.fresh...)
		s.fresh = s.fresh[:0]
		slices.Sort(s.sorted)
		s.sorted = slices.Compact(s.sorted)
	}
	for len(s.sorted) > Most {
		s.coarsen(s.shift + 1)
	}
}

// coarsen drops the numbers that do not end with so many zero bits.
func (s *Set) coarsen(shift uint8) {
	s.shift = shift
	s.sorted = slices.DeleteFunc(s.sorted, func(x uint64) bool { return x&(1<<shift-1) != 0 })
}

// Count returns how many different numbers were added: exactly while they are at
// most Most, else about.
func (s *Set) Count() uint64 {
	s.settle()
	return uint64(len(s.sorted)) << s.shift
}

// Sample is a Set as JSON has it.
type Sample struct {
	Shift   uint8  `json:"shift"`   // only numbers whose last so many bits are 0
	Numbers []byte `json:"numbers"` // the different ones, the least first, 8 bytes each, little endian
}

// Sample returns what the set holds.
func (s *Set) Sample() Sample {
	s.settle()
	x := Sample{Shift: s.shift, Numbers: make([]byte, 0, 8*len(s.sorted))}
	for _, n := range s.sorted {
		x.Numbers = binary.LittleEndian.AppendUint64(x.Numbers, n)
	}
	return x
}

// Merge adds what another set holds. It fails if the sample is none.
func (s *Set) Merge(x Sample) error {
	if len(x.Numbers)%8 != 0 || len(x.Numbers) > 8*Most || x.Shift > 63 {
		return fmt.Errorf("%d bytes of distinct numbers, shift %d", len(x.Numbers), x.Shift)
	}
	if x.Shift > s.shift {
		s.settle()
		s.coarsen(max(s.shift, x.Shift))
	}
	last := uint64(0)
	for i := 0; i < len(x.Numbers); i += 8 {
		n := binary.LittleEndian.Uint64(x.Numbers[i:])
		if n&(1<<x.Shift-1) != 0 || i > 0 && n <= last {
			return fmt.Errorf("distinct number %d is %d after %d, with shift %d", i/8, n, last, x.Shift)
		}
		last = n
		s.Add(n)
	}
	return nil
}
