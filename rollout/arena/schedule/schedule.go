// Package schedule says who plays whom: on which seats and which game seed.
//
// A schedule is a pure function of its values and of the results so far. It plays
// nothing and remembers nothing: Next is told all results and returns the games
// that can be played now. So a tournament that was killed goes on where it was, and
// any number of workers plays the same games.
//
// A game's number says which game it is; it depends on nothing but what the game
// is, and in schedules with rounds on its round and table. Numbers have gaps. A
// tournament can be extended without changing what was played:
//
//   - RoundRobin and Gauntlet: by seeds and by players at the end of the list.
//   - Swiss and Ladder: by rounds, and by players that join in a round that has not
//     begun.
//   - Duel: by pairs, as long as its test is not decided.
//   - Sandbox: by rounds, and by players that join. Contest: by waves of the stage
//     that is being played. Championship: not at all.
//
// Players are numbers from 0 on, as in the list of who takes part. Seeds are
// numbers from 0 on as well: seed e is that of episode e of the tournament's master
// seed.
package schedule

import (
	"fmt"
	"slices"
)

// Game is a game to be played.
type Game struct {
	Number  int64 `json:"number"`          // different for every game of a schedule, 0 … 2⁵³−1
	Players []int `json:"players"`         // by seat; must not be written to
	Seed    int   `json:"seed"`            // index of the game's seed
	Round   int   `json:"round,omitempty"` // in schedules with rounds, from 0 on; of a Contest the wave of its part
	Stage   int   `json:"stage,omitempty"` // of a Contest or a Championship, from 0 on
}

// Result is how a game ended.
type Result struct {
	Game
	// Places are by seat: a better place is a smaller number, and who shares a place
	// has the same.
	Places []int `json:"places"`
}

// Schedule is any of the schedules of this package.
type Schedule interface {
	// Next returns all games that can be played, given the results so far in any
	// order, and that have none among them: also those that are being played right
	// now, which the caller tells by their numbers. Nothing is left to be played if
	// there are none. It fails if the schedule's values make no sense, or if results
	// contradict each other or the schedule. Results of games that are no longer in
	// it, since it has fewer seeds or players than before, count for nothing.
	Next(results []Result) ([]Game, error)
}

// maxGames bounds the games that one call of Next returns.
const maxGames = 1 << 24

// byNumber are results by the numbers of their games.
type byNumber map[int64]*Result

// index checks results and finds them by number.
func index(results []Result) (byNumber, error) {
	have := make(byNumber, len(results))
	for i := range results {
		r := &results[i]
		if len(r.Players) < 2 || len(r.Places) != len(r.Players) {
			return nil, fmt.Errorf("schedule: game %d has %d players and places of %d", r.Number, len(r.Players), len(r.Places))
		}
		if have[r.Number] != nil {
			return nil, fmt.Errorf("schedule: game %d has two results", r.Number)
		}
		have[r.Number] = r
	}
	return have, nil
}

// find is the result of a game, nil if it has none. It fails if that is the
// result of another game.
func (b byNumber) find(g *Game) (*Result, error) {
	r := b[g.Number]
	if r != nil && (!slices.Equal(r.Players, g.Players) || r.Seed != g.Seed) {
		return nil, fmt.Errorf("schedule: game %d is of players %v on seed %d, the result is of %v on seed %d: it is of another tournament",
			g.Number, g.Players, g.Seed, r.Players, r.Seed)
	}
	return r, nil
}

// missing are those of the games that have no result.
func (b byNumber) missing(games []Game) ([]Game, error) {
	var all []Game
	for i := range games {
		r, err := b.find(&games[i])
		if err != nil {
			return nil, err
		}
		if r == nil {
			all = append(all, games[i])
		}
	}
	return all, nil
}

// all are the results of games that have one, in their order.
func (b byNumber) all(games []Game) []Result {
	list := make([]Result, len(games))
	for i := range games {
		list[i] = *b[games[i].Number]
	}
	return list
}

// Parts of the number of a game in a schedule with rounds, in bits.
const (
	roundBits = 21
	tableBits = 16
	gameBits  = 16
)

// number is that of a game: which one of which table in which round.
func number(round, table, game int) int64 {
	return int64(round)<<(tableBits+gameBits) | int64(table)<<gameBits | int64(game)
}

// checkRange says that a value lies outside of least … most.
func checkRange(what string, value, least, most int) error {
	if value < least || value > most {
		return fmt.Errorf("schedule: %s: %d, want %d to %d", what, value, least, most)
	}
	return nil
}

// firstError is the first of the errors that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
