//go:build !amd64 || purego

package kernel

// Paths without vectors for all but sweeps leave the rest to the portable path.

func elementsAssembly(*path, element, []float32, []float32) int { return 0 }

func linesAssembly(*path, *Lines, []float32, []float32, []float32) bool { return false }

func sumsAssembly(*path, []float64, []float32, int, int) int { return 0 }

func extremesAssembly(*path, []float32) (least, most int32) { return 1, 0 }
