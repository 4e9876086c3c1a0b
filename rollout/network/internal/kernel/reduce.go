package kernel

import "math"

// AddSums adds src[i·step+j] to sums[j] for each j, for i from 0 to count−1 in this order, in float64. It panics if the lengths
// do not fit.
func AddSums(sums []float64, src []float32, count, step int) {
	if len(sums) == 0 || count < 1 {
		return
	}
	within("steps of sums", step, 0)
	within("floats to add", len(src), (count-1)*step+len(sums))
	at := sumsAssembly(current(), sums, src, count, step)
	for ; at+8 <= len(sums); at += 8 {
		addSums8((*[8]float64)(sums[at:]), src[at:], count, step)
	}
	for ; at < len(sums); at++ {
		sum := sums[at]
		for i := range count {
			sum += float64(src[i*step+at])
		}
		sums[at] = sum
	}
}

// addSums8 adds to eight sums at once: a single sum waits for each addition.
func addSums8(sums *[8]float64, src []float32, count, step int) {
	s0, s1, s2, s3, s4, s5, s6, s7 := sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] // unlike an array, variables stay in registers
	at := 0
	for range count {
		x := (*[8]float32)(src[at:])
		s0, s1, s2, s3 = s0+float64(x[0]), s1+float64(x[1]), s2+float64(x[2]), s3+float64(x[3])
		s4, s5, s6, s7 = s4+float64(x[4]), s5+float64(x[5]), s6+float64(x[6]), s7+float64(x[7])
		at += step
	}
	*sums = [8]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}

// Extremes returns the smallest and the largest number of an array of at least one, as min and max do; false if one may be
// NaN. Whole numbers that have the order of the elements need no jumps, and −0 comes before 0 among them.
func Extremes(src []float32) (low, high float32, ok bool) {
	least, most := extremesAssembly(current(), src)
	if least > most {
		least, most = math.MaxInt32, math.MinInt32
		for _, x := range src {
			b := ordered(x)
			least, most = min(least, b), max(most, b)
		}
	}
	number := func(b int32) float32 { return math.Float32frombits(uint32(b ^ b>>31&math.MaxInt32)) }
	const infinite = 0x7f800000 // the bits of +∞
	return number(least), number(most), least >= ^infinite && most <= infinite
}

// ordered returns a whole number for a float, in the order of the floats.
func ordered(x float32) int32 {
	b := int32(math.Float32bits(x))
	return b ^ b>>31&math.MaxInt32
}

// extremeLanes are the smallest and the largest whole numbers in each lane of a vector.
type extremeLanes struct{ least, most [16]int32 }

// of returns the extremes of the first n lanes.
func (e *extremeLanes) of(n int) (least, most int32) {
	least, most = e.least[0], e.most[0]
	for i := 1; i < n; i++ {
		least, most = min(least, e.least[i]), max(most, e.most[i])
	}
	return least, most
}
