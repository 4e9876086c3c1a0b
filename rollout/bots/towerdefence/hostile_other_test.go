//go:build !linux

package towerdefence

import "testing"

// hostile has bots that misbehave; they exist only on Linux.
var hostile map[string]func(args []string) int

// gone checks nothing: there is no /proc to search.
func gone(testing.TB, *Program) {}
