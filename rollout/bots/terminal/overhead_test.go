package terminal

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// answersOf returns the answers of both players in a match, turn by turn.
func answersOf(m *replay.Match) (answers [2][]string) {
	for p := range sim.Player(2) {
		for turn := range m.Turns {
			answers[p] = append(answers[p], string(frame.AppendAnswer(nil, m.OrdersOf(turn, p), &m.Config.Shorthands, p)))
		}
	}
	return answers
}

// recorded reads the recording that the measurements play: 52 turns with 40 frames
// and 73 KB each.
func recorded(t testing.TB) *replay.Match {
	t.Helper()
	name := simtest.Shared(t, "replays", "terminal", "2026-001.replay.gz")
	m, _, err := replay.Verify(name, bytes.NewReader(simtest.Text(t, name)), nil)
	require.NoError(t, err)
	return m
}

// costs has the times of a match.
type costs struct {
	turns [][]time.Duration // the times of each turn in all matches
	bot   time.Duration     // a bot's time to read the lines of all turns from memory, and to answer
}

// play plays a recorded match between bots that give its answers at once.
func (c *costs) play(t testing.TB, old *replay.Match, seats [2]Seat) {
	t.Helper()
	m := &Match{Config: old.Config, Limits: LocalLimits(&old.Config), Seats: seats}
	turn, last := 0, time.Time{}
	m.Watch = func(*terminal.State) error {
		now := time.Now()
		if !last.IsZero() {
			if turn == len(c.turns) {
				c.turns = append(c.turns, nil)
			}
			c.turns[turn] = append(c.turns[turn], now.Sub(last))
			turn++
		}
		last = now
		return nil
	}
	_, err := m.Play(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqualf(t, turn, old.Turns-1, "%d turns of %d", turn, old.Turns)
}

// alone measures a bot's own time: the least of several times.
func (c *costs) alone(t testing.TB, old *replay.Match, answers []string) {
	t.Helper()
	var read bytes.Buffer
	seats := [2]Seat{bot(func(in *bufio.Reader, out io.Writer) error {
		return serve(bufio.NewReaderSize(io.TeeReader(in, &read), 1<<16), out, nil, answers...)
	}), replays(old, 1)}
	new(costs).play(t, old, seats)
	c.bot = time.Hour
	for range 20 {
		in := bufio.NewReaderSize(bytes.NewReader(read.Bytes()), 1<<16)
		begin := time.Now()
		require.NoError(t, serve(in, io.Discard, nil, answers...))
		c.bot = min(c.bot, time.Since(begin))
	}
}

// turn returns the mean time of a turn, and the part of a bot in it. Each turn counts with
// a quantile of its times in all matches: 0 is the least, 0.5 the median.
func (c *costs) turn(quantile float64) (whole, bot time.Duration) {
	for _, one := range c.turns {
		slices.Sort(one)
		whole += one[int(quantile*float64(len(one)))]
	}
	n := time.Duration(len(c.turns))
	return whole / n, c.bot / n
}

// replays returns a policy that gives the orders of a seat of a recorded match.
func replays(old *replay.Match, p sim.Player) Seat {
	return Seat{Policy: func(s env.Spec) (rollout.Policy, error) { return &replayer{old, p}, nil }}
}

type replayer struct {
	match *replay.Match
	seat  sim.Player
}

// Name implements rollout.Policy, as do Wants and Act.
func (*replayer) Name() string    { return "replay" }
func (*replayer) Wants() env.Want { return 0 }
func (r *replayer) Act(_ env.Vector, b *env.Batch, rows []int32) {
	most := len(b.Orders) / b.Rows
	row := int(rows[0])
	list := r.match.OrdersOf(int(b.Turn[0]), r.seat)
	b.OrderLen[row] = int32(copy(b.Orders[row*most:][:most], list))
}

// TestOverhead: a turn takes at most 2 ms more than the bots' own time. On an idle machine
// it takes at most 0.3 ms more.
func TestOverhead(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skip("times games: other work of the machine can break the bar")
	}
	old := recorded(t)
	answers := answersOf(old)
	const bar = 2 * time.Millisecond
	var c costs
	c.alone(t, old, answers[0])
	whole, bot := time.Hour, time.Duration(0)
	for k := 0; k < 20 && whole-bot > bar; k++ {
		c.play(t, old, [2]Seat{answering(answers[0]...), answering(answers[1]...)})
		whole, bot = c.turn(0) // the least time of each turn: other programs disturb some turns of most matches
	}
	assert.LessOrEqualf(t, whole-bot, bar, "a turn took %v, %v of it the bots", whole, bot)
	t.Logf("a turn took %v, %v of it the bots", whole, bot)
}
