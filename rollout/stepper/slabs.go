package stepper

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/sim"
)

// Slabs are arrays in the caller's memory. A slab that is nil is not written. A
// row is a game seen from its seat; if every seat is a row it is a seat of a game, at
// game*players+seat. Comments give the shape of each slab.
type Slabs struct {
	// The observations; see env.Batch.
	Planes  []uint8   // [rows, P, H, W]
	Packed  []uint64  // [rows, Words]
	Scalars []float32 // [rows, S]
	Mask    []uint64  // [rows, MaskWords]
	RowSeed []uint64  // [rows]
	Turn    []int32   // [games] turns played
	// Waits is true if the seat has ended its turn and waits for other seats (env.Vector), which
	// happens in sequential forms only. The action of such a row is ignored.
	Waits []bool // [rows]

	// Action holds the actions of the rows. Step and Send read it and never
	// write it. −1 orders nothing.
	Action []int32 // [rows, heads]

	// The results of the latest step; 0 and false after Reset.
	Reward     []float32 // [rows]
	Terminated []bool    // [games] the rules ended the game
	Truncated  []bool    // [games] a limit cut it

	// The episode that is shown.
	Seat    []sim.Player // [games] the caller's seat; not with AllSeats
	Episode []uint64     // [games] number of the episode, from 0
	// Opponent is the index in Setup.Opponents of each seat's player,
	// NoOpponent for the caller's seat; not with AllSeats.
	Opponent []uint8 // [games, seats]

	// The last episode that ended: its last observation, only in mode SameStep
	// (in other modes the observation after the step is the last one), and the
	// outcome.
	FinalPlanes  []uint8
	FinalPacked  []uint64
	FinalScalars []float32
	FinalScore   []float32 // [rows]
	FinalResult  []float32 // [rows]
}

// Bind makes all later calls use these slabs. It copies the struct, not the
// slabs, whose memory must stay valid. The next Reset, Observe, Step or Recv
// writes the observations. Bind fails, and changes nothing, if a slab has the
// wrong length or blocks are in progress.
func (s *Stepper) Bind(slabs *Slabs) error {
	if err := s.idle("Bind"); err != nil {
		return err
	}
	if err := s.fits(slabs); err != nil {
		return err
	}
	if s.c.Autoreset != env.SameStep && (slabs.FinalPlanes != nil || slabs.FinalPacked != nil || slabs.FinalScalars != nil) {
		return fmt.Errorf("slabs for the last observations: only autoreset SameStep writes them, this is %v", s.c.Autoreset)
	}
	if s.c.Seat == AllSeats && slabs.Seat != nil {
		return fmt.Errorf("a slab Seat, but the caller plays all seats")
	}
	if s.c.Seat == AllSeats && slabs.Opponent != nil {
		return fmt.Errorf("a slab Opponent, but the caller plays all seats")
	}
	held := *slabs
	s.slabs = &held
	for _, k := range s.parts {
		k.bind(&held)
	}
	return nil
}

// fits returns an error if a slab has the wrong length.
func (s *Stepper) fits(b *Slabs) error {
	z, games, rows := &s.spec, s.spec.Games, s.Rows()
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"Planes", length(b.Planes), rows * z.Shape.PlaneBytes()},
		{"Packed", length(b.Packed), rows * z.Shape.Words},
		{"Scalars", length(b.Scalars), rows * z.Shape.Scalars},
		{"Mask", length(b.Mask), rows * z.MaskWords},
		{"RowSeed", length(b.RowSeed), rows},
		{"Turn", length(b.Turn), games},
		{"Waits", length(b.Waits), rows},
		{"Action", length(b.Action), rows * len(z.Heads)},
		{"Reward", length(b.Reward), rows},
		{"Terminated", length(b.Terminated), games},
		{"Truncated", length(b.Truncated), games},
		{"Seat", length(b.Seat), games},
		{"Episode", length(b.Episode), games},
		{"Opponent", length(b.Opponent), games * s.players},
		{"FinalPlanes", length(b.FinalPlanes), rows * z.Shape.PlaneBytes()},
		{"FinalPacked", length(b.FinalPacked), rows * z.Shape.Words},
		{"FinalScalars", length(b.FinalScalars), rows * z.Shape.Scalars},
		{"FinalScore", length(b.FinalScore), rows},
		{"FinalResult", length(b.FinalResult), rows},
	} {
		if c.got != c.want && c.got != absent {
			return fmt.Errorf("slab %s has length %d, expected %d for %d rows of %d games", c.name, c.got, c.want, rows, games)
		}
	}
	return nil
}

// absent is the length of a slab that is nil.
const absent = -1

func length[T any](slab []T) int {
	if slab == nil {
		return absent
	}
	return len(slab)
}

// cut returns n rows of a slab, from row from on, or nil if the slab is nil. The
// slab has total rows.
func cut[T any](slab []T, total, from, n int) []T {
	if slab == nil {
		return nil
	}
	size := len(slab) / total
	return slab[from*size : (from+n)*size : (from+n)*size]
}

// cutFor returns the slabs of n games from game first on. The slabs of s have
// the given numbers of games and rows.
func (s *Slabs) cutFor(games, rows, first, n int) Slabs {
	each := rows / games
	row, m := first*each, n*each
	return Slabs{
		Planes: cut(s.Planes, rows, row, m), Packed: cut(s.Packed, rows, row, m), Scalars: cut(s.Scalars, rows, row, m),
		Mask: cut(s.Mask, rows, row, m), RowSeed: cut(s.RowSeed, rows, row, m), Turn: cut(s.Turn, games, first, n),
		Waits: cut(s.Waits, rows, row, m), Action: cut(s.Action, rows, row, m), Reward: cut(s.Reward, rows, row, m),
		Terminated: cut(s.Terminated, games, first, n), Truncated: cut(s.Truncated, games, first, n),
		Seat: cut(s.Seat, games, first, n), Episode: cut(s.Episode, games, first, n),
		Opponent:    cut(s.Opponent, games, first, n),
		FinalPlanes: cut(s.FinalPlanes, rows, row, m), FinalPacked: cut(s.FinalPacked, rows, row, m),
		FinalScalars: cut(s.FinalScalars, rows, row, m),
		FinalScore:   cut(s.FinalScore, rows, row, m), FinalResult: cut(s.FinalResult, rows, row, m),
	}
}
