// Package models describes networks for the command model.
package models

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/env"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/policy/neural"
)

// Array is an input or an output of a model. Its JSON keys, and those of Card, are
// documented in the help of the command.
type Array struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Dims []int  `json:"shape"`
}

// Card describes a model.
type Card struct {
	Producer   string   `json:"producer"`
	Opset      int      `json:"opset"`
	Inputs     []Array  `json:"inputs"`
	Outputs    []Array  `json:"outputs"`
	Operators  []string `json:"operators"`
	Parameters int      `json:"parameters"`
	MFLOP      float64  `json:"mflop"`
	SHA256     string   `json:"sha256"`
	Answers    string   `json:"answers"`
	// NotFinite names the outputs that have NaN or infinite numbers for the fixed inputs.
	NotFinite []string `json:"not_finite"`
	Path      string   `json:"path"`
	Game      string   `json:"game,omitempty"`
	Fit       *Fit     `json:"fit,omitempty"`
}

// Fit says how a model goes with a game.
type Fit struct {
	Inputs []neural.Input `json:"inputs"`
	Heads  []neural.Head  `json:"heads"`
	Value  string         `json:"value"`
	// Reasons tell of inputs and outputs what they are taken for, and why.
	Reasons []neural.Reason `json:"reasons"`
}

// Describe reads a model and describes it; and, of a game with a name, how it goes
// with it, with its output head as the logits ("": the one that fits).
func Describe(file, game string, spec env.Spec, head string) (*Card, error) {
	data, err := onnx.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := network.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c := &Card{
		Producer: m.Producer(), Opset: m.Opset(), Operators: m.Operators(), Parameters: m.Parameters(),
		MFLOP: math.Round(float64(m.FLOPs())/1e3) / 1e3, SHA256: m.SHA256(), Path: network.Path(),
		Inputs: arrays(m.Inputs()), Outputs: arrays(m.Outputs()),
	}
	if game != "" {
		fit, err := neural.Match(neural.Own(m), spec, head)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", file, game, err)
		}
		c.Game, c.Fit = game, &Fit{fit.Inputs, fit.Heads, fit.Value, fit.Reasons}
	}
	c.Answers, c.NotFinite = answers(m)
	return c, nil
}

func arrays(values []network.Value) []Array {
	out := []Array{}
	for _, v := range values {
		out = append(out, Array{v.Name, v.Type.String(), append([]int{}, v.Dims...)})
	}
	return out
}

// testRows is the number of rows that answers evaluates.
const testRows = 3

// answers is the checksum of the bits of all outputs for fixed inputs, which is the
// same on every machine, and the names of those that are not finite.
func answers(m *network.Model) (answer string, notFinite []string) {
	notFinite = []string{}
	r := m.NewRunner(testRows)
	for i, v := range m.Inputs() {
		n := v.Len() * testRows
		for j := range n {
			x := uint32(i*n+j+1) * 2654435761 >> 24
			if v.Type == onnx.Float32 {
				r.Floats(v.Name)[j] = float32(x) / 256
			} else {
				r.Bytes(v.Name)[j] = uint8(x & 1)
			}
		}
	}
	r.Run(testRows)
	sum := sha256.New()
	for _, v := range m.Outputs() {
		infinite := false
		least := 0 // numbers of a row that are −∞, as those of masked choices may be
		for i, x := range r.Output(v.Name)[:testRows*v.Len()] {
			if i%v.Len() == 0 {
				least = 0
			}
			if x < -math.MaxFloat32 {
				least++
			}
			infinite = infinite || !(x <= math.MaxFloat32) || least == v.Len()
			bits := math.Float32bits(x)
			if x != x { // NaN has many bits
				bits = 0x7fc00000
			}
			sum.Write(binary.LittleEndian.AppendUint32(nil, bits))
		}
		if infinite {
			notFinite = append(notFinite, v.Name)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), notFinite
}

// Rows are the rows of a table of the inputs and outputs.
func (c *Card) Rows() [][]string {
	rows := [][]string{{"array", "name", "type", "shape of a row"}}
	for _, a := range c.Inputs {
		rows = append(rows, []string{"input", a.Name, a.Type, dims(a.Dims)})
	}
	for _, a := range c.Outputs {
		rows = append(rows, []string{"output", a.Name, a.Type, dims(a.Dims)})
	}
	return rows
}

func dims(d []int) string {
	words := make([]string, len(d))
	for i, n := range d {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, "×")
}

// Text is the lines above and below the table of a model from a file.
func (c *Card) Text(file string) (above, below string) {
	above = fmt.Sprintf("%s: %s, opset %d, %s, %.3g MFLOP an evaluation\nsha256 %s\n\n",
		file, c.Producer, c.Opset, cli.Plural(c.Parameters, "parameter"), c.MFLOP, c.SHA256)
	below = fmt.Sprintf("\noperators: %s\nanswers to fixed inputs: sha256 %s (the same on every machine; computed here by %s)\n",
		strings.Join(c.Operators, ", "), c.Answers, c.Path)
	for _, name := range c.NotFinite {
		below += fmt.Sprintf("warning: output %q has NaN or infinite numbers for the fixed inputs\n", name)
	}
	if c.Fit == nil {
		return above, below
	}
	below += fmt.Sprintf("\nThe model goes with %s:\n", c.Game)
	inputs := map[string]bool{}
	for _, in := range c.Fit.Inputs {
		inputs[in.Name] = true
	}
	heads := map[string]int{}
	for _, h := range c.Fit.Heads {
		heads[h.Output]++
	}
	for _, r := range c.Fit.Reasons {
		switch n := heads[r.Name]; {
		case inputs[r.Name]:
			below += fmt.Sprintf("  input %q takes the %s, %s\n", r.Name, r.Taken, r.Why)
		case n > 0:
			below += fmt.Sprintf("  output %q gives the %s of %s, %s\n", r.Name, r.Taken, cli.Plural(n, "head"), r.Why)
		default:
			below += fmt.Sprintf("  output %q gives the value, %s\n", r.Name, r.Why)
		}
	}
	return above, below
}
