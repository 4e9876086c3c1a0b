package distinct

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// fill adds random numbers, made of the numbers from one up to another.
func fill(s *Set, from, to uint64) {
	for i := from; i < to; i++ {
		s.Add(prng.Mix(i))
	}
}

// TestExact: repeated numbers are counted once.
func TestExact(t *testing.T) {
	var s Set
	for range 3 {
		fill(&s, 0, 5000)
	}
	s.Add(0)
	if n := s.Count(); n != 5000 { // Mix(0) is 0
		t.Errorf("%d distinct numbers, want 5000", n)
	}
}

// TestMerge: overlapping parts, in any order, make the whole set.
func TestMerge(t *testing.T) {
	var whole, parts Set
	fill(&whole, 0, 9000)
	for _, from := range []uint64{6000, 0, 3000, 1500} {
		var part Set
		fill(&part, from, from+3000)
		require.NoError(t, parts.Merge(part.Sample()))
	}
	a, b := whole.Sample(), parts.Sample()
	assert.Truef(t, a.Shift == b.Shift && slices.Equal(a.Numbers, b.Numbers) && parts.Count() == 9000, "%d distinct numbers, want 9000", parts.Count())
	for _, bad := range []Sample{{Numbers: make([]byte, 7)}, {Numbers: make([]byte, 16)}, {Shift: 64}, {Shift: 1, Numbers: []byte{1, 0, 0, 0, 0, 0, 0, 0}}} {
		assert.Errorf(t, new(Set).Merge(bad), "the sample %v was taken", bad)
	}
}

// TestBeyond: with more numbers than the set holds, the count is near the true one, and
// the set is the same in any order.
func TestBeyond(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: it adds millions of numbers")
	}
	const n = Most * 3 / 2
	var up, down Set
	fill(&up, 0, n)
	for i := uint64(n); i > 0; i-- {
		down.Add(prng.Mix(i - 1))
	}
	got := up.Count()
	assert.Truef(t, math.Abs(float64(got)/n-1) <= 0.01 && down.Count() == got, "about %d and %d distinct numbers, want %d", got, down.Count(), uint64(n))
	a, b := up.Sample(), down.Sample()
	assert.Truef(t, a.Shift == 1 && b.Shift == 1 && slices.Equal(a.Numbers, b.Numbers), "another order makes another set, shifts %d and %d", a.Shift, b.Shift)
}
