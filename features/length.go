package features

import "fmt"

// CheckLength panics with the name of a slab if it is shorter than what a
// method of an Encoder or an ActionSpace reads or writes, which is a bug of the
// caller.
func CheckLength(slab string, got, want int) {
	if got < want {
		tooShort(slab, got, want)
	}
}

func tooShort(slab string, got, want int) {
	panic(fmt.Sprintf("features: slab %s has length %d, expected %d", slab, got, want))
}
