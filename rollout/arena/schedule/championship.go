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

// Championship is a whole contest as one schedule. Stage 0 is the Sandbox, with games drawn as in
// Sandbox and rated by rating.ContestSandbox. The stages of rating.ContestStages follow as a
// Contest, which takes the players in the order of their Sandbox ratings after its last game.
//
// With fewer players than the contest had places in its first stage, the same fraction goes on,
// rounded up, or enough for one game. Unlike in the original, the Sandbox ends when the contest
// begins.
type Championship struct {
	Players int
	// Games is the number of games of each player in the Sandbox, of waves in each part of a stage,
	// and of games of each pair in each part of a stage without waves.
	Games int
	// Seats is the number of seats of a game in the Sandbox and in each stage after it.
	Seats [4]int
	Seed  uint64
}

// sandboxStage is the name of stage 0.
const sandboxStage = "Sandbox"

// String describes the schedule except for the seed; ParseChampionship reads it.
func (s Championship) String() string {
	return fmt.Sprintf("%s of %d players, %d games, tables of %d+%d+%d+%d", NameContest, s.Players, s.Games, s.Seats[0], s.Seats[1], s.Seats[2], s.Seats[3])
}

// ParseChampionship reads the text that String writes; ok is false for other texts.
func ParseChampionship(text string, seed uint64) (s Championship, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	values := []*int{&s.Players, &s.Games, &s.Seats[0], &s.Seats[1], &s.Seats[2], &s.Seats[3]}
	if len(words) != len(values) {
		return s, false
	}
	for i, v := range values {
		*v, _ = strconv.Atoi(words[i]) // the comparison below detects errors
	}
	s.Seed = seed
	return s, s.String() == text
}

// Stages returns the names of the stages.
func (s Championship) Stages() []string {
	names := []string{sandboxStage}
	for _, t := range s.stages() {
		names = append(names, t.Name)
	}
	return names
}

// stages returns the stages after the Sandbox.
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

// sandbox returns the schedule of stage 0.
func (s Championship) sandbox() (Sandbox, error) {
	if s.Players < s.Seats[0] || s.Seats[0] < 2 || s.Games < 1 {
		return Sandbox{}, fmt.Errorf("schedule: %d players at tables of %d, %d games of each; want a full table of two or more, and a game",
			s.Players, s.Seats[0], s.Games)
	}
	rounds := roundsFor(s.Players, s.Seats[0], s.Games)
	if rounds >= 1<<(partBits+waveBits) {
		return Sandbox{}, errors.New("schedule: too many games of a player in the Sandbox")
	}
	return Sandbox{Players: s.Players, Seats: s.Seats[0], Rounds: rounds, Spread: nearby, Seed: s.Seed}, nil
}

// roundsFor returns the number of rounds in which every player plays at least `games` games, if the
// players who do not fill a table sit out.
func roundsFor(players, seats, games int) int { return (games*players-1)/(players/seats*seats) + 1 }

// Next returns the games without a result of the first incomplete round of the Sandbox, or of the
// first incomplete stage: see Schedule.
func (s Championship) Next(results []Placing) ([]Fixture, error) {
	games, _, err := s.run(results)
	return games, err
}

// Standings returns, for each stage begun so far, its players ordered by rating in the Sandbox, or
// by points in a later stage.
func (s Championship) Standings(results []Placing) ([][]rating.Entry, error) {
	_, standings, err := s.run(results)
	return standings, err
}

// shiftRounds and shiftNumber are added to the rounds and numbers of a Contest's games, since the
// Sandbox comes before them.
const (
	shiftRounds = 1 << (partBits + waveBits)
	shiftNumber = shiftRounds << (tableBits + gameBits)
)

// run returns the next games and the standings.
func (s Championship) run(results []Placing) (left []Fixture, all [][]rating.Entry, err error) {
	first, err := s.sandbox()
	if err != nil {
		return nil, nil, err
	}
	var qualifying, rest []Placing
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
	slices.SortFunc(qualifying, func(a, b Placing) int { return cmp.Compare(a.Number, b.Number) })
	own, entries := newSandboxRatings(s.Players), make([]rating.Entry, s.Players)
	for i := range qualifying {
		own.after(&qualifying[i])
	}
	for p := range entries {
		entries[p] = rating.Entry{Player: p, Points: own[p].Rating, Uploaded: int64(p)}
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
