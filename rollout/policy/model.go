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
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/policy/neural"
)

// The options of a network, and of a search with one.
const (
	optionGreedy      = "greedy" // the one option without a value
	optionTemperature = "temperature"
	optionHead        = "head"
	optionWork        = "work"
	optionSHA256      = "sha256"
	optionModel       = "model"
)

// modelEnding ends the paths of networks.
const modelEnding = ".onnx"

// sumDigits are the digits of the sha256 of a file in the name of a policy.
const sumDigits = 16

// sumDoc documents optionSHA256.
const sumDoc = "the first digits, 8 or more, of the file's sha256: another file is refused; names of policies have 16 digits"

// The docs of the options that all networks have.
const (
	headDoc = "the name of the model's output with the logits, if several outputs fit"
	workDoc = "1 … 1000000: the most operations of an evaluation of the network, in thousands of millions (20); more are refused"
)

// networks is the entry of all networks from files.
var networks = entry{Entry: Entry{Name: "FILE" + modelEnding + "(…)", Doc: "a network that was trained elsewhere, as an ONNX file: nets/small.onnx(temperature=0.5), and in quotes if the path has blanks or signs: \"my nets/small.onnx\"", Options: []Option{
	{optionGreedy, "plays the legal choice with the largest logit instead of drawing one"},
	{optionTemperature, "above 0, at most 1000: choices are drawn in proportion to exp(logit/temperature) (1)"},
	{optionHead, headDoc},
	{optionWork, workDoc},
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
	network *network.Model
	file    rollout.File
}

// load reads the networks of a node and of its members, and rewrites their names in canonical
// form.
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
	data, err := findFile(game, *path, sum, files)
	var m *network.Model
	if err == nil {
		work, _ := strconv.Atoi(n.value(optionWork)) // 0 if it is not set
		if m, err = network.Read(data, int64(work)*1e9); err != nil {
			err = fmt.Errorf("%s: %w", *path, err)
		}
	}
	if err != nil {
		return fmt.Errorf("character %d: %w", at, err)
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

// findFile returns the file whose sha256 begins with sum: one of files, else the one at the
// path, or the network that comes with the program.
func findFile(game, path, sum string, files rollout.Files) ([]byte, error) {
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

// newModel returns the policy of a node that is a network.
func newModel(n node, s env.Spec) (rollout.Policy, error) {
	o := neural.Options{Temperature: 1}
	for _, given := range n.settings {
		if err := setModel(&o, &given); err != nil {
			return nil, err
		}
	}
	fit, own, err := FitForm(n.model.network, s, n.value(optionHead))
	if err != nil {
		return nil, err
	}
	p := netPolicy{neural.New(n.String(), n.model.network, fit, o, own), n.model.file}
	if needsForm(own, s) {
		return newNetInForm(p, own.Form), nil
	}
	return p, nil
}

// netPolicy is a network that plays a turn by one action, and its file.
type netPolicy struct {
	*neural.Policy
	file rollout.File
}

// Act implements rollout.Policy.
func (n netPolicy) Act(v env.Vector, b *env.Batch, rows []int32) {
	if s := n.States(); s != nil {
		s.Begin(b, rows)
	}
	n.Policy.Act(v, b, rows)
}

// Files implements rollout.WithFiles.
func (n netPolicy) Files() []rollout.File { return []rollout.File{n.file} }

// setModel stores the value of an option of a network, and rewrites it in canonical form.
func setModel(o *neural.Options, given *setting) error {
	switch given.name {
	case optionGreedy:
		o.Greedy = true
		return nil
	case optionHead, optionWork, optionSHA256:
		return given.ofFile()
	}
	return given.temperature(&o.Temperature)
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

// ofFile checks the value of an option that the node reads when it loads its file.
func (s *setting) ofFile() error {
	n := 0
	switch s.name {
	case optionWork:
		return s.number(&n, 1, 1_000_000)
	case optionSHA256:
		return s.sum()
	}
	return nil
}

// sum checks that the value is the beginning of a sha256.
func (s *setting) sum() error {
	s.value = strings.ToLower(s.value)
	if len(s.value) < 8 || len(s.value) > 64 || strings.Trim(s.value, "0123456789abcdef") != "" {
		return fmt.Errorf("%s=%s, expected 8 to 64 hexadecimal digits", s.name, s.value)
	}
	return nil
}

// anyOf returns Files that searches all places.
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
