// Package env steps many games at once for reinforcement learning: reset,
// observe, act, reward. It imports no game; env/catalog lists the games.
//
// All memory belongs to the caller. A Batch holds one row per (game, seat) in
// slabs: slices of plain memory, of a column of a file being written, or of
// memory shared with another process. Games write directly into the slabs.
package env

import (
	"fmt"

	"moonfarm/features"
	"moonfarm/sim"
)

// Settings configures a Vector.
type Settings struct {
	N        int    // number of games
	Form     string // name of the form of observations and actions; "": the default of the game, with Memory features.Cells
	Reward   string // name of the reward, see Reward; "" means "result"
	MaxTurns int    // games are cut (Status Cut) after this many turns; 0: only the rules end them
	// Memory adds remembered values to the planes: where a cell is out of
	// sight, the planes named by Spec.Remembered show the value that was last
	// seen there, or 0 if the cell was never in sight. All other slabs, Packed
	// included, stay as observed. Only games and rules with fog of war have
	// memory. Snapshots do not hold it: a game that is restored to an earlier
	// turn remembers nothing, a game that is restored to its current or a later
	// turn keeps its memory. With Batch.Seats a seat remembers what was
	// observed for it.
	Memory bool
}

// ResultReward is the default reward: Outcome.Result in the turn in which the
// rules end the game, else 0. A game that is Cut has no result, so its last
// reward is 0 too; the learner estimates the value of its last state.
const ResultReward = "result"

// Reward documents one of a game's rewards: "result", and one per
// features.Measure. The reward of a measure is the change of the seat's own
// measure in the turn minus the mean change of the other seats'. Every reward
// sums to zero over the seats.
type Reward struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// FormSpec describes a form of a game: what a row observes, and what an action
// means.
type FormSpec struct {
	Form    string // name of the form
	FormDoc string // one line
	// Sequential is set if a seat gives the orders of a turn in several actions,
	// one a Step: see Batch.Action.
	Sequential  bool
	Shape       features.Shape
	Description features.Description
	Heads       []int  // choices per head of an action
	Nothing     int    // the choice that orders nothing, the same in every head; 0 with several heads
	Actions     string // explanation of the choices, for people
	MaskWords   int    // uint64 words of a mask
}

// Spec describes the games of a Vector and the sizes of a Batch for them.
type Spec struct {
	Games int // number of games
	Info  sim.Info
	FormSpec
	Forms    []FormSpec // all forms of the game, the default first
	Reward   string     // the reward in use
	Rewards  []Reward   // all rewards of the game
	MaxTurns int        // a game ends or is cut after this many turns at the latest
	// Remembered names the planes that Settings.Memory fills in; empty without
	// it.
	Remembered []string
}

// InForm returns the spec of the same games in another form. It returns false if
// the game has no form of that name.
func (s Spec) InForm(name string) (Spec, bool) {
	for _, f := range s.Forms {
		if f.Form == name {
			s.FormSpec, s.Remembered = f, nil
			return s, true
		}
	}
	return Spec{}, false
}

// Want selects the slabs of a Batch.
type Want uint8

const (
	WantPlanes Want = 1 << iota // Batch.Planes; the others likewise
	WantPacked
	WantScalars
	WantMask
	WantAction
	WantRowSeed
	WantPlayed
	// WantReward has no effect here, as every Batch has rewards. Programs that
	// store rows use it.
	WantReward
)

// Batch holds one row per (game, seat); the row of seat p of game i is
// i*Players+p. A slab that is nil is not written. Comments give the shape of
// each slab.
type Batch struct {
	Rows int // games × seats

	// Seats selects one seat per game if it is not nil. The slabs that Observe
	// writes then have one row per game: row i is the observation of seat
	// Seats[i] of game i, and nothing is computed for the other seats. All
	// other slabs keep a row for every seat. Seats may change between calls.
	// Policies need a Batch without Seats.
	Seats []sim.Player // [games]

	// Idle lists the games that Observe and Step leave as they are if it is not nil: nothing is
	// written to their rows. It may change between calls.
	Idle []bool // [games]

	// CutMask makes Mask show what is legal in a game that a limit cut, too: a learner that
	// estimates the value of its last state from actions needs those.
	CutMask bool

	// Written by Observe. With Seats they have [games] rows instead of [Rows].
	Planes  []uint8   // [Rows, P, H, W]
	Packed  []uint64  // [Rows, Words]
	Scalars []float32 // [Rows, S]
	Mask    []uint64  // [Rows, MaskWords]; only Spec.Nothing is legal in a game that has ended (but see CutMask)
	RowSeed []uint64  // [Rows] random seed of the row in this turn: a function of (game seed, turn, seat)

	// Written by a policy. A row with OrderLen −1, which Observe sets, plays
	// its Action; any other row plays its first OrderLen Orders. Step converts
	// one into the other, so that both then hold what was played. It writes −1
	// for a head without a choice for its orders; the other heads are not
	// affected. In an Action that is played, −1 orders nothing.
	//
	// In a sequential form an Action is a part of a turn. Step plays a turn of
	// a game once every seat has ended its own; until then a seat that has
	// ended its turn waits, and its rows are ignored (Waits). Before that
	// Reward is 0 and Turn does not change. Orders are a whole turn, which they
	// end, whatever actions came before; Action is then the next action on the
	// way to them. With the action that ends a turn Step writes all orders of
	// the turn, and with other actions none.
	Action         []int32     // [Rows, Heads]
	ActionReadOnly bool        // Step only reads Action and does not convert Orders to it
	Orders         []sim.Order // [Rows, MaxOrders]
	OrderLen       []int32     // [Rows]

	// Written by Step (Status and Turn by Observe, too).
	Reward []float32    // [Rows]
	Status []sim.Status // [games]
	Turn   []int32      // [games] turns played
	Played []int32      // [Rows, Heads] the action for the orders that were given, with −1 as above
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

// Vector plays Spec().Games games at once. It is not safe for concurrent use;
// make one per goroutine. No method allocates, but for FormView. Methods panic with
// the name of the slab or argument if the slabs of a Batch do not fit the Spec, an
// OrderLen is above MaxOrders, or a game does not exist. A layer over a Vector embeds it.
type Vector interface {
	// Spec describes the games. It is constant.
	Spec() Spec
	// Reset starts game i again with the seed. In a new Vector all games are
	// reset with seed 0.
	Reset(i int, seed uint64)
	// Observe fills the observation slabs, Status and Turn of all games and
	// sets every OrderLen to −1. A game that has ended shows its last state and
	// a mask in which only Spec.Nothing is legal. Observe does not change
	// games.
	Observe(b *Batch)
	// ObserveGame is Observe for game i only.
	ObserveGame(b *Batch, i int)
	// ObserveRows is ObserveGame for the games of some rows (game*Players + seat),
	// once for a game whose rows come one after the other.
	ObserveRows(b *Batch, rows []int32)
	// Step plays one turn of every game with the actions or orders in b, and
	// fills Reward, Status and Turn. A game that has ended stays in its last
	// state until Reset, with reward 0, no orders and action −1. Step restarts
	// no game; Autoreset does.
	Step(b *Batch)
	// Outcome returns how seat p of game i stands.
	Outcome(i int, p sim.Player) sim.Outcome

	// Waits reports whether the seat of a row has ended its turn and waits for
	// the other seats, which happens in sequential forms only. What the row plays
	// is ignored until the turn is played.
	Waits(row int) bool
	// TurnID returns a number that changes when game i comes to another turn:
	// when a turn is played, and with Reset, Load and Restore. It returns 0 if the
	// form is not sequential, where every Step plays a turn.
	TurnID(i int) uint64
	// TurnSeeds writes the RowSeed that the seats of game i have at the start of their
	// turns to a slab [Rows]. In a sequential form Observe writes another one for each
	// action of a turn; a policy that chooses whole turns needs that of the start.
	TurnSeeds(dst []uint64, i int)
	// FormView returns a view of the games in the form of that name. It fails if
	// the game has no such form.
	FormView(form string) (FormView, error)

	// Label writes the action that stands for the orders of seat p in game i,
	// with −1 as in Batch.Played.
	Label(dst []int32, i int, p sim.Player, orders []sim.Order)
	// AppendOrders appends the orders that an action of seat p in game i stands
	// for; in a sequential form, those of the first action of a turn.
	AppendOrders(dst []sim.Order, i int, p sim.Player, action []int32) []sim.Order

	// Hash returns the hash of game i's state. Equal states have equal hashes.
	Hash(i int) uint64
	// AppendSnapshot appends the bytes of game i: its state, seed, turn and
	// status.
	AppendSnapshot(dst []byte, i int) []byte
	// Restore sets game i to the snapshot. It fails, and changes nothing, if
	// the snapshot is damaged or of another game or rules. The following turns
	// use the Vector's own Settings.
	Restore(i int, snapshot []byte) error
	// AppendMemory appends what the rows of game i remember (Settings.Memory): nothing
	// without it. Snapshots do not hold it.
	AppendMemory(dst []byte, i int) []byte
	// RestoreMemory sets the memory of all rows of game i to the result of
	// AppendMemory for a game of the same kind, or clears it if memory is
	// empty. It fails, and changes nothing, if memory has another length. A Vector
	// without Settings.Memory ignores it.
	RestoreMemory(i int, memory []byte) error

	// AppendText appends the whole board of game i as text for people.
	AppendText(dst []byte, i int) []byte
	// Scene sets dst to what a person at the seat sees of game i. It returns false
	// if the game's Kit has no Scene. Seats are as in features.Kit.Scene.
	Scene(dst *features.Scene, i, seat int) bool
	// Frames calls frame with a scene of each moment of the next turn of game i, if
	// the seats gave these orders in it, and at last with the state after it. The
	// game stays as it is. Frames returns false if the game's Kit has no Scene.
	Frames(i int, t *sim.Turn, seat int, frame func(*features.Scene)) bool
	// Paths calls path with a way from each place where units or missiles of game i can start
	// now. It returns false if the game's Kit has no Paths.
	Paths(i int, path func(*features.Path)) bool
	// Command says what an order of seat p does. It returns false if the game's Kit
	// has no Command.
	Command(o sim.Order, p sim.Player) (features.Command, bool)

	// Borrow makes the Vector play and observe with the game of another one instead of its own, until
	// Return. It reports whether it did: both must be Vectors of New with the same rules, form and reward.
	// A goroutine that plays many Vectors in turn lends all of them the same game: tables and scratch memory
	// of a game have 0.8 MB in Terminal and 1.5 MB in CodeCraft, which then stay in the processor's cache.
	// Terminal's games in 64 Vectors are 1.6 times as fast. Nothing else changes, and Rules still returns
	// the Vector's own game. Sequential forms choose orders with the Vector's own scratch memory.
	Borrow(from Vector) bool
	// Return ends a Borrow.
	Return()

	// Unwrap returns the Vector below all layers, which plays the games.
	Unwrap() Vector
}
