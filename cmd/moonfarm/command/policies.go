package command

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

func (a *app) policies() *cobra.Command {
	return &cobra.Command{
		Use: "policies GAME", Short: "List the policies that play a game",
		Long: `Lists the built-in policies of a game. A flag that takes a policy also takes a
mixture: mix(0.8*econ,0.2*random) draws one of its members each turn, by weight.
Mixtures nest. Options of a policy are set in parentheses:
mcts(sims=2000,rollout=playout). With ms instead of sims a search has a budget
of milliseconds in each turn: eval and match accept that, but commands that make
datasets do not, as other machines would play other games.

The name of a network is the path of its file: nets/small.onnx(greedy). A path
with characters other than letters, digits and - _ . + ~ / \ : is put in quotes,
" or ', and values may be: "my nets/td.onnx", mcts(model="nets (2)/td.onnx"). A
quote of the same kind is doubled inside. The shell removes one pair of quotes:
--policy '"my nets/td.onnx"(greedy)'.`,
		Example: "  moonfarm policies towerdefence",
		Args:    console.Takes("GAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := catalog.Find(args[0]); err != nil {
				return console.WrongUse("%w", err)
			}
			list := policy.Names(args[0])
			return a.Print(list, func() { a.printPolicies(list) })
		},
	}
}

func (a *app) printPolicies(list []policy.Entry) {
	a.Table(console.Rows(list, []string{"policy", "what"}, func(p policy.Entry) []string { return []string{p.Name, p.Doc} })...)
	for _, p := range list {
		if len(p.Options) == 0 {
			continue
		}
		a.Printf("\n")
		a.Table(console.Rows(p.Options, []string{"option of " + p.Name, "what"}, func(o policy.Option) []string { return []string{o.Name, o.Doc} })...)
	}
}

// searches reports whether a maker makes policies that search.
func searches(maker rollout.Maker, s env.Spec) bool {
	p, err := maker(s)
	if err != nil {
		return false
	}
	return rollout.Has[rollout.Searcher](p) && rollout.CloseSeats(p) == nil
}

// searchers returns the names of the policies that search a game.
func searchers(g catalog.Entry) (names []string, err error) {
	v, err := g.New("", env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	for _, e := range policy.Names(g.Name) {
		if maker, err := policy.New(g.Name, e.Name); err == nil && searches(maker, v.Spec()) {
			names = append(names, e.Name)
		}
	}
	return names, nil
}

// searched returns the games that have a policy that searches.
func searched() (names []string) {
	for _, g := range catalog.Games() {
		if known, err := searchers(g); err == nil && len(known) > 0 {
			names = append(names, g.Name)
		}
	}
	return names
}
