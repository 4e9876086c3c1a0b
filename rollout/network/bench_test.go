package network

import (
	"testing"

	"moonfarm/rollout/network/benchnets"
)

// BenchmarkRead loads files.
func BenchmarkRead(b *testing.B) {
	for _, t := range benchnets.All {
		file := t.File()
		b.Run(t.Name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for range b.N {
				if _, err := Read(file, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
