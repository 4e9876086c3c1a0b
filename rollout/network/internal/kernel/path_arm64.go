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

// peakAssembly adds products to 24 vectors of 4, `rounds` times, and returns the number of
// products of single floats.
func peakAssembly(_ *path, rounds int) int {
	peakNEON(rounds)
	return rounds * 24 * 4
}

func peakNEON(rounds int)
