// Package policy holds the built-in policies and reads their names.
//
// A policy is asked for by a spec, a short text:
//
//	random                          uniform over the legal actions, for every game
//	empty                           no orders, for every game
//	econ                            a scripted one of the game; see Names
//	mix(0.8*econ,0.2*random)        each turn and row one of several, by chance
//
// Mixtures nest. Weights are positive and need not sum to one.
package policy

import (
	"fmt"
	"strings"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Entry is one policy that a game offers.
type Entry struct {
	Name string `json:"name"` // as in a spec
	Doc  string `json:"doc"`  // one line
}

// entry is an Entry with its constructor.
type entry struct {
	Entry
	make rollout.Maker
}

// general are the policies that play every game.
var general = []entry{
	{Entry{"random", "uniform over the legal choices of every head"}, newRandom},
	{Entry{"empty", "gives no orders"}, newEmpty},
}

// scripted are the policies of one game, by its name.
var scripted = map[string][]entry{
	"towerdefence": towerdefencePolicies,
	"terminal":     terminalPolicies,
	"codecraft":    codecraftPolicies,
	"tron":         tronPolicies,
}

// mixture documents the form that is not a plain name, with names of the game.
func mixture(game string) Entry {
	e := Entry{"mix(W*SPEC,…)", "each turn one of the policies, drawn by weight"}
	if own := scripted[game]; len(own) > 0 {
		e.Doc += fmt.Sprintf(": mix(0.8*%s,0.2*%s)", own[len(own)-1].Name, general[0].Name)
	}
	return e
}

// Names lists the policies for a game; a game that is not known has those that
// play every game.
func Names(game string) []Entry {
	var all []Entry
	for _, list := range [][]entry{general, scripted[game]} {
		for _, e := range list {
			all = append(all, e.Entry)
		}
	}
	return append(all, mixture(game))
}

// New reads a spec and returns a maker of the policy. The policy's name is the
// spec in canonical form: no blanks, weights as written. The error says what is
// wrong, at which character (from 1), and what there would be; of a name that
// no policy of the game has it is an *UnknownError.
func New(game, spec string) (rollout.Maker, error) {
	n, err := parse(spec)
	if err == nil {
		err = n.check(game)
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

// find returns the constructor of a plain name.
func find(game, name string) (rollout.Maker, error) {
	var known []string
	for _, list := range [][]entry{general, scripted[game]} {
		for _, e := range list {
			if e.Name == name {
				return e.make, nil
			}
			known = append(known, e.Name)
		}
	}
	return nil, &UnknownError{game, name, known}
}

// Begins reports whether a text begins as the spec of a policy of the game does,
// whatever is wrong with the rest: with the name of a policy and nothing behind
// it, or with such a name and a parenthesis. Where other things than policies
// can be named, too, this tells them apart.
func Begins(game, text string) bool {
	s := scanner{text: text}
	name := s.word(inName)
	if next := s.peek(); next != 0 && next != '(' {
		return false
	}
	_, err := find(game, name)
	return err == nil || name == "mix"
}
