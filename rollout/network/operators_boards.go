package network

import (
	"math"
	"slices"

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
	if len(pads) != 2*n {
		k.fail("pads: expected %d numbers, found %d", 2*n, len(pads))
	}
	if k.err != nil {
		return one(v)
	}
	s, p := v.shape, window(v.shape.dims)
	for i := range n {
		before, after := int(pads[i]), int(pads[n+i])
		size := s.dims[i] + before + after
		if abs64(pads[i])|abs64(pads[n+i]) > maxArray || size < 1 || s.dims[i]+min(before, 0)+min(after, 0) < 1 {
			k.fail("pads: expected numbers within ±%d that leave elements of %v, found %v", maxArray, v.shape, pads)
			return one(v)
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
	if before|after == 0 || k.err != nil {
		return v
	}
	if k.err = v.shape.sized(axis, size).check(); k.err != nil {
		return v
	}
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
			return v
		}
		indices[i] = first + at
	}
	return k.with("Gather", []*value{v, k.list(indices...)}, withInt("axis", axis))
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
	if k.err == nil && len(scales) != n {
		k.fail("expected a factor for each dimension of %v, found %d", v.shape, len(scales))
	}
	for i := 0; i < n && k.err == nil; i++ {
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
		if k.err == nil {
			k.err = v.shape.sized(i, size).check()
		}
		if k.err == nil {
			v = k.resized(v, i, size, scales[i], mode)
		}
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
	out := k.with("Gather", []*value{v, k.list(low...)}, withInt("axis", axis))
	if mode.kind == "nearest" {
		return out
	}
	next := k.with("Gather", []*value{v, k.list(high...)}, withInt("axis", axis))
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
		for i := range d {
			axes = append(axes, i)
		}
	}
	if len(axes) != len(scales) || k.err != nil {
		k.fail("expected a factor or size for each axis of %v, found %d", v.shape, len(scales))
		return nil, nil
	}
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
			return nil, nil
		}
		sizes[a], all[a] = int(w.n), float32(w.n)/float32(d[a])
	}
	return all, sizes
}

// readConvTranspose reads a ConvTranspose, as a convolution of a board with zeros between its cells.
func readConvTranspose(k *call) []*value {
	v, weights := k.arg(0), k.arg(1)
	c, h, w := k.board(v.shape)
	d, groups := weights.shape.dims, k.integer("group", 1)
	if k.err == nil && (len(d) != 4 || groups < 1 || d[0] != c || c%groups != 0) {
		k.fail("weights: expected [%d, outputs of each of %d groups, rows, columns], found %v", c, groups, weights.shape)
	}
	k.constant(1, -1, "weights")
	if k.err != nil {
		return one(v)
	}
	y, x := k.gaps(0, h, d[2]), k.gaps(1, w, d[3])
	k.ignore("kernel_shape")
	if k.err != nil {
		return one(v)
	}
	if y.stride > 1 || x.stride > 1 { // each cell becomes the first of a block
		wide := k.reshaped(v, []int{1, c, h, 1, w, 1}, v.shape.axis)
		wide = k.with("Pad", []*value{wide, k.list(0, 0, 0, 0, 0, 0, 0, 0, 0, y.stride-1, 0, x.stride-1)})
		if k.err == nil {
			v = k.reshaped(wide, []int{1, c, h * y.stride, w * x.stride}, v.shape.axis)
		}
	}
	v = k.with("Pad", []*value{v, k.list(0, 0, y.before, x.before, 0, 0, y.after, x.after)})
	turned := k.reshaped(weights, []int{groups, c / groups, d[1], d[2], d[3]}, -1)
	if k.err == nil {
		turned = k.reshaped(k.permuted(turned, []int{0, 2, 1, 3, 4}), []int{groups * d[1], c / groups, d[2], d[3]}, -1)
	}
	turned = k.with("Slice", []*value{turned, k.list(-1, -1), k.list(-maxArray, -maxArray), k.list(2, 3), k.list(-1, -1)})
	in := []*value{v, turned}
	if k.has(2) {
		in = append(in, k.in[2])
	}
	return one(k.with("Conv", in, withInt("group", groups), withInts("dilations", y.dilation, x.dilation)))
}

// gaps are the zeros that a ConvTranspose has along an axis.
type gaps struct{ stride, dilation, before, after int }

// gaps returns the zeros along axis i of a board, of which it has n cells, for weights of `size` cells.
func (k *call) gaps(i, n, size int) gaps {
	number := func(name string, least, or int) int {
		if list := k.integers(name, 2, least); list != nil {
			return list[i]
		}
		return or
	}
	g := gaps{stride: number("strides", 1, 1), dilation: number("dilations", 1, 1)}
	more := number("output_padding", 0, 0)
	if shape := number("kernel_shape", 1, size); shape != size {
		k.fail("kernel_shape: expected that of the weights, %d, found %d", size, shape)
	}
	var crop [2]int // cells of the result that are left out
	if pads := k.integers("pads", 4, 0); pads != nil {
		crop = [2]int{pads[i], pads[2+i]}
	}
	if size|g.stride|g.dilation|more|crop[0]|crop[1] >= maxWindow {
		k.fail("expected weights, strides, dilations and pads below %d cells", maxWindow)
		return gaps{stride: 1, dilation: 1}
	}
	span := (size-1)*g.dilation + 1
	full := (n-1)*g.stride + span + more
	auto := k.text("auto_pad", "NOTSET")
	want := 0
	switch {
	case auto == "VALID":
		crop = [2]int{}
	case auto == "SAME_UPPER", auto == "SAME_LOWER":
		want = n * g.stride
	case auto != "NOTSET":
		k.fail("auto_pad: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER, found %q", auto)
	}
	if want = number("output_shape", 1, want); want > 0 {
		all := max(full-want, 0)
		crop = [2]int{all - all/2, all / 2}
		if auto == "SAME_UPPER" {
			crop = [2]int{all / 2, all - all/2}
		}
		more += want - full + all
	}
	g.before = span - 1 - crop[0]
	g.after = span - 1 - crop[1] + more - (g.stride - 1)
	return g
}
