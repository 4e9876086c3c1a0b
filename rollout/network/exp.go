package network

import "moonfarm/rollout/network/internal/kernel"

// Exp writes the exponential of each number of src to dst, with the same bits on every
// machine. dst and src may be the same slice.
func Exp(dst, src []float32) { kernel.Exp(dst, src) }

// Log writes the natural logarithm of each number of src to dst, with the same bits on every
// machine: −Inf for 0, NaN for negative numbers. dst and src may be the same slice.
func Log(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(logarithm(float64(x)))
	}
}
