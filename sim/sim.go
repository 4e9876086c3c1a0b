// Package sim is the vocabulary of all games: players, orders, turns and the
// interface Game. It imports only the standard library, and so do the games
// below it, which may also ask golang.org/x/sys/cpu what the processor has
// (outside of their wire packages, which read and write).
//
// A game is a set of rules over a state of plain data. The rules are a value
// that implements Game; the state is a struct without pointers, slices or maps,
// so that a clone is an assignment and a snapshot is its bytes.
//
// The games of contests have the same files; a name without a folder is a file in
// each game's folder:
//
//	turn        game.go: New, Reset, Step, Outcome, Hash; the steps are those of RULES.md, 3
//	rules       rules.go; config.go: the table of all rules with their bounds; validate.go: rules that cannot be played
//	state       state.go; invariants.go: properties of every state
//	orders      order.go: their bits; legal.go: the orders that the rules accept
//	text        text.go writes positions, parsetext.go reads them
//	prices      towerdefence/command.go, terminal/deploy.go, codecraft/build.go
//	income      towerdefence/income.go, terminal/restore.go, codecraft/attack.go
//	targets     towerdefence/missiles.go and tesla.go, terminal/fight.go, codecraft/aim.go
//	paths       terminal/paths.go, codecraft/path.go and its folder internal/path
//	end         towerdefence/game.go, terminal/restore.go, codecraft/game.go
//	playouts    towerdefence/playout.go, terminal/playout.go; towerdefence/batch plays eight games at once
//
// The smallest game, the light cycles, has fewer files. Read it first.
package sim

// Player is a seat, counted from 0.
type Player uint8

// MaxPlayers is the largest number of seats of any game (CodeCraft has four).
const MaxPlayers = 4

// Order is one packed command. Its bit layout belongs to the game and is drawn
// in the game's order.go and RULES.md; 0 means "give no order" in every game.
type Order uint64

// Status is whether a game goes on.
type Status uint8

const (
	Running Status = iota // the game goes on
	Over                  // ended by the rules: "terminated" to a learner
	Cut                   // stopped by a limit that is not a rule: "truncated"
)

// String returns "running", "over" or "cut".
func (s Status) String() string {
	switch s {
	case Running:
		return "running"
	case Over:
		return "over"
	case Cut:
		return "cut"
	}
	return "invalid"
}

// Info describes a game with its rules.
type Info struct {
	Name      string // "towerdefence"
	Rules     string // version of the rules: the original's release, then ours; raised by any change of play
	Config    string // the rule values in the game's own canonical text; with Name it suffices to build the Game again
	Players   int    // seats, 1 … MaxPlayers
	MaxTurns  int    // no game lasts longer
	MaxOrders int    // most orders one seat may give in one turn
}

// Outcome is how a seat stands. At the end of a game it is the final result;
// before the end it is what the result would be if the game stopped now.
type Outcome struct {
	// Result is +1 for first place, −1 for last, evenly spaced between; seats
	// that tie share the mean of their places. It sums to zero over the seats:
	// with two players +1 is a win, 0 a draw, −1 a loss.
	Result float32
	// Score is the game's own points.
	Score float64
}

// Game plays one set of rules over states of type S.
//
// A Game value holds rule constants and scratch memory, so each goroutine has
// its own. No method allocates (AppendOrders only when dst is too small), and
// none fails: an order the rules reject does what the original engine does
// with it. Step on a finished game is allowed and has no meaning; callers keep
// the Status.
type Game[S any] interface {
	// Info describes the game. It is constant.
	Info() Info
	// Reset makes s the first state of the game with that seed. Games without
	// chance ignore the seed.
	Reset(s *S, seed uint64)
	// Step plays one turn with the orders of all seats.
	Step(s *S, t *Turn) Status
	// AppendOrders appends the orders the rules accept from seat p in s, each
	// on its own, in a fixed order; the first is always 0 (do nothing).
	AppendOrders(dst []Order, s *S, p Player) []Order
	// Outcome says how seat p stands in s.
	Outcome(s *S, p Player) Outcome
	// Hash digests all of s that influences play. States that play alike hash
	// alike, whatever order of moves led to them.
	Hash(s *S) uint64
}
