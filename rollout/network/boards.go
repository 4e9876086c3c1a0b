package network

import (
	"math"
	"slices"

	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// readPad reads a Pad. Negative numbers of elements crop.
func readPad(k *call) []*value {
	v := k.arg(0)
	n, mode := len(v.shape.dims), k.text("mode", "constant")
	pads := k.listed("pads", 1)
	if axes := k.axes(k.listed("axes", 3), n); len(axes) > 0 && len(pads) == 2*len(axes) {
		all := make([]int64, 2*n)
		for i, a := range axes {
			all[a], all[n+a] = pads[i], pads[len(axes)+i]
		}
		pads = all
	}
	fill := k.single("value", 2, 0)
	k.refuse(len(pads) != 2*n, "pads: expected %d numbers, found %d", 2*n, len(pads))
	s, p := v.shape, window(v.shape.dims)
	for i := range n {
		before, after := int(pads[i]), int(pads[n+i])
		size := s.dims[i] + before + after
		if abs64(pads[i])|abs64(pads[n+i]) > maxArray || size < 1 || s.dims[i]+min(before, 0)+min(after, 0) < 1 {
			k.fail("pads: expected numbers within ±%d that leave elements of %v, found %v", maxArray, v.shape, pads)
		}
		if before|after != 0 {
			k.rows(s, i)
		}
		if mode != "constant" {
			v = k.continued(v, i, before, after, mode)
			continue
		}
		p.to[i], p.start[i] = max(before, 0), max(-before, 0)
		p.axes[i].size += min(before, 0) + min(after, 0)
		s = s.sized(i, size)
	}
	if mode != "constant" {
		return one(v)
	}
	return one(k.emit(&move{parts: []part{p}, fills: true, fill: fill}, v.typ, s, v))
}

// continued returns an array with more elements before and after those of an axis, which continue the array. Negative
// numbers of them crop it first.
func (k *call) continued(v *value, axis, before, after int, mode string) *value {
	first, n := max(-before, 0), v.shape.dims[axis]+min(before, 0)+min(after, 0)
	size := n + max(before, 0) + max(after, 0)
	if before|after == 0 {
		return v
	}
	k.must(v.shape.sized(axis, size).check())
	indices := make([]int, size)
	for i := range indices {
		at := i - max(before, 0)
		switch period := max(2*(n-1), 1); mode {
		case "edge":
			at = min(max(at, 0), n-1)
		case "reflect":
			at = (at%period + period) % period
			at = min(at, period-at, n-1)
		case "wrap":
			at = (at%n + n) % n
		default:
			k.fail("mode: expected constant, reflect, edge or wrap, found %q", mode)
		}
		indices[i] = first + at
	}
	return k.with("Gather", []*value{v, k.list(indices...)}, "axis", axis)
}

// readResize reads a Resize, axis by axis: each element of the result is one of the array, or between two.
func readResize(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	mode := resizing{k.text("mode", "nearest"), k.text("coordinate_transformation_mode", "half_pixel"), k.text("nearest_mode", "round_prefer_floor")}
	k.ignore("cubic_coeff_a", "exclude_outside", "extrapolation_value")
	if k.opset() < 11 {
		mode.from, mode.nearest = "asymmetric", "floor"
	}
	if mode.kind != "nearest" && mode.kind != "linear" || !mode.known() || k.integer("antialias", 0) != 0 || k.text("keep_aspect_ratio_policy", "stretch") != "stretch" {
		k.fail("expected the mode nearest or linear, half_pixel, pytorch_half_pixel, asymmetric or align_corners, without antialias, found %v", mode)
	}
	scales, sizes := k.factors()
	k.refuse(len(scales) != n, "expected a factor for each dimension of %v, found %d", v.shape, len(scales))
	for i := range n {
		d, size := v.shape.dims[i], 0
		if sizes != nil {
			size = sizes[i]
		} else if x := float64(d) * float64(scales[i]); x >= 1 && x <= maxArray {
			size = int(x)
		}
		if scales[i] == 1 && size == d {
			continue
		}
		k.rows(v.shape, i)
		k.must(v.shape.sized(i, size).check())
		v = k.resized(v, i, size, scales[i], mode)
	}
	return one(v)
}

// resizing says which element or elements of an array one of the result has.
type resizing struct{ kind, from, nearest string }

func (r resizing) known() bool {
	return slices.Contains([]string{"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}, r.from) &&
		slices.Contains([]string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, r.nearest)
}

// at returns the place in n elements of element i of `size`, in the arithmetic of ONNX Runtime, which decides ties.
func (r resizing) at(i, n, size int, scale float32) float32 {
	x := float32(i)
	switch {
	case r.from == "asymmetric":
		return x / scale
	case r.from == "align_corners" && size > 1:
		return float32(x*float32(n-1)) / float32(size-1)
	case size == 1 && r.from != "half_pixel":
		return 0
	}
	return (x+0.5)/scale - 0.5
}

// round returns the nearest element of a place.
func (r resizing) round(x float32) float64 {
	switch v := float64(x); r.nearest {
	case "floor":
		return math.Floor(v)
	case "ceil":
		return math.Ceil(v)
	case "round_prefer_ceil":
		return math.Floor(v + 0.5)
	default:
		return math.Ceil(v - 0.5)
	}
}

// resized returns an array with another size of an axis.
func (k *call) resized(v *value, axis, size int, scale float32, mode resizing) *value {
	n := v.shape.dims[axis]
	low, high, shares := make([]int, size), make([]int, size), make([]float32, size)
	for i := range low {
		x := mode.at(i, n, size, scale)
		if mode.kind == "nearest" {
			low[i] = int(min(max(mode.round(x), 0), float64(n-1)))
			continue
		}
		x = min(max(x, 0), float32(n-1))
		low[i], high[i] = int(x), min(int(x)+1, n-1)
		shares[i] = x - float32(low[i])
	}
	out := k.with("Gather", []*value{v, k.list(low...)}, "axis", axis)
	if mode.kind == "nearest" {
		return out
	}
	next := k.with("Gather", []*value{v, k.list(high...)}, "axis", axis)
	wide := slices.Repeat([]int{1}, len(v.shape.dims)-axis)
	wide[0] = size
	step := k.with("Mul", []*value{k.with("Sub", []*value{next, out}), k.floatsOut(shares, wide...)})
	return k.with("Add", []*value{out, step})
}

// factors returns the factors of a Resize for all dimensions, and the sizes if the file has these.
func (k *call) factors() (scales []float32, sizes []int) {
	v, at := k.arg(0), 2
	d, wholes := v.shape.dims, []whole(nil)
	if k.opset() < 11 {
		at = 1
	}
	switch a := k.attribute("scales", onnx.KindFloats); {
	case a != nil:
		scales = a.Floats
	case at == 2 && k.has(3):
		wholes = k.wholes(3, "sizes")
		scales = make([]float32, len(wholes))
	default:
		scales = k.constant(at, -1, "scales")
	}
	axes := k.axes(k.attributeOrNil("axes"), len(d))
	if axes == nil {
		axes = between(0, len(d))
	}
	k.refuse(len(axes) != len(scales), "expected a factor or size for each axis of %v, found %d", v.shape, len(scales))
	all := slices.Repeat([]float32{1}, len(d))
	for i, a := range axes {
		all[a] = scales[i]
	}
	if wholes != nil {
		sizes = slices.Clone(d)
	}
	for i, w := range wholes {
		a := axes[i]
		if w.batch != (a == v.shape.axis) || w.n < 1 || w.n > maxArray {
			k.fail("sizes: expected those of a result for %v, found %v", v.shape, wholes)
		}
		sizes[a], all[a] = int(w.n), float32(w.n)/float32(d[a])
	}
	return all, sizes
}

func readGlobalPool(kind string) func(*call) []*value {
	return func(k *call) []*value {
		v := k.arg(0)
		k.refuse(len(v.shape.dims) < 3 || v.shape.axis > 1, "expected [batch, channels, …], found %v", v.shape)
		return one(k.reduce(kind, v, between(2, len(v.shape.dims)), true))
	}
}

func readPool(k *call) []*value {
	v := k.arg(0)
	c, h, w := k.board(v.shape)
	size := k.integers("kernel_shape", 2, 1)
	k.refuse(size == nil, "kernel_shape: expected rows and columns, found none")
	up := k.integer("ceil_mode", 0) != 0
	k.ignore("storage_order")
	op := &pool{max: k.Op == "MaxPool", all: k.integer("count_include_pad", 0) != 0, channels: c}
	op.windows = k.windows(size[0], size[1], h, w)
	if op.top >= op.kh*op.dilationY || op.left >= op.kw*op.dilationX || op.bottom >= op.kh*op.dilationY || op.right >= op.kw*op.dilationX {
		k.fail("expected less padding than the window of %d×%d has cells", op.kh, op.kw)
	}
	if up { // the last window may be incomplete, but starts within the board or the padding before it
		spanY, spanX := (op.kh-1)*op.dilationY+1, (op.kw-1)*op.dilationX+1
		op.h = roundedUp(h, op.top, op.bottom, spanY, op.strideY)
		op.w = roundedUp(w, op.left, op.right, spanX, op.strideX)
	}
	return one(k.emit(op, onnx.Float32, shape{[]int{1, c, op.h, op.w}, v.shape.axis, 1}, v))
}

func roundedUp(n, before, after, span, stride int) int {
	out := (n+before+after-span+stride-1)/stride + 1
	if (out-1)*stride >= n+before {
		out--
	}
	return out
}

// pool computes the mean or the maximum of windows.
type pool struct {
	windows
	channels int
	max, all bool // all: means include the cells of the padding
}

func (o *pool) lower(p *planner, n *node) task {
	return rows(n, &poolLoop{pool: o, dst: p.view(n.out), src: p.view(n.in[0]), h: n.in[0].shape.dims[2], w: n.in[0].shape.dims[3]})
}

type poolLoop struct {
	*pool
	dst, src view
	h, w     int // of the source
}

func (p *poolLoop) row(dst []float32, in inputRows, _ []float32) {
	src := in[0]
	for y := range p.windows.h {
		for x := range p.windows.w {
			d, s := p.dst.start+y*p.dst.steps[2]+x*p.dst.steps[3], p.src.start
			if p.max && p.dst.steps[1] == 1 && p.src.steps[1] == 1 {
				p.largest(dst[d:d+p.channels], src, y*p.strideY-p.top, x*p.strideX-p.left)
				continue
			}
			for range p.channels {
				dst[d] = p.window(src, s, y*p.strideY-p.top, x*p.strideX-p.left)
				d, s = d+p.dst.steps[1], s+p.src.steps[1]
			}
		}
	}
}

// largest computes a window of all channels, which are adjacent; its first cell is at y, x.
func (p *poolLoop) largest(dst, src []float32, y, x int) {
	for i := range dst {
		dst[i] = float32(math.Inf(-1))
	}
	first, end := x, x+p.kw*p.dilationX // columns on the board
	for first < 0 {
		first += p.dilationX
	}
	l := kernel.Lines{Op: kernel.Max, N: len(dst), Count: (min(end, p.w) - first + p.dilationX - 1) / p.dilationX}
	l.Dst.Element, l.X.Element, l.Y = 1, 1, kernel.Steps{Element: 1, Line: p.dilationX * p.src.steps[3]}
	for i := range p.kh {
		if a := y + i*p.dilationY; a >= 0 && a < p.h && l.Count > 0 {
			l.Run(dst, dst, src[p.src.start+a*p.src.steps[2]+first*p.src.steps[3]:])
		}
	}
}

// window computes one window, whose first cell is at y, x.
func (p *poolLoop) window(src []float32, at, y, x int) float32 {
	sum, count, best := 0.0, 0, float32(math.Inf(-1))
	for i := range p.kh {
		for j := range p.kw {
			a, b := y+i*p.dilationY, x+j*p.dilationX
			if a < 0 || a >= p.h || b < 0 || b >= p.w {
				if p.all && a < p.h+p.bottom && b < p.w+p.right {
					count++
				}
				continue
			}
			v := src[at+a*p.src.steps[2]+b*p.src.steps[3]]
			best, sum, count = max(best, v), sum+float64(v), count+1
		}
	}
	if p.max {
		return best
	}
	return float32(sum / float64(max(count, 1)))
}
