//go:build amd64 && !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	avx512 = path{name: "avx512", cells: [maxBlocks + 1]int{1: 8, 2: 8, 3: 6, 4: 6}}
	avx2   = path{name: "avx2", cells: [maxBlocks + 1]int{1: 6, 2: 2, 3: 1, 4: 1}}
)

// machinePaths returns the paths of this machine besides the portable one.
func machinePaths() (all []*path) {
	has256 := cpu.X86.HasAVX2 && cpu.X86.HasFMA
	if cpu.X86.HasAVX512F {
		if has256 && halfWidth() {
			avx512.single, avx512.cells[1] = &avx2, avx2.cells[1]
		}
		all = append(all, &avx512)
	}
	if has256 {
		all = append(all, &avx2)
	}
	return all
}

// halfWidth reports whether this is a Zen 4, which computes 512 bits as two halves, and loads 512 bits in a cycle or
// twice 256. A tile of one block of outputs has about as many loads as multiply-adds, and takes a quarter less time with
// AVX2 (convolutions of 3×3 with 16 outputs on 80×80 cells: 390 instead of 510 µs).
func halfWidth() bool {
	const amd, zen3and4 = 0x68747541, 25 // "Auth", and the family of both, of which only Zen 4 has AVX-512
	vendor, version := signature()
	return vendor == amd && version>>8&15+version>>20&255 == zen3and4
}

// signature returns the first letters of the processor's vendor, and the processor's family and model.
//
//go:noescape
func signature() (vendor, version uint32)

// sweepAssembly computes a checked sweep by a path other than the portable one.
func sweepAssembly(p *path, s *sweep) {
	w := s.work()
	if p == &avx512 {
		sweep512(&w)
	} else {
		sweep256(&w)
	}
}

//go:noescape
func sweep512(w *work)

//go:noescape
func sweep256(w *work)

// elementsAssembly computes a function of the first elements of src by a path other than the
// portable one, and returns their number. It leaves the elements that do not fill a vector, or
// all of them if the path has no such function.
func elementsAssembly(p *path, f element, dst, src []float32) int {
	n := len(src) &^ 7
	if n == 0 || p == &portable || f == elementErf && p != &avx512 {
		return 0
	}
	to, from := &dst[:n][0], &src[0]
	switch {
	case f == elementErf:
		erf512(to, from, n, &erfSeries)
	case f == elementExp && p == &avx512:
		exp512(to, from, n)
	case f == elementExp:
		exp256(to, from, n)
	case f == elementTanh && p == &avx512:
		tanh512(to, from, n)
	case f == elementTanh:
		tanh256(to, from, n)
	case p == &avx512:
		sigmoid512(to, from, n)
	default:
		sigmoid256(to, from, n)
	}
	return n
}

//go:noescape
func erf512(dst, src *float32, n int, series *[13][8]float64)

//go:noescape
func exp512(dst, src *float32, n int)

//go:noescape
func exp256(dst, src *float32, n int)

//go:noescape
func tanh512(dst, src *float32, n int)

//go:noescape
func tanh256(dst, src *float32, n int)

//go:noescape
func sigmoid512(dst, src *float32, n int)

//go:noescape
func sigmoid256(dst, src *float32, n int)

// linesWork is the work of Lines in the form that the assembly reads; steps are in bytes. gen knows the offsets of the fields.
type linesWork struct {
	dst, x, y             unsafe.Pointer
	dstLine, xLine, yLine int
	n, count              int
	op                    int
	number                int // 1: a line of x is a number; 2: a line of y is
}

// linesAssembly computes checked lines by a path other than the portable one.
func linesAssembly(p *path, l *Lines, dst, x, y []float32) bool {
	const size = 4
	w := linesWork{dst: unsafe.Pointer(&dst[0]), x: unsafe.Pointer(&x[0]), n: l.N, count: l.Count, op: int(l.Op)}
	w.dstLine, w.xLine, w.yLine = l.Dst.Line*size, l.X.Line*size, l.Y.Line*size
	switch {
	case l.Op.alone():
		w.y, w.yLine = w.x, 0
	case l.X.Element == 0:
		w.y, w.number = unsafe.Pointer(&y[0]), 1
	default:
		w.y = unsafe.Pointer(&y[0])
		if l.Y.Element == 0 {
			w.number = 2
		}
	}
	if p == &avx512 {
		lines512(&w)
	} else {
		lines256(&w)
	}
	return true
}

//go:noescape
func lines512(w *linesWork)

//go:noescape
func lines256(w *linesWork)

// sumsAssembly adds to the first sums by a path other than the portable one, and returns their number.
func sumsAssembly(p *path, sums []float64, src []float32, count, step int) int {
	n := len(sums) &^ 7
	switch {
	case n == 0 || p == &portable:
		return 0
	case p == &avx512:
		sums512(&sums[0], &src[0], n, count, step*4)
	default:
		sums256(&sums[0], &src[0], n, count, step*4)
	}
	return n
}

//go:noescape
func sums512(sums *float64, src *float32, n, count, step int)

//go:noescape
func sums256(sums *float64, src *float32, n, count, step int)

// extremesAssembly returns the smallest and the largest ordered number by a path other than the portable one; 1 and 0 for
// arrays that do not fill a vector.
func extremesAssembly(p *path, src []float32) (least, most int32) {
	lanes := 16
	if p == &avx2 {
		lanes = 8
	}
	if p == &portable || len(src) < lanes {
		return 1, 0
	}
	var e extremeLanes
	if p == &avx512 {
		extremes512(&src[0], len(src), &e)
	} else {
		extremes256(&src[0], len(src), &e)
	}
	return e.of(lanes)
}

//go:noescape
func extremes512(src *float32, n int, lanes *extremeLanes)

//go:noescape
func extremes256(src *float32, n int, lanes *extremeLanes)

// peakAssembly adds products to peakSums vectors, `rounds` times, by a path other than the
// portable one, and returns the number of products of single floats.
func peakAssembly(p *path, rounds int) int {
	if p == &avx512 {
		peak512(rounds)
		return rounds * peakSums * 16
	}
	peak256(rounds)
	return rounds * peakSums * 8
}

// peakSums is the number of vectors that peak512 and peak256 add to.
const peakSums = 12

func peak512(rounds int)

func peak256(rounds int)
