package env_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// withSeats returns a Batch like NewBatch's, for one seat per game.
func withSeats(s env.Spec, seats []sim.Player) *env.Batch {
	n := len(seats)
	b := env.NewBatch(s, n, env.WantAction|env.WantPlayed)
	b.Seats = seats
	b.Planes, b.Packed = make([]uint8, n*s.Shape.PlaneBytes()), make([]uint64, n*s.Shape.Words)
	b.Scalars, b.Mask, b.RowSeed = make([]float32, n*s.Shape.Scalars), make([]uint64, n*s.MaskWords), make([]uint64, n)
	return b
}

// rowOf returns the contents of row row of a Batch with rows rows, as text.
func rowOf(b *env.Batch, rows, row int) string {
	return fmt.Sprint(cut(b.Planes, rows, row), cut(b.Packed, rows, row), cut(b.Scalars, rows, row),
		cut(b.Mask, rows, row), cut(b.RowSeed, rows, row))
}

func cut[T any](slab []T, rows, row int) []T {
	size := len(slab) / rows
	return slab[row*size : (row+1)*size]
}

// TestSeats: with Seats, a row is the same as that seat's row without, seats
// may change, and Step plays the same.
func TestSeats(t *testing.T) {
	const n = 5
	for _, g := range shapes {
		v, w := pool(t, g, env.Settings{N: n}), pool(t, g, env.Settings{N: n})
		s, seats := v.Spec(), make([]sim.Player, n)
		all, one := env.NewBatch(s, n, wantAll), withSeats(s, seats)
		compare := func(i int) {
			t.Helper()
			if got, want := rowOf(one, n, i), rowOf(all, all.Rows, i*g.Seats+int(seats[i])); got != want {
				t.Fatalf("%s, turn %d, seat %d of game %d:\n got %s\nwant %s", name(g), all.Turn[i], seats[i], i, got, want)
			}
			if one.Status[i] != all.Status[i] || one.Turn[i] != all.Turn[i] {
				t.Fatalf("%s, game %d: %v after %d turns, want %v after %d", name(g), i, one.Status[i], one.Turn[i], all.Status[i], all.Turn[i])
			}
		}
		for turn := range simtest.ToyTurns + 1 {
			for i := range seats {
				seats[i] = sim.Player((turn/3 + i) % g.Seats)
			}
			v.Observe(all)
			w.Observe(one)
			for i := range seats {
				compare(i)
			}
			seats[turn%n] = sim.Player(turn % g.Seats)
			w.ObserveGame(one, turn%n)
			compare(turn % n)
			chooseAction(s, all)
			copy(one.Action, all.Action)
			v.Step(all)
			w.Step(one)
			if got, want := fmt.Sprint(one.Reward, one.Played, one.OrderLen), fmt.Sprint(all.Reward, all.Played, all.OrderLen); got != want {
				t.Fatalf("%s, turn %d: played %s, want %s", name(g), turn, got, want)
			}
		}
		if n := testing.AllocsPerRun(10, func() { w.Observe(one) }); n != 0 {
			t.Errorf("%s: Observe allocates %v times", name(g), n)
		}
	}
}

// watched records the seats whose observations are encoded.
type watched struct {
	features.Encoder[simtest.ToyState]
	seen *[sim.MaxPlayers]int
}

func (w watched) Planes(dst []uint8, s *simtest.ToyState, p sim.Player) {
	w.seen[p]++
	w.Encoder.Planes(dst, s, p)
}

// All makes watched a BatchEncoder. It must not be called.
func (w watched) All(dst *features.Rows, s *simtest.ToyState) {
	for p := range w.seen {
		w.seen[p]++
	}
	size := w.Shape().PlaneBytes()
	for p := range len(dst.Planes) / size {
		w.Encoder.Planes(dst.Planes[p*size:][:size], s, sim.Player(p))
	}
}

// TestSeatsAreEncodedAlone: nothing is encoded for the other seats.
func TestSeatsAreEncodedAlone(t *testing.T) {
	g, seen := simtest.Toy{Seats: 3, Orders: 2}, [sim.MaxPlayers]int{}
	kit := featuretest.ToyKit(g)
	kit.Encoder = watched{kit.Encoder, &seen}
	v, err := env.New(g, kit, env.Settings{N: 4})
	require.NoError(t, err)
	b := env.NewBatch(v.Spec(), 4, 0)
	b.Planes, b.Seats = make([]uint8, 4*v.Spec().Shape.PlaneBytes()), []sim.Player{2, 0, 2, 2}
	v.Observe(b)
	want := [sim.MaxPlayers]int{1, 0, 3, 0}
	assert.Truef(t, seen == want, "encoded for the seats: %v, want %v", seen, want)
}

// TestMemoryOfSeats: each seat remembers what it has seen, in its row.
func TestMemoryOfSeats(t *testing.T) {
	fog := &features.Fog{Visible: "named", Remembered: []string{"heap"}}
	c := env.Settings{N: 3, Memory: true}
	v, err := foggy(t, fog, c)
	require.NoError(t, err)
	w, err := foggy(t, fog, c)
	require.NoError(t, err)
	seats := []sim.Player{1, 0, 1}
	all, one := env.NewBatch(v.Spec(), 3, wantAll), withSeats(v.Spec(), seats)
	for turn := range simtest.ToyTurns {
		v.Observe(all)
		w.Observe(one)
		for i, p := range seats {
			if got, want := rowOf(one, 3, i), rowOf(all, 6, 2*i+int(p)); got != want {
				t.Fatalf("turn %d, game %d:\n got %s\nwant %s", turn, i, got, want)
			}
		}
		chooseAction(v.Spec(), all)
		copy(one.Action, all.Action)
		v.Step(all)
		w.Step(one)
	}
}

// TestSeatsMisused: misuse panics with the name of the argument.
func TestSeatsMisused(t *testing.T) {
	v := pool(t, simtest.Toy{Seats: 2, Orders: 1}, env.Settings{N: 2})
	s := v.Spec()
	few := withSeats(s, make([]sim.Player, 2))
	few.Seats = few.Seats[:1]
	rows := withSeats(s, make([]sim.Player, 2))
	rows.Mask = make([]uint64, 4*s.MaskWords)
	mustPanic(t, "Observe", "Seats of the Batch has length 1, 2 games need 2", func() { v.Observe(few) })
	mustPanic(t, "Observe", "slab Mask of the Batch has length", func() { v.Observe(rows) })
	mustPanic(t, "Observe", "has seat 2 for game 1: there are 2, from 0", func() { v.Observe(withSeats(s, []sim.Player{0, 2})) })
	mustPanic(t, "Need", "random needs the rows of all seats, the Batch has Seats", func() {
		withSeats(s, make([]sim.Player, 2)).Need(env.WantMask|env.WantAction, "random")
	})
	_, err := env.NewAutoreset(v, env.SameStep, seedOf, rows)
	assert.Error(t, err, "last observations with a slab too long are accepted")
	_, err = env.NewAutoreset(v, env.SameStep, seedOf, withSeats(s, make([]sim.Player, 2)))
	assert.NoError(t, err, "last observations of one seat")
}

// TestAutoresetRestores: a restored game goes on in the snapshot's episode, and
// in the later ones, as the game that was saved; a game that has ended is
// restarted.
func TestAutoresetRestores(t *testing.T) {
	for _, mode := range []env.Mode{env.NextStep, env.SameStep, env.Disabled} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := autoreset(t, mode)
			play(a, b, 2) // game 1 has ended
			saved := a.AppendSnapshot(nil, 1)
			other, c := autoreset(t, mode)
			play(other, c, 1)
			require.NoError(t, other.Continue(1, a.Episode(1), saved))
			assert.Error(t, other.Continue(1, 9, saved[1:]), "a damaged snapshot is accepted")
			if mode == env.Disabled {
				mustPanic(t, "a step after the end", "game 1 has ended", func() { other.Step(c) })
				assert.True(t, other.Terminated[1], "a restored game that has ended is not terminated")
				other.Begin(1, 1)
				a.Begin(1, 1)
			}
			_, want, _ := strings.Cut(play(a, b, 1)[0], " | ") // game 1
			_, got, _ := strings.Cut(play(other, c, 1)[0], " | ")
			assert.Truef(t, got == want && other.Episode(1) == a.Episode(1), "%v: goes on with %s in episode %d, want %s in %d", mode, got, other.Episode(1), want, a.Episode(1))
		})
	}
}
