package schedule

import (
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/arena/rating"
)

// Contest is a contest of several stages, such as CodeCraft 2020 with the stages of
// rating.ContestStages. Points start at zero in each stage. In a stage with waves every player
// plays one game per wave; in a stage without waves, each two players meet. A game gives points by
// place. The best players of a stage go on to the next, together with the best of the Sandbox among
// the others. Package rating cites the sources. The players and seats of each game of a wave are
// drawn from Seed.
//
// The sources give neither the number of waves in a part nor the seeds of games: here all games of
// a wave share one seed. In a stage without waves, each player of a pair sits first about equally
// often, and the next repetition exchanges the seats.
// about as often as second, and the next repetition exchanges the seats.
type Contest struct {
	// Sandbox has the ratings at the beginning of each stage, which also list the players and when
	// each sent its strategy. The last entry holds for all later stages.
	Sandbox [][]rating.Entry
	Stages  []rating.Stage
	Waves   int // in each part; in a stage without waves, the games of each pair
	// Points are the points by place, for each stage; rating.ContestPoints for stages beyond its
	// length.
	Points [][]int
	Seed   uint64
}

// Bits of the round in a game's number.
const (
	stageBits = 3
	partBits  = 3
	waveBits  = roundBits - stageBits - partBits
)

// Next returns the games without a result of the first incomplete stage, part by part and wave by
// wave: see Schedule.
func (s Contest) Next(results []Placing) ([]Fixture, error) {
	games, _, err := s.run(results)
	return games, err
}

// Standings returns, for each stage begun so far, its players ordered by points.
func (s Contest) Standings(results []Placing) ([][]rating.Entry, error) {
	_, standings, err := s.run(results)
	return standings, err
}

// run goes through the stages: it returns the next games, and the standings of the stages so far.
func (s Contest) run(results []Placing) (left []Fixture, all [][]rating.Entry, err error) {
	have, err := index(results)
	if err = firstError(s.check(), err); err != nil {
		return nil, nil, err
	}
	for stage := range s.Stages {
		var before []rating.Entry
		if stage > 0 {
			before = all[stage-1]
		}
		players := s.Stages[stage].Field(before, s.sandbox(stage))
		if len(players) < s.Stages[stage].Seats {
			return nil, nil, fmt.Errorf("schedule: %s has %d players, want %d or more", s.Stages[stage].Name, len(players), s.Stages[stage].Seats)
		}
		games, err := s.games(stage, players)
		if err != nil {
			return nil, nil, err
		}
		standings, err := s.rank(stage, players, games, have)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, standings)
		if left, err = have.missing(games); err != nil || len(left) > 0 {
			return left, all, err
		}
	}
	return nil, all, nil
}

func (s Contest) check() error {
	err := firstError(
		checkRange("stages", len(s.Stages), 1, 1<<stageBits),
		checkRange("waves", s.Waves, 1, 1<<waveBits),
		checkRange("ratings of the Sandbox", len(s.Sandbox), 1, len(s.Stages)),
		checkRange("tables of points", len(s.Points), 0, len(s.Stages)),
	)
	for _, entries := range s.Sandbox {
		seen := map[int]bool{}
		for _, e := range entries {
			if e.Player < 0 || seen[e.Player] || math.IsNaN(e.Points) {
				err = firstError(err, fmt.Errorf("schedule: the Sandbox has player %d with rating %v, want each once, with a number", e.Player, e.Points))
			}
			seen[e.Player] = true
		}
	}
	for stage, t := range s.Stages {
		err = firstError(err,
			checkRange("seats of "+t.Name, t.Seats, 2, maxSeats),
			checkRange("parts of "+t.Name, t.Parts, 1, 1<<partBits))
		if err == nil && !t.Waves {
			err = checkRange("seats of "+t.Name+", in which each two meet,", t.Seats, 2, 2)
		}
		if err == nil {
			err = checkRange("points of "+t.Name, len(s.points(stage)), t.Seats, maxSeats)
		}
		for _, n := range s.points(stage) {
			err = firstError(err, checkRange("points of a place in "+t.Name, n, 0, maxShell))
		}
	}
	return err
}

// sandbox returns the ratings at the beginning of a stage.
func (s Contest) sandbox(stage int) []rating.Entry { return s.Sandbox[min(stage, len(s.Sandbox)-1)] }

// points returns the points by place of a stage.
func (s Contest) points(stage int) []int {
	if stage < len(s.Points) {
		return s.Points[stage]
	}
	return rating.ContestPoints(s.Stages[stage].Seats)
}

// games returns the games of a stage.
func (s Contest) games(stage int, players []int) ([]Fixture, error) {
	t := s.Stages[stage]
	tables := int64(len(players) / t.Seats)
	if !t.Waves {
		tables = int64(len(players)) * int64(len(players)-1) / 2
	}
	if tables >= 1<<tableBits || tables*int64(s.Waves)*int64(t.Parts) > maxGames {
		return nil, fmt.Errorf("schedule: %s has %d parts of %d waves of %d games, want at most %d games and %d in a wave",
			t.Name, t.Parts, s.Waves, tables, maxGames, 1<<tableBits-1)
	}
	sorted := slices.Sorted(slices.Values(players))
	var all []Fixture
	for part := range t.Parts {
		for wave := range s.Waves {
			round := (stage<<partBits|part)<<waveBits | wave
			var seatings [][]int
			if t.Waves {
				seatings = rating.Wave(sorted, t.Seats, s.Seed, uint64(round))
			} else {
				seatings = pairings(sorted, wave)
			}
			for table, seating := range seatings {
				// Stages and parts have disjoint seeds for any number of waves.
				all = append(all, Fixture{number(round, table, 0), seating, round, wave, stage})
			}
		}
	}
	return all, nil
}

// pairings returns all pairs of players. In even repetitions the first of two players sits first if
// an even number of others stands between them, in odd repetitions if an odd number does.
func pairings(players []int, repeat int) (seatings [][]int) {
	for j := range players {
		for i := range j {
			pair := []int{players[i], players[j]}
			if (j-i+repeat)%2 == 0 {
				slices.Reverse(pair)
			}
			seatings = append(seatings, pair)
		}
	}
	return seatings
}

// rank ranks the players of a stage by the points of its games so far.
func (s Contest) rank(stage int, players []int, games []Fixture, have byNumber) ([]rating.Entry, error) {
	points := map[int]int{}
	for i := range games {
		r, err := have.find(&games[i])
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		scores := make([]float64, len(r.Places))
		for seat, place := range r.Places {
			scores[seat] = -float64(place)
		}
		won, err := rating.PlacePoints(s.points(stage), scores)
		if err != nil {
			return nil, err
		}
		for seat, n := range won {
			points[r.Players[seat]] += n
		}
	}
	uploaded := map[int]int64{}
	for _, e := range s.sandbox(stage) {
		uploaded[e.Player] = e.Uploaded
	}
	var all []rating.Entry
	for _, p := range players {
		all = append(all, rating.Entry{Player: p, Points: float64(points[p]), Uploaded: uploaded[p]})
	}
	return rating.Rank(all), nil
}
