package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"moonfarm/env"
	"moonfarm/rollout/arena"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	gameFlags
	policies string
	games    int
	seed     uint64
	workers  int
}

func (a *app) eval() *cobra.Command {
	f := &evalFlags{}
	c := &cobra.Command{
		Use: "eval GAME --policies A,B", Short: "Let policies play each other",
		Long: `Lets every two of the policies meet on the same seeds with the seats exchanged,
and tells wins, draws, losses and the score with a 95 % interval. The score is
(wins + draws/2) / games. The result depends on nothing but the policies, the
game and the seed.

With --json: one object with the keys game, rules, seed, seats, seeds (game
seeds, shared by all), games (played in all), policies (each with policy, wins,
draws, losses, score, low, high: the bounds of the interval; rating: on the
scale of Elo, mean 0; score_at_seat_0), pairs (each with a, b, mean_turns and,
from a's side, wins, draws, losses, score, low, high).`,
		Example: "  moonfarm eval towerdefence --policies random,econ,turtle --games 500\n  moonfarm eval codecraft --policies econ,turtle --rules round1-4",
		Args:    takes("GAME"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runEval(c.Context(), args[0], f) },
	}
	f.games = 200
	c.Flags().StringVar(&f.policies, "policies", "", "`A,B`: two policies or more (see policies GAME)")
	c.Flags().Var(whole[int]{&f.games, 1, math.MaxInt32}, "games", "games of each two policies, at least")
	seedFlag(c, &f.seed)
	c.Flags().StringVar(&f.rulesFile, "rules", "", "`FILE` with the game's own rule values, or the name of a rule set"+rulesDocs())
	f.addMaxTurns(c)
	workersFlag(c, &f.workers)
	return c
}

func (a *app) runEval(ctx context.Context, game string, f *evalFlags) error {
	t, err := f.open(game)
	if err != nil {
		return err
	}
	if f.policies == "" {
		return wrongUse("--policies is missing: two policies or more, such as --policies random,random")
	}
	c := arena.Config{
		Vector: func() (env.Vector, error) { return t.vector(evalGames) },
		Games:  f.games, Seed: f.seed, Workers: f.workers,
	}
	for _, spec := range splitSpecs(f.policies) {
		maker, name, err := t.policy("policies", spec)
		if err != nil {
			return err
		}
		c.Policies = append(c.Policies, arena.Entrant{Name: name, New: maker})
	}
	if len(c.Policies) < 2 {
		return wrongUse("--policies %s: 1 policy, expected 2 or more", f.policies)
	}
	m := a.meter("games")
	c.Progress = func(played, all int) { m.show(uint64(played), uint64(all), 0, "") }
	r, err := arena.Run(ctx, c)
	passed := m.end()
	if err != nil {
		return err
	}
	return a.print(r, func() {
		a.printEval(r)
		a.printf("\n%s %s: %s on %s, seed %d (%.1f s)\n", r.Game, r.Rules, plural(r.Games, "game"), plural(r.Seeds, "seed"), r.Seed, passed.Seconds())
	})
}

// evalGames is how many games a worker plays side by side.
const evalGames = 32

func (a *app) printEval(r *arena.Result) {
	cells := func(t arena.Tally) []string {
		return []string{fmt.Sprintf("%.3f", t.Score), fmt.Sprintf("%.3f…%.3f", t.Low, t.High), group(t.Wins), group(t.Draws), group(t.Losses)}
	}
	rows := [][]string{{"policy", "rating", "score", "95 %", "wins", "draws", "losses", "score at seat 0"}}
	for _, s := range r.Policies {
		row := append([]string{s.Policy, fmt.Sprintf("%+.0f", s.Rating)}, cells(s.Tally)...)
		rows = append(rows, append(row, fmt.Sprintf("%.3f", s.First)))
	}
	a.table(rows...)
	a.printf("\n")
	rows = [][]string{{"policy", "against", "score", "95 %", "wins", "draws", "losses", "turns"}}
	for _, p := range r.Pairs {
		row := append([]string{p.A, p.B}, cells(p.Tally)...)
		rows = append(rows, append(row, fmt.Sprintf("%.0f", p.MeanTurns)))
	}
	a.table(rows...)
}
