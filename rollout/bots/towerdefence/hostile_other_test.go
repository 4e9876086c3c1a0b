//go:build !linux

package towerdefence

import "testing"

// hostile are bots that do not behave: what they do is told for Linux.
var hostile map[string]func(args []string) int

// gone cannot tell what runs in a folder.
func gone(testing.TB, *Program) {}
