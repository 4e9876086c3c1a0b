package stepper_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/stepper"
)

// open makes a Stepper with all slabs bound and all games begun.
func open(t testing.TB, c stepper.Setup) (*stepper.Stepper, *stepper.Slabs) {
	t.Helper()
	s, err := stepper.New(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, s.Close())
	})
	b := slabsFor(s.Spec(), s.Rows(), c)
	require.NoError(t, s.Bind(b))
	require.NoError(t, s.Reset(nil, nil))
	return s, b
}

// tell appends the digests of n games from game first on. Where autoreset is
// Disabled, it begins the next episode of those that have ended.
func tell(t testing.TB, s *stepper.Stepper, b *stepper.Slabs, c stepper.Setup, all [][]uint64, first, n int) {
	t.Helper()
	mask, any := make([]bool, len(all)), false
	for i := first; i < first+n; i++ {
		all[i] = append(all[i], digest(b, len(all), s.Rows(), i))
		mask[i] = c.Autoreset == env.Disabled && (b.Terminated[i] || b.Truncated[i])
		any = any || mask[i]
	}
	if !any {
		return
	}
	require.NoError(t, s.Reset(nil, mask))
}

// playSync is reference.play by Step.
func playSync(t testing.TB, c stepper.Setup, steps int) [][]uint64 {
	t.Helper()
	s, b := open(t, c)
	all := make([][]uint64, c.Env.N)
	for range steps {
		choose(s.Spec(), b, 0, s.Rows())
		require.NoError(t, s.Step())
		tell(t, s, b, c, all, 0, c.Env.N)
	}
	return all
}

// playAsync is reference.play by Send and Recv.
func playAsync(t testing.TB, c stepper.Setup, steps int) [][]uint64 {
	t.Helper()
	s, b := open(t, c)
	all, sent := make([][]uint64, c.Env.N), make([]int, s.Blocks())
	rows, games := s.Rows()/s.Blocks(), s.BlockGames()
	send := func(k int) {
		choose(s.Spec(), b, k*rows, (k+1)*rows)
		require.NoError(t, s.Send(k))
		sent[k]++
	}
	for k := range s.Blocks() {
		send(k)
	}
	for range steps * s.Blocks() {
		k, err := s.Recv(-1)
		require.NoError(t, err)
		tell(t, s, b, c, all, k*games, games)
		if sent[k] < steps {
			send(k)
		}
	}
	return all
}

func compare(t *testing.T, what string, got, want [][]uint64) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			n := 0
			for got[i][n] == want[i][n] {
				n++
			}
			t.Fatalf("%s: game %d differs from step %d on", what, i, n+1)
		}
	}
}

// layouts are pairs of workers and games in a block.
var layouts = [][2]int{{1, 0}, {2, 0}, {3, 2}, {1, 3}, {8, 1}, {2, 6}, {4, 0}}

// TestSameTrajectories: all games, seats and modes are played as by one Vector
// with an Autoreset, by any number of workers, in blocks or not.
func TestSameTrajectories(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			v, err := g.New("", env.Settings{N: 1})
			require.NoError(t, err)
			s := v.Spec()
			for seat := stepper.AnySeat; seat < s.Info.Players; seat++ {
				for mode := env.NextStep; mode <= env.Disabled; mode++ {
					if testing.Short() && int(mode) != (seat+2)%3 {
						continue
					}
					c := config(t, g.Name, 6, seat)
					if seat != stepper.AllSeats {
						c = config(t, g.Name, 6, seat, "random", "empty", "mix(1*random,1*empty)")
					}
					c.Autoreset, c.Env.Reward = mode, s.Rewards[len(s.Rewards)-1].Name
					sameTrajectory(t, c, s.Shape.PlaneBytes() > 1e5)
				}
			}
		})
	}
}

// sameTrajectory tries the layouts; for games with large boards it tries only
// some, with fewer steps.
func sameTrajectory(t *testing.T, c stepper.Setup, large bool) {
	t.Helper()
	steps, tried := 13, layouts
	if large {
		steps, c.Env.MaxTurns = 6, 2
		k := int(c.Autoreset)
		tried = [][2]int{layouts[k+1], layouts[k+4]}
	}
	want := newReference(t, c).play(steps)
	for _, l := range tried {
		c.Workers, c.Batch = l[0], l[1]
		what := fmt.Sprintf("seat %d, %v, %d workers, blocks of %d", c.Seat, c.Autoreset, l[0], l[1])
		compare(t, what, playSync(t, c, steps), want)
		compare(t, what+", Send and Recv", playAsync(t, c, steps), want)
	}
}

// TestManyParts: games that are divided into parts of different sizes, which borrow from the workers
// that play them, are the same as the games of one part.
func TestManyParts(t *testing.T) {
	for game, games := range map[string]int{"towerdefence": 1800, "terminal": 180, "codecraft": 9, "tron": 500} {
		t.Run(game, func(t *testing.T) {
			c := config(t, game, games, stepper.AnySeat, "random", "empty")
			if game == "codecraft" {
				c.Env.MaxTurns = 2
			}
			want := playSync(t, c, 8)
			for _, workers := range []int{2, 3, 5} {
				c.Workers = workers
				compare(t, fmt.Sprintf("%d workers", workers), playSync(t, c, 8), want)
				if games%3 == 0 {
					b := c
					b.Batch = games / 3
					compare(t, fmt.Sprintf("%d workers, Send and Recv", workers), playAsync(t, b, 8), want)
				}
			}
		})
	}
}

// TestNoAllocations: nothing is allocated once the workers have started.
func TestNoAllocations(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		for _, seat := range []int{stepper.AllSeats, stepper.AnySeat, 1} {
			c := config(t, "towerdefence", 64, seat)
			if seat != stepper.AllSeats {
				c = config(t, "towerdefence", 64, seat, "random", "econ", "rush")
			}
			c.Workers, c.Batch, c.Autoreset = workers, 16, env.SameStep
			s, b := open(t, c)
			turn, choices := 0, s.Spec().Heads[0]
			choose := func() {
				turn++
				for row := range b.Action {
					b.Action[row] = int32((turn*31 + row) % choices)
				}
			}
			step := func() {
				choose()
				if err := s.Step(); err != nil {
					t.Fatal(err)
				}
			}
			both := func() {
				choose()
				for k := range s.Blocks() {
					if err := s.Send(k); err != nil {
						t.Fatal(err)
					}
				}
				for range s.Blocks() {
					if _, err := s.Recv(time.Minute); err != nil {
						t.Fatal(err)
					}
				}
			}
			both()
			if n := testing.AllocsPerRun(50, step); n != 0 {
				t.Errorf("%d workers, seat %d: %v allocations in a Step", workers, seat, n)
			}
			if n := testing.AllocsPerRun(50, both); n != 0 {
				t.Errorf("%d workers, seat %d: %v allocations in Send and Recv of all blocks", workers, seat, n)
			}
		}
	}
}
