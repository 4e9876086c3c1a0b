package schedule

import (
	"cmp"
	"math"
	"slices"

	"moonfarm/rollout/exact"
	"moonfarm/sim/prng"
)

// Sandbox is an endless qualification as in CodeCraft 2020: the closer the ratings of two players,
// by its rule, the more likely they meet. In each round the players are sorted by their ratings after the
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
	left, _, err := s.run(results)
	return left, err
}

// run returns the next games, and the ratings after the results so far.
func (s Sandbox) run(results []Placing) (left []Fixture, own sandboxRatings, err error) {
	have, err := index(results)
	if err = cmp.Or(s.check(), err); err != nil {
		return nil, nil, err
	}
	played := make([]int, s.Players)
	own = newSandboxRatings(s.Players)
	for round := 0; round < s.Rounds && len(left) == 0; round++ {
		games, err := s.games(round, played, own)
		if err != nil {
			return nil, nil, err
		}
		if left, err = have.missing(games); err != nil {
			return nil, nil, err
		}
		for i := range games {
			if r := have[games[i].Number]; r != nil {
				own.after(r)
				for _, p := range r.Players {
					played[p]++
				}
			}
		}
	}
	return left, own, nil
}

func (s Sandbox) check() error {
	return cmp.Or(
		checkRange("seats", s.Seats, 2, maxSeats),
		checkRange("players", s.Players, s.Seats, 100_000),
		checkRange("rounds", s.Rounds, 0, 1<<roundBits-1),
		checkRange("spread", s.Spread, 0, 1<<20),
	)
}

func (s Sandbox) games(round int, played []int, own sandboxRatings) (all []Fixture, err error) {
	players, err := entered(s.Players, s.Joined, round, s.Seats)
	if err != nil {
		return nil, err
	}
	ratings, lot := map[int]int{}, map[int]uint64{}
	for _, p := range players {
		r := prng.New(prng.StreamSeed(s.Seed, uint64(p), uint64(round), 2, prng.PurposeDraw))
		ratings[p] = int(math.Round(own[p].rating)) + r.IntN(2*s.Spread+1) - s.Spread
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

// The contest's rules say that ratings in the Sandbox start at 1200, that a victory over the weak and a
// defeat by the strong change them little, and that they become more and more inert. The contest's page
// of 2019 calls it a modified Elo rating with an expected place (russianaicup.ru/p/sandbox). The numbers
// except the start are our choice.
const (
	sandboxStart = 1200
	sandboxMost  = 64 // points between the first and last place of equal players, in the first game
	sandboxLeast = 8  // the same after many games
	sandboxHalf  = 20 // number of games after which sandboxMost is halved
)

// sandboxRatings are the ratings of all players in the Sandbox.
type sandboxRatings []sandboxRating

type sandboxRating struct {
	rating float64
	games  int
}

func newSandboxRatings(players int) sandboxRatings {
	own := make(sandboxRatings, players)
	for i := range own {
		own[i].rating = sandboxStart
	}
	return own
}

// after updates the ratings of the players of a game. It is Elo's rating for several players: the
// expected place is the sum of the probabilities, by the logistic curve of 400 points, to end behind
// each of the others; a shared place counts half.
func (s sandboxRatings) after(r *Placing) {
	before := make([]sandboxRating, len(r.Players))
	for seat, p := range r.Players {
		before[seat] = s[p]
	}
	for i, p := range before {
		better := 0.0 // places better than expected
		for j, q := range before {
			if j != i {
				better += float64(0.5*float64(cmp.Compare(r.Places[j], r.Places[i]))) + 0.5 - 1/(1+exact.Exp(-(p.rating-q.rating)*(math.Ln10/400)))
			}
		}
		step := max(sandboxLeast, sandboxMost*sandboxHalf/(sandboxHalf+float64(p.games)))
		s[r.Players[i]] = sandboxRating{p.rating + float64(step*better)/float64(len(before)-1), p.games + 1}
	}
}
