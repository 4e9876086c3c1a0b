package command

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/neural"
	"moonfarm/sim/texts"
)

// model makes the command model with its subcommands.
func (a *app) model() *cobra.Command {
	c := console.Group("model", "Look at networks that were trained elsewhere", "Looks at networks in ONNX files, as PyTorch and others export them.")
	c.AddCommand(a.modelInspect())
	return c
}

func (a *app) modelInspect() *cobra.Command {
	f, game, head, strict, work := gameFlags{reward: env.ResultReward}, "", "", false, usualWork
	c := &cobra.Command{
		Use: "inspect FILE", Short: "Sum up a network, and how it fits a game",
		Long: `Describes a network in an ONNX file: inputs and outputs, operators, parameters,
arithmetic (MFLOP: multiplications and additions with weights and of matrices;
operations: those of all operators), and the checksum of its outputs for fixed
inputs, which is the same on every machine. Outputs that have NaN or infinite
numbers for these inputs are named, and refused with --strict. A file that
cannot play is refused with the reason; the message names the node of an unknown
operator. So is one of more operations than --work; as a policy it needs the
option work: FILE.onnx(work=50).

With --game it also prints which part of the game's observation each input
takes, which outputs are the choices of its heads and the value, and why; or, in
one message, what does not fit: what the model has and what the game needs. An
output of Softmax or Sigmoid, even if it is then reshaped, cast or masked, holds
probabilities: their logarithms are the logits. An output of LogSoftmax holds
logits.`,
		Example: "  moonfarm model inspect net.onnx\n  moonfarm model inspect net.onnx --game towerdefence",
		Args:    console.Takes("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			t := &gameSetup{}
			if game != "" {
				var err error
				if t, err = f.open(game); err != nil {
					return err
				}
			} else if f.rulesFile != "" {
				return console.WrongUse("--rules: expected --game, whose rules they are")
			} else if head != "" {
				return console.WrongUse("--head: expected --game, whose choices they are")
			}
			return a.runModelInspect(args[0], work, t, head, strict)
		},
	}
	c.Flags().StringVar(&game, "game", "", "`GAME` that the network is to play")
	c.Flags().BoolVar(&strict, "strict", false, "fail if an output has NaN or infinite numbers")
	c.Flags().StringVar(&head, "head", "", "`NAME` of the output with the logits, as in FILE.onnx(head=NAME) (default: the one that fits)")
	addWork(c, &work)
	f.addRules(c)
	return c
}

func (a *app) runModelInspect(file string, work int, t *gameSetup, head string, strict bool) error {
	a.Meter("network")
	card, m, err := describeModel(file, work, t, head)
	if err != nil {
		return err
	}
	a.EndMeters()
	if !a.JSON { // before the evaluation, which may take long
		a.Text(card.above(file))
		a.Table(card.rows()...)
		_ = a.Out.Flush() // an error is reported at the end
	}
	a.Meter("evaluation")
	card.Answers, card.NotFinite = answers(m)
	if err := card.Fit.countExcluded(m, t); err != nil {
		return err
	}
	if strict && len(card.NotFinite) > 0 {
		return fmt.Errorf("%s: --strict: %q have NaN or infinite numbers for the fixed inputs", file, card.NotFinite)
	}
	return a.Print(card, func() { a.Text(card.below()) })
}

// usualWork is network.Most in thousands of millions.
const usualWork = network.Most / 1_000_000_000

// addWork adds the flag --work.
func addWork(c *cobra.Command, work *int) {
	c.Flags().Var(console.Whole(work, 1, 1_000_000), "work", "most operations of an evaluation, in thousands of millions")
}

// modelArray is an input or an output of a model. Its JSON keys, and those of modelCard, are
// documented in JSON.md.
type modelArray struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Dims []int  `json:"shape"`
}

// modelCard describes a model.
type modelCard struct {
	Producer   string       `json:"producer"`
	Opset      int          `json:"opset"`
	Inputs     []modelArray `json:"inputs"`
	Outputs    []modelArray `json:"outputs"`
	Operators  []string     `json:"operators"`
	Parameters int          `json:"parameters"`
	MFLOP      float64      `json:"mflop"`
	Operations int64        `json:"operations"`
	SHA256     string       `json:"sha256"`
	Answers    string       `json:"answers"`
	// NotFinite names the outputs that have NaN or infinite numbers for the fixed inputs.
	NotFinite []string  `json:"not_finite"`
	Path      string    `json:"path"`
	Game      string    `json:"game,omitempty"`
	Fit       *modelFit `json:"fit,omitempty"`
}

// modelFit says how a model goes with a game.
type modelFit struct {
	Form   string         `json:"form"`
	Inputs []neural.Input `json:"inputs"`
	States []neural.State `json:"states"` // of a recurrent network
	Heads  []neural.Head  `json:"heads"`
	Value  string         `json:"value"`
	// Choices are those of the network in the first turns of some games against itself, Excluded
	// those in which the mask excludes the likeliest one.
	Choices  uint64 `json:"choices"`
	Excluded uint64 `json:"excluded"`
	// Reasons tell of inputs and outputs what they are taken for, and why.
	Reasons []neural.Reason `json:"reasons"`

	spec env.Spec
	fit  neural.Fit
}

// countExcluded counts Choices and Excluded, if there is a game.
func (f *modelFit) countExcluded(m *network.Model, t *gameSetup) error {
	if f == nil {
		return nil
	}
	const games, turns = 4, 8
	v, err := t.game.New(t.rules, env.Settings{N: games, Form: f.Form})
	if err != nil {
		return err
	}
	p := neural.New("", m, f.fit, neural.Options{Temperature: 1}, f.spec)
	b := env.NewBatch(v.Spec(), games, p.Wants())
	var rows []int32
	for row := range b.Rows {
		rows = append(rows, int32(row))
	}
	for i := range games {
		v.Reset(i, uint64(i))
	}
	ids, begun := make([]uint64, games), make([]int32, 0, len(rows)) // of the turns; the rows whose turns begin
	for range turns {
		v.Observe(b)
		if s := p.States(); s != nil {
			begun = begun[:0]
			for _, row := range rows {
				if i := int(row) * games / len(rows); !f.spec.Sequential || v.TurnID(i) != ids[i] {
					begun = append(begun, row)
				}
			}
			for i := range ids {
				ids[i] = v.TurnID(i)
			}
			s.Begin(b, begun)
		}
		p.Act(v, b, rows)
		for _, row := range rows {
			c := p.Network(b, row)
			f.Choices, f.Excluded = f.Choices+c.Choices, f.Excluded+c.Illegal
		}
		v.Step(b)
	}
	return nil
}

// describeModel reads a model and describes it, but for its answers; and, of a game with a name, how
// it goes with it, with its output head as the logits ("": the one that fits).
func describeModel(file string, work int, t *gameSetup, head string) (*modelCard, *network.Model, error) {
	data, err := onnx.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	m, err := network.Read(data, int64(work)*1e9)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	c := &modelCard{
		Producer: m.Producer, Opset: m.Opset, Operators: m.Operators, Parameters: m.Parameters,
		MFLOP: math.Round(float64(m.FLOPs())/1e3) / 1e3, Operations: m.Operations, SHA256: m.SHA256, Path: network.Path(),
		Inputs: arrays(m.Inputs), Outputs: arrays(m.Outputs),
	}
	if game := t.game.Name; game != "" {
		fit, fitted, err := policy.FitForm(m, t.spec, head)
		if err != nil {
			return nil, nil, fmt.Errorf("%s, %s: %w", file, game, err)
		}
		c.Game, c.Fit = game, &modelFit{Form: fitted.Form, Inputs: fit.Inputs, States: append([]neural.State{}, fit.States...), Heads: fit.Heads, Value: fit.Value, Reasons: fit.Reasons, spec: fitted, fit: fit}
	}
	return c, m, nil
}

func arrays(values []network.Value) []modelArray {
	out := []modelArray{}
	for _, v := range values {
		out = append(out, modelArray{v.Name, v.Type.String(), append([]int{}, v.Dims...)})
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
	for i, v := range m.Inputs {
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
	for _, v := range m.Outputs {
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

// rows returns the rows of a table of the inputs and outputs.
func (m *modelCard) rows() [][]string {
	rows := [][]string{{"array", "name", "type", "shape of a row"}}
	for _, a := range m.Inputs {
		rows = append(rows, []string{"input", a.Name, a.Type, shape(a.Dims)})
	}
	for _, a := range m.Outputs {
		rows = append(rows, []string{"output", a.Name, a.Type, shape(a.Dims)})
	}
	return rows
}

// above returns the lines above the table of a model from a file.
func (m *modelCard) above(file string) string {
	return fmt.Sprintf("%s: %s, opset %d, %s, %.3g MFLOP an evaluation\n%s operations an evaluation, with those of all operators\nsha256 %s\n\n",
		texts.Escaped(file), texts.Escaped(m.Producer), m.Opset, texts.Plural(m.Parameters, "parameter"), m.MFLOP, texts.Group(m.Operations), m.SHA256)
}

// below returns the lines below the table.
func (m *modelCard) below() string {
	below := fmt.Sprintf("\noperators: %s\nanswers to fixed inputs: sha256 %s (the same on every machine; computed here by %s)\n",
		strings.Join(m.Operators, ", "), m.Answers, m.Path)
	for _, name := range m.NotFinite {
		below += fmt.Sprintf("warning: output %q has NaN or infinite numbers for the fixed inputs\n", name)
	}
	if m.Fit == nil {
		return below
	}
	below += fmt.Sprintf("\nThe model goes with %s, form %s:\n", m.Game, m.Fit.Form)
	inputs := map[string]bool{}
	for _, in := range m.Fit.Inputs {
		inputs[in.Name] = true
	}
	for _, s := range m.Fit.States {
		inputs[s.Input] = true
	}
	heads := map[string]int{}
	for _, h := range m.Fit.Heads {
		heads[h.Output]++
	}
	for _, r := range m.Fit.Reasons {
		switch n := heads[r.Name]; {
		case inputs[r.Name]:
			below += fmt.Sprintf("  input %q takes the %s, %s\n", r.Name, r.Taken, r.Why)
		case n > 0:
			below += fmt.Sprintf("  output %q gives the %s of %s, %s\n", r.Name, r.Taken, texts.Plural(n, "head"), r.Why)
		default:
			below += fmt.Sprintf("  output %q gives the value, %s\n", r.Name, r.Why)
		}
	}
	return below + fmt.Sprintf("  the mask excludes the likeliest choice in %s of %s choices of the first turns, which is no fault\n",
		texts.Group(m.Fit.Excluded), texts.Group(m.Fit.Choices))
}
