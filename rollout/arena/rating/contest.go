package rating

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/exact"
	"moonfarm/sim/prng"
)

// This file follows the rules of the Russian AI Cup 2020 (CodeCraft), section on the tournament: a
// Sandbox with ratings from 1200, two rounds of games of four players, and finals of two, with
// points by place. The rules do not give the points of a place ("a system similar to" that of
// Formula 1), the formula of the Sandbox, the number of waves, or how opponents were drawn beyond
// "the closer the rating, the more likely". The values used here for these are our choice, and are
// marked so.

// ContestPoints returns the points by place in a game of 1 … 4 players. They are our choice:
// Formula 1's for three and four players, 2 and 0 for two.
func ContestPoints(players int) []int {
	if players <= 2 {
		return []int{2, 0}[:max(0, players)]
	}
	return []int{25, 18, 15, 12}[:min(4, players)]
}

// PlacePoints returns the points of players with the given scores; the highest score is the first
// place. Players that share places share their points equally, rounded down, as the contest's rules
// say. points has the points of each place, from the first, not negative. It fails if there are
// fewer points than players, or a score is not a number.
func PlacePoints(points []int, scores []float64) ([]int, error) {
	if len(points) < len(scores) {
		return nil, fmt.Errorf("rating: points for %d places, want %d", len(points), len(scores))
	}
	got := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("rating: score %d is not a number", i)
		}
		place, shared, sum := 0, 0, 0
		for _, t := range scores {
			if t > s {
				place++
			} else if t == s {
				shared++
			}
		}
		for _, p := range points[place : place+shared] {
			if p < 0 {
				return nil, fmt.Errorf("rating: a place with %d points, want 0 or more", p)
			}
			sum += p
		}
		got[i] = sum / shared
	}
	return got, nil
}

// SandboxRating is a rating in the Sandbox. Games counts the games since the rating was last made mobile:
// a player who sends a new strategy may ask for that, which sets Games to 0.
type SandboxRating struct {
	Rating float64 `json:"rating"`
	Games  int     `json:"games"`
}

// SandboxRule defines how ratings in the Sandbox change. The contest's rules say that they start at
// 1200, that a victory over the weak and a defeat by the strong change them little, and that they
// become more and more inert. The contest's page of 2019 calls it a modified Elo rating with an
// expected place (russianaicup.ru/p/sandbox). The numbers except the start are our choice.
type SandboxRule struct {
	Start float64 // rating of a new strategy
	Most  float64 // points between the first and last place of equal players, in the first game
	Least float64 // the same after many games
	Half  int     // number of games after which Most is halved
}

// ContestSandbox returns a rule with the contest's start.
func ContestSandbox() SandboxRule { return SandboxRule{Start: 1200, Most: 64, Least: 8, Half: 20} }

// After returns the ratings of a game's players after it, by their scores. It is Elo's rating for
// several players: the expected place is the sum of the probabilities, by the logistic curve of 400
// points, to end behind each of the others; a shared place counts half. It fails if the numbers of
// scores and players differ, or a value is not finite.
func (r SandboxRule) After(players []SandboxRating, scores []float64) ([]SandboxRating, error) {
	if len(players) != len(scores) {
		return nil, fmt.Errorf("rating: %d scores of %d players", len(scores), len(players))
	}
	after := make([]SandboxRating, len(players))
	for i, p := range players {
		if math.IsNaN(scores[i]) || !(math.Abs(p.Rating) <= 1e9) || p.Games < 0 {
			return nil, fmt.Errorf("rating: player %d has score %v, rating %v, %d games", i, scores[i], p.Rating, p.Games)
		}
		better := 0.0 // places better than expected
		for j, q := range players {
			if j == i {
				continue
			}
			d := max(-10000, min(10000, p.Rating-q.Rating))
			better += float64(0.5*float64(cmp.Compare(scores[i], scores[j]))) + 0.5 - 1/(1+exact.Exp(-d*(math.Ln10/400)))
		}
		step := max(r.Least, r.Most*float64(r.Half)/(float64(r.Half)+float64(p.Games)))
		after[i] = SandboxRating{p.Rating, p.Games + 1}
		if len(players) > 1 {
			after[i].Rating += float64(step*better) / float64(len(players)-1)
		}
	}
	return after, nil
}

// Entry is a player in a list of standings.
type Entry struct {
	Player   int
	Points   float64 // sum of points in a stage, or the rating in the Sandbox
	Uploaded int64   // when its strategy was sent, in any unit; the earlier of equals ranks first
}

// Rank sorts standings as the rules do: by points, then by the time when the strategy was sent, the
// earlier first.
func Rank(table []Entry) []Entry {
	ranked := slices.Clone(table)
	slices.SortStableFunc(ranked, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Uploaded, b.Uploaded), cmp.Compare(a.Player, b.Player))
	})
	return ranked
}

// Stage is a stage of the contest.
type Stage struct {
	Name        string
	Seats       int  // of a game
	Parts       int  // between which strategies may be replaced
	Waves       bool // in each wave every player has one game; otherwise all pairs play
	FromStage   int  // most players taken from the previous stage
	FromSandbox int  // most players added from the Sandbox
}

// ContestStages returns the stages of the contest of 2020.
func ContestStages() []Stage {
	return []Stage{
		{Name: "Round 1", Seats: 4, Parts: 2, Waves: true, FromSandbox: 1080},
		{Name: "Round 2", Seats: 4, Parts: 2, Waves: true, FromStage: 300, FromSandbox: 60},
		{Name: "Finals", Seats: 2, Parts: 2, FromStage: 50, FromSandbox: 10},
	}
}

// Field returns the players of a stage: the best of the previous stage, and the best of the Sandbox
// among the others. In stages with waves their number is cut to a multiple of the seats, as the
// rules say for Round 1.
func (s Stage) Field(before, sandbox []Entry) []int {
	var field []int
	for k, e := range Rank(before) {
		if k < s.FromStage {
			field = append(field, e.Player)
		}
	}
	more := s.FromSandbox
	for _, e := range Rank(sandbox) {
		if more > 0 && !slices.Contains(field, e.Player) {
			field = append(field, e.Player)
			more--
		}
	}
	if s.Waves && s.Seats > 0 {
		field = field[:len(field)-len(field)%s.Seats]
	}
	return field
}

// Wave returns the players of each game of a wave, drawn so that all orders are equally likely, as
// the contest's page of 2018 says (russianaicup.ru/p/round1). The draw follows from the seed and
// the wave's number. Players that do not fill a game sit out.
func Wave(players []int, seats int, seed, wave uint64) [][]int {
	if seats < 1 {
		return nil
	}
	drawn := slices.Clone(players)
	r := prng.New(prng.StreamSeed(seed, wave, 0, 0, prng.PurposeDraw))
	for k := len(drawn) - 1; k > 0; k-- {
		j := r.IntN(k + 1)
		drawn[k], drawn[j] = drawn[j], drawn[k]
	}
	var tables [][]int
	for t := range slices.Chunk(drawn, seats) {
		if len(t) == seats {
			tables = append(tables, t)
		}
	}
	return tables
}
