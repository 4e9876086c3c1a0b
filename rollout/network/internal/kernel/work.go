//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

//go:generate go run -C gen . -out ../sweep_amd64.s
//go:generate go run -C gen . lines -out ../lines_amd64.s
//go:generate go run -C gen . arm64 ../sweep_arm64.s

// work is a sweep in the form that the assembly reads: steps are in bytes. The assembly
// advances dstAt and srcAt and counts tiles down. gen knows the offsets of the fields.
type work struct {
	dst, src, residual, weights, bias  unsafe.Pointer
	dstAt, srcAt                       int // of the current tile, in bytes
	dstCell, dstTile, srcCell, srcTile int
	wBlock                             int
	rows, rowStep, taps, tapStep, n    int
	blocks, cells, tiles, relu         int
}

// work returns the checked sweep in the form for the assembly.
func (s *sweep) work() work {
	const size = 4
	w := work{
		dst: unsafe.Pointer(&s.dst[0]), src: unsafe.Pointer(&s.src[0]), weights: unsafe.Pointer(&s.weights[0]),
		dstAt: 0, srcAt: 0,
		dstCell: s.dstCell * size, dstTile: s.dstTile * size, srcCell: s.srcCell * size, srcTile: s.srcTile * size, wBlock: s.wBlock * size,
		rows: s.rows, rowStep: s.rowStep * size, taps: s.taps, tapStep: s.tapStep * size, n: s.n,
		blocks: s.blocks, cells: s.cells, tiles: s.tiles,
	}
	if s.residual != nil {
		w.residual = unsafe.Pointer(&s.residual[0])
	}
	if s.bias != nil {
		w.bias = unsafe.Pointer(&s.bias[0])
	}
	if s.relu {
		w.relu = 1
	}
	return w
}
