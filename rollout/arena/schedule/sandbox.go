package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

// Sandbox is an endless qualification as in CodeCraft 2020: the closer the ratings of two players,
// by rating.ContestSandbox, the more likely they meet. In each round the players are sorted by their ratings after the
// earlier rounds, each plus or minus a random amount; adjacent players share a game, in random
// seats. If the players do not fill all games, those with the most games so far sit out.
//
// The contest's rules say only that closer ratings meet more often. There every player played about
// once an hour; players that crashed, or had not been replaced for weeks, played less often. Here
// all play equally often. Ratings are rounded to whole points first, so that their last digits do
// not matter.
type Sandbox struct {
	Players int // at least Seats, at most 100000
	// Joined is the round from which each player takes part; players beyond its length take part
	// from the first.
	Joined []int
	Seats  int // of the game
	Rounds int
	// Spread is the largest random amount in rating points.
	Spread int
	Seed   uint64
}

// Next returns the games without a result of the first incomplete round: see Schedule.
func (s Sandbox) Next(results []Placing) ([]Fixture, error) {
	have, err := index(results)
	if err = firstError(s.check(), err); err != nil {
		return nil, err
	}
	played, own := make([]int, s.Players), newSandboxRatings(s.Players)
	for round := range s.Rounds {
		games, err := s.games(round, played, own)
		if err != nil {
			return nil, err
		}
		left, err := have.missing(games)
		if err != nil || len(left) > 0 {
			return left, err
		}
		for i := range games {
			own.after(have[games[i].Number])
			for _, p := range games[i].Players {
				played[p]++
			}
		}
	}
	return nil, nil
}

func (s Sandbox) check() error {
	err := firstError(
		checkRange("seats", s.Seats, 2, maxSeats),
		checkRange("players", s.Players, s.Seats, 100_000),
		checkRange("rounds", s.Rounds, 0, 1<<roundBits-1),
		checkRange("spread", s.Spread, 0, 1<<20),
	)
	if err == nil && len(s.Joined) > s.Players {
		return fmt.Errorf("schedule: %d players, but Joined for %d", s.Players, len(s.Joined))
	}
	return err
}

// games returns the games of a round.
func (s Sandbox) games(round int, played []int, own sandboxRatings) (all []Fixture, err error) {
	var players []int
	for p := range s.Players {
		if p >= len(s.Joined) || s.Joined[p] <= round {
			players = append(players, p)
		}
	}
	if len(players) < s.Seats {
		return nil, fmt.Errorf("schedule: round %d has %d players, want %d or more", round, len(players), s.Seats)
	}
	ratings, lot := map[int]int{}, map[int]uint64{}
	for _, p := range players {
		r := prng.New(prng.StreamSeed(s.Seed, uint64(p), uint64(round), 2, prng.PurposeDraw))
		ratings[p] = int(math.Round(own[p].Rating)) + r.IntN(2*s.Spread+1) - s.Spread
		lot[p] = r.Uint64()
	}
	slices.SortFunc(players, func(p, q int) int {
		return cmp.Or(cmp.Compare(played[p], played[q]), cmp.Compare(lot[p], lot[q]), cmp.Compare(p, q))
	})
	players = players[:len(players)-len(players)%s.Seats]
	slices.SortFunc(players, func(p, q int) int {
		return cmp.Or(cmp.Compare(ratings[q], ratings[p]), cmp.Compare(lot[p], lot[q]), cmp.Compare(p, q))
	})
	for table := 0; len(players) > 0; table++ {
		seating := slices.Clone(players[:s.Seats])
		slices.SortFunc(seating, func(p, q int) int { return cmp.Or(cmp.Compare(lot[p], lot[q]), cmp.Compare(p, q)) })
		all = append(all, Fixture{number(round, table, 0), seating, round, round, 0})
		players = players[s.Seats:]
	}
	return all, nil
}

// sandboxRatings are the ratings of all players by the contest's rule.
type sandboxRatings []rating.SandboxRating

func newSandboxRatings(players int) sandboxRatings {
	own := make(sandboxRatings, players)
	for i := range own {
		own[i].Rating = rating.ContestSandbox().Start
	}
	return own
}

// after updates the ratings of the players of a game.
func (s sandboxRatings) after(r *Placing) {
	at, scores := make([]rating.SandboxRating, len(r.Players)), make([]float64, len(r.Players))
	for seat, p := range r.Players {
		at[seat], scores[seat] = s[p], -float64(r.Places[seat])
	}
	after, err := rating.ContestSandbox().After(at, scores)
	if err != nil {
		return // cannot happen: places and ratings are finite
	}
	for seat, p := range r.Players {
		s[p] = after[seat]
	}
}
