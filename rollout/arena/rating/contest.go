package rating

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"moonfarm/sim/prng"
)

// The contest of CodeCraft, as the rules of the Russian AI Cup 2020 tell it in
// their section on the tournament: a Sandbox with ratings from 1200, two rounds of
// tables of four, and finals of two, with points by place. They do not tell how many
// points a place has ("a system similar to" that of Formula 1), the formula of the
// Sandbox, how many waves there are, or how its opponents were drawn beyond "the
// closer the rating, the more likely". What stands here for these is a choice of
// ours, marked as such.

// ContestPoints are points by place for a table of so many players, 1 … 4. They are
// our choice: those of Formula 1 for tables of three and four, 2 and 0 for two.
func ContestPoints(players int) []int {
	if players <= 2 {
		return []int{2, 0}[:max(0, players)]
	}
	return []int{25, 18, 15, 12}[:min(4, players)]
}

// PlacePoints are the points of players with the given scores, of which the highest
// is the first place. Who shares places shares their points equally, rounded down,
// as the contest's rules say. points are those of each place, from the first, not
// negative. It fails if there are fewer points than players, or a score is no
// number.
func PlacePoints(points []int, scores []float64) ([]int, error) {
	if len(points) < len(scores) {
		return nil, fmt.Errorf("rating: points for %d places, want %d", len(points), len(scores))
	}
	got := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("rating: score %d is no number", i)
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

// Sandbox is a rating in the Sandbox. Games are those since the rating was last
// made mobile, which its owner may ask for with a new strategy: Games is then 0.
type Sandbox struct {
	Rating float64 `json:"rating"`
	Games  int     `json:"games"`
}

// SandboxRule is how ratings in the Sandbox move. The rules tell that they start at
// 1200, that a victory over the weak and a defeat by the strong change them little,
// and that they become more and more inert. The contest's page of 2019 calls it a
// modified Elo rating with an expected place
// (russianaicup.ru/p/sandbox). The numbers but the start are our choice.
type SandboxRule struct {
	Start float64 // rating of a new strategy
	Most  float64 // points between the first and last place of equals, in the first game
	Least float64 // the same after many games
	Half  int     // games after which Most is halved
}

// ContestSandbox is a rule with the contest's start.
func ContestSandbox() SandboxRule { return SandboxRule{Start: 1200, Most: 64, Least: 8, Half: 20} }

// After are the ratings of the players of one game after it, by their scores: Elo's
// rating for several, in which the place that is expected is the sum of the
// chances, by the logistic curve of 400 points, to end behind each of the others,
// and a place shared counts half. It fails if there are not as many scores as
// players, or a number is none.
func (r SandboxRule) After(players []Sandbox, scores []float64) ([]Sandbox, error) {
	if len(players) != len(scores) {
		return nil, fmt.Errorf("rating: %d scores of %d players", len(scores), len(players))
	}
	after := make([]Sandbox, len(players))
	for i, p := range players {
		if math.IsNaN(scores[i]) || !(math.Abs(p.Rating) <= 1e9) || p.Games < 0 {
			return nil, fmt.Errorf("rating: player %d has score %v, rating %v, %d games", i, scores[i], p.Rating, p.Games)
		}
		better := 0.0 // places, than expected
		for j, q := range players {
			if j == i {
				continue
			}
			d := max(-10000, min(10000, p.Rating-q.Rating))
			better += float64(0.5*float64(cmp.Compare(scores[i], scores[j]))) + 0.5 - 1/(1+exp(-d*(math.Ln10/400)))
		}
		step := max(r.Least, r.Most*float64(r.Half)/(float64(r.Half)+float64(p.Games)))
		after[i] = Sandbox{p.Rating, p.Games + 1}
		if len(players) > 1 {
			after[i].Rating += float64(step*better) / float64(len(players)-1)
		}
	}
	return after, nil
}

// Entry is a player in a table of standings.
type Entry struct {
	Player   int
	Points   float64 // sum of points in a stage, or the rating in the Sandbox
	Uploaded int64   // when its strategy was sent, in any unit: the earlier is before its equals
}

// Rank orders standings as the rules do: by points, and those of equal points by
// when their strategies were sent, the earlier first.
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
	Seats       int  // of a table
	Parts       int  // between which strategies may be replaced
	Waves       bool // in each wave everybody plays once; otherwise all pairs play
	FromStage   int  // how many of the stage before take part at most
	FromSandbox int  // and how many more from the Sandbox
}

// ContestStages are the stages of the contest of 2020.
func ContestStages() []Stage {
	return []Stage{
		{Name: "Round 1", Seats: 4, Parts: 2, Waves: true, FromSandbox: 1080},
		{Name: "Round 2", Seats: 4, Parts: 2, Waves: true, FromStage: 300, FromSandbox: 60},
		{Name: "Finals", Seats: 2, Parts: 2, FromStage: 50, FromSandbox: 10},
	}
}

// Field are the players of a stage: the best of the stage before, and the best of
// the Sandbox besides. In stages with waves their number is cut to a multiple of the
// seats, as the rules say for Round 1.
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

// Wave is one wave: tables of players, drawn so that all orders are equally likely,
// as the contest's page of 2018 says (russianaicup.ru/p/round1). It follows from the
// seed and the number of the wave. Players that do not fill a table sit out.
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
