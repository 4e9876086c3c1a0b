//go:build !linux

package child

import "errors"

// isGuard returns false: there are no guard processes.
func isGuard() bool { return false }

// guardMain is never called.
func guardMain() int { return 0 }

// enclosure returns why this machine makes no boxes.
func enclosure() (Means, error) { return Nothing, errors.New("only Linux has boxes for bots") }

// Cores returns an error: only Linux binds processes to processors here.
func Cores() (chan int, error) { return nil, errors.New("only Linux gives bots cores of their own") }

// newStarter returns a starter without a guard process.
func newStarter(g *Guard) (starter, error) { return &local{guard: g}, nil }
