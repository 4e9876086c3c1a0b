package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"moonfarm/sim/prng"
)

// Championship is a whole contest as one schedule. Stage 0 is the Sandbox, with games drawn as in
// Sandbox. Two rounds and the finals follow, which take the players in the order of their ratings after
// its last game: contestStages cites the source. In a stage with waves every player plays one game per
// wave; in a stage without, each two players meet. A game gives points by place, which start at zero in
// each stage. The best players of a stage go on to the next, together with the best of the Sandbox
// among the others.
//
// With fewer players than the contest had places in its first stage, the same fraction goes on,
// rounded up, or enough for one game. Unlike in the original, the Sandbox ends when the contest
// begins. The sources give neither the number of waves in a part nor the seeds of games: here all games
// of a wave share one seed. In a stage without waves, each player of a pair sits first about equally
// often, and the next repetition exchanges the seats.
type Championship struct {
	Players int
	// Games is the number of games of each player in the Sandbox, of waves in each part of a stage,
	// and of games of each pair in each part of a stage without waves.
	Games int
	// Seats is the number of seats of a game in the Sandbox and in each stage after it.
	Seats [4]int
	Seed  uint64
}

// String describes the schedule except for the seed; ParseChampionship reads it.
func (c Championship) String() string {
	return fmt.Sprintf("%s of %d players, %d games, tables of %d+%d+%d+%d", NameContest, c.Players, c.Games, c.Seats[0], c.Seats[1], c.Seats[2], c.Seats[3])
}

// ParseChampionship reads the text that String writes; ok is false for other texts.
func ParseChampionship(text string, seed uint64) (c Championship, ok bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	values := []*int{&c.Players, &c.Games, &c.Seats[0], &c.Seats[1], &c.Seats[2], &c.Seats[3]}
	if len(words) != len(values) {
		return c, false
	}
	for i, v := range values {
		*v, _ = strconv.Atoi(words[i]) // the comparison below detects errors
	}
	c.Seed = seed
	return c, c.String() == text
}

// Stages returns the names of the stages.
func (c Championship) Stages() []string {
	names := []string{"Sandbox"}
	for _, s := range c.stages() {
		names = append(names, s.name)
	}
	return names
}

// stages returns the stages after the Sandbox.
func (c Championship) stages() []stage {
	stages := contestStages()
	full := stages[0].fromSandbox
	share := func(places, least int) int {
		if c.Players < full {
			places = (places*c.Players-1)/full + 1
		}
		return max(places, least)
	}
	for i := range stages {
		s := &stages[i]
		s.seats = c.Seats[i+1]
		s.waves = s.waves || s.seats != 2
		if i > 0 {
			s.fromStage, s.fromSandbox = share(s.fromStage, s.seats), share(s.fromSandbox, 0)
		}
	}
	return stages
}

func (c Championship) check() error {
	err := cmp.Or(
		checkRange("players of a contest", c.Players, slices.Max(c.Seats[:]), 100_000),
		checkRange("games of a contest", c.Games, 1, 1<<waveBits),
	)
	for _, n := range c.Seats {
		err = cmp.Or(err, checkRange("seats of a contest", n, 2, len(contestPoints)))
	}
	return err
}

// sandbox returns the schedule of stage 0.
func (c Championship) sandbox() Sandbox {
	return Sandbox{Players: c.Players, Seats: c.Seats[0], Rounds: roundsFor(c.Players, c.Seats[0], c.Games), Spread: nearby, Seed: c.Seed}
}

// roundsFor returns the number of rounds in which every player plays at least `games` games, if the
// players who do not fill a table sit out.
func roundsFor(players, seats, games int) int { return (games*players-1)/(players/seats*seats) + 1 }

// Next returns the games without a result of the first incomplete round of the Sandbox, or of the
// first incomplete stage: see Schedule.
func (c Championship) Next(results []Placing) ([]Fixture, error) {
	games, _, err := c.run(results)
	return games, err
}

// Standings returns, for each stage begun so far, its players ordered by rating in the Sandbox, or
// by points in a later stage.
func (c Championship) Standings(results []Placing) ([][]Entry, error) {
	_, standings, err := c.run(results)
	return standings, err
}

// run returns the next games and the standings.
func (c Championship) run(results []Placing) (left []Fixture, all [][]Entry, err error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	qualifying := slices.DeleteFunc(slices.Clone(results), func(p Placing) bool { return p.Stage != 0 })
	left, own, err := c.sandbox().run(qualifying)
	if err != nil {
		return nil, nil, err
	}
	var entries []Entry
	for p := range own {
		entries = append(entries, Entry{p, own[p].rating})
	}
	entries = rank(entries)
	all = [][]Entry{entries}
	have, err := index(results)
	if err != nil || len(left) > 0 {
		return left, all, err
	}
	for k, s := range c.stages() {
		players := s.field(all[k], entries)
		games, err := c.games(k+1, s, players)
		if err != nil {
			return nil, nil, err
		}
		if left, err = have.missing(games); err != nil {
			return nil, nil, err
		}
		all = append(all, standingsOf(players, games, have))
		if len(left) > 0 {
			return left, all, nil
		}
	}
	return nil, all, nil
}

// Bits of the round in a game's number.
const (
	stageBits = 3
	partBits  = 3
	waveBits  = roundBits - stageBits - partBits
)

func (c Championship) games(k int, s stage, players []int) ([]Fixture, error) {
	tables := len(players) / s.seats
	if !s.waves {
		tables = len(players) * (len(players) - 1) / 2
	}
	if tables >= 1<<tableBits || tables*c.Games*contestParts > maxGames {
		return nil, fmt.Errorf("schedule: %s has %d parts of %d waves of %d games, expected at most %d games and %d in a wave",
			s.name, contestParts, c.Games, tables, maxGames, 1<<tableBits-1)
	}
	sorted := slices.Sorted(slices.Values(players))
	var all []Fixture
	for part := range contestParts {
		for wave := range c.Games {
			round := (k<<partBits|part)<<waveBits | wave // stages and parts have disjoint seeds for any number of waves
			seatings := pairings(sorted, wave)
			if s.waves {
				seatings = draw(sorted, s.seats, c.Seed, uint64(round-1<<(partBits+waveBits)))
			}
			for table, seating := range seatings {
				all = append(all, Fixture{number(round, table, 0), seating, round, wave, k})
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

// The stages follow the rules of the Russian AI Cup 2020 (CodeCraft), section on the tournament: a
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
