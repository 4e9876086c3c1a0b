//go:build !invariants

package codecraft

// invariants makes the game check its state after every tick: build with -tags invariants.
const invariants = false
