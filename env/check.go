package env

import (
	"fmt"

	"moonfarm/sim"
)

// mustHave panics if game i does not exist.
func (v *pool[S]) mustHave(what string, i int) {
	if uint(i) >= uint(len(v.states)) {
		panic(fmt.Sprintf("env: %s of game %d: the Vector has %d, from 0", what, i, len(v.states)))
	}
}

// check panics if one of the slabs of b has the wrong length.
func (v *pool[S]) check(b *Batch) {
	want := &v.lengths
	if b.Seats != nil {
		want = &v.seated
	}
	if b.Rows == v.spec.Games*v.spec.Info.Players && b.fits(want) &&
		(b.Seats == nil || len(b.Seats) == v.spec.Games) && (b.Idle == nil || len(b.Idle) == v.spec.Games) {
		return
	}
	if fault := b.fault(want, &v.spec); fault != "" {
		panic("env: " + fault)
	}
}

// seat returns the seat that Seats selects in game i.
func (b *Batch) seat(i, players int) sim.Player {
	p := b.Seats[i]
	if int(p) >= players {
		panic(fmt.Sprintf("env: Seats of the Batch has seat %d for game %d: there are %d, from 0", p, i, players))
	}
	return p
}

// idle reports whether Observe and Step leave game i as it is.
func (b *Batch) idle(i int) bool { return b.Idle != nil && b.Idle[i] }

// slabNames names the slabs of a Batch: first those that every Batch has, then
// the optional ones in the order of their Wants.
var slabNames = [...]string{
	"Orders", "OrderLen", "Reward", "Status", "Turn",
	"Planes", "Packed", "Scalars", "Mask", "Action", "RowSeed", "Played",
}

// firstWanted is the index in slabNames of the slab of the first Want.
const firstWanted = 5

// lengths holds the length of each slab, in the order of slabNames.
type lengths [len(slabNames)]int

// absent is the length of an optional slab that is nil.
const absent = -1

// lengthsOf returns the lengths that slabs must have for all games of the spec,
// in a Batch with Seats if seated is set.
func lengthsOf(s *Spec, seated bool) *lengths {
	games, rows := s.Games, s.Games*s.Info.Players
	seen := rows // rows of observations
	if seated {
		seen = games
	}
	return &lengths{
		rows * s.Info.MaxOrders, rows, rows, games, games,
		seen * s.Shape.PlaneBytes(), seen * s.Shape.Words, seen * s.Shape.Scalars,
		seen * s.MaskWords, rows * len(s.Heads), seen, rows * len(s.Heads),
	}
}

// lengths returns the lengths of b's slabs.
func (b *Batch) lengths() lengths {
	return lengths{
		len(b.Orders), len(b.OrderLen), len(b.Reward), len(b.Status), len(b.Turn),
		optional(b.Planes), optional(b.Packed), optional(b.Scalars),
		optional(b.Mask), optional(b.Action), optional(b.RowSeed), optional(b.Played),
	}
}

func optional[T any](slab []T) int {
	if slab == nil {
		return absent
	}
	return len(slab)
}

// fault returns why b does not fit the games of the spec, naming the slab whose
// length is not the wanted one, or "" if b fits.
func (b *Batch) fault(want *lengths, s *Spec) string {
	if rows := s.Games * s.Info.Players; b.Rows != rows {
		return fmt.Sprintf("the Batch has %d rows, %d games of %d seats have %d", b.Rows, s.Games, s.Info.Players, rows)
	}
	if b.Seats != nil && len(b.Seats) != s.Games {
		return fmt.Sprintf("Seats of the Batch has length %d, %d games need %d", len(b.Seats), s.Games, s.Games)
	}
	if b.Idle != nil && len(b.Idle) != s.Games {
		return fmt.Sprintf("Idle of the Batch has length %d, %d games need %d", len(b.Idle), s.Games, s.Games)
	}
	for k, n := range b.lengths() {
		if n != want[k] && n != absent {
			return fmt.Sprintf("slab %s of the Batch has length %d, %d games need %d", slabNames[k], n, s.Games, want[k])
		}
	}
	return ""
}

// fits reports whether the slabs have the wanted lengths. It is lengths and the
// comparison written out, because a Vector of a few games checks in every turn.
func (b *Batch) fits(want *lengths) bool {
	return len(b.Orders) == want[0] && len(b.OrderLen) == want[1] && len(b.Reward) == want[2] &&
		len(b.Status) == want[3] && len(b.Turn) == want[4] &&
		(b.Planes == nil || len(b.Planes) == want[5]) && (b.Packed == nil || len(b.Packed) == want[6]) &&
		(b.Scalars == nil || len(b.Scalars) == want[7]) && (b.Mask == nil || len(b.Mask) == want[8]) &&
		(b.Action == nil || len(b.Action) == want[9]) && (b.RowSeed == nil || len(b.RowSeed) == want[10]) &&
		(b.Played == nil || len(b.Played) == want[11])
}

// wantSeen selects the slabs that have one row per game in a Batch with Seats.
const wantSeen = WantPlanes | WantPacked | WantScalars | WantMask | WantRowSeed

// Need panics with the name of a slab that b lacks. Policies call it with the
// slabs that they read and write, and their name as who.
func (b *Batch) Need(want Want, who string) {
	if b.Seats != nil && want&wantSeen != 0 {
		panic("env: " + who + " needs the rows of all seats, the Batch has Seats")
	}
	for k, n := range b.lengths() {
		if n == absent && want>>(k-firstWanted)&1 != 0 {
			panic("env: " + who + " needs the slab " + slabNames[k] + ", which the Batch does not have")
		}
	}
}
