package policy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/policy/neural"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/search"
	"moonfarm/sim"
)

// The options of a network, and of a search with one.
const (
	optionGreedy      = "greedy" // the one option without a value
	optionTemperature = "temperature"
	optionHead        = "head"
	optionEngine      = "engine"
	optionDevice      = "device"
	optionSHA256      = "sha256"
	optionModel       = "model"
)

// modelEnding ends the paths of networks.
const modelEnding = ".onnx"

// sumDigits are the digits of the sha256 of a file in the name of a policy.
const sumDigits = 16

// sumDoc documents optionSHA256.
const sumDoc = "the first digits, 8 or more, of the file's sha256: of another file it is refused; names of policies have 16"

// The docs of the options that all networks have.
const (
	headDoc   = "the name of the model's output with the logits, where several could be it"
	engineDoc = neural.ONNXRuntime + ": that library evaluates the network, for operators that are missing here, in a build with -tags " + neural.ONNXRuntime + "; no dataset can be made so"
	deviceDoc = "what computes: cpu; with engine=" + neural.ONNXRuntime + " also cuda or cuda:N (cpu)"
)

// networks is the entry of all networks from files.
var networks = entry{Entry: Entry{Name: "FILE" + modelEnding + "(…)", Doc: "a network that was trained elsewhere, as an ONNX file: nets/small.onnx(temperature=0.5), and in quotes if the path has blanks or signs: \"my nets/small.onnx\"", Options: []Option{
	{optionGreedy, "the legal choice with the largest logit, in the place of one drawn"},
	{optionTemperature, "above 0, at most 1000: choices are drawn in proportion to exp(logit/temperature) (1)"},
	{optionHead, headDoc},
	{optionEngine, engineDoc},
	{optionDevice, deviceDoc},
	{optionSHA256, sumDoc},
}}}

// builtIn is the name of the network that comes with the program.
const builtIn = "net"

// isNetwork reports whether a name or value of a spec is a network's.
func isNetwork(text string) bool { return text == builtIn || isModel(text) }

// isModel reports whether a name or value of a spec is the path of a network.
func isModel(text string) bool {
	base := text[strings.LastIndexAny(text, `/\:`)+1:]
	return len(base) > len(modelEnding) && strings.EqualFold(base[len(base)-len(modelEnding):], modelEnding)
}

// loaded is a network and its file.
type loaded struct {
	network neural.Model
	file    rollout.File
}

// load reads the networks of a node and of its members, and puts their names into
// canonical form.
func (n *node) load(game string, files rollout.Files) error {
	for i := range n.members {
		if err := n.members[i].node.load(game, files); err != nil {
			return err
		}
	}
	at, path := n.at, &n.name
	if given := n.option(optionModel); given != nil {
		at, path = given.at, &given.value
	} else if !isNetwork(n.name) {
		return nil
	}
	sum := n.value(optionSHA256)
	data, err := find256(game, *path, sum, files)
	var m neural.Model
	engine := ""
	if err == nil {
		if m, engine, err = n.engine().Read(data); err != nil {
			err = fmt.Errorf("%s: %w", *path, err)
		}
	}
	if err != nil {
		return fmt.Errorf("character %d: %w", at, err)
	}
	if given := n.option(optionEngine); given != nil {
		given.value = engine
	}
	*path = filepath.Base(*path)
	whole := fmt.Sprintf("%x", sha256.Sum256(data))
	n.model = &loaded{m, rollout.File{Name: *path, SHA256: whole, Data: data}}
	if n.option(optionSHA256) == nil {
		n.settings = append(n.settings, setting{at: at, name: optionSHA256})
	}
	n.option(optionSHA256).value = whole[:sumDigits]
	return nil
}

// engine is what evaluates the network of a node.
func (n *node) engine() neural.Engine {
	return neural.Engine{Name: n.value(optionEngine), Device: n.value(optionDevice)}
}

// find256 reads a file whose sha256 begins with sum: one of files, else the one at the
// path, or the one that comes with the program.
func find256(game, path, sum string, files rollout.Files) ([]byte, error) {
	if sum != "" {
		if data, err := files(sum); !errors.Is(err, fs.ErrNotExist) {
			return data, err
		}
	}
	var data []byte
	var err error
	if path == builtIn {
		e, err := find(game, builtIn)
		if data = e.file; err != nil {
			return nil, fmt.Errorf("no network for %s comes with this program, expected FILE%s", game, modelEnding)
		}
	} else if data, err = onnx.ReadFile(path); err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); !strings.HasPrefix(got, sum) {
		return nil, fmt.Errorf("%s: its sha256 is %s, expected %s", path, got[:max(len(sum), sumDigits)], sum)
	}
	return data, nil
}

// newModel makes the policy of a node that is a network.
func newModel(n node, s env.Spec) (rollout.Policy, error) {
	o := neural.Options{Temperature: 1}
	for _, given := range n.settings {
		if err := setModel(&o, &given); err != nil {
			return nil, err
		}
	}
	fit, err := neural.Match(n.model.network, s, n.value(optionHead))
	if err != nil {
		return nil, err
	}
	return netPolicy{neural.New(n.String(), n.model.network, fit, o, s), n.model.file}, nil
}

// netPolicy is a network that plays, and its file.
type netPolicy struct {
	*neural.Policy
	file rollout.File
}

// Files implements rollout.WithFiles.
func (p netPolicy) Files() []rollout.File { return []rollout.File{p.file} }

// setModel reads the value of an option of a network, and puts it into canonical form.
func setModel(o *neural.Options, given *setting) error {
	switch given.name {
	case optionGreedy:
		o.Greedy = true
		return nil
	case optionHead, optionEngine, optionDevice:
		return nil // read by the node
	case optionSHA256:
		return given.sum()
	}
	t, err := strconv.ParseFloat(given.value, 64)
	if err != nil || !(t > 0) || t > 1000 {
		return fmt.Errorf("%s=%s, expected a number above 0, at most 1000", given.name, given.value)
	}
	o.Temperature, given.value = t, strconv.FormatFloat(t, 'g', -1, 64)
	return nil
}

// stored fails if a node has a network that is not in canonical form.
func (n *node) stored() error {
	for i := range n.members {
		if err := n.members[i].node.stored(); err != nil {
			return err
		}
	}
	at, path := n.at, n.name
	if given := n.option(optionModel); given != nil {
		at, path = given.at, given.value
	} else if !isNetwork(n.name) {
		return nil
	}
	if path != filepath.Base(path) || path != builtIn && n.value(optionSHA256) == "" {
		return fmt.Errorf("character %d: %s: a file of this machine; expected the name of a file without folders, and its sha256", at, path)
	}
	return nil
}

// sum reads the first digits of a sha256.
func (g *setting) sum() error {
	g.value = strings.ToLower(g.value)
	if len(g.value) < 8 || len(g.value) > 64 || strings.Trim(g.value, "0123456789abcdef") != "" {
		return fmt.Errorf("%s=%s, expected 8 to 64 hexadecimal digits", g.name, g.value)
	}
	return nil
}

// anyOf looks for a file in all places.
func anyOf(places []rollout.Files) rollout.Files {
	return func(sha256 string) ([]byte, error) {
		for _, files := range places {
			if files == nil {
				continue
			}
			if data, err := files(sha256); !errors.Is(err, fs.ErrNotExist) {
				return data, err
			}
		}
		return nil, fs.ErrNotExist
	}
}

// together is the number of rows that a search with a network searches at once, and of
// leaves in a batch.
const together = 16

// judge has a network judge the leaves of several trees in one batch.
type judge[S, M any] struct {
	*neural.Judge[S]
	game   script.SearchGame[S, M]
	priors bool                 // the network gives those of the moves, too
	trust  float64              // weight of the network's values; the rest is that of the game's own
	batch  []*search.Leaf[S, M] // evaluated together
	rows   []int                // of the leaves, by their numbers in the search
	counts [together]rollout.NetworkCounts
	orders []sim.Order
	ends   []int32
	scores []float64
}

// judgedSearcher is a searcher with a network.
type judgedSearcher[S, M any] struct {
	*searcher[S, M]
	file rollout.File
}

// Network implements rollout.Networked.
func (c judgedSearcher[S, M]) Network(_ *env.Batch, row int32) rollout.NetworkCounts {
	return c.networks[row]
}

// Files implements rollout.WithFiles.
func (c judgedSearcher[S, M]) Files() []rollout.File { return []rollout.File{c.file} }

// newJudged returns the policy of that name: a search whose leaves the network of the
// options judges. A budget of time is that of one search, so such searches take turns.
func newJudged[S, M any](name string, o searchOptions, g script.SearchGame[S, M], kit features.Kit[S], s env.Spec) (rollout.Policy, error) {
	fit, err := neural.Match(o.model.network, s, o.head)
	if err != nil {
		return nil, err
	}
	if fit.Value == "" && o.trust > 0 {
		return nil, fmt.Errorf("%s has no output for the value, which a search with %s=%v needs", o.model.file.Name, optionTrust, o.trust)
	}
	if len(s.Heads) > 1 && o.trust == 0 {
		return nil, fmt.Errorf("%s=0: a network weighs no moves of %s, where a move is made of several choices", optionTrust, s.Info.Name)
	}
	n := together
	if o.time > 0 {
		n = 1
	}
	j := &judge[S, M]{Judge: neural.NewJudge(o.model.network, fit, kit, s, n), game: g, priors: len(s.Heads) == 1, trust: o.trust}
	c := &searcher[S, M]{name: name, seats: 2, game: g, width: o.Width, judge: j}
	for range n {
		c.addTree(o)
	}
	return judgedSearcher[S, M]{c, o.model.file}, nil
}

// clear empties the batch.
func (j *judge[S, M]) clear() { j.batch, j.rows = j.batch[:0], j.rows[:0] }

// add adds a leaf of the tree that searches row i of those searched at once.
func (j *judge[S, M]) add(leaf *search.Leaf[S, M], i int) {
	j.Put(len(j.batch), leaf.State)
	j.batch, j.rows = append(j.batch, leaf), append(j.rows, i)
}

// next returns the next leaf of a tree that the network is to evaluate, nil at the end of
// the search. Those are all leaves if the network's values count, and else the few nodes
// that are expanded. The leaf has the value of the game's own evaluation.
func (j *judge[S, M]) next(t *search.Tree[S, M]) *search.Leaf[S, M] {
	for leaf := t.Next(); leaf != nil; leaf = t.Next() {
		if leaf.Expansion {
			if j.priors {
				return leaf
			}
			continue
		}
		if j.trust < 1 {
			leaf.Value = j.game.Evaluate(leaf.State, leaf.Random)
		}
		if j.trust > 0 {
			if j.priors {
				t.Expand()
			}
			return leaf
		}
	}
	return nil
}

// run evaluates the leaves of the batch; false if it is empty.
func (j *judge[S, M]) run() bool {
	j.Run(len(j.batch))
	for i, leaf := range j.batch {
		c := j.Network(i)
		if j.priors {
			for p, choices := range leaf.Choices {
				if !j.weigh(i, leaf.State, sim.Player(p), choices) && c.NotFinite < c.Evaluations {
					c.NotFinite++
				}
			}
		}
		j.counts[j.rows[i]].Add(c)
		switch {
		case leaf.Expansion:
		case j.trust == 1:
			leaf.Value = j.Value(i)
		default:
			leaf.Value = float64((1-j.trust)*leaf.Value) + float64(j.trust*j.Value(i))
		}
	}
	return len(j.batch) > 0
}

// ownShare is the part of a prior that stays the game's own: so the search also tries moves
// with a small prior of the network.
const ownShare = 0.2

// weigh mixes the network's priors into the priors of seat p's moves. It
// reports whether the network has any: where a logit is NaN or infinite, the priors stay.
func (j *judge[S, M]) weigh(i int, s *S, p sim.Player, choices []search.Choice[M]) bool {
	if len(choices) < 2 {
		return true
	}
	j.orders, j.ends = j.orders[:0], j.ends[:0]
	own := 0.0
	for _, c := range choices {
		j.orders = j.game.AppendOrders(j.orders, s, p, c.Move)
		j.ends = append(j.ends, int32(len(j.orders)))
		own += c.Prior
	}
	j.scores = j.Score(j.scores[:0], i, s, p, j.orders, j.ends)
	all := 0.0
	for _, x := range j.scores {
		all += x
	}
	if !(all > 0 && own > 0) {
		return all == all // NaN, unless no choice encodes any of the moves
	}
	for k := range choices {
		choices[k].Prior = float64(ownShare*(choices[k].Prior/own)) + float64((1-ownShare)*(j.scores[k]/all))
	}
	return true
}
