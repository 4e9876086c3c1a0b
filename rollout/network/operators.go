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
	"Sin": elementwise(plainFunction("sin")), "Cos": elementwise(plainFunction("cos")), "Atan": elementwise(plainFunction("atan")),
	"Floor": elementwise(plainFunction("floor")), "Ceil": elementwise(plainFunction("ceil")), "Round": elementwise(plainFunction("round")),
	"Sign": elementwise(plainFunction("sign")), "Softsign": elementwise(plainFunction("softsign")),
	"Not": elementwise(plainFunction("not")), "IsNaN": elementwise(plainFunction("isnan")), "IsInf": elementwise(readIsInf),
	"Selu": elementwise(func(k *call) function {
		return newFunction("selu", k.float("alpha", 1.6732632423543772), k.float("gamma", 1.0507009873554805))
	}),
	"Mish":        readMish,
	"Celu":        elementwise(func(k *call) function { return newFunction("celu", k.float("alpha", 1), 0) }),
	"LeakyRelu":   elementwise(func(k *call) function { return newFunction("leakyrelu", k.float("alpha", 0.01), 0) }),
	"Elu":         elementwise(func(k *call) function { return newFunction("elu", k.float("alpha", 1), 0) }),
	"HardSigmoid": elementwise(func(k *call) function { return newFunction("hardsigmoid", k.float("alpha", 0.2), k.float("beta", 0.5)) }),
	"Gelu":        elementwise(readGelu), "Clip": elementwise(readClip), "Pow": readPow,
	"Add": arithmetic, "Sub": arithmetic, "Mul": arithmetic, "Div": arithmetic, "Mod": arithmetic,
	"Equal": arithmetic, "Less": arithmetic, "Greater": arithmetic, "LessOrEqual": arithmetic, "GreaterOrEqual": arithmetic,
	"And": arithmetic, "Or": arithmetic, "Xor": arithmetic,
	"PRelu": readPRelu, "Min": manyOperands, "Max": manyOperands, "Sum": manyOperands,
	"Where": readWhere, "Cast": readCast, "CastLike": readCastLike,

	"Conv": lines(readConv), "Gemm": readGemm, "MatMul": readMatMul, "Einsum": readEinsum, "BatchNormalization": readBatchNorm,
	"ConvTranspose": lines(readConvTranspose), "Attention": readAttention, "DequantizeLinear": readDequantize, "QuantizeLinear": readQuantize,
	"LayerNormalization": readLayerNorm, "InstanceNormalization": readInstanceNorm, "GroupNormalization": readGroupNorm, "RMSNormalization": readRMSNorm,
	"GlobalAveragePool": readGlobalPool("mean"), "GlobalMaxPool": readGlobalPool("max"), "AveragePool": lines(readPool), "MaxPool": lines(readPool),
	"ReduceMean": readReduce("mean"), "ReduceSum": readReduce("sum"), "ReduceMax": readReduce("max"), "ReduceMin": readReduce("min"),
	"ReduceProd": readReduce("prod"), "ReduceL1": readReduce("l1"), "ReduceL2": readReduce("l2"), "ReduceLogSumExp": readReduce("logsumexp"),
	"Softmax": readSoftmax, "LogSoftmax": readSoftmax, "CumSum": readCumSum, "TopK": readTopK, "ArgMax": readArgMax, "ArgMin": readArgMax,
	"LSTM": readRecurrent, "GRU": readRecurrent,

	"Flatten": readFlatten, "Reshape": readReshape, "Transpose": readTranspose, "Squeeze": readSqueeze, "Unsqueeze": readUnsqueeze,
	"Concat": readConcat, "Slice": readSlice, "Split": readSplit, "Expand": readExpand, "Tile": readTile, "Pad": readPad, "Trilu": readTrilu,
	"DepthToSpace": readBlocks, "SpaceToDepth": readBlocks, "Resize": readResize,
	"Gather": readGather, "GatherElements": readGatherElements, "GatherND": readGatherND,
	"ScatterElements": readScatterElements, "ScatterND": readScatterND, "OneHot": readOneHot,
	"Shape": readShape, "Size": readSize, "Constant": readConstant, "ConstantOfShape": readConstantOfShape,
	"Range": readRange, "NonZero": readNonZero, "Identity": readIdentity, "Dropout": readIdentity,
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
	return k.wholeOut(v.typ, v.shape, numbers)
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

// readMish translates a Mish: x·tanh(softplus(x)).
func readMish(k *call) []*value {
	v := k.arg(0)
	y := v
	for _, name := range []string{"softplus", "tanh"} {
		y = k.emit(&unary{newFunction(name, 0, 0)}, v.typ, v.shape, y)
	}
	return one(k.emit(&binary{binaryOf["Mul"]}, v.typ, v.shape, v, y))
}

// readIsInf translates a test for infinite numbers.
func readIsInf(k *call) function {
	return newFunction("isinf", float32(k.integer("detect_negative", 1)), float32(k.integer("detect_positive", 1)))
}

// readPow translates a power. Usual constant exponents have functions of their own.
func readPow(k *call) []*value {
	v, exponent := k.arg(0), k.arg(1)
	if exponent.constant && exponent.shape.axis < 0 && exponent.shape.size() == 1 && len(exponent.shape.dims) <= len(v.shape.dims) && k.err == nil {
		switch x := k.constant(1, 1, "exponent"); {
		case k.err != nil:
		case x[0] == 0.5:
			return one(k.emit(&unary{newFunction("sqrt", 0, 0)}, v.typ, v.shape, v))
		case x[0] == -1:
			return one(k.emit(&unary{newFunction("reciprocal", 0, 0)}, v.typ, v.shape, v))
		case x[0] >= 0 && x[0] <= 16 && x[0] == float32(int(x[0])):
			return one(k.emit(&unary{newFunction("pow", x[0], 0)}, v.typ, v.shape, v))
		}
	}
	s, err := broadcast(v.shape, exponent.shape)
	if err != nil {
		k.fail("%w", err)
		return one(v)
	}
	return one(k.emit(&binary{raise}, v.typ, s, v, exponent))
}

// wholeOf are the operators that constant whole numbers are folded with exactly, and that know
// multiples of the batch.
var wholeOf = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Min": true, "Max": true, "Equal": true}

// arithmetic translates an operator of two arrays that are broadcast.
func arithmetic(k *call) []*value {
	a, b := k.arg(0), k.arg(1)
	s, err := broadcast(a.shape, b.shape)
	if err != nil {
		k.fail("%w", err)
		return one(a)
	}
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
	if k.err == nil && a.whole != nil && b.whole != nil && a.constant && b.constant && wholeOf[k.Op] && !k.wraps(typ) {
		return one(k.wholeArithmetic(typ, a, b, s))
	}
	return one(k.wrap(k.emit(&binary{op}, typ, s, a, b)))
}

// narrow returns the least number of a type of 8 or 16 bits, and how many numbers it has; 0 for
// other types.
func narrow(typ onnx.Type) (least, count float32) {
	switch typ {
	case onnx.Uint8:
		return 0, 1 << 8
	case onnx.Int8:
		return -1 << 7, 1 << 8
	case onnx.Uint16:
		return 0, 1 << 16
	case onnx.Int16:
		return -1 << 15, 1 << 16
	}
	return 0, 0
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
	if !k.wraps(v.typ) || k.err != nil {
		return v
	}
	least, count := narrow(v.typ)
	return k.emit(&unary{newFunction("wrap", least, count)}, v.typ, v.shape, v)
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
	return k.wholeOut(typ, s, out)
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

// manyOperands translates Min, Max and Sum of any number of arrays.
func manyOperands(k *call) []*value {
	v, op := k.arg(0), k.Op
	if op == "Sum" {
		op = "Add"
	}
	for i := 1; i < len(k.in) && k.err == nil; i++ {
		b := k.arg(i)
		s, err := broadcast(v.shape, b.shape)
		switch {
		case err != nil:
			k.fail("%w", err)
		case v.constant && b.constant && v.whole != nil && b.whole != nil:
			v = k.wholeArithmetic(v.typ, v, b, s)
		default:
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
	switch to {
	case onnx.Float32, onnx.Float64, onnx.Float16, onnx.BFloat16, onnx.Bool, onnx.Uint8, onnx.Int8, onnx.Uint16, onnx.Int16,
		onnx.Int32, onnx.Int64, onnx.Uint32, onnx.Uint64:
	default:
		k.fail("expected a conversion to float32, float64, float16, bfloat16, whole numbers or bool, found %s", to)
		return v
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
