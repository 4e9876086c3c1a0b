package network

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
