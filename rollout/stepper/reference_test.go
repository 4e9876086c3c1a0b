package stepper_test

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// config returns the Setup of a test, for a game of the catalog.
func config(t testing.TB, game string, games, seat int, opponents ...string) stepper.Setup {
	t.Helper()
	g, err := catalog.Find(game)
	require.NoError(t, err)
	c := stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) { return g.New("", c) },
		Env:    env.Settings{N: games, MaxTurns: 5}, Seat: seat, Seed: 11, Workers: 1,
	}
	for _, spec := range opponents {
		m, err := policy.New(game, spec)
		require.NoError(t, err)
		c.Opponents = append(c.Opponents, m)
	}
	return c
}

// slabsFor allocates all slabs.
func slabsFor(s env.Spec, rows int, c stepper.Setup) *stepper.Slabs {
	z, n := s.Shape, s.Games
	b := &stepper.Slabs{
		Planes: make([]uint8, rows*z.PlaneBytes()), Packed: make([]uint64, rows*z.Words), Scalars: make([]float32, rows*z.Scalars),
		Mask: make([]uint64, rows*s.MaskWords), RowSeed: make([]uint64, rows), Turn: make([]int32, n), Waits: make([]bool, rows),
		Action: make([]int32, rows*len(s.Heads)), Reward: make([]float32, rows),
		Terminated: make([]bool, n), Truncated: make([]bool, n), Episode: make([]uint64, n),
		FinalScore: make([]float32, rows), FinalResult: make([]float32, rows),
	}
	if c.Seat != stepper.AllSeats {
		b.Seat, b.Opponent = make([]sim.Player, n), make([]uint8, n*s.Info.Players)
	}
	if c.Autoreset == env.SameStep {
		b.FinalPlanes, b.FinalPacked, b.FinalScalars = make([]uint8, len(b.Planes)), make([]uint64, len(b.Packed)), make([]float32, len(b.Scalars))
	}
	return b
}

// rowsOf returns n rows of a slab of rows rows, from index row on.
func rowsOf[T any](slab []T, rows, row, n int) []T {
	size := len(slab) / rows
	return slab[row*size : (row+n)*size]
}

// digest returns a hash of everything that the slabs show of a game.
func digest(b *stepper.Slabs, games, rows, i int) uint64 {
	h, n := fnv.New64a(), rows/games
	row := i * n
	for _, part := range []any{
		rowsOf(b.Planes, rows, row, n), rowsOf(b.Packed, rows, row, n), rowsOf(b.Scalars, rows, row, n),
		rowsOf(b.Mask, rows, row, n), rowsOf(b.RowSeed, rows, row, n), b.Turn[i], rowsOf(b.Action, rows, row, n),
		rowsOf(b.Reward, rows, row, n), b.Terminated[i], b.Truncated[i], rowsOf(b.FinalPlanes, rows, row, n),
		rowsOf(b.FinalPacked, rows, row, n), rowsOf(b.FinalScalars, rows, row, n),
		rowsOf(b.FinalScore, rows, row, n), rowsOf(b.FinalResult, rows, row, n), b.Episode[i],
	} {
		if err := binary.Write(h, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	if b.Seat != nil {
		h.Write([]byte{byte(b.Seat[i])})
	}
	return h.Sum64()
}

// choose writes the actions of rows, drawn from their seeds. A row without a
// legal choice, of a game that has ended, gets −1.
func choose(s env.Spec, b *stepper.Slabs, from, to int) {
	heads := len(s.Heads)
	for row := from; row < to; row++ {
		r := prng.New(b.RowSeed[row])
		featuretest.Choose(b.Action[row*heads:], s.Heads, b.Mask[row*s.MaskWords:], func(_, n int) int { return r.IntN(n) })
	}
}

// reference does what a Stepper promises, with one Vector of all games and a
// Batch of all seats.
type reference struct {
	c         stepper.Setup
	spec      env.Spec
	auto      *env.Autoreset
	opponents []rollout.Policy
	batch     *env.Batch
	slabs     *stepper.Slabs
	rows      int
	seats     []int   // [games] the caller's seat
	drawn     [][]int // [games][seats] the opponent
	every     bool    // every seat is a row
}

func newReference(t testing.TB, c stepper.Setup) *reference {
	t.Helper()
	v, err := c.Vector(c.Env)
	require.NoError(t, err)
	h := &reference{c: c, spec: v.Spec(), seats: make([]int, c.Env.N), drawn: make([][]int, c.Env.N)}
	h.rows, h.every = c.Env.N, c.Seat == stepper.AllSeats
	for _, maker := range c.Opponents {
		if maker == nil {
			h.every, h.opponents = true, append(h.opponents, nil)
			continue
		}
		p, err := maker(h.spec)
		require.NoError(t, err)
		h.opponents = append(h.opponents, p)
	}
	if h.every {
		h.rows *= h.spec.Info.Players
	}
	const all = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantRowSeed
	h.batch, h.slabs = env.NewBatch(h.spec, c.Env.N, all), slabsFor(h.spec, h.rows, c)
	h.auto, err = env.NewAutoreset(v, c.Autoreset, h.begin, env.NewBatch(h.spec, c.Env.N, all))
	require.NoError(t, err)
	h.auto.Observe(h.batch)
	for i := range c.Env.N {
		h.show(i)
	}
	return h
}

// begin draws the seat and the opponents of an episode.
func (h *reference) begin(i int, episode uint64) uint64 {
	seed := rollout.GameSeed(h.c.Seed+uint64(i), episode)
	h.seats[i] = h.c.Seat
	if h.c.Seat == stepper.AnySeat {
		r := prng.New(prng.StreamSeed(seed, 0, 0, 0, prng.PurposeSeat))
		h.seats[i] = r.IntN(h.spec.Info.Players)
	}
	h.drawn[i] = nil
	for p := range h.spec.Info.Players {
		r := prng.New(prng.StreamSeed(seed, 0, 0, uint64(p), prng.PurposeOpponent))
		h.drawn[i] = append(h.drawn[i], r.IntN(max(len(h.opponents), 1)))
	}
	return seed
}

// mine returns the caller's rows of game i: the first in the slabs, the first
// in the batch, and their number.
func (h *reference) mine(i int) (row, all, n int) {
	players := h.spec.Info.Players
	if h.every {
		return i * players, i * players, players
	}
	return i, i*players + h.seats[i], 1
}

// show copies the observations of game i's rows.
func (h *reference) show(i int) {
	row, all, n := h.mine(i)
	show(h.slabs, h.rows, row, h.batch, all, n)
	h.slabs.Turn[i], h.slabs.Episode[i] = h.batch.Turn[i], h.auto.Episode(i)
	h.slabs.Terminated[i], h.slabs.Truncated[i] = h.auto.Terminated[i], h.auto.Truncated[i]
	if h.slabs.Seat != nil {
		h.slabs.Seat[i] = sim.Player(h.seats[i])
	}
}

func show(dst *stepper.Slabs, rows, row int, src *env.Batch, all, n int) {
	copy(rowsOf(dst.Planes, rows, row, n), rowsOf(src.Planes, src.Rows, all, n))
	copy(rowsOf(dst.Packed, rows, row, n), rowsOf(src.Packed, src.Rows, all, n))
	copy(rowsOf(dst.Scalars, rows, row, n), rowsOf(src.Scalars, src.Rows, all, n))
	copy(rowsOf(dst.Mask, rows, row, n), rowsOf(src.Mask, src.Rows, all, n))
	copy(rowsOf(dst.RowSeed, rows, row, n), rowsOf(src.RowSeed, src.Rows, all, n))
}

// step plays a turn. In mode Disabled it begins the next episode of games that
// have ended afterwards, as play does.
func (h *reference) step() {
	b, s := h.batch, h.slabs
	for i := range h.seats {
		row, all, n := h.mine(i)
		copy(rowsOf(b.Action, b.Rows, all, n), rowsOf(s.Action, h.rows, row, n))
		if b.Status[i] != sim.Running || h.c.Seat == stepper.AllSeats {
			continue
		}
		for p, j := range h.drawn[i] {
			if p != h.seats[i] && h.opponents[j] != nil {
				h.opponents[j].Act(h.auto, b, []int32{int32(i*h.spec.Info.Players + p)})
			}
		}
	}
	type place struct{ row, all, n int }
	places := make([]place, len(h.seats))
	for i := range places {
		places[i].row, places[i].all, places[i].n = h.mine(i)
	}
	h.auto.Step(b)
	for i, at := range places {
		copy(s.Reward[at.row:], b.Reward[at.all:at.all+at.n])
		if !h.auto.Terminated[i] && !h.auto.Truncated[i] {
			continue
		}
		for k := range at.n {
			o := h.auto.FinalOutcome[at.all+k]
			s.FinalScore[at.row+k], s.FinalResult[at.row+k] = float32(o.Score), o.Result
		}
		if h.c.Autoreset == env.SameStep {
			f := stepper.Slabs{Planes: s.FinalPlanes, Packed: s.FinalPacked, Scalars: s.FinalScalars, Mask: s.Mask, RowSeed: s.RowSeed}
			show(&f, h.rows, at.row, h.auto.Final, at.all, at.n)
		}
	}
	h.auto.Observe(b)
	for i := range h.seats {
		h.show(i)
	}
}

// restart resets the games that have ended.
func (h *reference) restart(mask []bool) {
	for i, wanted := range mask {
		if wanted {
			h.auto.Begin(i, h.auto.Episode(i)+1)
		}
	}
	h.auto.Observe(h.batch)
	for i, wanted := range mask {
		if wanted {
			h.show(i)
			row, _, n := h.mine(i)
			clear(h.slabs.Reward[row : row+n])
		}
	}
}

// play returns the digest of each game after each of the steps.
func (h *reference) play(steps int) [][]uint64 {
	games := h.c.Env.N
	all := make([][]uint64, games)
	for range steps {
		choose(h.spec, h.slabs, 0, h.rows)
		h.step()
		mask := make([]bool, games)
		for i := range games {
			all[i] = append(all[i], digest(h.slabs, games, h.rows, i))
			mask[i] = h.c.Autoreset == env.Disabled && (h.slabs.Terminated[i] || h.slabs.Truncated[i])
		}
		h.restart(mask)
	}
	return all
}
