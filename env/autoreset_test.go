package env_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// The games of these tests are cut after 3 turns. No row takes anything, except
// that seat 0 of game 1 takes everything in the second turn of an episode,
// which ends the game by its rules.
var cutAfter3 = env.Settings{N: 2, MaxTurns: 3}

func seedOf(game int, episode uint64) uint64 { return uint64(game+1)*1000 + episode }

func autoreset(t *testing.T, mode env.Mode) (*env.Autoreset, *env.Batch) {
	t.Helper()
	v := pool(t, simtest.Toy{Seats: 2, Orders: 8}, cutAfter3)
	want := wantAll &^ env.WantAction
	a, err := env.NewAutoreset(v, mode, seedOf, env.NewBatch(v.Spec(), 2, want))
	require.NoError(t, err)
	return a, env.NewBatch(v.Spec(), 2, want)
}

// heaps returns the first plane of the first row of game i as text.
func heaps(b *env.Batch, i int) string {
	row := len(b.Planes) / b.Rows
	return fmt.Sprint(b.Planes[i*2*row:][:simtest.ToyHeaps])
}

// start returns what heaps returns at the start of an episode with the seed.
func start(seed uint64) string {
	var s simtest.ToyState
	simtest.Toy{Seats: 2}.Reset(&s, seed)
	return fmt.Sprint(s.Heap[:])
}

// script writes the actions of the rows for the turn that Observe has shown.
func script(b *env.Batch) {
	for row := range b.OrderLen {
		b.OrderLen[row] = 0
	}
	if b.Turn[1] == 1 {
		for h := range simtest.ToyHeaps {
			b.Orders[2*8+h] = sim.Order(h + 1)
		}
		b.OrderLen[2] = simtest.ToyHeaps
	}
}

// line returns what a Step and the Observe after it report of both games.
func line(a *env.Autoreset, b *env.Batch) string {
	var parts []string
	for i := range b.Status {
		word := "goes on"
		switch {
		case a.Terminated[i] && a.Truncated[i]:
			word = "both"
		case a.Terminated[i]:
			word = "terminated"
		case a.Truncated[i]:
			word = "truncated"
		}
		shown := "?"
		for e := range uint64(5) {
			if heaps(b, i) == start(seedOf(i, e)) {
				shown = fmt.Sprint("start ", e)
			}
		}
		if heaps(b, i) == fmt.Sprint(make([]uint8, simtest.ToyHeaps)) {
			shown = "empty"
		}
		parts = append(parts, fmt.Sprintf("%s %v, turn %d %v, shows %s", word, b.Reward[2*i:2*i+2], b.Turn[i], b.Status[i], shown))
	}
	return strings.Join(parts, " | ")
}

// play steps n times and returns the lines.
func play(a *env.Autoreset, b *env.Batch, n int) (lines []string) {
	a.Observe(b)
	for range n {
		script(b)
		a.Step(b)
		a.Observe(b)
		lines = append(lines, line(a, b))
	}
	return lines
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range want {
		assert.Equalf(t, want[i], got[i], "step %d", i+1)
	}
}

func TestNextStep(t *testing.T) {
	a, b := autoreset(t, env.NextStep)
	compare(t, play(a, b, 8), []string{
		// While no stone is taken, the heaps are those of the start.
		"goes on [0 0], turn 1 running, shows start 0 | goes on [0 0], turn 1 running, shows start 0",
		"goes on [0 0], turn 2 running, shows start 0 | terminated [1 -1], turn 2 over, shows empty",
		"truncated [0 0], turn 3 cut, shows start 0 | goes on [0 0], turn 0 running, shows start 1",
		"goes on [0 0], turn 0 running, shows start 1 | goes on [0 0], turn 1 running, shows start 1",
		"goes on [0 0], turn 1 running, shows start 1 | terminated [1 -1], turn 2 over, shows empty",
		"goes on [0 0], turn 2 running, shows start 1 | goes on [0 0], turn 0 running, shows start 2",
		"truncated [0 0], turn 3 cut, shows start 1 | goes on [0 0], turn 1 running, shows start 2",
		"goes on [0 0], turn 0 running, shows start 2 | terminated [1 -1], turn 2 over, shows empty",
	})
}

func TestSameStep(t *testing.T) {
	a, b := autoreset(t, env.SameStep)
	compare(t, play(a, b, 6), []string{
		"goes on [0 0], turn 1 running, shows start 0 | goes on [0 0], turn 1 running, shows start 0",
		"goes on [0 0], turn 2 running, shows start 0 | terminated [1 -1], turn 0 running, shows start 1",
		"truncated [0 0], turn 0 running, shows start 1 | goes on [0 0], turn 1 running, shows start 1",
		"goes on [0 0], turn 1 running, shows start 1 | terminated [1 -1], turn 0 running, shows start 2",
		"goes on [0 0], turn 2 running, shows start 1 | goes on [0 0], turn 1 running, shows start 2",
		"truncated [0 0], turn 0 running, shows start 2 | terminated [1 -1], turn 0 running, shows start 3",
	})
}

func TestSameStepKeepsTheLastObservation(t *testing.T) {
	a, b := autoreset(t, env.SameStep)
	play(a, b, 3)
	f := a.Final
	if f.Status[0] != sim.Cut || f.Turn[0] != 3 || heaps(f, 0) != start(seedOf(0, 0)) {
		t.Errorf("game 0: last observation is %v, turn %d, heaps %s", f.Status[0], f.Turn[0], heaps(f, 0))
	}
	// Game 1 ended a step earlier and has gone on since.
	if f.Status[1] != sim.Over || f.Turn[1] != 2 || heaps(f, 1) != fmt.Sprint(make([]uint8, 8)) {
		t.Errorf("game 1: last observation is %v, turn %d, heaps %s", f.Status[1], f.Turn[1], heaps(f, 1))
	}
	words, nothing := a.Spec().MaskWords, uint64(0x8040201008040201) // choice 0 of eight heads with nine choices
	for row, taken := range []float32{0, 0, f.Scalars[6], 0} {
		assert.Truef(t, f.Scalars[row*3] == taken && f.Mask[row*words] == nothing, "row %d: scalars %v, mask %x", row, f.Scalars[row*3:][:3], f.Mask[row*words:][:words])
	}
	assert.Truef(t, f.Scalars[6] != 0 && a.FinalOutcome[2].Score == float64(f.Scalars[6]) && a.FinalOutcome[3].Result == -1, "the outcome of game 1 is lost: %+v, %v stones", a.FinalOutcome[2:4], f.Scalars[6])
}

func TestSameStepTellsHowTheGameEnded(t *testing.T) {
	a, b := autoreset(t, env.SameStep)
	a.Observe(b)
	for range 2 {
		script(b)
		a.Step(b)
		if b.Turn[0] == 2 {
			break
		}
		a.Observe(b)
	}
	// Until the next Observe, Status and Turn report the turn that was played.
	assert.Truef(t, b.Status[1] == sim.Over && b.Turn[1] == 2 && b.OrderLen[2] == simtest.ToyHeaps, "after the Step: %v, turn %d, %d orders", b.Status[1], b.Turn[1], b.OrderLen[2])
}

func TestDisabled(t *testing.T) {
	a, b := autoreset(t, env.Disabled)
	compare(t, play(a, b, 2), []string{
		"goes on [0 0], turn 1 running, shows start 0 | goes on [0 0], turn 1 running, shows start 0",
		"goes on [0 0], turn 2 running, shows start 0 | terminated [1 -1], turn 2 over, shows empty",
	})
	mustPanic(t, "stepping a game that has ended", "game 1 has ended", func() { a.Step(b) })
	a.Begin(1, 1)
	assert.False(t, a.Terminated[1], "the reset leaves terminated true")
	compare(t, play(a, b, 1), []string{
		"truncated [0 0], turn 3 cut, shows start 0 | goes on [0 0], turn 1 running, shows start 1",
	})
	a.Reset(0, 1003)
	assert.False(t, a.Truncated[0], "the reset leaves truncated true")
	a.Begin(0, 1)
	a.Begin(1, 2) // game 1, too, although it has not ended
	compare(t, play(a, b, 1), []string{
		"goes on [0 0], turn 1 running, shows start 1 | goes on [0 0], turn 1 running, shows start 2",
	})
	assert.Truef(t, a.Episode(0) == 1 && a.Episode(1) == 2, "episodes %d and %d, want 1 and 2", a.Episode(0), a.Episode(1))
}

func TestResetUnderAutoreset(t *testing.T) {
	for _, mode := range []env.Mode{env.NextStep, env.Disabled} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := autoreset(t, mode)
			play(a, b, 2)    // game 1 has ended
			a.Reset(1, 1003) // the caller resets it before the layer does
			got := play(a, b, 1)
			assert.Containsf(t, got[0], "| goes on [0 0], turn 1 running", "%v: after Reset", mode)
			assert.Zerof(t, a.Episode(1), "%v: Reset counts as episode", mode)
		})
	}
}

func TestAutoresetRefuses(t *testing.T) {
	v := pool(t, simtest.Toy{Seats: 2, Orders: 1}, env.Settings{N: 1})
	_, err := env.NewAutoreset(v, 3, seedOf, nil)
	assert.Error(t, err, "mode 3 is accepted")
}

func TestAutoresetAllocatesNothing(t *testing.T) {
	for _, mode := range []env.Mode{env.NextStep, env.SameStep} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := autoreset(t, mode)
			n := testing.AllocsPerRun(20, func() {
				a.Observe(b)
				script(b)
				a.Step(b)
			})
			assert.Zerof(t, n, "%v: %g allocations a step", mode, n)
		})
	}
}
