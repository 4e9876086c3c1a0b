package network

import (
	"moonfarm/rollout/network/internal/kernel"
	"moonfarm/rollout/network/onnx"
)

// elementwise makes an operator that applies a function to each element.
func elementwise(read func(k *call) function) func(*call) []*value {
	return func(k *call) []*value {
		v := k.arg(0)
		if v.constant && v.whole != nil {
			if out := k.wholeFunction(v); out != nil {
				return one(out)
			}
		}
		f := read(k)
		return one(k.emit(&unary{f}, v.typ, v.shape, v))
	}
}

// plainFunction reads a function that has no attributes.
func plainFunction(name string) func(*call) function {
	return func(*call) function { return newFunction(name, 0, 0) }
}

func readGelu(k *call) function {
	kind := k.text("approximate", "none")
	name, ok := map[string]string{"none": "gelu", "tanh": "gelutanh"}[kind]
	k.refuse(!ok, "attribute %q: expected none or tanh, found %q", "approximate", kind)
	return newFunction(name, 0, 0)
}

// single returns a number that is an attribute in older operators and input i in newer ones.
func (k *call) single(name string, i int, or float32) float32 {
	if k.has(i) {
		if floats := k.constant(i, 1, name); len(floats) == 1 {
			return floats[0]
		}
	}
	return k.float(name, or)
}

// mostFloat is the largest float32.
const mostFloat = 0x1p127 * (1 + (1 - 0x1p-23))

func readClip(k *call) function {
	return newFunction("clip", k.single("min", 1, -mostFloat), k.single("max", 2, mostFloat))
}

// readMish translates a Mish: x·tanh(softplus(x)).
func readMish(k *call) []*value {
	v := k.arg(0)
	return one(k.with("Mul", []*value{v, k.with("Tanh", []*value{k.with("Softplus", []*value{v})})}))
}

// readIsInf translates a test for infinite numbers.
func readIsInf(k *call) function {
	return newFunction("isinf", float32(k.integer("detect_negative", 1)), float32(k.integer("detect_positive", 1)))
}

// readPow translates a power. Usual constant exponents have functions of their own.
func readPow(k *call) []*value {
	v, exponent := k.arg(0), k.arg(1)
	if exponent.constant && exponent.shape.axis < 0 && exponent.shape.size() == 1 && len(exponent.shape.dims) <= len(v.shape.dims) {
		switch x := k.constant(1, 1, "exponent"); {
		case x[0] == 0.5:
			return one(k.emit(&unary{newFunction("sqrt", 0, 0)}, v.typ, v.shape, v))
		case x[0] == -1:
			return one(k.emit(&unary{newFunction("reciprocal", 0, 0)}, v.typ, v.shape, v))
		case x[0] >= 0 && x[0] <= 16 && x[0] == float32(int(x[0])):
			return one(k.emit(&unary{newFunction("pow", x[0], 0)}, v.typ, v.shape, v))
		}
	}
	return one(k.emit(&binary{raise}, v.typ, k.broadcast(v.shape, exponent.shape), v, exponent))
}

// arithmetic translates an operator of two arrays that are broadcast.
func arithmetic(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	s := k.broadcast(a.shape, b.shape)
	typ, op := a.typ, binaryOf[k.Op]
	switch k.Op {
	case "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor":
		typ = onnx.Bool
	case "Div":
		if !typ.IsFloat() {
			op = quotient
		}
	case "Mod":
		if k.integer("fmod", 0) != 0 {
			op = leftOver
		}
	}
	if a.whole != nil && b.whole != nil && a.constant && b.constant && wholeOf[k.Op] && !k.wraps(typ) {
		return one(k.wholeArithmetic(typ, a, b, s))
	}
	return one(k.wrap(k.emit(&binary{op}, typ, s, a, b)))
}

// narrow returns the least number of a type of 8 or 16 bits, and how many numbers it has; 0 for
// other types.
func narrow(typ onnx.Type) (least, count float32) {
	all := map[onnx.Type][2]float32{onnx.Uint8: {0, 1 << 8}, onnx.Int8: {-1 << 7, 1 << 8}, onnx.Uint16: {0, 1 << 16}, onnx.Int16: {-1 << 15, 1 << 16}}
	return all[typ][0], all[typ][1]
}

// wraps reports whether results of the operator may be beyond the type.
func (k *call) wraps(typ onnx.Type) bool {
	switch k.Op {
	case "Add", "Sub", "Mul", "Sum", "Cast", "CastLike":
		_, count := narrow(typ)
		return count > 0
	}
	return false
}

// wrap returns the result of arithmetic: in a type of 8 or 16 bits, whole numbers beyond it wrap around.
func (k *call) wrap(v *value) *value {
	if !k.wraps(v.typ) {
		return v
	}
	least, count := narrow(v.typ)
	return k.emit(&unary{newFunction("wrap", least, count)}, v.typ, v.shape, v)
}

// manyOperands translates Min, Max and Sum of any number of arrays.
func manyOperands(k *call) []*value {
	v, op := k.arg(0), k.Op
	if op == "Sum" {
		op = "Add"
	}
	for i := 1; i < len(k.in); i++ {
		b := k.arg(i)
		s := k.broadcast(v.shape, b.shape)
		if v.constant && b.constant && v.whole != nil && b.whole != nil {
			v = k.wholeArithmetic(v.typ, v, b, s)
		} else {
			v = k.wrap(k.emit(&binary{binaryOf[op]}, v.typ, s, v, b))
		}
	}
	return one(v)
}

// readPRelu translates a PRelu. The slopes are broadcast to the array, never the array to the
// slopes.
func readPRelu(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	s, err := broadcast(a.shape, b.shape)
	if err != nil || !s.equal(a.shape) {
		k.fail("slope: expected a shape that is broadcast to %v, found %v", a.shape, b.shape)
	}
	return one(k.emit(&binary{slope}, a.typ, s, a, b))
}

func readWhere(k *call) []*value {
	is, a, b := k.arg(0), k.arg(1), k.arg(2)
	s := k.broadcast(a.shape, b.shape, is.shape)
	if is.constant && a.constant && b.constant && is.whole != nil && a.whole != nil && b.whole != nil {
		if !is.shape.equal(s) || !a.shape.equal(s) || !b.shape.equal(s) {
			k.fail("expected constants of one shape, found %v, %v and %v", is.shape, a.shape, b.shape)
		}
		out := make([]whole, len(is.whole))
		for i, w := range is.whole {
			out[i] = b.whole[i]
			if w != (whole{}) {
				out[i] = a.whole[i]
			}
		}
		return one(k.wholeOut(a.typ, s, out))
	}
	return one(k.emit(&choose{}, a.typ, s, is, a, b))
}

// readCast translates a conversion. All arrays are float32 in memory, so only conversions that
// lose information compute anything.
func readCast(k *call) []*value {
	k.ignore("saturate", "round_mode")
	return one(k.cast(k.arg(0), onnx.Type(k.integer("to", 0))))
}

// readCastLike translates a conversion to the type of another array.
func readCastLike(k *call) []*value {
	k.ignore("saturate", "round_mode")
	return one(k.cast(k.arg(0), k.arg(1).typ))
}

// cast converts a value to a type.
func (k *call) cast(v *value, to onnx.Type) *value {
	if !to.Readable() {
		k.fail("expected a conversion to float32, float64, float16, bfloat16, whole numbers or bool, found %s", to)
	}
	if v.constant && v.whole != nil && to != onnx.Bool {
		out := *v
		out.typ, out.uses = to, 0
		if to.IsFloat() {
			_, err := k.compiler.numbers(&out)
			k.must(err)
			out.whole = nil
		}
		return &out
	}
	switch {
	case to == onnx.Bool && v.typ != onnx.Bool:
		return k.emit(&unary{newFunction("truth", 0, 0)}, to, v.shape, v)
	case v.typ.IsFloat() && !to.IsFloat():
		return k.emit(&unary{newFunction("truncate", 0, 0)}, to, v.shape, v)
	case v.typ != onnx.Bool && !to.IsFloat() && v.typ != to:
		return k.wrap(k.emit(&alias{}, to, v.shape, v))
	}
	return k.emit(&alias{}, to, v.shape, v)
}

// unary applies a function to each element.
type unary struct{ function }

func (u *unary) lower(p *planner, n *node) task {
	dst, src := p.view(n.out), p.view(n.in[0])
	l := newLoop(n.out.shape.dims, true, dst.steps, src.steps)
	l.start[0], l.start[1] = dst.start, src.start
	return rows(n, &unaryLoop{l, u.function})
}

type unaryLoop struct {
	loop loop
	f    function
}

func (u *unaryLoop) row(dst []float32, in inputRows, _ []float32) {
	l, src := &u.loop, in[0]
	n, to, from := l.size[0], l.step[0][0], l.step[1][0]
	c := cursor{at: l.start}
	for range l.runs() {
		if to == 1 && from == 1 {
			u.f.run(dst[c.at[0]:c.at[0]+n], src[c.at[1]:c.at[1]+n], u.f.a, u.f.b)
		} else {
			for i := range n {
				d := dst[c.at[0]+i*to:][:1]
				d[0] = src[c.at[1]+i*from]
				u.f.run(d, d, u.f.a, u.f.b)
			}
		}
		c.next(l)
	}
}

// binary applies a function to the elements of two arrays, which are broadcast.
type binary struct{ binaryOp }

func (b *binary) lower(p *planner, n *node) task {
	dst := p.view(n.out)
	x, y := p.broadcast(n.in[0], n.out.shape), p.broadcast(n.in[1], n.out.shape)
	l := newLoop(n.out.shape.dims, true, dst.steps, x.steps, y.steps)
	l.start[0], l.start[1], l.start[2] = dst.start, x.start, y.start
	lines, rest := splitLoop(b.op, &l)
	return rows(n, &binaryLoop{lines, rest, b.binaryOp})
}

// splitLoop returns the two innermost dimensions of a loop over a result and two operands as lines, and the loop over the other
// dimensions: its innermost one stands for the lines.
func splitLoop(op kernel.Op, l *loop) (kernel.Lines, loop) {
	out := kernel.Lines{Op: op, N: l.size[0], Count: 1}
	rest := loop{n: max(l.n-1, 1), start: l.start}
	for o, s := range []*kernel.Steps{&out.Dst, &out.X, &out.Y} {
		s.Element = l.step[o][0]
		if l.n > 1 {
			s.Line = l.step[o][1]
		}
	}
	if l.n > 1 {
		out.Count = l.size[1]
	}
	copy(rest.size[:], l.size[1:])
	for o := range rest.step {
		copy(rest.step[o][:], l.step[o][1:])
	}
	return out, rest
}

type binaryLoop struct {
	lines kernel.Lines
	loop  loop // over the lines
	op    binaryOp
}

func (b *binaryLoop) row(dst []float32, in inputRows, _ []float32) {
	x, y := in[0], in[1]
	c := cursor{at: b.loop.start}
	for range b.loop.runs() {
		if b.op.op != 0 {
			b.lines.Run(dst[c.at[0]:], x[c.at[1]:], y[c.at[2]:])
		} else {
			b.each(dst[c.at[0]:], x[c.at[1]:], y[c.at[2]:])
		}
		c.next(&b.loop)
	}
}

// each computes lines by a function that package kernel does not have.
func (b *binaryLoop) each(dst, x, y []float32) {
	l := &b.lines
	for line := range l.Count {
		for i := range l.N {
			dst[line*l.Dst.Line+i*l.Dst.Element] = b.op.run(x[line*l.X.Line+i*l.X.Element], y[line*l.Y.Line+i*l.Y.Element])
		}
	}
}

// choose selects elements of the second array where the first is not 0, and of the third
// elsewhere.
type choose struct{}

func (*choose) lower(p *planner, n *node) task {
	dst, s := p.view(n.out), n.out.shape
	is, x, y := p.broadcast(n.in[0], s), p.broadcast(n.in[1], s), p.broadcast(n.in[2], s)
	l := newLoop(s.dims, true, dst.steps, is.steps, x.steps, y.steps)
	l.start = [operands]int{dst.start, is.start, x.start, y.start}
	return rows(n, &chooseLoop{l})
}

type chooseLoop struct{ loop loop }

func (o *chooseLoop) row(dst []float32, in inputRows, _ []float32) {
	l := &o.loop
	c := cursor{at: l.start}
	for range l.runs() {
		for i := range l.size[0] {
			from := in[2][c.at[3]+i*l.step[3][0]]
			if in[0][c.at[1]+i*l.step[1][0]] != 0 {
				from = in[1][c.at[2]+i*l.step[2][0]]
			}
			dst[c.at[0]+i*l.step[0][0]] = from
		}
		c.next(l)
	}
}
