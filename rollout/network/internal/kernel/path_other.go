//go:build (!amd64 && !arm64) || purego

package kernel

// machinePaths returns the paths of this machine besides the portable one: none.
func machinePaths() []*path { return nil }

// sweepAssembly is not called without another path.
func sweepAssembly(*path, *sweep) {}

// peakAssembly is not called without another path.
func peakAssembly(*path, int) int { return 0 }
