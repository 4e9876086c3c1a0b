//go:build (!amd64 && !arm64) || purego

package kernel

// machinePaths returns the paths of this machine besides the portable one: none.
func machinePaths() []*path { return nil }

// sweepAssembly is not called without another path.
func sweepAssembly(*path, *sweep) {}

// peakAssembly is not called without another path.
func peakAssembly(*path, int) int { return 0 }

// elementsAssembly leaves all elements to the portable path.
func elementsAssembly(*path, element, []float32, []float32) int { return 0 }

// linesAssembly, sumsAssembly and extremesAssembly leave everything to the portable path.
func linesAssembly(*path, *Lines, []float32, []float32, []float32) bool { return false }

func sumsAssembly(*path, []float64, []float32, int, int) int { return 0 }

func extremesAssembly(*path, []float32) (least, most int32) { return 1, 0 }
