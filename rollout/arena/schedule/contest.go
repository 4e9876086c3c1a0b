package schedule

import (
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/arena/rating"
)

// Contest is a contest of several stages, such as CodeCraft of 2020 with the stages
// of rating.ContestStages. Stages begin with no points. In a stage with waves every
// player plays one game in each wave; in a stage without waves, each two players
// meet. A game gives points by place. The best players of a stage go on to the next,
// together with the best of the Sandbox among the others. Package rating cites what
// is known of all this. The tables and seats of a wave are drawn from Seed.
//
// Not known are how many waves a part had and the seeds of games: here all tables of
// a wave play on the same seed. In a stage in which each two meet, each sits first
// about as often as second, and the next repetition exchanges the seats.
type Contest struct {
	// Sandbox is the ratings at the begin of each stage, which say also who takes
	// part, and since when with the same strategy. The last ones hold for all stages
	// that follow.
	Sandbox [][]rating.Entry
	Stages  []rating.Stage
	Waves   int // of each part; where each two meet, how often they do in each part
	// Points are those by place, for each stage; rating.ContestPoints for those that
	// it does not reach.
	Points [][]int
	Seed   uint64
}

// Bits of the round in the number of a contest's game.
const (
	stageBits = 3
	partBits  = 3
	waveBits  = roundBits - stageBits - partBits
)

// Next returns the games of the first stage that is not complete that have no
// result, part by part and wave by wave: see Schedule.
func (s Contest) Next(results []Result) ([]Game, error) {
	games, _, err := s.run(results)
	return games, err
}

// Standings are, for each stage that has begun, its players by their points so
// far.
func (s Contest) Standings(results []Result) ([][]rating.Entry, error) {
	_, standings, err := s.run(results)
	return standings, err
}

// run goes through the stages: it returns the games to be played, and the
// standings of the stages up to theirs.
func (s Contest) run(results []Result) (left []Game, all [][]rating.Entry, err error) {
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
		standings, err := s.stand(stage, players, games, have)
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

// sandbox is the ratings at the begin of a stage.
func (s Contest) sandbox(stage int) []rating.Entry { return s.Sandbox[min(stage, len(s.Sandbox)-1)] }

// points are those by place.
func (s Contest) points(stage int) []int {
	if stage < len(s.Points) {
		return s.Points[stage]
	}
	return rating.ContestPoints(s.Stages[stage].Seats)
}

// games are those of a stage.
func (s Contest) games(stage int, players []int) ([]Game, error) {
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
	var all []Game
	for part := range t.Parts {
		for wave := range s.Waves {
			round := (stage<<partBits|part)<<waveBits | wave
			var seatings [][]int
			if t.Waves {
				seatings = rating.Wave(sorted, t.Seats, s.Seed, uint64(round))
			} else {
				seatings = meetings(sorted, wave)
			}
			for table, seating := range seatings {
				// The seeds of the parts and stages are apart, however many waves follow.
				all = append(all, Game{number(round, table, 0), seating, round, wave, stage})
			}
		}
	}
	return all, nil
}

// meetings are all pairs of players. The first one of a pair sits first if an even
// number of others stands between both, and in odd repetitions otherwise.
func meetings(players []int, repeat int) (seatings [][]int) {
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

// stand are the players of a stage by the points of its games so far.
func (s Contest) stand(stage int, players []int, games []Game, have byNumber) ([]rating.Entry, error) {
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
