package main

import (
	"github.com/spf13/cobra"

	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
)

func (a *app) policies() *cobra.Command {
	return &cobra.Command{
		Use: "policies GAME", Short: "List the policies that play a game",
		Long: `Lists the built-in policies of a game. Where a policy is asked for, its name or
a mixture may be given: mix(0.8*econ,0.2*random) draws one of its members anew
each turn, by weight. Mixtures nest.

With --json: an array of objects with the keys name and doc.`,
		Example: "  moonfarm policies towerdefence",
		Args:    takes("GAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := catalog.Find(args[0]); err != nil {
				return usageError{err}
			}
			list := policy.Names(args[0])
			return a.print(list, func() { a.printPolicies(list) })
		},
	}
}

func (a *app) printPolicies(list []policy.Entry) {
	rows := [][]string{{"policy", "what"}}
	for _, p := range list {
		rows = append(rows, []string{p.Name, p.Doc})
	}
	a.table(rows...)
}
