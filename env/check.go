package env

import "fmt"

// mustHave panics if there is no game i.
func (v *pool[S]) mustHave(what string, i int) {
	if uint(i) >= uint(len(v.states)) {
		panic(fmt.Sprintf("env: %s of game %d: the Vector has %d, from 0", what, i, len(v.states)))
	}
}

// check panics if there is no b, or a slab of it has the wrong length.
func (v *pool[S]) check(b *Batch) {
	if b != nil && b.Rows == v.spec.Games*v.spec.Info.Players && b.fits(&v.lengths) {
		return
	}
	if fault := b.fault(&v.lengths, &v.spec); fault != "" {
		panic("env: " + fault)
	}
}

// slabNames are the slabs of a Batch. The first are always there, the others
// in the order of their Wants.
var slabNames = [...]string{
	"Orders", "OrderLen", "Reward", "Status", "Turn",
	"Planes", "Packed", "Scalars", "Mask", "Action", "Key", "Played",
}

// firstWanted is the place of the slab of the first Want in slabNames.
const firstWanted = 5

// lengths holds a number for each slab.
type lengths [len(slabNames)]int

// absent is the length of an optional slab that is nil.
const absent = -1

// lengthsOf are the lengths that the slabs of a Batch for all games of the spec
// have.
func lengthsOf(s *Spec) *lengths {
	games, rows := s.Games, s.Games*s.Info.Players
	return &lengths{
		rows * s.Info.MaxOrders, rows, rows, games, games,
		rows * s.Shape.PlaneBytes(), rows * s.Shape.Words, rows * s.Shape.Scalars,
		rows * s.MaskWords, rows * len(s.Heads), rows, rows * len(s.Heads),
	}
}

// lengths are the lengths of the slabs of b.
func (b *Batch) lengths() lengths {
	return lengths{
		len(b.Orders), len(b.OrderLen), len(b.Reward), len(b.Status), len(b.Turn),
		optional(b.Planes), optional(b.Packed), optional(b.Scalars),
		optional(b.Mask), optional(b.Action), optional(b.Key), optional(b.Played),
	}
}

func optional[T any](slab []T) int {
	if slab == nil {
		return absent
	}
	return len(slab)
}

// fault says why b does not fit the games of the spec, whose slabs have the
// wanted lengths: it names the slab that has another; "" if it fits.
func (b *Batch) fault(want *lengths, s *Spec) string {
	if b == nil {
		return "the Batch is nil"
	}
	if rows := s.Games * s.Info.Players; b.Rows != rows {
		return fmt.Sprintf("the Batch has %d rows, %d games of %d seats have %d", b.Rows, s.Games, s.Info.Players, rows)
	}
	for k, n := range b.lengths() {
		if n != want[k] && n != absent {
			return fmt.Sprintf("slab %s of the Batch has length %d, %d games need %d", slabNames[k], n, s.Games, want[k])
		}
	}
	return ""
}

// fits reports whether the slabs have the wanted lengths. It says at once what
// lengths says slab by slab: a Vector of a few games asks it in every turn.
func (b *Batch) fits(want *lengths) bool {
	return len(b.Orders) == want[0] && len(b.OrderLen) == want[1] && len(b.Reward) == want[2] &&
		len(b.Status) == want[3] && len(b.Turn) == want[4] &&
		(b.Planes == nil || len(b.Planes) == want[5]) && (b.Packed == nil || len(b.Packed) == want[6]) &&
		(b.Scalars == nil || len(b.Scalars) == want[7]) && (b.Mask == nil || len(b.Mask) == want[8]) &&
		(b.Action == nil || len(b.Action) == want[9]) && (b.Key == nil || len(b.Key) == want[10]) &&
		(b.Played == nil || len(b.Played) == want[11])
}

// Need panics with the name of a slab that b lacks: policies say with it what
// they read and write. who is their name.
func (b *Batch) Need(want Want, who string) {
	if b == nil {
		panic("env: " + who + ": the Batch is nil")
	}
	for k, n := range b.lengths() {
		if n == absent && want>>(k-firstWanted)&1 != 0 {
			panic("env: " + who + " needs the slab " + slabNames[k] + ", which the Batch does not have")
		}
	}
}
