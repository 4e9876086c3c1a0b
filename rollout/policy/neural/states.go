package neural

import (
	"fmt"
	"slices"
	"strings"

	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// The beginnings of the names of states. The names of an ONNX graph are unique, so an output cannot
// have the name of an input.
const (
	stateName = "state_"
	nextName  = "next_" + stateName
)

// State is an input that takes what an output of the same shape gave in the action before, and 0 in
// the first action of a game.
type State struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	Width  int    `json:"numbers"` // elements of a row
}

// matchStates finds the states: each input state_NAME with an output next_state_NAME. It returns the
// other inputs and outputs.
func (f *Fit) matchStates(inputs, outputs []network.Value) (otherInputs, otherOutputs []network.Value, err error) {
	inputs, outputs = slices.Clone(inputs), slices.Clone(outputs)
	for _, v := range inputs {
		i := slices.IndexFunc(outputs, func(o network.Value) bool { return o.Name == "next_"+v.Name })
		if !strings.HasPrefix(v.Name, stateName) || i < 0 {
			otherInputs = append(otherInputs, v)
			continue
		}
		o := outputs[i]
		if v.Type != onnx.Float32 || o.Type != v.Type || !slices.Equal(o.Dims, v.Dims) {
			return nil, nil, fmt.Errorf("input %s takes what output %s gave; expected both with the type float32 and the same shape", describe(v), describe(o))
		}
		outputs = slices.Delete(outputs, i, i+1)
		f.States = append(f.States, State{v.Name, o.Name, v.Len()})
		f.Reasons = append(f.Reasons, Reason{v.Name, "state", fmt.Sprintf("which output %q gives for the next action", o.Name)})
	}
	return otherInputs, outputs, nil
}

// stateHint says what is missing if an input that no part of an observation fits has the name of a state.
func stateHint(name string) string {
	name, ok := strings.CutPrefix(name, stateName)
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, ".") // of PyTorch, where an output has the same name
	return fmt.Sprintf("; a state needs an input %q and an output %q", stateName+name, nextName+name)
}

// memory has the states of a recurrent network, and where a runner takes and gives them.
type memory struct {
	states *rollout.States // nil: the network is not recurrent
	parts  []statePart
}

// statePart is one of the states of a row.
type statePart struct {
	in, out []float32 // of the runner, [rows, n]
	at, n   int       // where it stands in the numbers of a row
}

func newMemory(name string, m *network.Model, f Fit, r *network.Runner) (x memory) {
	width := 0
	for _, s := range f.States {
		x.parts = append(x.parts, statePart{r.Floats(s.Input), r.Output(s.Output), width, s.Width})
		width += s.Width
	}
	if len(x.parts) > 0 {
		x.states = rollout.NewStates(name, m.SHA256, width)
	}
	return x
}

// load gives the runner the states of rows, as rows 0, 1 ….
func (m *memory) load(rows []int32) {
	for _, p := range m.parts {
		for i, row := range rows {
			copy(p.in[i*p.n:][:p.n], m.states.Of(row)[p.at:])
		}
	}
}

// store takes the next states from the runner.
func (m *memory) store(rows []int32) {
	for _, p := range m.parts {
		for i, row := range rows {
			copy(m.states.Of(row)[p.at:], p.out[i*p.n:][:p.n])
		}
	}
}
