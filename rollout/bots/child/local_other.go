//go:build !linux

package child

// isGuard returns false: there are no guard processes.
func isGuard() bool { return false }

// guardMain is never called.
func guardMain() int { return 0 }

// newStarter returns a starter without a guard process.
func newStarter(g *Guard) (starter, error) { return &local{guard: g}, nil }
