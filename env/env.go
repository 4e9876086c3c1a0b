// Package env steps many games at once, as reinforcement learning wants them:
// reset, observe, act, reward. It knows no game; env/catalog does.
//
// All memory belongs to the caller. A Batch holds one row per (game, seat) in
// slabs that can be anything: plain slices, columns of a file being written,
// memory shared with another process. Games write straight into them.
package env

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
)

// Settings says how a Vector plays.
type Settings struct {
	N        int    // games at once
	Reward   string // "" is "result"; see Rewards
	MaxTurns int    // cut games after so many turns (Status Cut); 0: only the rules end them
	// Memory fills in what was last seen: where a cell is out of sight, planes
	// of what does not move by itself (Spec.Remembered) show what was there when
	// it last was in sight, 0 if it never was. All else stays as observed, the
	// packed form too. Only for games and rules with fog of war. Snapshots do not
	// hold what was seen: a game that is restored to an earlier turn remembers
	// nothing, one that is restored to any other keeps what it remembered. With
	// Batch.Seats a seat remembers what was observed for it.
	Memory bool
}

// ResultReward is the default reward: Outcome.Result in the turn in which the
// rules end the game, else 0. A game that is Cut has no result, so its last
// reward is 0 too: what the cut state is worth is for the learner to estimate.
const ResultReward = "result"

// Reward documents one of the rewards a game offers: "result" and one for each
// Measure, which pays the change of the seat's own measure in the turn less
// the mean change of the others'. All sum to zero over the seats.
type Reward struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// Spec describes the games of a Vector and the sizes of a Batch for them.
type Spec struct {
	Games       int // at once
	Info        sim.Info
	Shape       features.Shape
	Description features.Description
	Heads       []int    // choices per head of an action
	Unmasked    int      // how many heads at the end have no mask: all their choices are always accepted
	Nothing     int      // the choice of every head that orders nothing; of several heads it is 0
	Actions     string   // what the choices mean
	MaskWords   int      // uint64 words of a mask
	Reward      string   // the reward in use
	Rewards     []Reward // all there are
	MaxTurns    int      // turns after which a game is cut or over at the latest
	// Remembered names the planes that show what was last seen; none without
	// Settings.Memory.
	Remembered []string
}

// Want selects the slabs of a Batch.
type Want uint8

const (
	WantPlanes Want = 1 << iota // Batch.Planes, and so on
	WantPacked
	WantScalars
	WantMask
	WantAction
	WantRowSeed
	WantPlayed
	// WantReward asks for what every Batch has, as it has Orders and Status; it
	// is for those who keep rows.
	WantReward
)

// Batch holds one row per (game, seat); the row of seat p of game i is
// i*Players+p. Slabs that are nil are not wanted: nothing is written to them.
// Shapes are per row unless they say otherwise.
type Batch struct {
	Rows int // games × seats

	// Seats, if it is not nil, names one seat of each game: the slabs that
	// Observe writes then have one row a game, row i for what that seat of game i
	// sees, and nothing is computed for the others. All other slabs keep a row for
	// every seat. It may change between two calls. A policy needs a Batch without.
	Seats []sim.Player // [games]

	// Written by Observe; [games] instead of [Rows] with Seats.
	Planes  []uint8   // [Rows, P, H, W]
	Packed  []uint64  // [Rows, Words]
	Scalars []float32 // [Rows, S]
	Mask    []uint64  // [Rows, MaskWords]; once the game has ended, in each head Spec.Nothing alone
	RowSeed []uint64  // [Rows] seed of the row's random choices this turn: a function of (game seed, turn, seat)

	// Written by a policy. A row with OrderLen −1 (Observe sets it) plays its
	// Action, any other its first OrderLen Orders. Step fills in the other of the
	// two, so that both then say what was played. It writes −1 for a head none of
	// whose choices says the orders that belong to the head; the other heads are
	// not affected. In an Action that is played a head of −1 orders nothing.
	Action   []int32     // [Rows, Heads]
	Given    bool        // Action is only read: what Step would write there is left out
	Orders   []sim.Order // [Rows, MaxOrders]
	OrderLen []int32     // [Rows]

	// Written by Step (Status by Observe too).
	Reward []float32    // [Rows]
	Status []sim.Status // [games]
	Turn   []int32      // [games] turns played
	Played []int32      // [Rows, Heads] the action that says the orders played, with −1 as above: Action without what the rules refused
}

// NewBatch allocates a Batch for n games of the spec with the wanted slabs. It
// panics if n is negative.
func NewBatch(s Spec, n int, w Want) *Batch {
	if n < 0 {
		panic(fmt.Sprintf("env: NewBatch for %d games", n))
	}
	rows := n * s.Info.Players
	b := &Batch{
		Rows:     rows,
		Orders:   make([]sim.Order, rows*s.Info.MaxOrders),
		OrderLen: make([]int32, rows),
		Reward:   make([]float32, rows),
		Status:   make([]sim.Status, n),
		Turn:     make([]int32, n),
	}
	if w&WantPlanes != 0 {
		b.Planes = make([]uint8, rows*s.Shape.PlaneBytes())
	}
	if w&WantPacked != 0 {
		b.Packed = make([]uint64, rows*s.Shape.Words)
	}
	if w&WantScalars != 0 {
		b.Scalars = make([]float32, rows*s.Shape.Scalars)
	}
	if w&WantMask != 0 {
		b.Mask = make([]uint64, rows*s.MaskWords)
	}
	if w&WantAction != 0 {
		b.Action = make([]int32, rows*len(s.Heads))
	}
	if w&WantRowSeed != 0 {
		b.RowSeed = make([]uint64, rows)
	}
	if w&WantPlayed != 0 {
		b.Played = make([]int32, rows*len(s.Heads))
	}
	return b
}

// Vector plays Spec().Games games at once. It is not safe for concurrent use; make one
// per goroutine. No method allocates. A Batch whose slabs do not fit the Spec,
// an OrderLen above MaxOrders and a game that does not exist are mistakes of the
// program: they panic with the name of the slab or the argument.
type Vector interface {
	// Spec is constant.
	Spec() Spec
	// Reset starts game i anew with that seed. A Vector is made with all games
	// reset to seed 0.
	Reset(i int, seed uint64)
	// Observe fills the observation slabs, Status and Turn of all games and
	// sets every OrderLen to −1. A game that has ended shows its last state
	// and a mask that leaves one choice to each head, Spec.Nothing. Observing
	// changes no game.
	Observe(b *Batch)
	// ObserveGame does for the rows of game i alone what Observe does for all.
	ObserveGame(b *Batch, i int)
	// Step plays one turn of every game with the actions or orders in b, and
	// fills Reward, Status and Turn. A game that has ended stays as it is with
	// reward 0, no orders and action −1 until it is Reset: restarting is
	// explicit (Autoreset is a layer above).
	Step(b *Batch)
	// Outcome tells how seat p of game i stands.
	Outcome(i int, p sim.Player) sim.Outcome
}

// Texter is what a Vector of New, found by Unwrap, also does.
type Texter interface {
	// AppendText appends the board of game i as text for people, all that there is
	// on it. It appends nothing if the kit of the game has no text.
	AppendText(dst []byte, i int) []byte
}

// Labeller is what a Vector of New, found by Unwrap, also does.
type Labeller interface {
	// Label writes the action that says some orders of seat p of game i, as Step
	// writes to Played the one that says the orders played.
	Label(dst []int32, i int, p sim.Player, orders []sim.Order)
}

// Hasher is what a Vector of New, found by Unwrap, also does.
type Hasher interface {
	// Hash tells the state of game i: equal states have equal hashes.
	Hash(i int) uint64
}

// Snapshotter is what a Vector of New, found by Unwrap, also does.
type Snapshotter interface {
	// AppendSnapshot appends game i as bytes: its state, seed, turn and status.
	AppendSnapshot(dst []byte, i int) []byte
	// Restore makes game i what the snapshot holds. It fails, and changes
	// nothing, if the snapshot is damaged or of another game or rules. The
	// Vector's own Settings holds for the turns that follow.
	Restore(i int, snapshot []byte) error
}
