//go:build !purego

package kernel

var neon = path{name: "neon", cells: [maxBlocks + 1]int{1: 6}}

// machinePaths returns the paths of this machine besides the portable one: every arm64
// processor has NEON.
func machinePaths() []*path { return []*path{&neon} }

// sweepAssembly computes a checked sweep by a path other than the portable one.
func sweepAssembly(_ *path, s *sweep) {
	w := s.work()
	sweepNEON(&w)
}

//go:noescape
func sweepNEON(w *work)

// elementsAssembly leaves all elements to the portable path.
func elementsAssembly(*path, element, []float32, []float32) int { return 0 }

// peakAssembly adds products to 24 vectors of 4, `rounds` times, and returns the number of
// products of single floats.
func peakAssembly(_ *path, rounds int) int {
	peakNEON(rounds)
	return rounds * 24 * 4
}

func peakNEON(rounds int)

// linesAssembly, sumsAssembly and extremesAssembly leave everything to the portable path.
func linesAssembly(*path, *Lines, []float32, []float32, []float32) bool { return false }

func sumsAssembly(*path, []float64, []float32, int, int) int { return 0 }

func extremesAssembly(*path, []float32) (least, most int32) { return 1, 0 }
