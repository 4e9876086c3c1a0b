package command

import (
	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// gameCard describes a game. Its JSON keys are documented in the help.
type gameCard struct {
	Name        string               `json:"name"`
	Doc         string               `json:"doc"`
	Rules       string               `json:"rules_version"`
	Players     int                  `json:"players"`
	MaxTurns    int                  `json:"max_turns"`
	MaxOrders   int                  `json:"max_orders"`
	Planes      [3]int               `json:"planes"`
	Scalars     int                  `json:"scalars"`
	Words       int                  `json:"packed_words"`
	Heads       []int                `json:"action_heads"`
	Unmasked    int                  `json:"unmasked"`
	Nothing     int                  `json:"nothing"`
	MaskWords   int                  `json:"mask_words"`
	Actions     string               `json:"actions"`
	Rewards     []env.Reward         `json:"rewards"`
	Policies    []policy.Entry       `json:"policies"`
	Description features.Description `json:"observation"`
}

// printRules lists the rules of a game.
func (a *app) printRules(name string) error {
	g, err := catalog.Find(name)
	if err != nil {
		return cli.WrongUse("%w", err)
	}
	cards := g.RuleCards()
	rows := [][]string{{"key", "default", "from", "to", "what"}}
	for _, c := range cards {
		rows = append(rows, []string{c.Key, c.Value, c.Least, c.Most, c.Doc})
	}
	return a.print(cards, func() { a.table(rows...) })
}

func (a *app) games() *cobra.Command {
	rules := false
	c := &cobra.Command{
		Use: "games [GAME]", Short: "List the games, or describe one",
		Long: `Lists the games with their shapes, or describes one: what its observations
and actions mean, its rewards and its policies; or, with --rules, the rules that
a file of rule values may set.

With --json: an array of objects (one object if GAME is given) with the keys
name, doc, rules_version, players, max_turns, max_orders (of one seat in one
turn), planes ([planes, height, width] of an observation), scalars,
packed_words, action_heads (choices of each head), unmasked (number of heads at
the end that have no mask), nothing (the choice of every head that orders
nothing: the only one in the mask of a game that has ended), mask_words, actions
(what they mean), rewards and policies (each a name, a doc and, if it has some,
options: names and docs), observation (planes and scalars, each with name, unit,
scale, doc; and packed, how the words relate to the planes).

With --rules and --json: an array of objects with the keys key, value (the
default), least, most (both empty if the value is fixed or no number), doc. All
values are texts.`,
		Example: "  moonfarm games\n  moonfarm games towerdefence\n  moonfarm games terminal --rules",
		Args:    takes("[GAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case rules && len(args) == 0:
				return cli.WrongUse("--rules: expected a GAME")
			case rules:
				return a.printRules(args[0])
			case len(args) == 1:
				card, err := describe(args[0])
				if err != nil {
					return err
				}
				return a.print(card, func() { a.printGame(card) })
			}
			cards := []gameCard{}
			rows := [][]string{{"game", "rules", "seats", "turns", "planes", "scalars", "actions", "what"}}
			for _, g := range catalog.Games() {
				c, err := describe(g.Name)
				if err != nil {
					return err
				}
				cards = append(cards, c)
				rows = append(rows, []string{c.Name, c.Rules, cli.Group(c.Players), cli.Group(c.MaxTurns),
					shape(c.Planes[:]), cli.Group(c.Scalars), headsInShort(c.Heads, c.Unmasked), c.Doc})
			}
			return a.print(cards, func() { a.table(rows...) })
		},
	}
	c.Flags().BoolVar(&rules, "rules", false, "list the rules of GAME: keys, defaults, bounds and meanings")
	return c
}

// describe makes the card of a game.
func describe(name string) (gameCard, error) {
	t, err := gameFlags{}.open(name)
	if err != nil {
		return gameCard{}, err
	}
	s := t.spec
	s.Description.PackedLayout = nil // hundreds of lines, for programs: manifests have it
	return gameCard{
		Name: name, Doc: t.game.Doc, Rules: s.Info.Rules, Players: s.Info.Players,
		MaxTurns: s.MaxTurns, MaxOrders: s.Info.MaxOrders,
		Planes: [3]int{s.Shape.Planes, s.Shape.Height, s.Shape.Width}, Scalars: s.Shape.Scalars, Words: s.Shape.Words,
		Heads: s.Heads, Unmasked: s.Unmasked, Nothing: s.Nothing, MaskWords: s.MaskWords, Actions: s.Actions,
		Rewards: s.Rewards, Policies: policy.Names(name), Description: s.Description,
	}, nil
}

func (a *app) printGame(c gameCard) {
	a.printf("%s: %s\n\n", c.Name, c.Doc)
	a.printf("rules %s, %d seats, at most %s and %s of a seat in each\n",
		c.Rules, c.Players, cli.Plural(c.MaxTurns, "turn"), cli.Plural(c.MaxOrders, "order"))
	a.printf("observation: uint8 planes [%s], float32 scalars [%d]; packed: uint64 words [%d]\n", shape(c.Planes[:]), c.Scalars, c.Words)
	a.printf("action: choices %s, mask uint64 words [%d]", heads(c.Heads), c.MaskWords)
	if c.Unmasked > 0 {
		a.printf(" for all but the last %s", cli.Plural(c.Unmasked, "head"))
	}
	a.printf("\n\n")
	a.printFields("plane", c.Description.Planes)
	a.printFields("scalar", c.Description.Scalars)
	a.printf("packed: %s\n\nactions: %s\n\n", c.Description.Packed, c.Actions)
	rows := [][]string{{"reward", "what"}}
	for _, r := range c.Rewards {
		rows = append(rows, []string{r.Name, r.Doc})
	}
	a.table(rows...)
	a.printf("\n")
	a.printPolicies(c.Policies)
}

func (a *app) printFields(what string, fields []features.Field) {
	if len(fields) == 0 {
		return
	}
	rows := [][]string{{"no", what, "unit", "scale", "what"}}
	for i, f := range fields {
		rows = append(rows, []string{cli.Group(i), f.Name, f.Unit, decimal(float64(f.Scale)), f.Doc})
	}
	a.table(rows...)
	a.printf("\n")
}

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
--policy '"my nets/td.onnx"(greedy)'.

With --json: an array of objects with the keys name, doc and, if the policy has
some, options (each a name and a doc: values, meaning, default).`,
		Example: "  moonfarm policies towerdefence",
		Args:    takes("GAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := catalog.Find(args[0]); err != nil {
				return cli.WrongUse("%w", err)
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
	for _, p := range list {
		if len(p.Options) == 0 {
			continue
		}
		rows := [][]string{{"option of " + p.Name, "what"}}
		for _, o := range p.Options {
			rows = append(rows, []string{o.Name, o.Doc})
		}
		a.printf("\n")
		a.table(rows...)
	}
}

// searches reports whether a maker makes policies that search.
func searches(maker rollout.Maker, s env.Spec) bool {
	p, err := maker(s)
	if err != nil {
		return false
	}
	_, ok := p.(rollout.Searcher)
	return ok && rollout.CloseSeats(p) == nil
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
