package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// TestWalk checks that Walk returns the paths that mobile units take while no structure is destroyed:
// from random free cells of the edges, in positions of random games, with and without pockets.
func TestWalk(t *testing.T) {
	g := newGame(t, terminal.DefaultRules())
	var paths terminal.Paths
	random := prng.New(11)
	ways, pockets, steps := 0, 0, 0
	for range 6 {
		playout(g, &random, 100, func(s *terminal.State, _ *sim.Turn) {
			blocked := s.Built()
			paths.Reset(&blocked)
			for p := range sim.Player(2) {
				x, y := terminal.EdgeXY(random.IntN(terminal.EdgeCells), p)
				if cell, _ := bitboard.DiamondCell(x, y); !blocked.Has(cell) {
					n, through := followWalk(t, g, &paths, *s, p, x, y)
					steps += n
					ways++
					if !through {
						pockets++
					}
				}
			}
		})
	}
	t.Logf("%d ways, %d of them into pockets, %d steps", ways, pockets, steps)
	assert.Truef(t, ways >= 100 && pockets >= 5 && steps >= 2000, "%d ways, %d of them into pockets, %d steps", ways, pockets, steps)
}

// followWalk sends a scout from a cell and compares its moves with Walk. It returns the number of moves.
func followWalk(t *testing.T, g *terminal.Game, paths *terminal.Paths, s terminal.State, p sim.Player, x, y int) (moves int, through bool) {
	t.Helper()
	start, _ := bitboard.DiamondCell(x, y)
	way, through := paths.Walk(nil, start, p)
	s.Bits[p] = 100
	var record terminal.Record
	g.Record(&record)
	defer g.Record(nil)
	turn := sim.NewTurn(1)
	turn.SetOne(p, terminal.Spawn(terminal.Scout, x, y, 1))
	before := s.Own
	g.Deploy(&s, turn)
	for g.Frame(&s) && s.Own == before {
	}
	for i, m := range record.Moves {
		from, _ := bitboard.DiamondCell(int(m.From.X), int(m.From.Y))
		to, _ := bitboard.DiamondCell(int(m.To.X), int(m.To.Y))
		require.Truef(t, i+1 < len(way) && from == int(way[i]) && to == int(way[i+1]), "turn %d, player %d, move %d is %v to %v, another one was foreseen", s.Turn, p, i, m.From, m.To)
	}
	require.Truef(t, !(len(record.Breaches) > 0) || through && len(record.Moves) == len(way)-1, "turn %d, player %d breaches after %d moves, want %d, through: %v", s.Turn, p, len(record.Moves), len(way)-1, through)
	return len(record.Moves), through
}

// TestBuy checks that Buy returns the same as buying units one by one.
func TestBuy(t *testing.T) {
	random := prng.New(12)
	for range 100000 {
		price := []float32{1, 3, 0.1, 0.25, 0.7, float32(random.Float64() + 0.1), float32(1+random.IntN(10000)) / 10}[random.IntN(7)]
		purse := float32(random.Float64()) * []float32{1, 30, 1000, 200_000, 3e7}[random.IntN(5)]
		if random.IntN(2) == 0 {
			purse = terminal.Tenths(purse)
		}
		most := random.IntN(300)
		want, left := 0, purse
		for ; want < most && left >= price; want++ {
			left = terminal.Tenths(left - price)
		}
		n, have := terminal.Buy(purse, price, most)
		require.Truef(t, n == want && have == left, "Buy(%v, %v, %d) is %d, %v, want %d, %v", purse, price, most, n, have, want, left)
	}
}

// TestIncome checks that a restore pays Income and BitsKept if no structure is built or destroyed.
func TestIncome(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		rules, _ := terminal.RuleSet(name)
		rules.RemovedGive = false
		g := newGame(t, rules)
		var s terminal.State
		g.Reset(&s, 0)
		random, turn := prng.New(13), sim.NewTurn(terminal.PlayoutOrders)
		for range 12 {
			turn.Clear()
			for p := range sim.Player(2) {
				turn.Set(p, g.Playout(nil, &s, p, &random))
			}
			if g.Step(&s, turn) != sim.Running {
				break
			}
			turn.Clear()
			for !s.Marked.Empty() { // a removal would pay back a part of the price
				g.Step(&s, turn)
			}
			before := s
			g.Step(&s, turn)
			for p := range sim.Player(2) {
				cores, bits := g.Income(&before, p)
				if kept := g.BitsKept(&before, p); s.Cores[p] != before.Cores[p]+cores || s.Bits[p] != kept+bits {
					t.Fatalf("%s, turn %d: player %d has %v cores and %v bits, want %v and %v more, of %v and %v", name, s.Turn, p+1,
						s.Cores[p], s.Bits[p], cores, bits, before.Cores[p], kept)
				}
			}
		}
	}
}
