// Package arena measures which of several players is the best: policies, original bots, models.
//
//   - A Tournament plays the games of a schedule (package schedule).
//   - A Journal stores them, so that a stopped or killed tournament can continue and
//     can be extended.
//   - Evaluate makes a Report of them: scores, ratings with intervals (package
//     rating), likelihoods of superiority, repetitions, faults.
//   - Run does all of this for policies, without a journal.
//
// The games of one seed share its luck and are not independent, so the unit of the statistics is
// the seed. In a round robin every lineup of different players plays the same game seeds in every
// order of the seats: with two seats, each pair plays each seed twice, with the seats exchanged. No
// player gains from a seed or a seat, and all pairs are measured on the same games.
//
// The intervals of scores are Wilson's (95 %), with the number of seeds as the number of trials. A
// variable in 0 … 1 with mean p has at most the variance p(1−p) of a coin. So these intervals are
// too wide rather than too narrow, and unlike the normal interval they remain valid for a player
// that won every game. The intervals of ratings estimate how strongly the games of a seed are
// correlated: see package rating.
package arena

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout/arena/schedule"
)

// RunOptions configure Run.
type RunOptions struct {
	Vector   func() (env.Vector, error) // makes the games of one worker; called by several goroutines at once
	Policies []Entrant                  // 2 or more; a name may occur twice: a policy can meet itself
	Games    int                        // least number of games of each lineup; rounded up to all orders of its seats on the last seed
	Seed     uint64                     // master seed; episode e has rollout.GameSeed(Seed, e)
	Workers  int                        // number of goroutines; the result does not depend on it
	// Progress, if not nil, is called from time to time with the number of games played and of all
	// games. Calls come one at a time.
	Progress func(played, all int)
}

// Run plays a round robin and evaluates it. It fails if there are fewer than two policies, no
// games, or a policy that cannot play the game. If it fails later, or the context is done before
// the last game, it returns the report on the seeds that all lineups have played (nil if there are
// none), with the error or the context's cause.
func Run(ctx context.Context, c RunOptions) (*Report, error) {
	if len(c.Policies) < 2 {
		return nil, fmt.Errorf("arena: %d policies, want 2 or more", len(c.Policies))
	}
	if c.Games < 1 {
		return nil, fmt.Errorf("arena: %d games, want 1 or more", c.Games)
	}
	if c.Vector == nil {
		return nil, errors.New("arena: RunOptions.Vector is nil")
	}
	var names []string
	for _, p := range c.Policies {
		if p.New == nil {
			return nil, fmt.Errorf("arena: New of policy %q is nil", p.Name)
		}
		names = append(names, p.Name)
	}
	v, err := c.Vector()
	if err != nil {
		return nil, err
	}
	info := v.Spec().Info
	if info.Players < 2 {
		return nil, fmt.Errorf("arena: %s has %d seats by these rules, want 2 or more", info.Name, info.Players)
	}
	s := schedule.NewRoundRobin(len(names), info.Players, c.Games)
	fixtures, err := s.Next(nil)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	var mu sync.Mutex
	played := 0
	t := Tournament{Vector: func(int) (env.Vector, error) { return c.Vector() }, Players: c.Policies, Seed: c.Seed, Workers: c.Workers, Schedule: s}
	t.Done = func(*Played) error {
		mu.Lock()
		defer mu.Unlock()
		if played++; c.Progress != nil {
			c.Progress(played, len(fixtures))
		}
		return nil
	}
	games, err := t.Play(ctx)
	games = games[:len(games)/(len(fixtures)/s.Seeds)*(len(fixtures)/s.Seeds)] // whole seeds only
	if len(games) == 0 {
		return nil, err
	}
	r, failed := Evaluate(names, games, -1)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	complete := len(games) == len(fixtures)
	r.Game, r.Rules, r.Seed, r.Schedule, r.Complete = info.Name, info.Rules, c.Seed, "round-robin", &complete
	return r, err
}
