//go:build (!amd64 && !arm64) || purego

package kernel

// machinePaths are the paths of this machine besides the portable one.
func machinePaths() []*path { return nil }

// sweepAssembly is not called where there is no other path.
func sweepAssembly(*path, *sweep) {}

// peakAssembly is not called where there is no other path.
func peakAssembly(*path, int) int { return 0 }

// elementsAssembly leaves all elements to the portable path.
func elementsAssembly(*path, element, []float32, []float32) int { return 0 }
