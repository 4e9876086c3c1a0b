package arena

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/rollout/exact"
	"moonfarm/sim/prng"
)

// Report is the result of a tournament. Its JSON keys are stable.
type Report struct {
	Game     string `json:"game"`
	Rules    string `json:"rules"` // version
	Seed     uint64 `json:"seed"`
	Schedule string `json:"schedule"`
	Seats    int    `json:"seats"`
	Seeds    int    `json:"seeds"`                   // number of different seeds
	Games    int    `json:"games"`                   // number of games
	Distinct int    `json:"distinct"`                // games without repetitions
	Clock    int    `json:"clock_decided,omitempty"` // games decided by the shorter thinking time
	// Boxes are the numbers of games by what kept bots from the machine; nil without bots.
	Boxes    map[string]int `json:"boxes,omitempty"`
	Complete *bool          `json:"complete,omitempty"` // whether all games were played; nil: not known
	Anchor   string         `json:"anchor"`             // player with rating 0; "" if the mean of all ratings is 0
	Draws    float64        `json:"draw_parameter"`
	Players  []Standing     `json:"players"`
	Pairs    []Pair         `json:"pairs"` // every two players, in the order given
	// Test is the sequential test, if the tournament was one.
	Test *sprt.State `json:"sprt,omitempty"`
	// Stages are the stages begun so far, if the tournament was a contest.
	Stages []StageReport `json:"stages,omitempty"`
}

// Standing is one player's result against all others.
type Standing struct {
	Player string `json:"player"`
	Games  int    `json:"games"`
	Tally
	rating.Rating // by the fit to all games: 400 points mean ten wins per loss
	// EloLow, EloHigh and EloError are Low, High and Error of the Rating; nil if the games do not
	// determine them: on fewer than LeastSeeds seeds, or not Bounded.
	EloLow   *float64 `json:"low"`
	EloHigh  *float64 `json:"high"`
	EloError *float64 `json:"error"`
	// First is the Tally's score in games at seat 0.
	First float64 `json:"score_at_seat_0"`
	Place float64 `json:"mean_place"` // from 1; players that share places get their mean
	// Nash is the player's share in the maximum-entropy Nash equilibrium, a mixture of players that
	// no other mixture beats.
	Nash    float64        `json:"nash"`
	Faults  map[string]int `json:"faults"`  // number by kind
	Seconds float64        `json:"seconds"` // thinking time of a bot in all games
}

// Tally counts comparisons of one side with another. With two seats a comparison is a game.
type Tally struct {
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
	// Score is (wins + draws/2) / all, from 0 to 1; ScoreLow and ScoreHigh are its 95 % confidence
	// interval.
	Score     float64 `json:"score"`
	ScoreLow  float64 `json:"score_low"`
	ScoreHigh float64 `json:"score_high"`
}

// Pair compares player A with player B; its numbers are A's.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	Tally
	Games    int `json:"games"`    // games in which both played
	Distinct int `json:"distinct"` // these games without repetitions
	// Repeats reports that more seeds give no more information: the games are the same on all seeds
	// (at least two).
	Repeats   bool    `json:"repeats"`
	MeanTurns float64 `json:"mean_turns"` // mean length of the games
	HeadToHead
	// FitElo is A's rating minus B's in the fit to all games of the tournament; FitLow and FitHigh
	// are its 95 % confidence interval, and FitSuperior is the likelihood that it is above 0. The
	// last three are nil under the condition of Standing.EloLow.
	FitElo      float64  `json:"fit_elo"`
	FitLow      *float64 `json:"fit_elo_low"`
	FitHigh     *float64 `json:"fit_elo_high"`
	FitSuperior *float64 `json:"fit_superior"`
}

// Rename replaces the names of the players; names are in the order of Players.
func (r *Report) Rename(names []string) {
	other := map[string]string{}
	for i, name := range names {
		other[r.Players[i].Player] = name
		r.Players[i].Player = name
	}
	r.Anchor = other[r.Anchor]
	for i := range r.Pairs {
		r.Pairs[i].A, r.Pairs[i].B = other[r.Pairs[i].A], other[r.Pairs[i].B]
	}
	for _, stage := range r.Stages {
		for i := range stage.Standings {
			stage.Standings[i].Player = other[stage.Standings[i].Player]
		}
	}
}

// Evaluate makes a report on games. anchor is the player whose rating is 0; if negative, the mean
// of all ratings is 0. It fails if there are more players than can be rated.
//
// A player scores 1 against another for a better place, ½ for the same place and 0 for a worse one.
// With more than two seats, every two different players of a game are compared. The intervals of
// scores treat the games of a seed as one observation: see wilson. Games between the same players
// at the same seats with equal orders, length and outcome are repetitions and together have the
// weight of one game.
func Evaluate(players []string, games []Played, anchor int) (*Report, error) {
	e := newEvaluation(players, games)
	r := &Report{Games: len(games), Distinct: len(e.repeats), Seeds: len(e.seeds)}
	for i := range games {
		e.count(&games[i])
		if games[i].Clock {
			r.Clock++
		}
		if box := games[i].Box; box != "" {
			if r.Boxes == nil {
				r.Boxes = map[string]int{}
			}
			r.Boxes[box]++
		}
	}
	if len(games) > 0 {
		r.Seats = len(games[0].Players)
	}
	if anchor >= 0 {
		r.Anchor = players[anchor]
	}
	if err := e.rate(r, anchor); err != nil {
		return nil, err
	}
	return r, nil
}

// sameGame is the key of games that repeat each other.
type sameGame struct {
	seats string
	sum   prng.Digest
}

type evaluation struct {
	players []string
	games   []Played
	repeats map[sameGame]int // number of games with the key
	seeds   map[int]bool
	table   []counts // [player][player]
	sums    []sums   // by player
	results []rating.Comparison
	place   map[resultKey]int // index in results
	met     map[[3]int]bool   // player, player and seed
}

// resultKey is the key of comparisons that are counted together.
type resultKey struct {
	a, b, seed int
	weight     float64
}

type sums struct {
	games    int
	distinct float64 // these games without repetitions
	seeds    map[int]bool
	places   float64
	faults   map[string]int
	seconds  float64
}

func newEvaluation(players []string, games []Played) *evaluation {
	n := len(players)
	e := &evaluation{players: players, games: games, repeats: map[sameGame]int{}, seeds: map[int]bool{},
		table: make([]counts, n*n), sums: make([]sums, n), place: map[resultKey]int{}, met: map[[3]int]bool{}}
	for i := range games {
		e.repeats[games[i].same()]++
		e.seeds[games[i].Seed] = true
	}
	for i := range e.sums {
		e.sums[i].faults, e.sums[i].seeds = map[string]int{}, map[int]bool{}
	}
	return e
}

func (p *Played) same() sameGame {
	seats := make([]byte, 0, 16)
	for _, s := range p.Players {
		seats = append(seats, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
	}
	return sameGame{string(seats), p.Sum}
}

func (e *evaluation) count(g *Played) {
	same := e.repeats[g.same()]
	weight := 1 / float64(same)
	for p, i := range g.Players {
		s := &e.sums[i]
		s.games++
		s.distinct += weight
		s.seeds[g.Seed] = true
		ahead, level := standing(g.Results, g.Results[p])
		for q, j := range g.Players {
			if i != j {
				e.compare(g, p, q, weight)
			}
		}
		s.places += float64(ahead) + float64(float64(level+1)/2)
		if g.Seconds != nil {
			s.seconds += g.Seconds[p]
		}
	}
	for _, f := range g.Faults {
		e.sums[g.Players[f.Seat]].faults[f.Kind] += max(1, f.Times)
	}
}

func (e *evaluation) compare(g *Played, p, q int, weight float64) {
	i, j := g.Players[p], g.Players[q]
	c := counts{games: 1, turns: g.Turns, distinct: weight}
	switch {
	case g.Results[p] > g.Results[q]:
		c.wins = 1
	case g.Results[p] < g.Results[q]:
		c.losses = 1
	default:
		c.draws = 1
	}
	if p == 0 {
		c.first, c.firstOf = c.points(), 1
	}
	e.table[i*len(e.players)+j].add(c)
	if i > j {
		return // the pair is counted from the other side
	}
	if met := [3]int{i, j, g.Seed}; !e.met[met] {
		e.met[met] = true
		e.table[i*len(e.players)+j].seeds++
	}
	key := resultKey{i, j, g.Seed, weight}
	at, ok := e.place[key]
	if !ok {
		at = len(e.results)
		e.place[key] = at
		e.results = append(e.results, rating.Comparison{A: i, B: j, Block: g.Seed, Weight: weight})
	}
	r := &e.results[at]
	r.Wins, r.Draws, r.Losses = r.Wins+c.wins, r.Draws+c.draws, r.Losses+c.losses
}

// rate computes ratings, payoffs and everything else that needs all games.
func (e *evaluation) rate(r *Report, anchor int) error {
	n := len(e.players)
	m, err := rating.Fit(n, e.results)
	if err != nil {
		return err
	}
	nash, err := rating.Nash(m.Payoffs())
	if err != nil {
		return err
	}
	r.Draws = m.Draws()
	for i, rated := range m.Ratings(anchor) {
		var all counts
		for j := range n {
			c := e.table[i*n+j]
			all.add(c)
			if i < j {
				r.Pairs = append(r.Pairs, e.pair(m, i, j, c))
			}
		}
		s := &e.sums[i]
		n := trials(s.distinct, len(s.seeds), s.games)
		bounded := bounds(rated, n) || i == anchor
		r.Players = append(r.Players, Standing{
			Player: e.players[i], Games: s.games, Tally: all.tally(n), Rating: rated,
			EloLow: when(bounded, rated.Low), EloHigh: when(bounded, rated.High), EloError: when(bounded, rated.Error),
			First: exact.Round(float64(all.first)/float64(max(1, 2*all.firstOf)), 1e6),
			Place: exact.Round(s.places/float64(max(1, s.games)), 1e6),
			Nash:  nash[i], Faults: s.faults, Seconds: exact.Round(s.seconds, 1e6),
		})
	}
	return nil
}

// trials returns the number of independent observations: the number of seeds, reduced in proportion
// to the repetitions among the games.
func trials(distinct float64, seeds, games int) float64 {
	return distinct * float64(seeds) / float64(max(1, games))
}

func (e *evaluation) pair(m *rating.Model, i, j int, c counts) Pair {
	d, n := m.Difference(i, j), trials(c.distinct, c.seeds, c.games)
	return Pair{
		A: e.players[i], B: e.players[j], Tally: c.tally(n), Games: c.games, Distinct: int(math.Round(c.distinct)),
		Repeats: c.seeds > 1 && n < 1.5, MeanTurns: exact.Round(float64(c.turns)/float64(max(1, c.games)), 1e3),
		HeadToHead: c.headToHead(n), FitElo: d.Elo, FitLow: when(bounds(d, n), d.Low), FitHigh: when(bounds(d, n), d.High),
		FitSuperior: when(bounds(d, n), m.Superiority(i, j)),
	}
}

// ByRating returns the players' indices in the report, the best first.
func (r *Report) ByRating() []int {
	order := make([]int, len(r.Players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r.Players[j].Elo, r.Players[i].Elo) })
	return order
}

// RatingHistory returns the ratings over time: for each of ends, the ratings by player after that number
// of games; NaN for a player without a game so far. ends must rise, and anchor is as in Evaluate.
// It fails if there are more players than can be rated.
func RatingHistory(players int, games []Played, anchor int, ends []int) ([][]float64, error) {
	course := make([][]float64, 0, len(ends))
	for _, end := range ends {
		e := newEvaluation(make([]string, players), games[:end])
		for i := range e.games {
			e.count(&e.games[i])
		}
		m, err := rating.Fit(players, e.results)
		if err != nil {
			return nil, err
		}
		elo := m.Elo(anchor)
		for i := range elo {
			if e.sums[i].games == 0 {
				elo[i] = math.NaN()
			}
		}
		course = append(course, elo)
	}
	return course, nil
}

// StageReport has the standings of a stage of a contest.
type StageReport struct {
	Stage string `json:"stage"`
	Seats int    `json:"seats"` // of one game
	Games int    `json:"games"` // number played so far
	// Standings are the stage's players, the best first.
	Standings []StageStanding `json:"standings"`
}

// StageStanding is a player's standing in a stage.
type StageStanding struct {
	Player string  `json:"player"`
	Games  int     `json:"games"`
	Points float64 `json:"points"` // sum of points by place; in the Sandbox the rating
}

// AddStages adds to the report the stages of a contest that have begun. It fails if the games or
// the players do not belong to the contest.
func (r *Report) AddStages(s schedule.Championship, games []Played) error {
	if len(r.Players) != s.Players {
		return fmt.Errorf("arena: %d players in a contest of %d", len(r.Players), s.Players)
	}
	tables, err := s.Standings(Placings(games))
	if err != nil {
		return err
	}
	played := make([]int, len(tables))
	own := map[[2]int]int{} // by stage and player
	for i := range games {
		g := &games[i]
		if g.Stage >= len(tables) {
			continue // the schedule no longer has this stage
		}
		played[g.Stage]++
		for _, p := range g.Players {
			own[[2]int{g.Stage, p}]++
		}
	}
	names := s.Stages()
	for k, table := range tables {
		stage := StageReport{Stage: names[k], Seats: s.Seats[k], Games: played[k]}
		for _, e := range table {
			stage.Standings = append(stage.Standings, StageStanding{r.Players[e.Player].Player, own[[2]int{k, e.Player}], exact.Round(e.Points, 1e3)})
		}
		r.Stages = append(r.Stages, stage)
	}
	return nil
}
