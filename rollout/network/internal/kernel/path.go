package kernel

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// path is one way to compute the same bits.
type path struct {
	name  string
	cells [maxBlocks + 1]int // the most cells of a tile, by the number of blocks of 16 outputs
}

const (
	maxBlocks = 4
	fullTile  = 6 // cells: tiles of so many keep the processor as busy as larger ones
)

// blocks is the most blocks of a tile of that many cells, or of a full one.
func (p *path) blocks(cells int) int {
	most := maxBlocks
	for most > 1 && p.cells[most] < min(cells, fullTile) {
		most--
	}
	return most
}

// run checks the bounds of a sweep and computes it.
func (p *path) run(s *sweep) {
	s.check()
	if p == &portable {
		sweepPortable(s)
	} else {
		sweepAssembly(p, s)
	}
}

var portable = path{name: "portable", cells: [maxBlocks + 1]int{1: 8}}

// paths are the paths that run on this machine, the fastest first.
var paths = append(machinePaths(), &portable)

// forced is the path that Use has chosen, or nil.
var forced atomic.Pointer[path]

// current is the path that runs.
func current() *path {
	if p := forced.Load(); p != nil {
		return p
	}
	return paths[0]
}

// Features names the path that runs: "avx512", "avx2", "neon" or "portable". All give
// the same bits.
func Features() string { return current().name }

// Use makes all arithmetic take the path of that name until restore is called, for
// tests and benchmarks. The error names the paths of this machine.
func Use(name string) (restore func(), err error) {
	var names []string
	for _, p := range paths {
		if p.name == name {
			before := forced.Swap(p)
			return func() { forced.Store(before) }, nil
		}
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("no arithmetic path %q on this machine, want %s", name, strings.Join(names, ", "))
}
