package network

import (
	"slices"

	"moonfarm/rollout/network/onnx"
)

func readExpand(k *call) []*value {
	v := k.arg(0)
	target := k.wholes(1, "shape")
	if len(target) > maxRank {
		k.fail("expected a shape of at most %d dimensions, found %d", maxRank, len(target))
	}
	want := shape{axis: -1, outer: 1}
	for i, w := range target {
		if w.n < 1 || w.n > maxArray || w.batch && want.axis >= 0 {
			k.fail("expected a shape, found %v", target)
			return one(v)
		}
		if w.batch {
			want.axis = i
			if at := len(v.shape.dims) - len(target) + i; at >= 0 && at == v.shape.axis {
				want.outer = v.shape.outer
			}
		}
		want.dims = append(want.dims, int(w.n))
	}
	s, err := broadcast(v.shape, want)
	if err != nil || k.err != nil {
		k.fail("%w", err)
		return one(v)
	}
	if s.equal(v.shape) {
		return one(v)
	}
	p, ahead := part{}, len(s.dims)-len(v.shape.dims)
	for i, d := range s.dims {
		step := 0
		if i >= ahead && v.shape.dims[i-ahead] == d {
			step = 1
		}
		p.along(d, i, max(i-ahead, 0), step)
	}
	if len(v.shape.dims) == 0 {
		p.scalar = true
	}
	return one(k.move(&move{parts: []part{p}}, v.typ, s, v))
}

func readPad(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	if mode := k.text("mode", "constant"); mode != "constant" {
		k.fail("mode: expected constant, found %q", mode)
	}
	pads := k.listed("pads", 1)
	if k.has(3) {
		k.fail("axes: expected none")
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
		before, after := pads[i], pads[n+i]
		if before < 0 || after < 0 || before > maxArray || after > maxArray {
			k.fail("pads: expected numbers from 0, found %v", pads)
			return one(v)
		}
		if before+after > 0 {
			k.rows(s, i)
		}
		p.to[i] = int(before)
		s = s.sized(i, s.dims[i]+int(before+after))
	}
	return one(k.emit(&move{parts: []part{p}, fills: true, fill: fill}, v.typ, s, v))
}

func readShape(k *call) []*value {
	v := k.arg(0)
	n := len(v.shape.dims)
	from, to := k.integer("start", 0), k.integer("end", n)
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	from, to = min(max(from, 0), n), min(max(to, 0), n)
	var out []whole
	for i := from; i < to; i++ {
		out = append(out, whole{int64(v.shape.dims[i]), i == v.shape.axis})
	}
	if len(out) == 0 {
		k.fail("expected an array with dimensions, found a single number")
	}
	return one(k.wholeOut(onnx.Int64, []int{len(out)}, out))
}

func readConstant(k *call) []*value {
	var t *onnx.Tensor
	if a := k.attribute("value", onnx.KindTensor); a != nil {
		t = a.Tensor
	}
	if a := k.attribute("value_float", onnx.KindFloat); a != nil {
		t = &onnx.Tensor{Type: onnx.Float32, Floats: []float32{a.Float}}
	}
	if a := k.attribute("value_int", onnx.KindInt); a != nil {
		t = &onnx.Tensor{Type: onnx.Int64, Ints: []int64{a.Int}}
	}
	if a := k.attribute("value_floats", onnx.KindFloats); a != nil {
		t = &onnx.Tensor{Type: onnx.Float32, Floats: a.Floats, Dims: []int{len(a.Floats)}}
	}
	if a := k.attribute("value_ints", onnx.KindInts); a != nil {
		t = &onnx.Tensor{Type: onnx.Int64, Ints: a.Ints, Dims: []int{len(a.Ints)}}
	}
	if t == nil {
		k.fail("expected a value of numbers, found none")
		return nil
	}
	v, err := k.compiler.tensor(t)
	if err != nil {
		k.fail("value: %w", err)
		return nil
	}
	v.name = k.Outputs[0]
	return one(v)
}

func readConstantOfShape(k *call) []*value {
	t := &onnx.Tensor{Type: onnx.Float32, Floats: []float32{0}}
	if a := k.attribute("value", onnx.KindTensor); a != nil {
		t = a.Tensor
	}
	target := k.wholes(0, "shape")
	if k.err == nil && (t.Len() != 1 || len(target) > maxRank) {
		k.fail("expected one number and a shape of at most %d dimensions, found %v and %v", maxRank, t.Dims, target)
	}
	s := shape{axis: -1, outer: 1}
	for i, w := range target {
		if w.n < 1 || w.n > maxArray || w.batch && s.axis >= 0 {
			k.fail("expected a shape, found %v", target)
			return nil
		}
		if w.batch {
			s.axis = i
		}
		s.dims = append(s.dims, int(w.n))
	}
	if k.err == nil {
		k.err = s.check()
	}
	if k.err == nil {
		k.err = k.compiler.spend(2 * s.size())
	}
	if k.err != nil {
		return nil
	}
	v := &value{name: k.Outputs[0], typ: t.Type, shape: s, constant: true}
	if t.Type.IsFloat() {
		v.floats = slices.Repeat(t.Floats, s.size())
		return one(v)
	}
	v.whole = slices.Repeat([]whole{{n: t.Ints[0]}}, s.size())
	return one(v)
}
