package terminal

import (
	"bufio"
	"bytes"
	"io"
	"testing"
	"time"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire"
)

// answersOf are the answers of both players in a match, turn by turn.
func answersOf(m *wire.Match) (answers [2][]string) {
	for p := range sim.Player(2) {
		for turn := range m.Turns {
			answers[p] = append(answers[p], string(wire.AppendAnswer(nil, m.OrdersOf(turn, p), &m.Config.Shorthands, p)))
		}
	}
	return answers
}

// recorded reads the recording that the measurements play: 52 turns with 40 frames
// and 73 KB each.
func recorded(t testing.TB) *wire.Match {
	t.Helper()
	name := simtest.Shared(t, "replays", "terminal", "2026-001.replay.gz")
	m, err := wire.ReadMatch(name, bytes.NewReader(simtest.Text(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// costs are what the turns of a match took, each the fastest of several times: other
// programs seldom disturb a whole match not at all.
type costs struct {
	turns []time.Duration
	bot   time.Duration // what a bot needs to read the lines of all turns, if it has them at hand
}

// play plays a recorded match between bots of this process that answer at once.
func (c *costs) play(t testing.TB, old *wire.Match, answers *[2][]string) {
	t.Helper()
	m := &Match{Config: old.Config, Limits: LocalLimits(&old.Config)}
	for p := range m.Seats {
		m.Seats[p] = answering(answers[p]...)
	}
	var read bytes.Buffer
	if c.bot == 0 {
		m.Seats[0] = bot(func(in *bufio.Reader, out io.Writer) error {
			return serve(bufio.NewReaderSize(io.TeeReader(in, &read), 1<<16), out, nil, answers[0]...)
		})
	}
	turn, last := 0, time.Time{}
	m.Watch = func(*terminal.State) error {
		now := time.Now()
		if !last.IsZero() {
			if turn == len(c.turns) {
				c.turns = append(c.turns, time.Hour)
			}
			c.turns[turn] = min(c.turns[turn], now.Sub(last))
			turn++
		}
		last = now
		return nil
	}
	if _, err := m.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turn < old.Turns-1 {
		t.Fatalf("%d turns of %d", turn, old.Turns)
	}
	if c.bot > 0 {
		return
	}
	c.bot = time.Hour
	for range 20 {
		in := bufio.NewReaderSize(bytes.NewReader(read.Bytes()), 1<<16)
		begin := time.Now()
		if err := serve(in, io.Discard, nil, answers[0]...); err != nil {
			t.Fatal(err)
		}
		c.bot = min(c.bot, time.Since(begin))
	}
}

// turn is what a turn took on the average, and what of it the bots, side by side.
func (c *costs) turn() (whole, bot time.Duration) {
	for _, one := range c.turns {
		whole += one
	}
	n := time.Duration(len(c.turns))
	return whole / n, c.bot / n
}

// BenchmarkMatch tells what a turn takes besides the bots: frames, rules, pipes.
func BenchmarkMatch(b *testing.B) {
	old := recorded(b)
	answers := answersOf(old)
	var c costs
	for b.Loop() {
		c.play(b, old, &answers)
	}
	whole, bot := c.turn()
	b.ReportMetric(float64(whole.Nanoseconds())/1e3, "µs/turn")
	b.ReportMetric(float64((whole-bot).Nanoseconds())/1e3, "overhead-µs/turn")
}

// TestOverhead: a turn takes little but the bots' own time. The bar of 0.3 ms is for
// a machine that does nothing else; a test cannot count on one.
func TestOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("times games")
	}
	old := recorded(t)
	answers := answersOf(old)
	const bar = 2 * time.Millisecond
	var c costs
	whole, bot := time.Hour, time.Duration(0)
	for k := 0; k < 20 && whole-bot > bar; k++ {
		c.play(t, old, &answers)
		whole, bot = c.turn()
	}
	if whole-bot > bar {
		t.Errorf("a turn took %v, %v of it the bots", whole, bot)
	}
	t.Logf("a turn took %v, %v of it the bots", whole, bot)
}
