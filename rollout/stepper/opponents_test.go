package stepper_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// peek is a policy whose choice depends on everything that its row sees. It
// checks what Policy promises about the rows.
type peek struct {
	t    testing.TB
	salt uint32
	spec env.Spec
	met  func(b *env.Batch, row int32)
}

func (p peek) Name() string { return "peek" }

func (p peek) Wants() env.Want {
	return env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantRowSeed | env.WantAction
}

func (p peek) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(p.Wants(), "peek")
	if len(rows) == 0 {
		p.t.Error("a policy acts for no rows")
	}
	heads := len(p.spec.Heads)
	for _, row := range rows {
		if b.Status[int(row)/p.spec.Info.Players] != sim.Running || b.OrderLen[row] != -1 {
			p.t.Errorf("row %d: a policy acts for a game that is %v, OrderLen %d", row, b.Status[int(row)/p.spec.Info.Players], b.OrderLen[row])
		}
		seen := fmt.Append(nil, rowsOf(b.Planes, b.Rows, int(row), 1), rowsOf(b.Packed, b.Rows, int(row), 1),
			rowsOf(b.Scalars, b.Rows, int(row), 1), rowsOf(b.Mask, b.Rows, int(row), 1), b.RowSeed[row], p.salt)
		for h, n := range p.spec.Heads {
			seen = append(seen, byte(h))
			b.Action[int(row)*heads+h] = int32(crc32.ChecksumIEEE(seen) % uint32(n))
		}
		if p.met != nil {
			p.met(b, row)
		}
	}
}

// foggy returns the Setup of a test for the toy with fog of war and memory.
func foggy(g simtest.Toy, games, seat int) stepper.Setup {
	return stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) {
			kit := featuretest.ToyKit(g)
			kit.Fog = &features.Fog{Visible: "named", Remembered: []string{"heap"}}
			return env.New(g, kit, c)
		},
		Env: env.Settings{N: games, Memory: true, Reward: "stones"}, Seat: seat, Seed: 5, Workers: 1,
	}
}

// TestOpponentsSee: opponents that see all slabs, in games of several seats
// with fog and memory, choose as in the reference; so does the caller, who also
// plays some or all of the opponents.
func TestOpponentsSee(t *testing.T) {
	for _, g := range []simtest.Toy{{Seats: 2, Orders: 1}, {Seats: 3, Orders: 2}, {Seats: 4, Orders: 8}} {
		t.Run(fmt.Sprintf("%d seats", g.Seats), func(t *testing.T) {
			for seat := stepper.AnySeat; seat < g.Seats; seat++ {
				for mode := env.NextStep; mode <= env.Disabled; mode++ {
					c := foggy(g, 6, seat)
					c.Autoreset = mode
					for salt := range uint32(3) {
						if seat != stepper.AllSeats {
							c.Opponents = append(c.Opponents, func(s env.Spec) (rollout.Policy, error) { return peek{t, salt, s, nil}, nil })
						}
					}
					sameTrajectory(t, c, false)
					if seat != stepper.AllSeats {
						c.Opponents[1] = nil
						sameTrajectory(t, c, false)
						c.Opponents = []rollout.Maker{nil, nil}
						sameTrajectory(t, c, false)
					}
				}
			}
		})
	}
}

// TestSomeSlabs: slabs that are nil do not change the others.
func TestSomeSlabs(t *testing.T) {
	c := config(t, "tron", 8, stepper.AnySeat, "random")
	c.Autoreset = env.SameStep
	s, all := open(t, c)
	some, few := open(t, c)
	*few = stepper.Slabs{Action: few.Action, Scalars: few.Scalars, FinalScalars: few.FinalScalars, FinalResult: few.FinalResult}
	require.NoError(t, some.Bind(few))
	for range 20 {
		choose(s.Spec(), all, 0, s.Rows())
		copy(few.Action, all.Action)
		for _, x := range []*stepper.Stepper{s, some} {
			if err := x.Step(); err != nil {
				t.Fatal(err)
			}
		}
		require.True(t, slices.Equal(few.Scalars, all.Scalars) && slices.Equal(few.FinalScalars, all.FinalScalars) && slices.Equal(few.FinalResult, all.FinalResult), "other scalars without the other slabs")
	}
	*all = *slabsFor(s.Spec(), s.Rows(), c) // other memory, which Observe fills
	*few = *slabsFor(s.Spec(), s.Rows(), c)
	for k, x := range []*stepper.Stepper{s, some} {
		require.NoError(t, x.Bind([]*stepper.Slabs{all, few}[k]))
		require.NoError(t, x.Observe())
	}
	assert.True(t, slices.Equal(few.Planes, all.Planes) && slices.Equal(few.RowSeed, all.RowSeed) && slices.Equal(few.Seat, all.Seat) && slices.Equal(few.Episode, all.Episode) && slices.Max(all.Episode) != 0 && slices.Max(all.RowSeed) != 0, "Observe shows something else in other slabs")
}

// TestDraws: every seat and every opponent is drawn about as often as the
// others; with a single seat it stays the same.
func TestDraws(t *testing.T) {
	const games, resets = 64, 20
	var met [3]int
	c := foggy(simtest.Toy{Seats: 3, Orders: 1}, games, stepper.AnySeat)
	for k := range met {
		c.Opponents = append(c.Opponents, func(s env.Spec) (rollout.Policy, error) {
			return peek{t, 0, s, func(*env.Batch, int32) { met[k]++ }}, nil
		})
	}
	s, b := open(t, c)
	var seats [3]int
	for episode := range resets {
		for i, p := range b.Seat {
			seats[p]++
			if b.Episode[i] != uint64(episode) {
				t.Fatalf("game %d is in episode %d, want %d", i, b.Episode[i], episode)
			}
		}
		require.NoError(t, s.Step())
		require.NoError(t, s.Reset(nil, nil))
	}
	for k := range 3 {
		n := seats[k]
		assert.Truef(t, n >= games*resets/4 && n <= games*resets/2, "seat %d was drawn %d times of %d", k, n, games*resets)
		n = met[k]
		assert.Truef(t, n >= games*resets/2 && n <= games*resets, "opponent %d was drawn %d times of %d", k, n, 2*games*resets)
	}
}

// TestWeights: opponents are drawn in proportion to the weights at the beginning of an episode, one of weight 0
// never; with equal weights as without; and with blocks under way by those at Send.
func TestWeights(t *testing.T) {
	const games = 600
	c := foggy(simtest.Toy{Seats: 2, Orders: 1}, games, 0)
	c.Opponents, c.Batch = []rollout.Maker{nil, nil, nil}, games/2
	s, b := open(t, c)
	equal, seeds := slices.Clone(b.Opponent), make([]uint64, games)
	for i := range seeds {
		seeds[i] = c.Seed + uint64(i)
	}
	for _, c := range []struct {
		weights []float64
		least   [3]int // of each opponent; 0: none
	}{
		{[]float64{2, 2, 2}, [3]int{150, 150, 150}},
		{[]float64{0, 1e308, 1e308}, [3]int{0, 250, 250}},
		{[]float64{1, 0, 4}, [3]int{80, 0, 420}},
		{[]float64{0, 0, 1e-300}, [3]int{0, 0, games}},
	} {
		require.NoError(t, s.SetWeights(c.weights))
		require.NoError(t, s.Reset(seeds, nil))
		var met [3]int
		for i := range games {
			met[b.Opponent[2*i+1]]++
		}
		for j, least := range c.least {
			assert.Truef(t, met[j] >= least && (least > 0 || met[j] == 0), "weights %v: the opponents were drawn %d times", c.weights, met)
		}
		assert.Equal(t, c.weights[0] == c.weights[2], slices.Equal(b.Opponent, equal), "weights %v draw as no weights do", c.weights)
	}
	for _, bad := range [][]float64{{1, 1, -1}, {1, math.NaN(), 1}, {1, math.Inf(1), 1}, {0, 0, 0}, {1, 1, 1, 1}} {
		wantError(t, "SetWeights", s.SetWeights(bad), false, "expected")
	}
}

// TestWeightsOfBlocks: episodes keep their opponents, and those that begin in a block under way are drawn by the
// weights with which it was sent.
func TestWeightsOfBlocks(t *testing.T) {
	c := config(t, "tron", 8, 0)
	c.Opponents, c.Autoreset, c.Batch, c.Env.MaxTurns = []rollout.Maker{nil, nil}, env.SameStep, 4, 1
	s, b := open(t, c)
	require.NoError(t, s.SetWeights([]float64{1, 0}))
	for k, want := range []uint8{0, 1, 0} {
		before := slices.Clone(b.Opponent)
		require.NoError(t, s.Send(0))
		require.NoError(t, s.SetWeights([]float64{float64(want), float64(1 - want)}))
		require.Equal(t, before[8:], b.Opponent[8:], "weights change the opponents of episodes that have begun")
		_, err := s.Recv(-1)
		require.NoError(t, err)
		for i := range 4 {
			require.Equalf(t, want, b.Opponent[2*i+1], "turn %d, game %d: the opponent of an episode that began", k, i)
		}
	}
}

// TestSeeds: a base seed determines the game, whether it comes from Setup or
// from Reset, and whichever game has it.
func TestSeeds(t *testing.T) {
	c := config(t, "tron", 4, stepper.AnySeat, "random")
	want := playSync(t, c, 12)
	c.Seed = 999
	s, b := open(t, c)
	got := make([][]uint64, 4)
	if err := s.Step(); err != nil { // an episode before
		t.Fatal(err)
	}
	require.NoError(t, s.Reset([]uint64{11, 12, 13, 14}, nil))
	clear(b.FinalScore)
	clear(b.FinalResult)
	for range 12 {
		choose(s.Spec(), b, 0, 4)
		require.NoError(t, s.Step())
		tell(t, s, b, c, got, 0, 4)
	}
	compare(t, "seeds of Reset", got, want)
	require.NoError(t, s.Reset([]uint64{13, 0, 0, 0}, []bool{true, false, false, false}))
	seed := b.RowSeed[0]
	require.NoError(t, s.Reset([]uint64{0, 0, 13, 0}, []bool{false, false, true, false}))
	assert.Truef(t, b.RowSeed[2] == seed && b.RowSeed[0] == seed && b.Episode[0] == 0 && b.Reward[0] == 0, "games of one seed have seeds %x and %x, %x", b.RowSeed[0], b.RowSeed[2], seed)
	require.NoError(t, s.Reset(nil, nil))
	assert.Truef(t, b.Episode[2] == 1 && b.RowSeed[2] != seed && b.RowSeed[2] == b.RowSeed[0], "the next episode is %d, seed %x", b.Episode[2], b.RowSeed[2])
}

// TestSnapshots: a game goes on in another Stepper, at another index, as in its
// own, over the ends of episodes.
func TestSnapshots(t *testing.T) {
	for _, seat := range []int{stepper.AllSeats, stepper.AnySeat, 1} {
		for mode := env.NextStep; mode <= env.Disabled; mode++ {
			c := config(t, "tron", 5, seat)
			if seat != stepper.AllSeats {
				c = config(t, "tron", 5, seat, "random", "empty", "random")
			}
			c.Autoreset = mode
			if seat == 1 {
				c.Opponents[1] = nil
			}
			s, b := open(t, c)
			c.Seed, c.Workers = 77, 2
			other, d := open(t, c)
			for turn := range 17 {
				if turn == 4 || turn == 9 {
					from, to := turn%5, (turn+2)%5
					saved, err := s.AppendSnapshot([]byte("before"), from)
					if err == nil {
						err = other.Restore(to, saved[6:])
					}
					if err != nil {
						t.Fatal(err)
					}
					again, err := other.AppendSnapshot([]byte("before"), to)
					if err != nil || !bytes.Equal(again, saved) {
						t.Fatalf("the snapshot of a restored game differs, error %v", err)
					}
					follow(t, s, b, other, d, c, from, to)
				}
				next(t, s, b, c)
			}
		}
	}
}

// follow plays two games of two Steppers side by side.
func follow(t *testing.T, s *stepper.Stepper, b *stepper.Slabs, other *stepper.Stepper, d *stepper.Slabs, c stepper.Setup, from, to int) {
	t.Helper()
	games, rows := s.Spec().Games, s.Rows()
	for turn := range 12 {
		x, y := *b, *d
		for _, one := range []*stepper.Slabs{&x, &y} { // values from before the snapshot, which may differ
			if turn == 0 {
				one.Reward, one.Action = make([]float32, rows), make([]int32, len(b.Action))
				if c.Autoreset == env.SameStep {
					one.Terminated, one.Truncated = make([]bool, games), make([]bool, games)
				}
			}
			one.FinalScore, one.FinalResult = make([]float32, rows), make([]float32, rows)
			one.FinalPlanes, one.FinalPacked, one.FinalScalars = make([]uint8, rows), make([]uint64, rows), make([]float32, rows)
		}
		require.Equalf(t, digest(&y, games, rows, to), digest(&x, games, rows, from), "seat %d, %v: the restored game differs after %d turns", c.Seat, c.Autoreset, turn)
		next(t, s, b, c)
		next(t, other, d, c)
	}
}

// next plays a turn. Where autoreset is Disabled, it first resets the games
// that have ended.
func next(t *testing.T, s *stepper.Stepper, b *stepper.Slabs, c stepper.Setup) {
	t.Helper()
	mask := make([]bool, s.Spec().Games)
	for i := range mask {
		mask[i] = c.Autoreset == env.Disabled && (b.Terminated[i] || b.Truncated[i])
	}
	if slices.Contains(mask, true) {
		require.NoError(t, s.Reset(nil, mask))
	}
	choose(s.Spec(), b, 0, s.Rows())
	require.NoError(t, s.Step())
}

// TestSnapshotsRefused: invalid snapshots are refused and change nothing.
func TestSnapshotsRefused(t *testing.T) {
	c := config(t, "tron", 3, 1, "random", "empty", "random", "empty")
	s, b := open(t, c)
	next(t, s, b, c)
	good, err := s.AppendSnapshot(nil, 2)
	require.NoError(t, err)
	refused := func(s *stepper.Stepper, what string, bad []byte, want string) {
		t.Helper()
		before, _ := s.AppendSnapshot(nil, 2)
		wantError(t, what, s.Restore(2, bad), false, want)
		after, _ := s.AppendSnapshot(nil, 2)
		assert.Truef(t, bytes.Equal(before, after), "%s: refused, but the game has changed", what)
	}
	for bit := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		refused(s, "a flipped bit", bad, "snapshot")
	}
	for n := range good {
		refused(s, "a short snapshot", good[:n], "snapshot")
	}
	wantError(t, "Restore", s.Restore(3, good), false, "Restore of game 3: there are 3, from 0")
	_, err = s.AppendSnapshot(nil, -1)
	wantError(t, "AppendSnapshot", err, false, "AppendSnapshot of game -1")
	td, _ := open(t, config(t, "towerdefence", 3, 1, "random", "empty", "random", "empty"))
	refused(td, "another game", good, "of another game")
	few, _ := open(t, config(t, "tron", 3, 1, "random"))
	for i := range 3 {
		one, _ := s.AppendSnapshot(nil, i)
		if one[24] != 0 { // the opponent at seat 0
			refused(few, "an opponent too many", one, "there are 1 here, from 0")
			return
		}
	}
	t.Error("no game has another opponent than the first")
}

// TestSnapshotsOfOtherSeats: a game goes on in a Stepper that plays another
// seat, all seats, or any seat. The state is the same, the caller keeps its
// seat, and the opponents are drawn anew, the same each time.
func TestSnapshotsOfOtherSeats(t *testing.T) {
	configs := []stepper.Setup{config(t, "tron", 3, stepper.AllSeats)}
	for _, seat := range []int{0, 1, stepper.AnySeat} {
		configs = append(configs, config(t, "tron", 3, seat, "random", "empty"))
	}
	for _, from := range configs {
		s, b := open(t, from)
		next(t, s, b, from)
		next(t, s, b, from)
		saved, err := s.AppendSnapshot(nil, 2)
		require.NoError(t, err)
		board, _ := s.AppendText(nil, 2)
		for _, to := range configs {
			to.Seed = 99
			var results [2][]byte
			for i := range results {
				other, d := open(t, to)
				if err := other.Restore(i, saved); err != nil {
					t.Fatalf("seat %d into %d: %v", from.Seat, to.Seat, err)
				}
				if text, _ := other.AppendText(nil, i); !bytes.Equal(text, board) {
					t.Errorf("seat %d into %d: the board is\n%s\nwant\n%s", from.Seat, to.Seat, text, board)
				}
				if to.Seat >= 0 && int(d.Seat[i]) != to.Seat {
					t.Errorf("seat %d into %d: the caller sits at %d", from.Seat, to.Seat, d.Seat[i])
				}
				results[i], _ = other.AppendSnapshot(nil, i)
				if err := other.Restore(2, results[i]); err != nil {
					t.Error(err)
				}
				next(t, other, d, to)
			}
			if !bytes.Equal(results[0], results[1]) {
				t.Errorf("seat %d into %d: the snapshot becomes another one at each place", from.Seat, to.Seat)
			}
		}
	}
}
