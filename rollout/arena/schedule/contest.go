package schedule

import (
	"cmp"
	"slices"

	"moonfarm/sim/prng"
)

// This file follows the rules of the Russian AI Cup 2020 (CodeCraft), section on the tournament: a
// Sandbox with ratings from 1200, two rounds of games of four players, and finals of two, with
// points by place. The rules do not give the points of a place ("a system similar to" that of
// Formula 1), the formula of the Sandbox, the number of waves, or how opponents were drawn beyond
// "the closer the rating, the more likely". The values used here for these are our choice, and are
// marked so.

// contestPoints are the points by place in a game of three or four players. They are our choice:
// Formula 1's.
var contestPoints = []int{25, 18, 15, 12}

// contestParts is the number of parts of a stage, between which strategies may be replaced.
const contestParts = 2

type stage struct {
	name        string
	seats       int  // of a game
	waves       bool // in each wave every player has one game; otherwise all pairs play
	fromStage   int  // most players taken from the previous stage
	fromSandbox int  // most players added from the Sandbox
}

func contestStages() []stage {
	return []stage{
		{name: "Round 1", seats: 4, waves: true, fromSandbox: 1080},
		{name: "Round 2", seats: 4, waves: true, fromStage: 300, fromSandbox: 60},
		{name: "Finals", seats: 2, fromStage: 50, fromSandbox: 10},
	}
}

// Entry is a player in a list of standings.
type Entry struct {
	Player int
	Points float64 // sum of points in a stage, or the rating in the Sandbox
}

// rank sorts standings as the rules do: by points, then by the time when the strategy was sent, which
// is the order of the players.
func rank(table []Entry) []Entry {
	slices.SortFunc(table, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Player, b.Player))
	})
	return table
}

// field returns the players of a stage: the best of the previous stage, and the best of the Sandbox
// among the others, both ranked. In stages with waves their number is cut to a multiple of the seats, as
// the rules say for Round 1.
func (s stage) field(before, sandbox []Entry) (field []int) {
	for _, e := range before[:min(len(before), s.fromStage)] {
		field = append(field, e.Player)
	}
	more := s.fromSandbox
	for _, e := range sandbox {
		if more > 0 && !slices.Contains(field, e.Player) {
			field = append(field, e.Player)
			more--
		}
	}
	if s.waves {
		field = field[:len(field)-len(field)%s.seats]
	}
	return field
}

// draw returns the players of each game of a wave, drawn so that all orders are equally likely, as
// the contest's page of 2018 says (russianaicup.ru/p/round1). The draw follows from the seed and
// the wave's number. Players that do not fill a game sit out.
func draw(players []int, seats int, seed, wave uint64) (tables [][]int) {
	drawn := slices.Clone(players)
	r := prng.New(prng.StreamSeed(seed, wave, 0, 0, prng.PurposeDraw))
	for k := len(drawn) - 1; k > 0; k-- {
		j := r.IntN(k + 1)
		drawn[k], drawn[j] = drawn[j], drawn[k]
	}
	for t := range slices.Chunk(drawn[:len(drawn)-len(drawn)%seats], seats) {
		tables = append(tables, t)
	}
	return tables
}

// standingsOf ranks the players of a stage by the points of its games so far.
func standingsOf(players []int, games []Fixture, have byNumber) (all []Entry) {
	points := map[int]int{}
	for i := range games {
		if p := have[games[i].Number]; p != nil {
			for seat, n := range pointsOf(p.Places) {
				points[p.Players[seat]] += n
			}
		}
	}
	for _, p := range players {
		all = append(all, Entry{p, float64(points[p])})
	}
	return rank(all)
}

// pointsOf returns the points of the players of a game by their places. Players that share places share
// their points equally, rounded down, as the contest's rules say.
func pointsOf(places []int) []int {
	points := contestPoints
	if len(places) == 2 {
		points = []int{2, 0} // our choice
	}
	won := make([]int, len(places))
	for i, own := range places {
		better, shared, sum := 0, 0, 0
		for _, p := range places {
			if p < own {
				better++
			} else if p == own {
				shared++
			}
		}
		for _, n := range points[better : better+shared] {
			sum += n
		}
		won[i] = sum / shared
	}
	return won
}
