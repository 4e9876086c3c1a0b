package features

import "fmt"

// Room panics with the name of a slab that is shorter than what a method of an
// Encoder or an ActionSpace reads or writes: a mistake of the program that calls
// it.
func Room(slab string, has, want int) {
	if has < want {
		noRoom(slab, has, want)
	}
}

func noRoom(slab string, has, want int) {
	panic(fmt.Sprintf("features: slab %s has length %d, want %d", slab, has, want))
}
