// Package simtest tests games: the conformance suite that every sim.Game must
// pass (as testing/fstest does for fs.FS), the place of the shared recordings,
// and Toy, the smallest game of all, which is the template for a new game and
// the test double for everything built on games.
package simtest
