// Package policy holds the built-in policies and reads their names.
//
// A policy is asked for by a spec, a short text:
//
//	random                          uniform over the legal actions, for every game
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
}

// scripted are the policies of one game, by its name.
var scripted = map[string][]entry{
	"towerdefence": towerdefencePolicies,
	"terminal":     terminalPolicies,
	"codecraft":    codecraftPolicies,
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
// wrong, at which character (from 1), and what there would be.
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
	return nil, fmt.Errorf("no policy %q for %s; there are: %s, mix(…)", name, game, strings.Join(known, ", "))
}
