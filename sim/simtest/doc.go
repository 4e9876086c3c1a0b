// Package simtest tests games. It has the conformance suite that every sim.Game
// must pass (as testing/fstest does for fs.FS); tests of a game's page of
// rules, of golden files, of the texts of rules and states, and of generated
// assembly; the path of the shared recordings; and Toy, a game of a few lines,
// with which everything built on games is tested.
package simtest
