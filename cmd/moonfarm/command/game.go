package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
	"moonfarm/cmd/moonfarm/internal/models"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/bounded"
	"moonfarm/sim/texts"
)

// gameFlags are the flags for the rules, the reward and the length of games.
type gameFlags struct {
	rulesFile string
	reward    string
	maxTurns  int
}

// add adds --rules, --reward and --max-turns.
func (f *gameFlags) add(c *cobra.Command) {
	f.addRules(c)
	c.Flags().StringVar(&f.reward, "reward", env.ResultReward, "`NAME` of the reward; games GAME lists them")
	f.addMaxTurns(c)
}

func (f *gameFlags) addRules(c *cobra.Command) {
	rulesFlag(c, &f.rulesFile, "the game's own rule values, one key=value per line (games GAME --rules lists them) or in the form of the original")
}

func (f *gameFlags) addMaxTurns(c *cobra.Command) {
	c.Flags().Var(whole(&f.maxTurns, 0, math.MaxInt32), "max-turns", "number of turns after which games are cut; 0: only the rules end them")
}

// rulesFlag adds --rules. what describes the content of its file.
func rulesFlag(c *cobra.Command, to *string, what string) {
	c.Flags().StringVar(to, "rules", "", "`FILE` with "+what+", or the name of a rule set ("+rulesDoc(gamedoc.Games())+")")
}

// rulesDoc lists the kinds of files, and the rule sets, that --rules takes for some games.
func rulesDoc(games []gamedoc.Game) string {
	var docs []string
	for _, t := range games {
		doc := t.Name + ": " + t.RulesFile
		if len(t.RuleSets) > 0 {
			doc += ", or one of " + strings.Join(t.RuleSets, ", ")
		}
		docs = append(docs, doc)
	}
	return strings.Join(docs, "; ")
}

// table is a game of the catalog with the rules and settings of the flags. open has made
// it once, so that wrong rules or settings are wrong use.
type table struct {
	game  catalog.Entry
	rules string // "" for the default
	spec  env.Spec
	flags gameFlags
}

// open finds the game and makes it once.
func (f gameFlags) open(name string) (*table, error) {
	g, err := catalog.Find(name)
	if err != nil {
		return nil, cli.WrongUse("%w", err)
	}
	t := &table{game: g, flags: f}
	if t.rules, err = readRules(f.rulesFile, gamedoc.Of(name)); err != nil {
		return nil, err
	}
	if _, err = g.New(t.rules, env.Settings{N: 1}); err != nil {
		return nil, cli.WrongUse("--rules %s: %w", f.rulesFile, err)
	}
	v, err := t.vector(1)
	if err != nil {
		return nil, cli.WrongUse("--reward %s: %w", f.reward, err)
	}
	t.spec = v.Spec()
	return t, nil
}

// vector makes n games side by side.
func (t *table) vector(n int) (env.Vector, error) {
	return t.game.New(t.rules, env.Settings{N: n, Reward: t.flags.reward, MaxTurns: t.flags.maxTurns})
}

// policy parses the spec of a policy for a dataset and makes the policy once. It returns
// its maker and its canonical name. Errors name the flag that the spec comes from.
func (t *table) policy(flag, spec string) (rollout.Maker, string, error) {
	maker, err := policy.NewReproducible(t.game.Name, spec)
	if err != nil {
		return nil, "", cli.WrongUse("--%s: %w", flag, err)
	}
	p, err := maker(t.spec)
	if err != nil {
		return nil, "", cli.WrongUse("--%s: %w", flag, err)
	}
	return maker, p.Name(), rollout.CloseSeats(p)
}

// makers returns the makers of games and policies for datasets of the game.
func makers(g catalog.Entry) datasets.Makers {
	return datasets.Makers{
		Vector:   g.New,
		Recorded: g.Recorded,
		Policy: func(name string, files rollout.Files) (rollout.Maker, error) {
			return policy.NewReproducible(g.Name, name, files)
		},
	}
}

// maxRules is the size limit of files of rules.
const maxRules = 16 << 20

// readRules reads a file of rules and returns its uncompressed text or, if it holds
// JSON, its first value: the whole config file, or the config line of a replay. It
// returns the name of a rule set of one of the games, and "", as they are.
func readRules(file string, games ...gamedoc.Game) (string, error) {
	if file == "" {
		return "", nil
	}
	for _, t := range games {
		if slices.Contains(t.RuleSets, file) {
			return file, nil
		}
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		if sets := ruleSets(games); len(sets) > 0 {
			wrong := cli.WrongUse("--rules: %w; rule sets with names are: %s", err, strings.Join(sets, ", "))
			return "", unknownError{wrong, file, sets}
		}
	}
	if err != nil {
		return "", cli.WrongUse("--rules: %w", err)
	}
	defer f.Close()
	text, err := readRulesText(f)
	if err != nil {
		return "", cli.WrongUse("--rules: %s: %w", file, err)
	}
	if strings.TrimSpace(text) == "" {
		return "", cli.WrongUse("--rules: %s is empty", file)
	}
	return text, nil
}

// ruleSets returns the names of the rule sets of some games.
func ruleSets(games []gamedoc.Game) []string {
	var all []string
	for _, t := range games {
		all = append(all, t.RuleSets...)
	}
	return all
}

// readRulesText reads the text of an open file of rules.
func readRulesText(f io.Reader) (string, error) {
	in, err := recordings.Uncompressed(f)
	if err != nil {
		return "", err
	}
	head, _ := in.Peek(512)
	text, more, broken := bounded.Prefix(in, maxRules)
	tooLong := fmt.Errorf("expected rules, at most %s; the file has more", cli.Size(maxRules))
	if !strings.HasPrefix(strings.TrimSpace(string(head)), "{") {
		if broken == nil && more {
			broken = tooLong
		}
		return string(text), broken
	}
	var first json.RawMessage
	switch err = json.NewDecoder(bytes.NewReader(texts.PlainJSON(text))).Decode(&first); {
	case err != nil && broken != nil:
		err = broken
	case err != nil && more:
		err = tooLong
	case err == io.ErrUnexpectedEOF:
		err = errors.New("expected a whole JSON object, found the end of the file in the middle of it")
	}
	return string(first), err
}

// model makes the command model with its subcommands.
func (a *app) model() *cobra.Command {
	c := a.group("model", "Look at networks that were trained elsewhere", "Looks at networks in ONNX files, as PyTorch and others export them.")
	c.AddCommand(a.modelInspect())
	return c
}

func (a *app) modelInspect() *cobra.Command {
	f, game, head, strict := gameFlags{reward: env.ResultReward}, "", "", false
	c := &cobra.Command{
		Use: "inspect FILE", Short: "Sum up a network, and how it fits a game",
		Long: `Describes a network in an ONNX file: inputs and outputs, operators, parameters,
arithmetic, and the checksum of its outputs for fixed inputs, which is the same
on every machine. Outputs that have NaN or infinite numbers for these inputs are
named, and refused with --strict. A file that cannot play is refused with the
reason; the message names the node of an unknown operator.

With --game it also prints which part of the game's observation each input
takes, which outputs are the choices of its heads and the value, and why; or, in
one message, what does not fit: what the model has and what the game needs. An
output of Softmax or Sigmoid, even if it is then reshaped, cast or masked, holds
probabilities: their logarithms are the logits. An output of LogSoftmax holds
logits.

With --json: an object with the keys producer, opset, inputs and outputs (name,
type, shape of a row), operators, parameters, mflop (of an evaluation), sha256
(of the file), answers (checksum), not_finite (outputs with NaN or infinite
numbers for the fixed inputs), path (of the arithmetic: avx512, avx2, neon or
portable) and, with --game, game and fit: inputs (name, part, numbers), heads
(output, offset, choices), value (an output, or empty), reasons (name of an
input or output, taken: its use, why).`,
		Example: "  moonfarm model inspect net.onnx\n  moonfarm model inspect net.onnx --game towerdefence",
		Args:    takes("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			spec := env.Spec{}
			if game != "" {
				t, err := f.open(game)
				if err != nil {
					return err
				}
				spec = t.spec
			} else if f.rulesFile != "" {
				return cli.WrongUse("--rules: expected --game, whose rules they are")
			} else if head != "" {
				return cli.WrongUse("--head: expected --game, whose choices they are")
			}
			card, err := models.Describe(args[0], game, spec, head)
			if err != nil {
				return err
			}
			if strict && len(card.NotFinite) > 0 {
				return fmt.Errorf("%s: --strict: %q have NaN or infinite numbers for the fixed inputs", args[0], card.NotFinite)
			}
			return a.print(card, func() {
				above, below := card.Text(args[0])
				a.printf("%s", above)
				a.table(card.Rows()...)
				a.printf("%s", below)
			})
		},
	}
	c.Flags().StringVar(&game, "game", "", "`GAME` that the network is to play")
	c.Flags().BoolVar(&strict, "strict", false, "fail if an output has NaN or infinite numbers")
	c.Flags().StringVar(&head, "head", "", "`NAME` of the output with the logits, as in FILE.onnx(head=NAME) (default: the one that fits)")
	f.addRules(c)
	return c
}
