package arena

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/parallel"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Played is the record of a game.
type Played struct {
	schedule.Fixture
	Turns   int
	Cut     bool        // by the turn limit, not by the rules
	Clock   bool        // the shorter thinking time decided
	Results []float32   // by seat: sim.Outcome.Result
	Scores  []float64   // by seat: sim.Outcome.Score
	Sum     prng.Digest // of orders, length and outcome: equal sums mean equal games
	Faults  []Fault     // of bots and networks
	Seconds []float64   // by seat: thinking time of a bot; nil in games between policies
	Files   []string    // files about the game, such as its replay
	Box     string      // what kept bots from the machine, such as "namespaces"; "" in games without bots
}

// Fault is an error of a bot or a network in a game.
type Fault struct {
	Seat  int    `json:"seat"`
	Turn  int    `json:"turn"` // −1: before the first turn
	Kind  string `json:"kind"` // crash, timeout, illegal, …; FaultNotFinite
	Times int    `json:"times"`
	Text  string `json:"text"` // one line
	// Output holds the bot's last lines of output, if it crashed or, in Tower Defence, gave no
	// command in the round: at most ten lines of 200 characters.
	Output string `json:"output,omitempty"`
}

// Entrant is a player of a tournament: a policy or a bot.
type Entrant struct {
	Name string
	New  rollout.Maker // nil for a bot, whose games Tournament.Match plays
}

// Tournament configures a tournament. The games of policies depend on Seed alone; Done receives
// games in the order of the schedule.
type Tournament struct {
	// Vector makes the games of one worker for a stage of the schedule. Several goroutines call it
	// at once.
	Vector   func(stage int) (env.Vector, error)
	Players  []Entrant
	Seed     uint64
	Workers  int // number of goroutines; no result depends on it
	Schedule schedule.Schedule
	// Known are games played before; they are not played again.
	Known []Played
	// Match plays a game with a bot; nil: there are none. Up to Workers goroutines call it at once.
	Match func(ctx context.Context, g *schedule.Fixture) (Played, error)
	// Done, if not nil, is called with every game that was not Known, in the order of the schedule.
	// An error of Done ends the tournament.
	Done func(p *Played) error
}

// Play plays the tournament and returns its games: the known ones, then the others in the order of
// the schedule. If it fails, or the context is done, it returns the games before the first missing
// one, with the error or the context's cause.
func (t *Tournament) Play(ctx context.Context) (all []Played, err error) {
	all = slices.Clone(t.Known)
	var results []schedule.Placing
	for {
		results = append(results, Placings(all[len(results):])...)
		games, err := t.Schedule.Next(results)
		if err != nil || len(games) == 0 {
			return all, err
		}
		for part := range slices.Chunk(games, partGames) {
			if all, err = t.playAll(ctx, part, all); err != nil {
				return all, err
			}
		}
	}
}

// Placings converts games to placings for a schedule.
func Placings(games []Played) []schedule.Placing {
	list := make([]schedule.Placing, len(games))
	for i, g := range games {
		list[i] = schedule.Placing{Fixture: g.Fixture}
		for _, own := range g.Results {
			ahead, _ := standing(g.Results, own)
			list[i].Places = append(list[i].Places, ahead)
		}
	}
	return list
}

// standing returns how many of the results are better than one of them, and how many are equal, itself among them.
func standing(results []float32, own float32) (ahead, level int) {
	for _, other := range results {
		switch {
		case other > own:
			ahead++
		case other == own:
			level++
		}
	}
	return ahead, level
}

// Bounds of a chunk. A stopped tournament loses the chunks in progress, so a chunk has few turns.
const (
	chunkTurns = 8192
	leastChunk = 4 // games
	mostChunk  = 64

	// partGames games are played before the next part begins. This bounds the memory of games that
	// wait to be played.
	partGames = 1 << 14
)

// playAll plays games and appends them to all. After an error it still appends the games before the
// first missing one.
func (t *Tournament) playAll(ctx context.Context, games []schedule.Fixture, all []Played) ([]Played, error) {
	v, err := t.Vector(games[0].Stage)
	if err != nil {
		return all, err
	}
	most := max(leastChunk, min(mostChunk, chunkTurns/max(1, v.Spec().MaxTurns)))
	first := len(all)
	all = append(all, make([]Played, len(games))...)
	d := &delivery{games: all[first:], done: make([]bool, len(games)), tell: t.Done}
	err = parallel.Each(ctx, t.Workers, t.chunks(games, most), func(ctx context.Context, _ int, chunk []int) error {
		played, err := t.playChunk(ctx, &games[chunk[0]], len(chunk))
		if err != nil {
			return err
		}
		for i, at := range chunk {
			played[i].Fixture = games[at]
		}
		return d.take(chunk, played)
	})
	return all[:first+d.due], err
}

func (t *Tournament) bots(g *schedule.Fixture) bool {
	return slices.ContainsFunc(g.Players, func(p int) bool { return t.Players[p].New == nil })
}

// chunks splits a list into the chunks that one worker plays: the indices of at most `most` games of the same policies at
// the same seats in one stage on consecutive seeds, or of a single game with a bot. They are ordered so that few finished
// games wait for earlier ones in the list.
func (t *Tournament) chunks(games []schedule.Fixture, most int) (list [][]int) {
	open := map[string]int{} // by stage and seats: the index in list of the chunk that can take more games
	for i := range games {
		g := &games[i]
		if t.bots(g) {
			list = append(list, []int{i})
			continue
		}
		seats := fmt.Sprint(g.Stage, g.Players)
		at, ok := open[seats]
		if ok && len(list[at]) == most {
			clear(open) // begin a new round of chunks for all seats
			ok = false
		}
		if !ok || games[list[at][len(list[at])-1]].Seed+1 != g.Seed {
			at = len(list)
			open[seats] = at
			list = append(list, nil)
		}
		list[at] = append(list[at], i)
	}
	return list
}

// playChunk plays the n games of a chunk that begins with g.
func (t *Tournament) playChunk(ctx context.Context, g *schedule.Fixture, n int) (played collector, err error) {
	if t.bots(g) {
		p, err := t.Match(ctx, g)
		return collector{p}, err
	}
	v, err := t.Vector(g.Stage)
	if err != nil {
		return nil, err
	}
	var makers []rollout.Maker
	for _, p := range g.Players {
		makers = append(makers, t.Players[p].New)
	}
	games, err := rollout.NewGames(v, rollout.Cast{Seats: makers})
	if err != nil {
		return nil, err
	}
	err = games.Play(ctx, t.Seed, uint64(g.Seed), uint64(n), &played)
	return played, errors.Join(err, games.Close())
}

type collector []Played

func (c *collector) Episode(e *rollout.Episode) error {
	p := Played{Turns: e.Turns, Cut: e.Status == sim.Cut, Sum: SumOf(e)}
	for _, o := range e.Outcome[:e.Players] {
		p.Results, p.Scores = append(p.Results, o.Result), append(p.Scores, o.Score)
	}
	for seat, n := range e.Networks {
		p.Faults = append(p.Faults, NetworkFaults(seat, n)...)
	}
	*c = append(*c, p)
	return nil
}

// SumOf returns the Played.Sum of a game between policies.
func SumOf(e *rollout.Episode) prng.Digest {
	sum := prng.Digest(e.Status)
	for _, o := range e.Outcome[:e.Players] {
		sum.Add(math.Float64bits(o.Score))
		sum.Add(uint64(math.Float32bits(o.Result)))
	}
	for _, end := range e.Ends {
		sum.Add(uint64(end))
	}
	for _, o := range e.Orders {
		sum.Add(uint64(o))
	}
	return sum
}

// FaultNotFinite is the kind of fault of an evaluation with NaN or infinite logits or values.
const FaultNotFinite = "not finite"

// NetworkFaults returns the faults of the network at a seat in a game. Their turn is −1, since they
// are counted per game. A likeliest choice that the mask excludes is none: networks that are made for
// masks need not learn it.
func NetworkFaults(seat int, n rollout.NetworkCounts) []Fault {
	if n.NotFinite == 0 {
		return nil
	}
	return []Fault{{Seat: seat, Turn: -1, Kind: FaultNotFinite, Times: int(n.NotFinite),
		Text: fmt.Sprintf("NaN or infinite logits or values in %d of %d evaluations", n.NotFinite, n.Evaluations)}}
}

// delivery receives games in any order and passes them on in their own.
type delivery struct {
	games []Played
	done  []bool
	tell  func(p *Played) error

	mu  sync.Mutex
	due int // number of games passed on
	err error
}

// take stores the games with the given indices and passes on all that are due.
func (d *delivery) take(places []int, played []Played) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, at := range places {
		d.games[at], d.done[at] = played[i], true
	}
	for d.err == nil && d.due < len(d.games) && d.done[d.due] {
		if d.tell != nil {
			d.err = d.tell(&d.games[d.due])
		}
		if d.err == nil {
			d.due++
		}
	}
	return d.err
}
