// Package neural lets networks play. Match finds which input of a model is which part of a
// game's observation, and which outputs are the logits of its heads. A Policy then plays by
// the network, and a Judge evaluates the states of a search.
//
// A recurrent network has inputs state_NAME, which take what outputs next_state_NAME gave in the
// action before, and 0 in the first action of a game. A Policy has them in rollout.States, a slab of
// numbers for each row (game, seat): before an evaluation it copies them to the inputs, and after it
// from the outputs, so that they depend on no batch and no other row. The turns are begun from
// outside (States.Begin), since a turn of a sequential form has several evaluations. A search has no
// earlier turns, so Judge and Turns are not for such networks.
//
// A network that gives NaN or infinite numbers plays on, with the same choices on every
// machine, and its faults are counted (rollout.NetworkCounts). A NaN is less than all
// numbers. If the best legal logit is NaN or infinite, its choice, the first among equals, is
// played without a draw. The value of a state is always within −1 … 1; a NaN counts as 0.
package neural

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// Fit assigns the inputs of a model to the parts of a game's observation, and the outputs to
// the logits and the value.
type Fit struct {
	Inputs []Input
	States []State // of a recurrent network
	Heads  []Head  // the logits of each head
	Value  string  // the output with the value for the row's own seat; "": none
	// ValueScale is onnx.Probability if the operators show that Value is the probability of
	// winning, 0 … 1; else Value is −1 … 1.
	ValueScale onnx.Scale
	Reasons    []Reason // the reason for each input and output
}

// Reason is the reason why an input or output is assigned to a part of an observation, the
// logits or the value.
type Reason struct {
	Name  string `json:"name"`
	Taken string `json:"taken"`
	Why   string `json:"why"`
}

// Part is a part of an observation: one of the following, or the name of a tensor
// (features.Tensor).
type Part string

// The parts that inputs can take.
const (
	Planes  Part = "planes"  // [planes, height, width] or all in one dimension
	Packed  Part = "packed"  // the bits of the packed words, [words, 64] or all in one dimension: bit i of word w is element 64·w+i
	Scalars Part = "scalars" // [scalars]
	Mask    Part = "mask"    // [choices], 1 for legal choices; Width tells whether heads without a mask are included
)

// Input is an input of the model.
type Input struct {
	Name  string    `json:"name"`
	Type  onnx.Type `json:"-"`
	Part  Part      `json:"part"`
	Width int       `json:"numbers"` // elements of a row
	At    int       `json:"-"`       // of a tensor: its first value among the uint8 values of a row
}

// Head is the position of a head's logits in an output, in each row.
type Head struct {
	Output  string `json:"output"`
	Offset  int    `json:"offset"`
	Choices int    `json:"choices"`
	// Scale is the kind of the numbers, which follows from the operators of the output. For
	// probabilities the logits are their logarithms; log-probabilities are logits up to a
	// constant.
	Scale onnx.Scale `json:"-"`
}

// Match assigns the inputs and outputs of a model to the parts of a game, by their names and
// shapes. With head, the output of that name has the logits of all heads. The error states
// the mismatch, the model's inputs and outputs and the game's needs.
func Match(m *network.Model, spec env.Spec, head string) (Fit, error) {
	fit := Fit{}
	inputs, outputs, err := fit.matchStates(m.Inputs, m.Outputs)
	if err == nil {
		err = fit.matchInputs(inputs, spec)
	}
	if err == nil {
		err = fit.matchOutputs(outputs, spec.Heads, head)
	}
	if err == nil {
		err = fit.scale(m.Outputs, head)
	}
	if err != nil {
		return Fit{}, fmt.Errorf("the model does not fit the game: %w; the model has %s; the game needs %s", err, has(m), needs(spec))
	}
	return fit, nil
}

// matchOutputs finds the logits: the output that is named head, or one output with all heads,
// or one output for each head, in the order of the heads. It also finds the value, an output of
// one number.
func (f *Fit) matchOutputs(outputs []network.Value, heads []int, head string) error {
	var rest []network.Value
	for _, v := range outputs {
		if f.Value == "" && v.Name != head && v.Len() == 1 && strings.Contains(strings.ToLower(v.Name), "value") {
			f.Value = v.Name
			continue
		}
		rest = append(rest, v)
	}
	joined, err := findJoined(outputs, rest, features.Choices(heads), head)
	if err != nil {
		return err
	}
	switch {
	case joined != "":
		at := 0
		for _, n := range heads {
			f.Heads = append(f.Heads, Head{Output: joined, Offset: at, Choices: n})
			at += n
		}
		rest = slices.DeleteFunc(rest, func(v network.Value) bool { return v.Name == joined })
	case len(rest) >= len(heads):
		for i, n := range heads {
			if v := rest[i]; v.Len() != n {
				return fmt.Errorf("output %s has %d numbers a row, head %d has %d choices", describe(v), v.Len(), i, n)
			}
			f.Heads = append(f.Heads, Head{Output: rest[i].Name, Choices: n})
		}
		rest = rest[len(heads):]
	default:
		return fmt.Errorf("no output has the %d choices of all heads, and there are not as many outputs as heads, %d", features.Choices(heads), len(heads))
	}
	if f.Value == "" && len(rest) > 0 && rest[0].Len() == 1 {
		f.Value = rest[0].Name
	}
	return nil
}

// findJoined returns the output with all choices: the one that is named head, else the only one
// of rest with that number of choices, or the only one of these whose name says that it is the
// policy. It returns "" if there is none.
func findJoined(outputs, rest []network.Value, choices int, head string) (string, error) {
	if head != "" {
		i := slices.IndexFunc(outputs, func(v network.Value) bool { return v.Name == head })
		if i < 0 {
			return "", fmt.Errorf("no output is named %q, as head says", head)
		}
		if n := outputs[i].Len(); n != choices {
			return "", fmt.Errorf("output %s, which head names, has %d numbers a row, all heads have %d choices", describe(outputs[i]), n, choices)
		}
		return head, nil
	}
	var fit, named []string
	for _, v := range rest {
		if v.Len() == choices {
			fit = append(fit, v.Name)
			if namesPolicy(v.Name) {
				named = append(named, v.Name)
			}
		}
	}
	if len(fit) > 1 && len(named) > 0 {
		fit = named
	}
	switch len(fit) {
	case 0:
		return "", nil
	case 1:
		return fit[0], nil
	}
	return "", fmt.Errorf("the outputs %q all have the %d choices, and head does not say which of them are the logits", fit, choices)
}

// namesPolicy reports whether the name of an output means the policy.
func namesPolicy(name string) bool {
	return slices.ContainsFunc([]string{"policy", "logits", "action"}, func(w string) bool { return strings.Contains(strings.ToLower(name), w) })
}

func describe(v network.Value) string { return fmt.Sprintf("%q %s %v", v.Name, v.Type, v.Dims) }

// has describes the inputs and outputs of a model.
func has(m *network.Model) string {
	var in, out []string
	for _, v := range m.Inputs {
		in = append(in, describe(v))
	}
	for _, v := range m.Outputs {
		out = append(out, describe(v))
	}
	return fmt.Sprintf("inputs %s; outputs %s", strings.Join(in, ", "), strings.Join(out, ", "))
}

// needs describes the inputs and outputs that fit a game.
func needs(spec env.Spec) string {
	s := spec.Shape
	var in []string
	choices := features.Choices(spec.Heads)
	if tensors := spec.Description.Tensors; len(tensors) > 0 {
		for _, t := range tensors {
			in = append(in, fmt.Sprintf("%s %v (uint8 or float32)", t.Name, t.Dims))
		}
	} else {
		in = append(in, fmt.Sprintf("planes [%d %d %d] (uint8 or float32) or packed [%d 64] (the bits of the words)", s.Planes, s.Height, s.Width, s.Words))
	}
	if s.Scalars > 0 {
		in = append(in, fmt.Sprintf("scalars [%d] (float32)", s.Scalars))
	}
	in = append(in, fmt.Sprintf("mask [%d] (uint8, bool or float32)", choices))
	heads := fmt.Sprintf("logits [%d]", choices)
	if len(spec.Heads) > 1 {
		heads += fmt.Sprintf(" of all %d heads, or an output for each of them", len(spec.Heads))
	}
	return fmt.Sprintf("as inputs any of %s; as outputs %s, and value [1] if there is one", strings.Join(in, ", "), heads)
}
