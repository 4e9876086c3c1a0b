//go:build invariants

package codecraft

// invariants makes the game check its state after every tick.
const invariants = true
