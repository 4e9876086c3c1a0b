// Package simtest tests games: the conformance suite that every sim.Game must
// pass (as testing/fstest does for fs.FS); kits for what all games are tested
// for beside it, which are their pages of rules, golden files, and the texts of
// rules and states; the place of the shared recordings; and Toy, a made-up game
// of a few lines, with which everything built on games is tested.
package simtest
