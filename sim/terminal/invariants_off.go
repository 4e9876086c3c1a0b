//go:build !invariants

package terminal

// invariants makes the game check its state after Deploy, Frame and Restore: build with -tags invariants.
const invariants = false
