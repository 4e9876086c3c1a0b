package stepper_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/rollout/stepper"
)

// recurrent returns a Setup of 6 games against opponents, of which NET is a recurrent network that is made from the seed.
func recurrent(t *testing.T, game, form string, seat int, seed uint64, opponents ...string) stepper.Setup {
	t.Helper()
	g, err := catalog.Find(game)
	require.NoError(t, err)
	v, err := g.New("", env.Settings{N: 1, Form: form})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "recurrent.onnx")
	require.NoError(t, os.WriteFile(file, neuraltest.Recurrent(v.Spec(), seed), 0o666))
	for i := range opponents {
		opponents[i] = strings.ReplaceAll(opponents[i], "NET", policy.Quote(file))
	}
	c := config(t, game, 6, seat, opponents...)
	c.Env.Form = form
	return c
}

// TestRecurrentOpponents: an opponent that remembers its games plays the same for any workers and blocks, in every
// mode of autoreset, and in forms in which a turn takes several steps.
func TestRecurrentOpponents(t *testing.T) {
	for game, form := range map[string]string{"towerdefence": "", "terminal": "orders"} {
		for mode := env.NextStep; mode <= env.Disabled; mode++ {
			c := recurrent(t, game, form, stepper.AnySeat, 1, "NET", "random")
			c.Autoreset = mode
			sameTrajectory(t, c, game == "terminal")
		}
	}
}

// TestRecurrentSnapshots: a game goes on after Restore in another game of another Stepper, also from within a turn.
func TestRecurrentSnapshots(t *testing.T) {
	for game, form := range map[string]string{"towerdefence": "", "terminal": "orders"} {
		c := recurrent(t, game, form, stepper.AnySeat, 1, "NET", "mix(1*random,1*NET)")
		s, b := open(t, c)
		c.Seed, c.Workers = 77, 2
		other, d := open(t, c)
		for turn := range 30 {
			if turn%7 == 3 {
				from, to := turn%6, (turn+2)%6
				saved, err := s.AppendSnapshot(nil, from)
				require.NoError(t, err)
				require.NoError(t, other.Restore(to, saved))
				again, err := other.AppendSnapshot(nil, to)
				require.NoError(t, err)
				require.True(t, bytes.Equal(again, saved), "the snapshot of a restored game differs")
				follow(t, s, b, other, d, c, from, to)
			}
			next(t, s, b, c)
		}
	}
}

// TestRecurrentSnapshotsRefused: a snapshot without what the opponents remember is refused, and changes nothing.
func TestRecurrentSnapshotsRefused(t *testing.T) {
	saved := func(c stepper.Setup) []byte {
		s, b := open(t, c)
		next(t, s, b, c)
		next(t, s, b, c)
		one, err := s.AppendSnapshot(nil, 2)
		require.NoError(t, err)
		return one
	}
	c := recurrent(t, "towerdefence", "", 0, 1, "NET")
	good := saved(c)
	s, _ := open(t, c)
	for want, bad := range map[string][]byte{
		"without what the opponent at seat 1 remembers of the game: the state of recurrent.onnx":        saved(config(t, "towerdefence", 6, 0, "random")),
		"without what the opponent at seat 1 remembers of the game: a state of the network with sha256": saved(recurrent(t, "towerdefence", "", 0, 2, "NET")),
		"for another seat, or for all: it lacks what the opponent recurrent.onnx":                       saved(recurrent(t, "towerdefence", "", 1, 1, "NET")),
		"snapshot for another seat, or for all: it lacks what the opponent":                             saved(config(t, "towerdefence", 6, stepper.AllSeats)),
		"snapshot with what more opponents remember of the game than play here":                         saved(recurrent(t, "towerdefence", "", 0, 1, "mix(1*NET,1*NET)")),
	} {
		before, _ := s.AppendSnapshot(nil, 2)
		wantError(t, want, s.Restore(2, bad), false, want)
		after, _ := s.AppendSnapshot(nil, 2)
		assert.True(t, bytes.Equal(before, after), "refused, but the game has changed")
	}
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		require.ErrorContains(t, s.Restore(2, bad), "snapshot")
	}
	require.NoError(t, s.Restore(2, good))
	scripted, _ := open(t, config(t, "towerdefence", 6, 0, "random"))
	require.NoError(t, scripted.Restore(2, good), "an opponent that remembers nothing")
}

// TestRecurrentInterrupted: a step that is interrupted after a network has chosen plays the same when it is repeated.
func TestRecurrentInterrupted(t *testing.T) {
	net := recurrent(t, "towerdefence", "", 0, 1, "NET")
	c, p := thinking(t, 6)
	c.Env.MaxTurns = 30
	c.Opponents = append(net.Opponents, c.Opponents...)
	s, b := open(t, c)
	c, q := thinking(t, 6)
	c.Env.MaxTurns = 30
	c.Opponents = append(net.Opponents, c.Opponents...)
	close(q.let)
	plain, d := open(t, c)
	for turn := range 25 {
		choose(s.Spec(), b, 0, s.Rows())
		done := make(chan error, 1)
		go func() { done <- s.Step() }()
		if turn == 10 {
			<-p.begun // of an earlier turn
			within(t, "the opponent", p.begun)
			s.Interrupt()
			require.ErrorIs(t, within(t, "Step", done), stepper.ErrInterrupted)
			close(p.let)
			require.NoError(t, s.Step())
		} else {
			if turn < 10 {
				p.let <- struct{}{}
			}
			require.NoError(t, within(t, "Step", done))
		}
		next(t, plain, d, c)
		for i := range 6 {
			require.Equalf(t, digest(d, 6, 6, i), digest(b, 6, 6, i), "turn %d, game %d", turn, i)
		}
	}
	require.True(t, bytes.Contains(b.Opponent, []byte{0}) && bytes.Contains(b.Opponent, []byte{1}), "both opponents play")
}

// TestRecurrentAsk: a policy that remembers games cannot be asked about single turns.
func TestRecurrentAsk(t *testing.T) {
	c := recurrent(t, "towerdefence", "", 0, 1, "NET")
	s, _ := open(t, c)
	wantError(t, "Ask", s.Ask("NET", c.Opponents[0], make([]int32, 6), nil), false, "is recurrent: it must see every turn of a game, so it cannot be asked about single ones")
}
