package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/policy"
	"moonfarm/sim/texts"
)

// gameCard describes a game. Its JSON keys are documented in JSON.md.
type gameCard struct {
	Name        string               `json:"name"`
	Doc         string               `json:"doc"`
	Rules       string               `json:"rules_version"`
	Players     int                  `json:"players"`
	MaxTurns    int                  `json:"max_turns"`
	MaxOrders   int                  `json:"max_orders"`
	Form        string               `json:"form"`
	Forms       []formCard           `json:"forms"`
	Planes      [3]int               `json:"planes"`
	Scalars     int                  `json:"scalars"`
	Words       int                  `json:"packed_words"`
	Heads       []int                `json:"action_heads"`
	Nothing     int                  `json:"nothing"`
	MaskWords   int                  `json:"mask_words"`
	Actions     string               `json:"actions"`
	Rewards     []env.Reward         `json:"rewards"`
	Policies    []policy.Entry       `json:"policies"`
	Description features.Description `json:"observation"`
}

// formCard describes a form of a game in short.
type formCard struct {
	Name       string `json:"name"`
	Doc        string `json:"doc"`
	Sequential bool   `json:"sequential"`
}

// printRules lists the rules of a game.
func (a *app) printRules(name string) error {
	g, err := catalog.Find(name)
	if err != nil {
		return console.WrongUse("%w", err)
	}
	cards := g.RuleCards()
	rows := console.Rows(cards, []string{"key", "default", "from", "to", "what"}, func(c catalog.RuleCard) []string {
		return []string{c.Key, c.Value, c.Least, c.Most, c.Doc}
	})
	return a.Print(cards, func() { a.Table(rows...) })
}

func (a *app) games() *cobra.Command {
	rules, form := false, ""
	c := &cobra.Command{
		Use: "games [GAME]", Short: "List the games, or describe one",
		Long: `Lists the games with their shapes, or describes one: what its observations
and actions mean, its rewards and its policies; or, with --rules, the rules that
a file of rule values may set. A game may have several forms (observations with
actions; the first is the default): --form chooses the one that is described. In
a sequential form a seat gives the orders of a turn one action after the other.`,
		Example: "  moonfarm games\n  moonfarm games towerdefence\n  moonfarm games terminal --rules",
		Args:    console.Takes("[GAME]"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case rules && len(args) == 0:
				return console.WrongUse("--rules: expected a GAME")
			case form != "" && len(args) == 0:
				return console.WrongUse("--form: expected a GAME")
			case rules:
				return a.printRules(args[0])
			case len(args) == 1:
				card, err := describe(args[0], form)
				if err != nil {
					return err
				}
				return a.Print(card, func() { a.printGame(card) })
			}
			cards := []gameCard{}
			rows := [][]string{{"game", "rules", "seats", "turns", "planes", "scalars", "actions", "what"}}
			for _, g := range catalog.Games() {
				c, err := describe(g.Name, "")
				if err != nil {
					return err
				}
				cards = append(cards, c)
				rows = append(rows, []string{c.Name, c.Rules, texts.Group(c.Players), texts.Group(c.MaxTurns),
					shape(c.Planes[:]), texts.Group(c.Scalars), heads(c.Heads), c.Doc})
			}
			return a.Print(cards, func() { a.Table(rows...) })
		},
	}
	c.Flags().StringVar(&form, "form", "", "`NAME` of the form that is described")
	c.Flags().BoolVar(&rules, "rules", false, "list the rules of GAME: keys, defaults, bounds and meanings")
	return c
}

// describe makes the card of a game in a form, "" for the default.
func describe(name, form string) (gameCard, error) {
	t, err := gameFlags{}.open(name)
	if err != nil {
		return gameCard{}, err
	}
	s := t.spec
	if form != "" {
		ok := false
		if s, ok = s.InForm(form); !ok {
			return gameCard{}, console.WrongUse("--form %s: %s has the forms %s", form, name, strings.Join(formNames(t.spec), ", "))
		}
	}
	forms := []formCard{}
	for _, f := range s.Forms {
		forms = append(forms, formCard{f.Form, f.FormDoc, f.Sequential})
	}
	s.Description.PackedLayout = nil // hundreds of lines, for programs: manifests have it
	return gameCard{
		Name: name, Doc: t.game.Doc, Rules: s.Info.Rules, Players: s.Info.Players,
		MaxTurns: s.MaxTurns, MaxOrders: s.Info.MaxOrders, Form: s.Form, Forms: forms,
		Planes: [3]int{s.Shape.Planes, s.Shape.Height, s.Shape.Width}, Scalars: s.Shape.Scalars, Words: s.Shape.Words,
		Heads: s.Heads, Nothing: s.Nothing, MaskWords: s.MaskWords, Actions: s.Actions,
		Rewards: s.Rewards, Policies: policy.Names(name), Description: s.Description,
	}, nil
}

func (a *app) printGame(c gameCard) {
	a.Printf("%s: %s\n\n", c.Name, c.Doc)
	a.Printf("rules %s, %d seats, at most %s and %s of a seat in each\n",
		c.Rules, c.Players, texts.Plural(c.MaxTurns, "turn"), texts.Plural(c.MaxOrders, "order"))
	a.Printf("form %s\n", c.Form)
	a.Printf("observation: uint8 planes [%s], float32 scalars [%d]; packed: uint64 words [%d]\n", shape(c.Planes[:]), c.Scalars, c.Words)
	a.Printf("action: choices %s, mask uint64 words [%d]\n\n", heads(c.Heads), c.MaskWords)
	if len(c.Description.Tensors) == 0 {
		a.printFields("plane", c.Description.Planes)
	}
	for _, t := range c.Description.Tensors {
		a.Printf("tensor %s uint8 [%s]: %s\n\n", t.Name, shape(t.Dims), t.Doc)
		a.printFields(t.Name, t.Fields)
	}
	a.printFields("scalar", c.Description.Scalars)
	a.Text("packed: " + c.Description.Packed + "\n\nactions: " + c.Actions + "\n\n")
	if len(c.Forms) > 1 {
		a.Table(console.Rows(c.Forms, []string{"form", "what"}, func(f formCard) []string { return []string{f.Name, f.Doc} })...)
		a.Printf("\n")
	}
	a.Table(console.Rows(c.Rewards, []string{"reward", "what"}, func(r env.Reward) []string { return []string{r.Name, r.Doc} })...)
	a.Printf("\n")
	a.printPolicies(c.Policies)
}

func (a *app) printFields(what string, fields []features.Field) {
	if len(fields) == 0 {
		return
	}
	rows := [][]string{{"no", what, "unit", "scale", "what"}}
	for i, f := range fields {
		rows = append(rows, []string{texts.Group(i), f.Name, f.Unit, console.FormatFloat(float64(f.Scale)), f.Doc})
	}
	a.Table(rows...)
	a.Printf("\n")
}

// shape formats sizes as "12×8×16".
func shape(sizes []int) string {
	words := make([]string, len(sizes))
	for i, n := range sizes {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, "×")
}

// heads formats the numbers of choices of an action's heads: "322", "84 of 32, 210 of
// 16".
func heads(choices []int) string {
	var words []string
	for len(choices) > 0 {
		n := 1
		for ; n < len(choices) && choices[n] == choices[0]; n++ {
		}
		words = append(words, fmt.Sprintf("%d of %d", n, choices[0]))
		choices = choices[n:]
	}
	return strings.TrimPrefix(strings.Join(words, ", "), "1 of ")
}
