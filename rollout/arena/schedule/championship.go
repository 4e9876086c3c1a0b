package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moonfarm/rollout/arena/rating"
)

// Championship is a contest from its beginning as one schedule. Stage 0 of its games
// is the Sandbox, with tables drawn as in Sandbox, rated by rating.ContestSandbox. The
// stages of rating.ContestStages follow as a Contest, which takes the players in the
// order of the Sandbox's ratings after its last game.
//
// With fewer players than the contest had places in its first stage, as many go on,
// in proportion, rounded up, or one full table. Unlike in the original, the Sandbox
// ends when the contest begins.
type Championship struct {
	Players int
	// Games is how many each player has in the Sandbox, and the waves of each part of
	// a stage; where each two meet, they meet so often in each part.
	Games int
	// Seats are those of a table in the Sandbox and in each stage after it.
	Seats [4]int
	Seed  uint64
}

// sandboxStage is what the Sandbox is called.
const sandboxStage = "Sandbox"

// String tells all but the seed; ParseChampionship reads it.
func (s Championship) String() string {
	return fmt.Sprintf("%s of %d players, %d games, tables of %d+%d+%d+%d", NameContest, s.Players, s.Games, s.Seats[0], s.Seats[1], s.Seats[2], s.Seats[3])
}

// ParseChampionship reads what String writes. ok is false of other texts.
func ParseChampionship(text string, seed uint64) (s Championship, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	values := []*int{&s.Players, &s.Games, &s.Seats[0], &s.Seats[1], &s.Seats[2], &s.Seats[3]}
	if len(words) != len(values) {
		return s, false
	}
	for i, v := range values {
		*v, _ = strconv.Atoi(words[i]) // the text is compared below
	}
	s.Seed = seed
	return s, s.String() == text
}

// Stages are the names of the stages.
func (s Championship) Stages() []string {
	names := []string{sandboxStage}
	for _, t := range s.stages() {
		names = append(names, t.Name)
	}
	return names
}

// stages are those after the Sandbox.
func (s Championship) stages() []rating.Stage {
	stages := rating.ContestStages()
	full := stages[0].FromSandbox
	share := func(places, least int) int {
		if s.Players < full {
			places = (places*s.Players-1)/full + 1
		}
		return max(places, least)
	}
	for i := range stages {
		t := &stages[i]
		t.Seats = s.Seats[i+1]
		t.Waves = t.Waves || t.Seats != 2
		if i > 0 {
			t.FromStage, t.FromSandbox = share(t.FromStage, t.Seats), share(t.FromSandbox, 0)
		}
	}
	return stages
}

// sandbox is the first stage.
func (s Championship) sandbox() (Sandbox, error) {
	if s.Players < s.Seats[0] || s.Seats[0] < 2 || s.Games < 1 {
		return Sandbox{}, fmt.Errorf("schedule: %d players at tables of %d, %d games of each; want a full table of two or more, and a game",
			s.Players, s.Seats[0], s.Games)
	}
	rounds := roundsFor(s.Players, s.Seats[0], s.Games)
	if rounds >= 1<<(partBits+waveBits) {
		return Sandbox{}, errors.New("schedule: too many games of a player in the Sandbox")
	}
	return Sandbox{Players: s.Players, Seats: s.Seats[0], Rounds: rounds, Spread: nearby, Seed: s.Seed, Rate: sandboxRate(s.Players)}, nil
}

// roundsFor is in how many rounds everybody plays so many games, if those who do not
// fill a table sit out.
func roundsFor(players, seats, games int) int { return (games*players-1)/(players/seats*seats) + 1 }

// sandboxRate rates so many players by the contest's rule, game by game.
func sandboxRate(players int) Rate {
	rule := rating.ContestSandbox()
	return func() func(round []Result) []float64 {
		own := make([]rating.Sandbox, players)
		for i := range own {
			own[i].Rating = rule.Start
		}
		return func(round []Result) []float64 {
			for i := range round {
				move(rule, own, &round[i])
			}
			ratings := make([]float64, players)
			for i := range own {
				ratings[i] = own[i].Rating
			}
			return ratings
		}
	}
}

// move moves the ratings of those who played a game.
func move(rule rating.SandboxRule, own []rating.Sandbox, r *Result) {
	at, scores := make([]rating.Sandbox, len(r.Players)), make([]float64, len(r.Players))
	for seat, p := range r.Players {
		at[seat], scores[seat] = own[p], -float64(r.Places[seat])
	}
	after, err := rule.After(at, scores)
	if err != nil {
		return // places and ratings are numbers: there is none
	}
	for seat, p := range r.Players {
		own[p] = after[seat]
	}
}

// Next returns the games of the first round of the Sandbox, or of the first stage,
// that is not complete that have no result: see Schedule.
func (s Championship) Next(results []Result) ([]Game, error) {
	games, _, err := s.run(results)
	return games, err
}

// Standings are, for each stage that has begun, its players by their ratings in the
// Sandbox, or by their points so far.
func (s Championship) Standings(results []Result) ([][]rating.Entry, error) {
	_, standings, err := s.run(results)
	return standings, err
}

// shiftRounds and shiftNumber are what the rounds and numbers of a contest's games are
// more here: there is a stage before them.
const (
	shiftRounds = 1 << (partBits + waveBits)
	shiftNumber = shiftRounds << (tableBits + gameBits)
)

// run returns the games to be played, and the standings.
func (s Championship) run(results []Result) (left []Game, all [][]rating.Entry, err error) {
	first, err := s.sandbox()
	if err != nil {
		return nil, nil, err
	}
	var qualifying, rest []Result
	for _, r := range results {
		if r.Stage == 0 {
			qualifying = append(qualifying, r)
			continue
		}
		r.Stage, r.Seed, r.Number = r.Stage-1, r.Seed-shiftRounds, r.Number-shiftNumber
		rest = append(rest, r)
	}
	if left, err = first.Next(qualifying); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(qualifying, func(a, b Result) int { return cmp.Compare(a.Number, b.Number) })
	entries := make([]rating.Entry, s.Players)
	for p, points := range first.Rate()(qualifying) {
		entries[p] = rating.Entry{Player: p, Points: points, Uploaded: int64(p)}
	}
	all = [][]rating.Entry{rating.Rank(entries)}
	if len(left) > 0 {
		return left, all, nil
	}
	contest := Contest{Sandbox: [][]rating.Entry{entries}, Stages: s.stages(), Waves: s.Games, Seed: s.Seed}
	left, standings, err := contest.run(rest)
	for i := range left {
		g := &left[i]
		g.Stage, g.Seed, g.Number = g.Stage+1, g.Seed+shiftRounds, g.Number+shiftNumber
	}
	return left, append(all, standings...), err
}
