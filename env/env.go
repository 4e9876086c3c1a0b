// Package env steps many games at once, as reinforcement learning wants them:
// reset, observe, act, reward. It knows no game; env/catalog does.
//
// All memory belongs to the caller. A Batch holds one row per (game, seat) in
// slabs that can be anything: plain slices, columns of a file being written,
// memory shared with another process. Games write straight into them.
package env

import (
	"moonfarm/features"
	"moonfarm/sim"
)

// Config says how a Vector plays.
type Config struct {
	N        int    // games at once
	Reward   string // "" is "result"; see Rewards
	MaxTurns int    // cut games after so many turns (Status Cut); 0: only the rules end them
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
	Info      sim.Info
	Shape     features.Shape
	Table     features.Table
	Heads     []int    // choices per head of an action
	Actions   string   // what the choices mean
	MaskWords int      // uint64 words of a mask
	Reward    string   // the reward in use
	Rewards   []Reward // all there are
	MaxTurns  int      // turns after which a game is cut or over at the latest
}

// Want selects the slabs of a Batch.
type Want uint8

const (
	WantPlanes Want = 1 << iota // Batch.Planes, and so on
	WantPacked
	WantScalars
	WantMask
	WantAction
	WantKey
	WantPlayed
	// Orders, Reward and Status are always there.
)

// Batch holds one row per (game, seat); the row of seat p of game i is
// i*Players+p. Slabs that are nil are not wanted: nothing is written to them.
// Shapes are per row unless they say otherwise.
type Batch struct {
	Rows int // games × seats

	// Written by Observe.
	Planes  []uint8   // [Rows, P, H, W]
	Packed  []uint64  // [Rows, Words]
	Scalars []float32 // [Rows, S]
	Mask    []uint64  // [Rows, MaskWords]; all 0 once the game has ended
	Key     []uint64  // [Rows] seed of the row's random choices this turn: a function of (game seed, turn, seat)

	// Written by a policy. A row with OrderLen −1 (Observe sets it) acts by
	// its Action, any other by its first OrderLen Orders. Step fills in the
	// other of the two, so that after it both say what was played; an action
	// of −1 means that no action says the orders.
	Action   []int32     // [Rows, Heads]
	Orders   []sim.Order // [Rows, MaxOrders]
	OrderLen []int32     // [Rows]

	// Written by Step (Status by Observe too).
	Reward []float32    // [Rows]
	Status []sim.Status // [games]
	Turn   []int32      // [games] turns played
	Played []int32      // [Rows, Heads] the action as the orders say it: of Action, what the rules let through
}

// NewBatch allocates a Batch for n games of the spec with the wanted slabs.
func NewBatch(s Spec, n int, w Want) *Batch {
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
	if w&WantKey != 0 {
		b.Key = make([]uint64, rows)
	}
	if w&WantPlayed != 0 {
		b.Played = make([]int32, rows*len(s.Heads))
	}
	return b
}

// Vector plays Len games at once. It is not safe for concurrent use; make one
// per goroutine. No method allocates. A Batch whose slabs do not fit the Spec
// is a mistake of the program and panics with the slab's name.
type Vector interface {
	// Spec is constant.
	Spec() Spec
	// Len is the number of games.
	Len() int
	// Reset starts game i anew with that seed. A Vector is made with all games
	// reset to seed 0.
	Reset(i int, seed uint64)
	// Observe fills the observation slabs, Status and Turn of all games and
	// sets every OrderLen to −1. A game that has ended shows its last state
	// and an empty mask. Observing changes no game.
	Observe(b *Batch)
	// ObserveGame does for the rows of game i alone what Observe does for all.
	ObserveGame(b *Batch, i int)
	// Step plays one turn of every game with the actions or orders in b, and
	// fills Reward, Status and Turn. A game that has ended stays as it is with
	// reward 0, no orders and action −1 until it is Reset: restarting is
	// explicit (Autoreset is a layer above).
	Step(b *Batch)
}

// Snapshotter is what a Vector of New also does.
type Snapshotter interface {
	// AppendSnapshot appends game i as bytes: its state, seed, turn and status.
	AppendSnapshot(dst []byte, i int) []byte
	// Restore makes game i what the snapshot holds. It fails, and changes
	// nothing, if the snapshot is damaged or of another game or rules. The
	// Vector's own Config holds for the turns that follow.
	Restore(i int, snapshot []byte) error
	// Outcome tells how seat p of game i stands.
	Outcome(i int, p sim.Player) sim.Outcome
}
