package network

import "slices"

// operands bounds the arrays of a loop, including the result.
const operands = 4

// loop iterates over the elements of several arrays at once, each with its own steps.
// Dimension 0 is the innermost.
type loop struct {
	n     int
	size  [maxRank]int
	step  [operands][maxRank]int
	start [operands]int
}

// newLoop makes a loop over dimensions with these sizes, outermost first; steps has the steps
// of each array. If any is true the order of the dimensions does not matter, and the loop
// takes that of the first array in memory; otherwise the last dimension is the innermost.
func newLoop(sizes []int, any bool, steps ...[]int) loop {
	order := make([]int, 0, len(sizes))
	for i := len(sizes) - 1; i >= 0; i-- {
		if sizes[i] > 1 {
			order = append(order, i)
		}
	}
	if any {
		slices.SortStableFunc(order, func(a, b int) int { return abs(steps[0][a]) - abs(steps[0][b]) })
	}
	l := loop{}
	for _, d := range order {
		if l.n > 0 && l.follows(sizes[d], d, steps) {
			l.size[l.n-1] *= sizes[d]
			continue
		}
		l.size[l.n] = sizes[d]
		for o := range steps {
			l.step[o][l.n] = steps[o][d]
		}
		l.n++
	}
	if l.n == 0 {
		l.n, l.size[0] = 1, 1
		for o := range steps {
			l.step[o][0] = 1
		}
	}
	return l
}

// follows reports whether dimension d continues the last one of the loop in all
// arrays.
func (l *loop) follows(size, d int, steps [][]int) bool {
	last := l.n - 1
	for o := range steps {
		if steps[o][d] != l.size[last]*l.step[o][last] {
			return false
		}
	}
	return true
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// runs returns the number of runs of the innermost dimension.
func (l *loop) runs() int {
	n := 1
	for d := 1; d < l.n; d++ {
		n *= l.size[d]
	}
	return n
}

// cursor is the state of a loop: for each array, the index at which the next run of the
// innermost dimension starts.
type cursor struct {
	at    [operands]int
	index [maxRank]int
}

// next advances to the next run.
func (c *cursor) next(l *loop) {
	for d := 1; d < l.n; d++ {
		c.index[d]++
		for o := range operands {
			c.at[o] += l.step[o][d]
		}
		if c.index[d] < l.size[d] {
			return
		}
		c.index[d] = 0
		for o := range operands {
			c.at[o] -= l.size[d] * l.step[o][d]
		}
	}
}
