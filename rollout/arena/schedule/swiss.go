package schedule

import (
	"cmp"
	"slices"

	"moonfarm/sim/prng"
)

// Swiss is a tournament by the Swiss system for games of two seats: in each round a player meets
// another with as many points. The players are sorted by points, with ties in an order drawn from
// Seed, and paired from the top, each with the next player that it has not met. A candidate that
// would leave others without an opponent is skipped. So a round repeats an earlier pair only if
// every pairing of the round does.
//
// A win is 2 half points, a draw 1. With an odd number of players, one of the players with the
// fewest byes gets a bye (the last in the order that makes a pairing possible): the half points of
// winning all games of the round. Places of results decide games; a shared place is a draw.
//
// A player that joins later starts without points.
type Swiss struct {
	Players int // 2 … 5000
	// Joined is the round from which each player takes part; players beyond its length take part
	// from the first.
	Joined []int
	Rounds int
	Seeds  int // of each pair in a round, 1 or more; new in each round, the same for all pairs
	Seed   uint64
}

type swissState struct {
	points, byes []int
	met          map[[2]int]int
}

// Next returns the games without a result of the first incomplete round: see Schedule.
func (s Swiss) Next(results []Placing) ([]Fixture, error) {
	games, _, err := s.run(results)
	return games, err
}

func (s Swiss) check() error {
	return cmp.Or(
		checkRange("players", s.Players, 2, 5000),
		checkRange("rounds", s.Rounds, 0, 1<<roundBits-1),
		checkRange("seeds of a round", s.Seeds, 1, 1<<(gameBits-1)-1),
	)
}

// run goes through the rounds: it returns the next games, and the state after the complete rounds.
func (s Swiss) run(results []Placing) ([]Fixture, *swissState, error) {
	have, err := index(results)
	if err = cmp.Or(s.check(), err); err != nil {
		return nil, nil, err
	}
	state := &swissState{
		points: make([]int, s.Players), byes: make([]int, s.Players), met: map[[2]int]int{},
	}
	for round := range s.Rounds {
		ranked, err := s.ranked(state, round)
		if err != nil {
			return nil, nil, err
		}
		pairs, bye := state.pair(ranked)
		games := s.games(pairs, round)
		left, err := have.missing(games)
		if err != nil || len(left) > 0 {
			return left, state, err
		}
		s.count(state, games, bye, have)
	}
	return nil, state, nil
}

// ranked returns the players of a round, best first.
func (s Swiss) ranked(state *swissState, round int) ([]int, error) {
	all, err := entered(s.Players, s.Joined, round, 2)
	lot := func(p int) uint64 { return prng.StreamSeed(s.Seed, uint64(p), 0, 0, prng.PurposeDraw) }
	slices.SortFunc(all, func(p, q int) int {
		return cmp.Or(cmp.Compare(state.points[q], state.points[p]), cmp.Compare(lot(p), lot(q)), cmp.Compare(p, q))
	})
	return all, err
}

// pair pairs the players of a round, best first; the higher-ranked player of each pair comes first. bye is −1
// if there is none.
func (s *swissState) pair(ranked []int) (pairs [][2]int, bye int) {
	odd := len(ranked)%2 == 1
	vertices := len(ranked)
	if odd {
		vertices++ // the last vertex is the bye
	}
	cost := func(a, b int) int { // the number of earlier meetings, or byes
		if m := max(a, b); m == len(ranked) {
			return s.byes[ranked[min(a, b)]]
		}
		p, q := ranked[a], ranked[b]
		return s.met[[2]int{min(p, q), max(p, q)}]
	}
	// Find the least bound on the cost of a pair under which all can be paired. The largest cost of
	// all pairs is such a bound.
	var m *matching
	for bound := 0; ; bound++ {
		m = newMatching(vertices, func(a, b int) bool { return cost(a, b) <= bound })
		if m.perfect() {
			break
		}
	}
	free := func(first int) (all []int) {
		for b := first; b < len(ranked); b++ {
			if !m.off[b] {
				all = append(all, b)
			}
		}
		return all
	}
	bye = -1
	if odd {
		from := free(0)
		slices.Reverse(from)
		bye = ranked[fixFirst(m, len(ranked), from, cost)]
	}
	for a := range ranked {
		if m.off[a] {
			continue
		}
		b := fixFirst(m, a, free(a+1), cost)
		pairs = append(pairs, [2]int{ranked[a], ranked[b]})
	}
	return pairs, bye
}

// fixFirst pairs a for good with the first of the candidates, by increasing cost, that leaves all
// others a mate, and returns it. The current mate of a must be a candidate.
func fixFirst(m *matching, a int, candidates []int, cost func(a, b int) int) int {
	for least := 0; ; {
		next := -1 // the next larger cost
		for _, b := range candidates {
			c := cost(a, b)
			if c == least && m.fix(a, b) {
				return b
			}
			if c > least && (next < 0 || c < next) {
				next = c
			}
		}
		if next < 0 {
			return m.mate[a]
		}
		least = next
	}
}

func (s Swiss) games(pairs [][2]int, round int) (all []Fixture) {
	for table, pair := range pairs {
		for e := range s.Seeds {
			for r, players := range [2][]int{{pair[0], pair[1]}, {pair[1], pair[0]}} {
				all = append(all, Fixture{number(round, table, 2*e+r), players, round*s.Seeds + e, round, 0})
			}
		}
	}
	return all
}

// count adds the results of a complete round to the state.
func (s Swiss) count(state *swissState, games []Fixture, bye int, have byNumber) {
	for i := range games {
		r := have[games[i].Number]
		p, q := r.Players[0], r.Players[1]
		switch {
		case r.Places[0] < r.Places[1]:
			state.points[p] += 2
		case r.Places[0] > r.Places[1]:
			state.points[q] += 2
		default:
			state.points[p]++
			state.points[q]++
		}
		if games[i].Number&(1<<gameBits-1) == 0 {
			state.met[[2]int{min(p, q), max(p, q)}]++
		}
	}
	if bye >= 0 {
		state.byes[bye]++
		state.points[bye] += 4 * s.Seeds
	}
}
