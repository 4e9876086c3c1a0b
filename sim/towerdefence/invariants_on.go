//go:build invariants

package towerdefence

// invariants makes every round end with Game.check.
const invariants = true
