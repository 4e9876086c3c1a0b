package network

import "moonfarm/rollout/network/internal/kernel"

// Exp writes the exponential of each number of src to dst, with the same bits on every
// machine. They may be the same slice.
func Exp(dst, src []float32) { kernel.Exp(dst, src) }
