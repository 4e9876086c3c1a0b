package neural

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// spec returns a game with the given heads.
func spec(heads ...int) env.Spec {
	return env.Spec{FormSpec: env.FormSpec{
		Shape: features.Shape{Planes: 4, Height: 5, Width: 6, Scalars: 7, Words: 2},
		Heads: heads,
	}}
}

func value(name string, typ onnx.Type, dims ...int) network.Value {
	return network.Value{Name: name, Type: typ, Dims: dims}
}

func TestInputs(t *testing.T) {
	planes := value("x", onnx.Uint8, 4, 5, 6)
	for _, c := range []struct {
		name   string
		inputs []network.Value
		want   string // the parts, or a part of the error
	}{
		{"planes", []network.Value{planes}, "planes"},
		{"flat planes", []network.Value{value("x", onnx.Float32, 120)}, "planes"},
		{"packed", []network.Value{value("x", onnx.Uint8, 2, 64)}, "packed"},
		{"packed and flat", []network.Value{value("x", onnx.Float32, 128)}, "packed"},
		{"all", []network.Value{value("m", onnx.Bool, 9), value("s", onnx.Float32, 7), planes}, "mask scalars planes"},
		{"scalars of uint8", []network.Value{planes, value("s", onnx.Uint8, 7)}, `input "s" uint8 [7] is no part`},
		{"other boards", []network.Value{value("x", onnx.Uint8, 4, 6, 5)}, `input "x" uint8 [4 6 5] is no part`},
		{"planes twice", []network.Value{planes, value("y", onnx.Float32, 4, 5, 6)}, `inputs "x" and "y" are both the planes`},
		{"planes as bool", []network.Value{value("x", onnx.Bool, 4, 5, 6)}, "is no part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit := Fit{}
			got := ""
			if err := fit.matchInputs(c.inputs, spec(9)); err != nil {
				got = err.Error()
			} else {
				var parts []string
				for _, in := range fit.Inputs {
					parts = append(parts, string(in.Part))
				}
				got = strings.Join(parts, " ")
			}
			assert.Truef(t, got == c.want || strings.Contains(c.want, "is no") && strings.Contains(got, c.want), "%s, want %s", got, c.want)
		})
	}
}

// TestTensors: the inputs of a form with tensors have their names and shapes.
func TestTensors(t *testing.T) {
	s := spec(9)
	s.Shape = features.Shape{Planes: 1, Height: 1, Width: 24, Scalars: 7}
	s.Description.Tensors = []features.Tensor{{Name: "own", Dims: []int{4, 3}}, {Name: "map", Dims: []int{1, 3, 4}}}
	fit := Fit{}
	require.NoError(t, fit.matchInputs([]network.Value{value("Map", onnx.Float32, 1, 3, 4), value("own", onnx.Uint8, 12), value("scalars", onnx.Float32, 7)}, s))
	assert.Equal(t, []Input{{"Map", onnx.Float32, "map", 12, 12}, {"own", onnx.Uint8, "own", 12, 0}, {"scalars", onnx.Float32, Scalars, 7, 0}}, fit.Inputs)
	for _, inputs := range [][]network.Value{
		{value("map", onnx.Uint8, 4, 3)},
		{value("others", onnx.Uint8, 4, 3)},
		{value("own", onnx.Uint8, 4, 3), value("OWN", onnx.Uint8, 12)},
	} {
		fit = Fit{}
		assert.Error(t, fit.matchInputs(inputs, s))
	}
	assert.Contains(t, needs(s), "own [4 3] (uint8 or float32), map [1 3 4]")
}

// TestNames: the name decides for inputs that could be several parts.
func TestNames(t *testing.T) {
	same := spec(7)
	for name, want := range map[string]Part{"legal_moves": Mask, "MASK": Mask, "scalars": Scalars, "x": Scalars, "input.1": Scalars, "onnx::Gemm_12": Scalars, "l_args_0_": Scalars, "my_global_stats": Scalars} {
		t.Run(name, func(t *testing.T) {
			fit := Fit{}
			require.NoError(t, fit.matchInputs([]network.Value{value(name, onnx.Float32, 7)}, same))
			require.Equal(t, want, fit.Inputs[0].Part)
		})
	}
}

// An input whose name means something else is refused, though its shape is that of a part.
func TestOtherNames(t *testing.T) {
	for name, want := range map[string]string{
		"state_ins": `input "state_ins" float32 [7] has the shape of the scalars, and its name says something else; name it "scalars" if it takes them`,
		"h0":        "says something else", "seq_lens": "says something else", "hidden": "says something else", "prev_reward": "says something else",
		"c": "says something else", "noise": "says something else", "lstm_x": "says something else", "board": `says planes; name it "scalars"`, "mask": `says mask; name it "scalars"`,
	} {
		t.Run(name, func(t *testing.T) {
			fit := Fit{}
			require.ErrorContains(t, fit.matchInputs([]network.Value{value(name, onnx.Float32, 7)}, spec(9)), want)
		})
	}
	fit := Fit{}
	err := fit.matchInputs([]network.Value{value("last_action", onnx.Float32, 9)}, spec(9))
	assert.ErrorContainsf(t, err, `has the shape of the mask`, "%v", fit.Inputs)
	err = fit.matchInputs([]network.Value{value("mask", onnx.Uint8, 4, 5, 6)}, spec(9))
	assert.ErrorContainsf(t, err, `has the shape of the planes, and its name says mask`, "%v", fit.Inputs)
}

func TestOutputs(t *testing.T) {
	one := func(name string, n int) network.Value { return value(name, onnx.Float32, n) }
	for _, c := range []struct {
		name    string
		outputs []network.Value
		heads   []int
		head    string
		want    []Head
		value   string
		err     string
	}{
		{"joined", []network.Value{one("value", 1), one("p", 12)}, []int{5, 7}, "", []Head{{"p", 0, 5, 0}, {"p", 5, 7, 0}}, "value", ""},
		{"a head each", []network.Value{one("a", 5), one("b", 7), one("v", 1)}, []int{5, 7}, "", []Head{{"a", 0, 5, 0}, {"b", 0, 7, 0}}, "v", ""},
		{"no value", []network.Value{one("logits", 5)}, []int{5}, "", []Head{{"logits", 0, 5, 0}}, "", ""},
		{"two of a size", []network.Value{one("aux", 5), one("policy", 5)}, []int{5}, "", []Head{{"policy", 0, 5, 0}}, "", ""},
		{"named", []network.Value{one("a", 5), one("b", 5), one("v", 1)}, []int{5}, "b", []Head{{"b", 0, 5, 0}}, "", ""},
		{"named against its name", []network.Value{one("policy", 5), one("aux/5:0", 5)}, []int{5}, "aux/5:0", []Head{{"aux/5:0", 0, 5, 0}}, "", ""},
		{"named value", []network.Value{one("value", 1), one("v", 1)}, []int{1}, "value", []Head{{"value", 0, 1, 0}}, "v", ""},
		{"several", []network.Value{one("a", 5), one("b", 5)}, []int{5}, "", nil, "", `the outputs ["a" "b"] all have the 5 choices, and head does not say which`},
		{"several by name", []network.Value{one("action", 5), one("aux", 5), one("logits", 5)}, []int{5}, "", nil, "", `the outputs ["action" "logits"] all have`},
		{"named nowhere", []network.Value{one("a", 5)}, []int{5}, "c", nil, "", `no output is named "c"`},
		{"named too short", []network.Value{one("a", 5), one("b", 4)}, []int{5}, "b", nil, "", `output "b" float32 [4], which head names, has 4 numbers a row, all heads have 5 choices`},
		{"too few", []network.Value{one("policy", 5)}, []int{5, 7}, "", nil, "", "no output has the 12 choices"},
		{"wrong head", []network.Value{one("a", 5), one("b", 6)}, []int{5, 7}, "", nil, "", "head 1 has 7 choices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit := Fit{}
			err := fit.matchOutputs(c.outputs, c.heads, c.head)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.value, fit.Value)
			require.Equal(t, c.want, fit.Heads)
		})
	}
}

// TestStates: an input state_NAME with an output next_state_NAME is a state; they have the same type and shape.
func TestStates(t *testing.T) {
	planes, logits := value("planes", onnx.Uint8, 4, 5, 6), value("logits", onnx.Float32, 9)
	match := func(input, output network.Value) (Fit, error) {
		return Match(&network.Model{Inputs: []network.Value{input, planes}, Outputs: []network.Value{output, logits}}, spec(9), "")
	}
	fit, err := match(value("state_h", onnx.Float32, 2, 9), value("next_state_h", onnx.Float32, 2, 9))
	require.NoError(t, err)
	assert.Equal(t, []State{{"state_h", "next_state_h", 18}}, fit.States)
	assert.Equal(t, []Input{{"planes", onnx.Uint8, Planes, 120, 0}}, fit.Inputs)
	fit, err = match(value("state_h", onnx.Float32, 9), value("next_state_h", onnx.Float32, 9)) // has the shape of the mask and the logits
	require.NoError(t, err)
	assert.Equal(t, "logits", fit.Heads[0].Output)
	fit, err = match(value("state_of_scalars", onnx.Float32, 7), value("next", onnx.Float32, 1)) // as before there were states
	require.NoError(t, err)
	assert.Empty(t, fit.States)
	for want, v := range map[string][2]network.Value{
		`input "state_h" float32 [3] takes what output "next_state_h" float32 [4] gave; expected both with the type float32 and the same shape`: {value("state_h", onnx.Float32, 3), value("next_state_h", onnx.Float32, 4)},
		`input "state_h" uint8 [3] takes what`: {value("state_h", onnx.Uint8, 3), value("next_state_h", onnx.Float32, 3)},
		`"state_h" float32 [3] is no part of an observation; a state needs an input "state_h" and an output "next_state_h"`: {value("state_h", onnx.Float32, 3), value("h", onnx.Float32, 3)},
		`"state_h.1" float32 [7] has the shape of the scalars`:                                                              {value("state_h.1", onnx.Float32, 7), value("state_h", onnx.Float32, 7)}, // by PyTorch
		`without it; a state needs an input "state_h" and an output "next_state_h"; the`:                                    {value("state_h.1", onnx.Float32, 7), value("state_h", onnx.Float32, 7)},
	} {
		_, err := match(v[0], v[1])
		require.ErrorContains(t, err, want)
	}
}
