package network

import (
	"moonfarm/rollout/network/onnx"
)

// operators are the supported operators of ONNX, each with a function that translates its
// nodes and returns the values of their outputs.
var operators = map[string]func(*call) []*value{
	"Abs": elementwise(plainFunction("abs")), "Neg": elementwise(plainFunction("neg")), "Sqrt": elementwise(plainFunction("sqrt")),
	"Reciprocal": elementwise(plainFunction("reciprocal")), "Exp": elementwise(plainFunction("exp")), "Log": elementwise(plainFunction("log")),
	"Erf": elementwise(plainFunction("erf")), "Tanh": elementwise(plainFunction("tanh")), "Sigmoid": elementwise(plainFunction("sigmoid")),
	"Relu": elementwise(plainFunction("relu")), "Softplus": elementwise(plainFunction("softplus")), "HardSwish": elementwise(plainFunction("hardswish")),
	"Sin": elementwise(plainFunction("sin")), "Cos": elementwise(plainFunction("cos")),
	"Not":         elementwise(plainFunction("not")),
	"LeakyRelu":   elementwise(func(k *call) function { return newFunction("leakyrelu", k.float("alpha", 0.01), 0) }),
	"Elu":         elementwise(func(k *call) function { return newFunction("elu", k.float("alpha", 1), 0) }),
	"HardSigmoid": elementwise(func(k *call) function { return newFunction("hardsigmoid", k.float("alpha", 0.2), k.float("beta", 0.5)) }),
	"Gelu":        elementwise(readGelu), "Clip": elementwise(readClip), "Pow": elementwise(readPow),
	"Add": arithmetic, "Sub": arithmetic, "Mul": arithmetic, "Div": arithmetic, "Equal": arithmetic, "Less": arithmetic, "Greater": arithmetic,
	"PRelu": readPRelu, "Min": manyOperands, "Max": manyOperands, "Where": readWhere, "Cast": readCast,

	"Conv": readConv, "Gemm": readGemm, "MatMul": readMatMul, "BatchNormalization": readBatchNorm,
	"LayerNormalization": readLayerNorm, "InstanceNormalization": readInstanceNorm,
	"GlobalAveragePool": readGlobalPool("mean"), "GlobalMaxPool": readGlobalPool("max"), "AveragePool": readPool, "MaxPool": readPool,
	"ReduceMean": readReduce("mean"), "ReduceSum": readReduce("sum"), "ReduceMax": readReduce("max"), "ReduceMin": readReduce("min"),
	"Softmax": readSoftmax, "LogSoftmax": readSoftmax,

	"Flatten": readFlatten, "Reshape": readReshape, "Transpose": readTranspose, "Squeeze": readSqueeze, "Unsqueeze": readUnsqueeze,
	"Concat": readConcat, "Slice": readSlice, "Split": readSplit, "Gather": readGather, "GatherElements": readGatherElements, "Expand": readExpand, "Pad": readPad,
	"Shape": readShape, "Constant": readConstant, "ConstantOfShape": readConstantOfShape, "Identity": readIdentity, "Dropout": readIdentity,
}

// one returns the list of a single output.
func one(v *value) []*value { return []*value{v} }

// elementwise makes an operator that applies a function to each element.
func elementwise(read func(k *call) function) func(*call) []*value {
	return func(k *call) []*value {
		v := k.arg(0)
		if v.constant && v.whole != nil && k.err == nil {
			if out := k.wholeFunction(v); out != nil {
				return one(out)
			}
		}
		f := read(k)
		return one(k.emit(&unary{f}, v.typ, v.shape, v))
	}
}

// wholeFunction applies a function that exporters use in computations of shapes to constant
// whole numbers; it returns nil for other functions.
func (k *call) wholeFunction(v *value) *value {
	f := map[string]func(w whole) whole{
		"Neg": func(w whole) whole { return whole{-w.n, w.batch} },
		"Not": func(w whole) whole { return truth(w == whole{}) },
	}[k.Op]
	if f == nil {
		return nil
	}
	numbers := make([]whole, len(v.whole))
	for i, w := range v.whole {
		numbers[i] = f(w)
	}
	return k.wholeOut(v.typ, v.shape.dims, numbers)
}

// plainFunction reads a function that has no attributes.
func plainFunction(name string) func(*call) function {
	return func(*call) function { return newFunction(name, 0, 0) }
}

func readGelu(k *call) function {
	switch kind := k.text("approximate", "none"); kind {
	case "none":
		return newFunction("gelu", 0, 0)
	case "tanh":
		return newFunction("gelutanh", 0, 0)
	default:
		k.fail("attribute %q: expected none or tanh, found %q", "approximate", kind)
		return newFunction("gelu", 0, 0)
	}
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

func readPow(k *call) function {
	exponent := k.constant(1, 1, "exponent")
	if k.err != nil {
		return newFunction("abs", 0, 0)
	}
	x := exponent[0]
	switch {
	case x == 0.5:
		return newFunction("sqrt", 0, 0)
	case x == -1:
		return newFunction("reciprocal", 0, 0)
	case x != float32(int(x)) || x < 0 || x > 16:
		k.fail("exponent: expected a whole number from 0 to 16, 0.5 or -1, found %g", x)
	}
	return newFunction("pow", x, 0)
}

// arithmetic translates an operator of two arrays that are broadcast.
func arithmetic(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	s, err := broadcast(a.shape, b.shape)
	if err != nil {
		k.fail("%w", err)
		return one(a)
	}
	typ := a.typ
	switch k.Op {
	case "Equal", "Less", "Greater":
		typ = onnx.Bool
	}
	if k.err == nil && a.whole != nil && b.whole != nil && a.constant && b.constant && k.Op != "Less" && k.Op != "Greater" {
		return one(k.wholeArithmetic(typ, a, b, s))
	}
	op := binaryOf[k.Op]
	if k.Op == "Div" && !typ.IsFloat() {
		op = quotient
	}
	return one(k.emit(&binary{op}, typ, s, a, b))
}

// wholeArithmetic computes an operator of constant whole numbers.
func (k *call) wholeArithmetic(typ onnx.Type, a, b *value, s shape) *value {
	if err := k.compiler.spend(2 * s.size()); err != nil {
		k.fail("%w", err)
		return a
	}
	out := make([]whole, s.size())
	l := newLoop(s.dims, false, steps(s.dims), spread(steps(a.shape.dims), a.shape.dims, s.dims), spread(steps(b.shape.dims), b.shape.dims, s.dims))
	c := cursor{at: l.start}
	for range l.runs() {
		for i := range l.size[0] {
			w, err := a.whole[c.at[1]+i*l.step[1][0]].apply(k.Op, b.whole[c.at[2]+i*l.step[2][0]])
			if err != nil {
				k.fail("%w", err)
				return a
			}
			out[c.at[0]+i*l.step[0][0]] = w
		}
		c.next(&l)
	}
	return k.wholeOut(typ, s.dims, out)
}

// spread returns the steps of an array of dims that is broadcast to larger dimensions.
func spread(steps, dims, to []int) []int {
	out := make([]int, len(to))
	for i := range dims {
		at := len(to) - len(dims) + i
		if dims[i] == to[at] {
			out[at] = steps[i]
		}
	}
	return out
}

// manyOperands translates Min and Max of any number of arrays.
func manyOperands(k *call) []*value {
	v := k.arg(0)
	for i := 1; i < len(k.in) && k.err == nil; i++ {
		b := k.arg(i)
		s, err := broadcast(v.shape, b.shape)
		switch {
		case err != nil:
			k.fail("%w", err)
		case v.constant && b.constant && v.whole != nil && b.whole != nil:
			v = k.wholeArithmetic(v.typ, v, b, s)
		default:
			v = k.emit(&binary{binaryOf[k.Op]}, v.typ, s, v, b)
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
		return one(a)
	}
	return one(k.emit(&binary{slope}, a.typ, s, a, b))
}

func readWhere(k *call) []*value {
	is, a, b := k.arg(0), k.arg(1), k.arg(2)
	s, err := broadcast(a.shape, b.shape)
	if err == nil {
		s, err = broadcast(s, is.shape)
	}
	if err != nil {
		k.fail("%w", err)
		return one(a)
	}
	if k.err == nil && is.constant && a.constant && b.constant && is.whole != nil && a.whole != nil && b.whole != nil {
		if !is.shape.equal(s) || !a.shape.equal(s) || !b.shape.equal(s) {
			k.fail("expected constants of one shape, found %v, %v and %v", is.shape, a.shape, b.shape)
			return one(a)
		}
		out := make([]whole, len(is.whole))
		for i, w := range is.whole {
			out[i] = b.whole[i]
			if w != (whole{}) {
				out[i] = a.whole[i]
			}
		}
		return one(k.wholeOut(a.typ, s.dims, out))
	}
	return one(k.emit(&choose{}, a.typ, s, is, a, b))
}

// readCast translates a conversion. All arrays are float32 in memory, so only conversions that
// lose information compute anything.
func readCast(k *call) []*value {
	v, to := k.arg(0), onnx.Type(k.integer("to", 0))
	k.ignore("saturate")
	switch to {
	case onnx.Float32, onnx.Float64, onnx.Float16, onnx.BFloat16, onnx.Bool, onnx.Uint8, onnx.Int8, onnx.Uint16, onnx.Int16,
		onnx.Int32, onnx.Int64, onnx.Uint32, onnx.Uint64:
	default:
		k.fail("expected a conversion to float32, float64, float16, bfloat16, whole numbers or bool, found %s", to)
		return one(v)
	}
	if v.constant && v.whole != nil && to != onnx.Bool && k.err == nil {
		out := *v
		out.typ, out.uses = to, 0
		if to.IsFloat() {
			if _, err := k.compiler.numbers(&out); err != nil {
				k.fail("%w", err)
			}
			out.whole = nil
		}
		return one(&out)
	}
	switch {
	case to == onnx.Bool && v.typ != onnx.Bool:
		return one(k.emit(&unary{newFunction("truth", 0, 0)}, to, v.shape, v))
	case v.typ.IsFloat() && !to.IsFloat():
		return one(k.emit(&unary{newFunction("truncate", 0, 0)}, to, v.shape, v))
	}
	out := k.emit(&alias{}, to, v.shape, v)
	return one(out)
}
