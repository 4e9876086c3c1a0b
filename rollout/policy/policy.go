// Package policy makes policies from specs.
//
// The policies of one game are in rollout/policy/GAME: its scripts in the list Scripts (the
// smallest package is rollout/policy/tron), its tree search in Search, its portfolio search in
// Portfolio. To add a policy to a
// game, write its rule there and add a line to Scripts. A new game gets a line in byGame.
// Package rollout/policy/script is the toolbox of all of them. This package has the language
// of specs, the two policies that play every game, networks, mixtures, and the policy that
// plays by a search. Imports run one way: script, GAME, policy.
//
// A spec is a short text that names a policy:
//
//	random                          uniform over the legal actions, for every game
//	empty                           no orders, for every game
//	econ                            a script of the game; see Names
//	mcts(sims=400,rollout=econ)     a search of the game; see Entry.Options
//	pgs(sims=400)                   another search, which improves the orders of many units
//	nets/small.onnx(greedy)         a network from an ONNX file
//	"my nets/small.onnx"(greedy)    a network whose path has blanks, commas or other signs
//	net                             a network that comes with the program
//	mix(0.8*econ,0.2*random)        each turn and row one of several policies, by chance
//
// The orders of a policy depend only on the row (rollout.Policy), and those of a recurrent network
// also on the earlier rows of the seat in the game (rollout.Recurrent). The exception, which
// NewReproducible refuses, is a search whose budget is time, as in mcts(ms=50).
//
// Mixtures nest. Weights are positive and need not sum to one.
//
// A path without quotes has letters and digits of any script and - _ . + ~ / \ and :.
// Any other path is written between two " or two '. The value of an option, such as model or
// head, may be written so, too. Within quotes the quote itself is doubled; no other character
// is special, not even a backslash. Control characters are not allowed. The canonical form
// has quotes only where they are necessary.
package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/policy/codecraft"
	"moonfarm/rollout/policy/models"
	"moonfarm/rollout/policy/script"
	"moonfarm/rollout/policy/terminal"
	"moonfarm/rollout/policy/towerdefence"
	"moonfarm/rollout/policy/tron"
)

// Entry is one policy that a game offers.
type Entry struct {
	Name string `json:"name"` // as in a spec
	Doc  string `json:"doc"`  // one line
	// Options may be set in parentheses behind the name, each with a value.
	Options []Option `json:"options,omitempty"`
}

// Option is an option of a policy.
type Option struct {
	Name string `json:"name"`
	Doc  string `json:"doc"` // one line: the values, the default, the meaning
}

// entry is an Entry with its constructor.
type entry struct {
	Entry
	oneGame bool // plays one game only
	make    rollout.Maker
	search  *searchEntry // for a search, instead of make
	file    []byte       // for a network, instead of make
}

// general are the policies that play every game.
var general = []entry{
	{Entry: Entry{Name: "random", Doc: "uniform over the legal choices of every head"}, make: newRandom},
	{Entry: Entry{Name: "empty", Doc: "gives no orders"}, make: newEmpty},
}

// byGame lists the policies of each game, by its name.
var byGame = map[string][]entry{
	"towerdefence": append(scripts(towerdefence.Scripts), newSearchEntry(towerdefence.Search),
		newNetworkEntry(models.Towerdefence, "a network that learned from searches; net(greedy) plays its likeliest choices, mcts(model=net) searches with it")),
	"terminal": append(scripts(terminal.Scripts), newSearchEntry(terminal.Search),
		newNetworkEntry(models.Terminal, "a network that learned from planner; net(temperature=0.2) plays better than net")),
	"codecraft": append(scripts(codecraft.Scripts), newPortfolioEntry(codecraft.Portfolio),
		newNetworkEntry(models.Codecraft, "a network that learned from squads; net(temperature=0.5) plays better than net")),
	"tron": scripts(tron.Scripts),
}

// scripts returns the entries of a game's scripts.
func scripts(list []script.Script) (all []entry) {
	for _, s := range list {
		all = append(all, entry{Entry: Entry{Name: s.Name, Doc: s.Doc}, oneGame: true, make: s.New})
	}
	return all
}

// newNetworkEntry returns the entry of a network that comes with the program.
func newNetworkEntry(file []byte, doc string) entry {
	return entry{Entry: Entry{Name: builtIn, Doc: doc, Options: networks.Options}, file: file}
}

// entries returns the policies for a game, except networks from files and mixtures.
func entries(game string) []entry { return slices.Concat(general, byGame[game]) }

// mixture returns the documentation of mixtures, with an example from the game.
func mixture(game string) Entry {
	e := Entry{Name: "mix(W*SPEC,…)", Doc: "each turn one of the policies, drawn by weight"}
	last := ""
	for _, own := range byGame[game] {
		if own.make != nil {
			last = own.Name
		}
	}
	if last != "" {
		e.Doc += fmt.Sprintf(": mix(0.8*%s,0.2*%s)", last, general[0].Name)
	}
	return e
}

// Names lists the policies for a game; an unknown game has the policies that play every
// game.
func Names(game string) []Entry {
	var all []Entry
	for _, e := range entries(game) {
		all = append(all, e.Entry)
	}
	return append(all, networks.Entry, mixture(game))
}

// New reads a spec and returns a maker of the policy. The policy's name is the spec in
// canonical form: no blanks, weights and options in the given order, numbers in their
// shortest form. The error states the fault, its character (from 1) and the expected text;
// it wraps an *UnknownError if no policy of the game has a name. The file of a network is the
// one at its path, or one of files if the spec gives its sha256. The canonical form has the
// file's name without folders, and the first digits of its sha256.
func New(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, func(*node) error { return nil })
}

// NewReproducible does the same as New for games that must be reproducible, such as those of a
// dataset. It refuses policies whose budget is time or whose engine gives other bits on other
// machines.
func NewReproducible(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, (*node).reproducible)
}

// NewStored does the same as NewReproducible for a spec that comes from another machine, such
// as a run of a farm. It accepts networks only in canonical form, with their sha256, and with
// their files in files. So the spec cannot make this process read files of the sender's choice.
func NewStored(game, spec string, files ...rollout.Files) (rollout.Maker, error) {
	return read(game, spec, files, func(n *node) error { return errors.Join(n.reproducible(), n.stored()) })
}

// read reads a spec and returns a maker, unless refuse returns an error.
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

// UnknownError is the error for a name that no policy of the game has.
type UnknownError struct {
	Game, Name string
	Known      []string // the names of the game's policies
}

// Error implements error.
func (u *UnknownError) Error() string {
	return fmt.Sprintf("no policy %q for %s; there are: %s, mix(…)", u.Name, u.Game, strings.Join(u.Known, ", "))
}

// find returns the entry of a name, or an *UnknownError.
func find(game, name string) (entry, error) {
	if isModel(name) {
		return networks, nil
	}
	var known []string
	for _, e := range entries(game) {
		if e.Name == name {
			return e, nil
		}
		known = append(known, e.Name)
	}
	return entry{}, &UnknownError{game, name, known}
}
