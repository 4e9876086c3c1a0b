//go:build !linux

package child

// isGuard says no: there are no guard processes.
func isGuard() bool { return false }

// guardMain is never called.
func guardMain() int { return 0 }

// newStarter makes what starts processes.
func newStarter(g *Guard) (starter, error) { return &local{guard: g}, nil }
