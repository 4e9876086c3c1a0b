package kernel

import (
	"fmt"
	"unsafe"
)

// Dense is a dense layer. It is read-only and safe for concurrent use.
type Dense struct {
	in, out int
	weights []float32 // [block of 16 outputs][in][16]
	bias    []float32 // padded to a multiple of 16
}

// NewDense packs weights [in][out] and bias [out], which may be nil. It panics if they
// do not fit.
func NewDense(in, out int, weights, bias []float32) *Dense {
	if in < 1 || out < 1 || len(weights) != in*out || len(bias) != 0 && len(bias) != out {
		panic(fmt.Sprintf("kernel: dense layer of %d inputs and %d outputs with %d weights and %d biases", in, out, len(weights), len(bias)))
	}
	d := &Dense{in: in, out: out, weights: make([]float32, in*padded(out)), bias: make([]float32, padded(out))}
	copy(d.bias, bias)
	packBlocks(d.weights, weights, in, out)
	return d
}

// In returns the number of inputs of a row.
func (d *Dense) In() int { return d.in }

// Out returns the number of outputs of a row.
func (d *Dense) Out() int { return d.out }

// packBlocks packs a matrix [k][n] as [block of 16 columns][k][16]; the missing columns of the
// last block hold 0.
func packBlocks(dst, src []float32, k, n int) {
	for j := 0; j < n; j += lanes {
		block := dst[j*k : (j+lanes)*k]
		have := min(lanes, n-j)
		for i := range k {
			to := block[i*lanes : (i+1)*lanes]
			copy(to, src[i*n+j:i*n+j+have])
			clear(to[have:])
		}
	}
}

// Run computes `rows` rows of outputs in dst from rows of inputs in src. Each output is
// the bias, plus the products in the order of the inputs, each added by a fused
// multiply-add; then plus residual, which is nil or of dst's shape; then max(0, ·) if
// relu is set. src must not overlap dst; residual may be dst. It panics if the lengths
// do not fit.
func (d *Dense) Run(dst, src []float32, rows int, residual []float32, relu bool) {
	within("floats of results", len(dst), rows*d.out)
	within("floats of rows", len(src), rows*d.in)
	if residual != nil {
		within("residual floats", len(residual), rows*d.out)
	}
	if rows > 0 {
		product(current(), dst, src, d.weights, d.bias, residual, relu, rows, d.in, d.out)
	}
}

// SameBits reports whether the elements of two arrays of the same length, at least 1, have the same bits.
// It compares strings, which Go does with vectors: a loop over the elements took a fifth of the time of a network of
// entities.
func SameBits(a, b []float32) bool {
	return unsafe.String((*byte)(unsafe.Pointer(&a[0])), 4*len(a)) == unsafe.String((*byte)(unsafe.Pointer(&b[0])), 4*len(b))
}

// Fours returns the memory of an array as blocks of four floats. The last floats may not fill a block, and are left out.
func Fours(a []float32) [][4]float32 {
	return unsafe.Slice((*[4]float32)(unsafe.Pointer(unsafe.SliceData(a))), len(a)/4)
}

// MatMul computes dst [m][n] = a [m][k] × b [k][n], each output from 0 in the order
// of k by fused multiply-adds. scratch has Scratch(k, n) floats. It panics if the lengths
// do not fit.
func MatMul(dst, a, b []float32, m, k, n int, scratch []float32) {
	if min(m, k, n) < 1 {
		panic(fmt.Sprintf("kernel: product of matrices %d×%d and %d×%d", m, k, k, n))
	}
	within("floats of the product", len(dst), m*n)
	within("floats of the left matrix", len(a), m*k)
	within("floats of the right matrix", len(b), k*n)
	within("floats of scratch memory", len(scratch), Scratch(k, n))
	packed := scratch[:k*padded(n)]
	packBlocks(packed, b, k, n)
	bias := scratch[k*padded(n) : Scratch(k, n)]
	clear(bias)
	product(current(), dst, a, packed, bias, nil, false, m, k, n)
}

// Scratch returns the number of floats of scratch memory that MatMul needs.
func Scratch(k, n int) int { return (k + 1) * padded(n) }

// product computes dst [m][n] = bias + src [m][k] × weights, which are packed in blocks.
func product(p *path, dst, src, weights, bias, residual []float32, relu bool, m, k, n int) {
	s := sweep{
		dstCell: n, srcCell: k, wBlock: k * lanes, rows: 1, taps: 1, n: k, relu: relu,
	}
	full := n / lanes
	for block := 0; block < full; block += s.blocks {
		s.blocks = partSize(full-block, p.blocks(m))
		s.weights, s.bias = weights[block*s.wBlock:], bias[block*lanes:]
		for row := 0; row < m; row += s.cells * s.tiles {
			s.cells, s.tiles = partSizes(m-row, p.cells[s.blocks])
			s.dstTile, s.srcTile = s.cells*n, s.cells*k
			at := row*n + block*lanes
			s.dst, s.src = dst[at:], src[row*k:]
			if residual != nil {
				s.residual = residual[at:]
			}
			p.run(&s)
		}
	}
	if n%lanes != 0 {
		s.blocks, s.weights, s.bias = 1, weights[full*s.wBlock:], bias[full*lanes:]
		s.tail(p, dst[full*lanes:], src, residual, m, n)
	}
}

// tail computes the columns of an incomplete last block, in a buffer of full blocks.
func (s sweep) tail(p *path, dst, src, residual []float32, m, n int) {
	const most = 8
	var results, residuals [most * lanes]float32
	have := n % lanes
	s.tiles, s.dstCell, s.dst = 1, lanes, results[:]
	for row := 0; row < m; row += s.cells {
		s.cells = partSize(m-row, min(most, p.cells[1]))
		s.src = src[row*s.srcCell:]
		if residual != nil {
			from := residual[row*n+n-have:]
			for i := range s.cells {
				copy(residuals[i*lanes:], from[i*n:i*n+have])
			}
			s.residual = residuals[:]
		}
		p.run(&s)
		for i := range s.cells {
			copy(dst[(row+i)*n:], results[i*lanes:i*lanes+have])
		}
	}
}
