// Package policy holds the built-in policies and reads their names.
//
// A policy is asked for by a spec, a short text:
//
//	random                          uniform over the legal actions, for every game
//	empty                           no orders, for every game
//	econ                            a scripted one of the game; see Names
//	mcts(sims=400,rollout=econ)     a search of the game; see Entry.Options
//	nets/small.onnx(greedy)         a network that was trained elsewhere
//	"my nets/small.onnx"(greedy)    one whose path has blanks, commas or other signs
//	net                             one that comes with the program
//	mix(0.8*econ,0.2*random)        each turn and row one of several, by chance
//
// What a policy plays depends on the row alone (rollout.Policy). A search whose
// budget is time, mcts(ms=50), and a network that another engine evaluates,
// small.onnx(engine=onnxruntime), are the exceptions: NewReproducible refuses them.
//
// Mixtures nest. Weights are positive and need not sum to one.
//
// A path without quotes has letters and digits of any script and - _ . + ~ / \ and :.
// Any other is written between two " or two ', and so is the value of an option, such as
// model or head. The quote itself stands twice in such a text; nothing else is special
// there, not even a backslash. Control characters cannot be written. The canonical form
// has quotes where they are needed alone.
package policy

import (
	"errors"
	"fmt"
	"strings"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Entry is one policy that a game offers.
type Entry struct {
	Name string `json:"name"` // as in a spec
	Doc  string `json:"doc"`  // one line
	// Options may be set in parentheses behind the name, each with a value.
	Options []Option `json:"options,omitempty"`
}

// Option is what can be set of a policy.
type Option struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // one line: the values, the default, the meaning
}

// entry is an Entry with its constructor.
type entry struct {
	Entry
	make rollout.Maker

	// Of a search, instead of make.
	search   func(o searchOptions, name string, s env.Spec) (rollout.Policy, error)
	defaults searchOptions

	file []byte // of a network, instead of make
}

// general are the policies that play every game.
var general = []entry{
	{Entry: Entry{Name: "random", Doc: "uniform over the legal choices of every head"}, make: newRandom},
	{Entry: Entry{Name: "empty", Doc: "gives no orders"}, make: newEmpty},
}

// scripted are the policies of one game, by its name.
var scripted = map[string][]entry{
	"towerdefence": towerdefencePolicies,
	"terminal":     terminalPolicies,
	"codecraft":    codecraftPolicies,
	"tron":         tronPolicies,
}

// trained are the policies that are networks that come with the program, by the game.
var trained = map[string][]entry{
	"towerdefence": {towerdefenceNetwork},
}

// searching are the policies that search the game, by its name.
var searching = map[string][]entry{
	"towerdefence": {towerdefenceSearches},
	"terminal":     {terminalSearches},
}

// lists are the entries for a game.
func lists(game string) [4][]entry {
	return [4][]entry{general, scripted[game], searching[game], trained[game]}
}

// mixture documents the form that is not a plain name, with names of the game.
func mixture(game string) Entry {
	e := Entry{Name: "mix(W*SPEC,…)", Doc: "each turn one of the policies, drawn by weight"}
	if own := scripted[game]; len(own) > 0 {
		e.Doc += fmt.Sprintf(": mix(0.8*%s,0.2*%s)", own[len(own)-1].Name, general[0].Name)
	}
	return e
}

// Names lists the policies for a game; a game that is not known has those that
// play every game.
func Names(game string) []Entry {
	var all []Entry
	for _, list := range lists(game) {
		for _, e := range list {
			all = append(all, e.Entry)
		}
	}
	return append(all, models.Entry, mixture(game))
}

// New reads a spec and returns a maker of the policy. The policy's name is the
// spec in canonical form: no blanks, weights and options as written, numbers in
// their shortest form. The error says what is
// wrong, at which character (from 1), and what there would be; of a name that
// no policy of the game has it is an *UnknownError. The file of a network is the one
// at its path, or one of files if the spec tells its sha256. The canonical form has
// its name without folders, and the first digits of its sha256.
func New(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, func(*node) error { return nil })
}

// NewReproducible is New for what can be played again with the same result, such as
// a dataset: it refuses policies whose budget is time or whose engine has other bits on
// other machines.
func NewReproducible(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, (*node).reproducible)
}

// NewStored is NewReproducible for a spec that comes from elsewhere, such as a run of a
// farm. It takes canonical networks only, whose sha256 is told, and whose files are in
// files: such a spec cannot make this process read a file of somebody's choice.
func NewStored(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, func(n *node) error { return errors.Join(n.reproducible(), n.stored()) })
}

// read reads a spec that is not refused.
func read(game, spec string, files []rollout.Files, refuse func(n *node) error) (rollout.Maker, error) {
	n, err := parse(spec)
	if err == nil {
		err = n.check(game)
	}
	if err != nil {
		err = unquoted(spec, err)
	}
	if err == nil {
		err = refuse(&n)
	}
	if err == nil {
		err = n.load(game, anyOf(files))
	}
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", spec, err)
	}
	return func(s env.Spec) (rollout.Policy, error) {
		p, err := n.build(game, s, 0)
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", spec, err)
		}
		return p, nil
	}, nil
}

// UnknownError tells of a name that no policy of a game has.
type UnknownError struct {
	Game, Name string
	Known      []string // the names of the game's policies
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no policy %q for %s; there are: %s, mix(…)", e.Name, e.Game, strings.Join(e.Known, ", "))
}

// find returns the entry of a name.
func find(game, name string) (entry, error) {
	if isModel(name) {
		return models, nil
	}
	var known []string
	for _, list := range lists(game) {
		for _, e := range list {
			if e.Name == name {
				return e, nil
			}
			known = append(known, e.Name)
		}
	}
	return entry{}, &UnknownError{game, name, known}
}
