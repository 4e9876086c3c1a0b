// Package arena finds out which of several policies is the better one.
//
// Every lineup of different policies meets on the same game seeds and in every
// rotation of the seats: with two seats, each pair plays each seed twice, with
// the seats exchanged. What a seed or a seat gives one side it gives the other
// too, and all pairs are measured on the same games. With more seats than
// policies the lineup repeats them in order.
//
// A policy scores against another 1 for ending before it, ½ for ending level
// and 0 for ending behind. Where more than two sit at a table, each two of
// different policies are compared.
//
// The games of one seed are not independent of each other, so the unit of the
// statistics is the seed: the mean score over all its games is one observation
// in 0 … 1. Intervals are Wilson's score intervals (95 %) with as many trials
// as seeds. A variable in 0 … 1 with mean p has at most the variance p(1−p) of
// a coin, so the intervals are too wide rather than too narrow (with two seats
// by a factor of √2 at most, if seats decided nothing), and unlike the normal
// interval they stay honest when every game was won.
//
// A game without chance between policies without chance is the same on every
// seed; no interval tells.
package arena

import (
	"context"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Entrant is a policy that takes part. Names may repeat: a policy can meet
// itself.
type Entrant struct {
	Name string
	New  rollout.Maker
}

// Config says who plays what.
type Config struct {
	Vector   func() (env.Vector, error) // the games of one worker; called by several goroutines at once
	Policies []Entrant                  // 2 or more
	Games    int                        // games of each lineup at least; rounded up to all rotations of its last seed
	Seed     uint64                     // master seed; episode e has rollout.GameSeed(Seed, e)
	Workers  int                        // goroutines; the result is the same for any number
	// Progress, if not nil, is told now and then how many games are played of
	// all. Calls come one at a time.
	Progress func(played, all int)
}

// Result is what came out. Its JSON keys are stable.
type Result struct {
	Game     string     `json:"game"`
	Rules    string     `json:"rules"` // version
	Seed     uint64     `json:"seed"`
	Seats    int        `json:"seats"`
	Seeds    int        `json:"seeds"` // game seeds, shared by all lineups
	Games    int        `json:"games"` // played in all
	Policies []Standing `json:"policies"`
	Pairs    []Pair     `json:"pairs"` // each two policies, in the order given
}

// Tally counts comparisons of one side with another. With two seats these are
// games.
type Tally struct {
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
	// Score is (wins + draws/2) / all, from 0 to 1; Low and High bound it with
	// 95 % confidence.
	Score float64 `json:"score"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Standing is one policy against all others.
type Standing struct {
	Policy string `json:"policy"`
	Tally
	// Rating is on the scale of Elo: 400 points more mean ten wins for one
	// loss. The mean of all policies is 0. See ratings.
	Rating float64 `json:"rating"`
	// First is the Tally's score where the policy sat at seat 0.
	First float64 `json:"score_at_seat_0"`
}

// Pair is policy A against policy B, told from A's side.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	Tally
	MeanTurns float64 `json:"mean_turns"` // length of the games both played in
}

// Run plays all games and evaluates them. It fails if there are fewer than two
// policies, no games, a policy that cannot play the game, or if the context is
// done before the last game.
func Run(ctx context.Context, c Config) (*Result, error) {
	if len(c.Policies) < 2 {
		return nil, fmt.Errorf("arena: %d policies, want 2 or more", len(c.Policies))
	}
	if c.Games < 1 {
		return nil, fmt.Errorf("arena: %d games, want 1 or more", c.Games)
	}
	v, err := c.Vector()
	if err != nil {
		return nil, err
	}
	info := v.Spec().Info
	if info.Players < 2 {
		return nil, fmt.Errorf("arena: by these rules %s has seats for %d, want 2 or more", info.Name, info.Players)
	}
	s := &schedule{
		lineups: lineups(len(c.Policies), info.Players),
		seats:   info.Players,
		seeds:   (c.Games + info.Players - 1) / info.Players,
	}
	if err := s.play(ctx, c); err != nil {
		return nil, err
	}
	r := &Result{
		Game: info.Name, Rules: info.Rules, Seed: c.Seed,
		Seats: s.seats, Seeds: s.seeds, Games: s.games(),
	}
	s.evaluate(r, c.Policies)
	return r, nil
}

// lineups lists who meets: every set of as many of the policies as there are
// seats, or all of them, repeated in order, if they are fewer.
func lineups(policies, seats int) (all [][]int) {
	if policies <= seats {
		one := make([]int, seats)
		for p := range one {
			one[p] = p % policies
		}
		return [][]int{one}
	}
	var choose func(from int, chosen []int)
	choose = func(from int, chosen []int) {
		if len(chosen) == seats {
			all = append(all, append([]int(nil), chosen...))
			return
		}
		for k := from; k < policies; k++ {
			choose(k+1, append(chosen, k))
		}
	}
	choose(0, nil)
	return all
}

// schedule is all games and their results.
type schedule struct {
	lineups [][]int // policy by seat, before rotation
	seats   int
	seeds   int
	results []result // [lineup][seed][rotation]
}

// result is how one game ended.
type result struct {
	place [sim.MaxPlayers]float32 // Outcome.Result by seat
	turns int32
}

// games is the number of all games.
func (s *schedule) games() int { return len(s.lineups) * s.seeds * s.seats }

// at is the result of one game. In rotation r seat p is taken by number
// (p+r) mod seats of the lineup.
func (s *schedule) at(lineup, seed, rotation int) *result {
	return &s.results[(lineup*s.seeds+seed)*s.seats+rotation]
}

// policyAt is the policy at seat p.
func (s *schedule) policyAt(lineup, rotation, p int) int {
	return s.lineups[lineup][(p+rotation)%s.seats]
}

// play plays all games: each lineup and rotation is a run over all seeds.
func (s *schedule) play(ctx context.Context, c Config) error {
	s.results = make([]result, s.games())
	played := 0
	for l := range s.lineups {
		for r := range s.seats {
			job := rollout.Job{Seed: c.Seed, Episodes: uint64(s.seeds), Vector: c.Vector}
			job.ShardEpisodes = uint64(max(16, s.seeds/(2*max(c.Workers, 1))))
			for p := range s.seats {
				job.Seats = append(job.Seats, c.Policies[s.policyAt(l, r, p)].New)
			}
			shards := make([]int, job.Shards())
			for i := range shards {
				shards[i] = i
			}
			o := rollout.Options{Workers: c.Workers}
			if c.Progress != nil {
				o.Progress = func(n rollout.Counts) { c.Progress(played+int(n.Episodes), s.games()) }
			}
			open := func(int) (rollout.ShardSink, error) { return &sink{s, l, r}, nil }
			if err := rollout.Run(ctx, job, shards, open, o); err != nil {
				return err
			}
			played += s.seeds
		}
	}
	return nil
}

// sink writes the results of one lineup and rotation. Each game has a place of
// its own, so sinks of several workers do not meet.
type sink struct {
	s                *schedule
	lineup, rotation int
}

func (k *sink) Episode(e *rollout.Episode) error {
	r := k.s.at(k.lineup, int(e.ID), k.rotation)
	r.turns = int32(e.Turns)
	for p := range e.Players {
		r.place[p] = e.Outcome[p].Result
	}
	return nil
}

func (k *sink) Commit() error { return nil }

func (k *sink) Abort() {}
