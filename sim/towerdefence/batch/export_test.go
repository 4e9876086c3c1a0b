package batch

import "unsafe"

// Scalar makes g play by the scalar game alone, as without vector instructions.
func Scalar(g *Game) { g.vector = false }

// Misaligned returns by how many bytes the rows of a block and of the tables miss the lines of
// the cache.
func Misaligned(g *Game, b *Block) (block, tables uintptr) {
	return uintptr(unsafe.Pointer(b)) % 64, uintptr(unsafe.Pointer(g.tables)) % 64
}
