package search_test

import (
	"math"
	"slices"
)

// matrixValue returns the value of a matrix game for the row player, who maximises it.
// It is the value of a square submatrix whose equalising strategies are optimal in the
// whole matrix (Shapley and Snow, 1950). All square submatrices are tried.
func matrixValue(m [][]float64) float64 {
	if value, ok := saddlePoint(m); ok {
		return value
	}
	rows, columns := len(m), len(m[0])
	best, fault := 0.0, math.Inf(1)
	for r := 1; r < 1<<rows; r++ {
		for c := 1; c < 1<<columns; c++ {
			x, y, ok := indifferent(m, members(r), members(c))
			if !ok {
				continue
			}
			low, high := guarantees(m, x, y)
			if high-low < fault {
				best, fault = (low+high)/2, high-low
			}
		}
	}
	if fault > 1e-9 {
		panic("no part of the matrix is a solution")
	}
	return best
}

// saddlePoint returns the value of a matrix that has a solution in pure strategies.
func saddlePoint(m [][]float64) (value float64, ok bool) {
	low, high := math.Inf(-1), math.Inf(1)
	for i := range m {
		low = max(low, slices.Min(m[i]))
	}
	for j := range m[0] {
		most := math.Inf(-1)
		for i := range m {
			most = max(most, m[i][j])
		}
		high = min(high, most)
	}
	return low, low == high
}

// members returns the indices of the set bits.
func members(set int) (list []int) {
	for i := 0; set>>i != 0; i++ {
		if set>>i&1 != 0 {
			list = append(list, i)
		}
	}
	return list
}

// guarantees returns the least value that strategy x guarantees the row player, and the
// largest that strategy y of the column player allows.
func guarantees(m [][]float64, x, y []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for j := range m[0] {
		sum := 0.0
		for i := range m {
			sum += x[i] * m[i][j]
		}
		low = min(low, sum)
	}
	for i := range m {
		sum := 0.0
		for j := range m[0] {
			sum += y[j] * m[i][j]
		}
		high = max(high, sum)
	}
	return low, high
}

// indifferent returns the strategies on a square submatrix that make the opponent
// indifferent between the moves of the submatrix.
func indifferent(m [][]float64, rows, columns []int) (x, y []float64, ok bool) {
	if len(rows) != len(columns) {
		return nil, nil, false
	}
	solve := func(own, other []int, at func(i, j int) float64, size int) ([]float64, bool) {
		n := len(own)
		a := make([][]float64, n+1) // the n probabilities and the value
		for k := range n {
			a[k] = make([]float64, n+2)
			for i := range n {
				a[k][i] = at(own[i], other[k])
			}
			a[k][n] = -1
		}
		a[n] = make([]float64, n+2)
		for i := range n {
			a[n][i] = 1
		}
		a[n][n+1] = 1
		s, ok := gauss(a)
		all := make([]float64, size)
		for i := range own {
			if ok && s[i] < -1e-12 {
				return nil, false
			}
			if ok {
				all[own[i]] = s[i]
			}
		}
		return all, ok
	}
	x, okX := solve(rows, columns, func(i, j int) float64 { return m[i][j] }, len(m))
	y, okY := solve(columns, rows, func(j, i int) float64 { return m[i][j] }, len(m[0]))
	return x, y, okX && okY
}

// gauss solves linear equations; it returns false if they are singular.
func gauss(a [][]float64) ([]float64, bool) {
	n := len(a)
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[pivot][k]) {
				pivot = i
			}
		}
		if math.Abs(a[pivot][k]) < 1e-9 {
			return nil, false
		}
		a[k], a[pivot] = a[pivot], a[k]
		for i := range n {
			if i == k {
				continue
			}
			f := a[i][k] / a[k][k]
			for j := k; j <= n; j++ {
				a[i][j] -= f * a[k][j]
			}
		}
	}
	s := make([]float64, n)
	for k := range n {
		s[k] = a[k][n] / a[k][k]
	}
	return s, true
}
