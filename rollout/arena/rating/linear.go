package rating

import "math"

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

func subtract(a []float64, factor float64, b []float64) {
	for i, x := range b {
		a[i] -= float64(factor * x)
	}
}

// factorise fills the lower half of a matrix with the Cholesky factor of one whose upper half at returns. It returns
// false if that is not positive definite.
func factorise(lower [][]float64, at func(i, j int) float64) bool {
	for i, row := range lower {
		for j := range i {
			row[j] = (at(j, i) - dot(row[:j], lower[j][:j])) / lower[j][j]
		}
		square := at(i, i) - dot(row[:i], row[:i])
		if !(square > 0) {
			return false
		}
		row[i] = math.Sqrt(square)
	}
	return true
}

// solve solves the system of a Cholesky factor for a right side.
func solve(lower [][]float64, right []float64) []float64 {
	x := append([]float64(nil), right...)
	for i, row := range lower {
		x[i] = (x[i] - dot(row[:i], x[:i])) / row[i]
	}
	for i := len(lower) - 1; i >= 0; i-- {
		x[i] /= lower[i][i]
		subtract(x[:i], x[i], lower[i][:i])
	}
	return x
}

// eliminate solves a system by Gaussian elimination with pivots. Each row ends with its right side; the rows change. It
// returns nil if the system is singular.
func eliminate(rows [][]float64) []float64 {
	n := len(rows)
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(rows[i][k]) > math.Abs(rows[pivot][k]) {
				pivot = i
			}
		}
		rows[k], rows[pivot] = rows[pivot], rows[k]
		if !(math.Abs(rows[k][k]) > 0) {
			return nil
		}
		for i := k + 1; i < n; i++ {
			subtract(rows[i][k:], rows[i][k]/rows[k][k], rows[k][k:])
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = (rows[i][n] - dot(rows[i][i+1:n], x[i+1:])) / rows[i][i]
	}
	return x
}
