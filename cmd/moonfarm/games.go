package main

import (
	"github.com/spf13/cobra"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/policy"
)

// gameCard describes a game. Its JSON keys are documented in the help.
type gameCard struct {
	Name      string         `json:"name"`
	Doc       string         `json:"doc"`
	Rules     string         `json:"rules_version"`
	Players   int            `json:"players"`
	MaxTurns  int            `json:"max_turns"`
	MaxOrders int            `json:"max_orders"`
	Planes    [3]int         `json:"planes"`
	Scalars   int            `json:"scalars"`
	Words     int            `json:"packed_words"`
	Heads     []int          `json:"action_heads"`
	MaskWords int            `json:"mask_words"`
	Actions   string         `json:"actions"`
	Rewards   []env.Reward   `json:"rewards"`
	Policies  []policy.Entry `json:"policies"`
	Table     features.Table `json:"observation"`
}

func (a *app) games() *cobra.Command {
	return &cobra.Command{
		Use: "games [GAME]", Short: "List the games, or describe one",
		Long: `Lists the games with their shapes, or describes one: what its observations
and actions mean, its rewards and policies.

With --json: an array of objects (one object if GAME is given) with the keys
name, doc, rules_version, players, max_turns, max_orders (of one seat in one
turn), planes ([planes, height, width] of an observation), scalars,
packed_words, action_heads (choices of each head), mask_words, actions (what
they mean), rewards and policies (each a name and a doc), observation (planes
and scalars, each with name, unit, scale, doc; and packed, how the words relate
to the planes).`,
		Example: "  moonfarm games\n  moonfarm games towerdefence",
		Args:    takes("[GAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
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
				rows = append(rows, []string{c.Name, c.Rules, group(c.Players), group(c.MaxTurns),
					shape(c.Planes[:]), group(c.Scalars), heads(c.Heads), c.Doc})
			}
			return a.print(cards, func() { a.table(rows...) })
		},
	}
}

// describe makes the card of a game.
func describe(name string) (gameCard, error) {
	t, err := gameFlags{}.open(name)
	if err != nil {
		return gameCard{}, err
	}
	s := t.spec
	return gameCard{
		Name: name, Doc: t.game.Doc, Rules: s.Info.Rules, Players: s.Info.Players,
		MaxTurns: s.MaxTurns, MaxOrders: s.Info.MaxOrders,
		Planes: [3]int{s.Shape.Planes, s.Shape.Height, s.Shape.Width}, Scalars: s.Shape.Scalars, Words: s.Shape.Words,
		Heads: s.Heads, MaskWords: s.MaskWords, Actions: s.Actions,
		Rewards: s.Rewards, Policies: policy.Names(name), Table: s.Table,
	}, nil
}

func (a *app) printGame(c gameCard) {
	a.printf("%s: %s\n\n", c.Name, c.Doc)
	a.printf("rules %s, %d seats, at most %s and %s of a seat in each\n",
		c.Rules, c.Players, plural(c.MaxTurns, "turn"), plural(c.MaxOrders, "order"))
	a.printf("observation: uint8 planes [%s], float32 scalars [%d]; packed: uint64 words [%d]\n", shape(c.Planes[:]), c.Scalars, c.Words)
	a.printf("action: choices %s, mask uint64 words [%d]\n\n", heads(c.Heads), c.MaskWords)
	a.printFields("plane", c.Table.Planes)
	a.printFields("scalar", c.Table.Scalars)
	a.printf("packed: %s\n\nactions: %s\n\n", c.Table.Packed, c.Actions)
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
		rows = append(rows, []string{group(i), f.Name, f.Unit, decimal(float64(f.Scale)), f.Doc})
	}
	a.table(rows...)
	a.printf("\n")
}
