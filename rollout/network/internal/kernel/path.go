package kernel

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// path is an implementation for an instruction set. All paths compute the same bits.
type path struct {
	name   string
	cells  [maxBlocks + 1]int // limit of the cells of a tile, by the number of blocks of 16 outputs
	single *path              // the path of tiles with one block of outputs, if it is another one
}

const (
	maxBlocks = 4
	fullTile  = 6 // cells of a tile that keep the processor as busy as larger tiles
)

// blocks returns the limit of the blocks of a tile of that many cells, or of a full tile.
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
	if s.blocks == 1 && p.single != nil {
		p = p.single
	}
	if p == &portable {
		sweepPortable(s)
	} else {
		sweepAssembly(p, s)
	}
}

var portable = path{name: "portable", cells: [maxBlocks + 1]int{1: 8}}

// paths are the paths that run on this machine, the fastest first.
var paths = append(machinePaths(), &portable)

// forced is the path that Use has selected, or nil.
var forced atomic.Pointer[path]

// current returns the path in use.
func current() *path {
	if p := forced.Load(); p != nil {
		return p
	}
	return paths[0]
}

// Features returns the name of the path in use: "avx512", "avx2", "neon" or "portable". All
// give the same bits.
func Features() string { return current().name }

// Use makes all arithmetic use the path of that name until restore is called, for tests and
// benchmarks. The error for an unknown path lists the paths of this machine.
func Use(name string) (restore func(), err error) {
	var names []string
	for _, p := range paths {
		if p.name == name {
			before := forced.Swap(p)
			return func() { forced.Store(before) }, nil
		}
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("no arithmetic path %q on this machine, expected %s", name, strings.Join(names, ", "))
}
