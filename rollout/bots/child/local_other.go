//go:build !linux

package child

import "errors"

// isGuard returns false: there are no guard processes.
func isGuard() bool { return false }

// guardMain is never called.
func guardMain() int { return 0 }

// Boxes returns why this machine makes no boxes.
func Boxes() error { return errors.New("only Linux has boxes for bots") }

// newStarter returns a starter without a guard process.
func newStarter(g *Guard) (starter, error) {
	if g.limits.Box == Strict {
		return nil, Boxes()
	}
	return &local{guard: g}, nil
}
