package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// position reads a board in which empty rows may be left out, by the rules of 2026.
func position(t *testing.T, text string) (*terminal.Game, *terminal.State) {
	t.Helper()
	g, err := terminal.New(terminal.DefaultRules())
	require.NoError(t, err)
	for y := range terminal.Side {
		if row := fmt.Sprintf("\n%d ", y); !strings.Contains(text, row) {
			text += row + strings.Repeat(". ", 2*min(y+1, terminal.Side-y))
		}
	}
	s, err := terminal.ParseText(g, text)
	require.NoError(t, err)
	return g, &s
}

// planned returns the planner's orders for seat 0.
func planned(g *terminal.Game, s *terminal.State) (c *planner, all []terminal.Command) {
	c = new(planner)
	c.Look(g, s, 0, make([]sim.Order, 0, g.Info().MaxOrders))
	c.Random = prng.New(1)
	c.decide()
	for _, o := range c.Orders {
		all = append(all, terminal.Decode(o))
	}
	return c, all
}

// units counts the mobile units of a kind that are ordered.
func units(orders []terminal.Command, k terminal.Kind) (n uint32) {
	for _, o := range orders {
		if o.Op == terminal.OpSpawn && o.Kind == k {
			n += o.Count
		}
	}
	return n
}

// fortress is a front of turrets that stops small attacks.
const fortress = `
14 T T T T T T T T T T T T T T T T T T T T T T T T T T T T
15   T T T T T T T T T T T T T T T T T T T T T T T T T T
`

// The planner attacks at once if it wins, not if nothing gets through, and otherwise when
// waiting gains less.
func TestTerminalPlannerAttacks(t *testing.T) {
	player := "\np2 health 2 cores 0 bits 0 time 0\n"
	guarded := func(bits, turn int) string {
		return fmt.Sprintf("turn %d next 300\np1 health 30 cores 0 bits %d time 0", turn, bits) + strings.Replace(player, "2 cores", "30 cores", 1) +
			"14 . . . . . . T T . . . . . . . . . . . . T T . . . . . .\n" +
			"16     . . . . T T . . . . . . . . . . . . T T . . . .\n"
	}
	for _, c := range []struct {
		name, board string
		attacks     bool
	}{
		{"two scouts win", "turn 10 next 1\np1 health 30 cores 0 bits 2 time 0" + player, true},
		{"a fortress", "turn 10 next 300\np1 health 30 cores 0 bits 2 time 0" + player + fortress, false},
		{"few bits against turrets", guarded(2, 10), false},
		{"saved bits against turrets", guarded(14, 10), true},
		{"the last turn", guarded(6, 99), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := position(t, c.board)
			_, orders := planned(g, s)
			n := units(orders, terminal.Scout) + units(orders, terminal.Demolisher)
			require.Equal(t, c.attacks, n > 0, "%d units, orders %+v", n, orders)
		})
	}
}

// mazes are two mazes in the middle of a game.
const mazes = `
19            . . s . . . . . . . . . . . . . . .
18          . . . S . . . s . . . . . . . . . . . .
16      . . . . . t T . T t . . . . . . . . . . . . . .
15    w w w w w w w W . W w w w w w w w w w w w w w w w w
14  w . . . . . . . . . . . . . . . . . . . . . . . . . . w
13  w . . . . . . . . . . . . . . . . . . . . . . . . . . w
12    w w w w w w w W . W w w w w w w w w w w w w w w w w
11      . . . . . t T . T t . . . . . . . . . . . . . .
9           . . . S . . . S . . . . . . . . . . . .
8             . . S . . . s . . . . . . . . . . .
id 0,13=5 27,13=6 27,14=11 0,14=12 1,12=15 26,12=16 2,12=17 25,12=18 3,12=19 26,15=20
id 1,15=21 25,15=22 2,15=23 24,15=24 24,12=27 4,12=28 23,12=29 5,12=30 22,12=31 3,15=32
id 23,15=33 4,15=34 22,15=35 5,15=36 6,12=39 21,12=40 7,12=41 20,12=42 19,12=43 21,15=44
id 6,15=45 20,15=46 7,15=47 19,15=48 18,12=49 17,12=50 11,12=51 16,12=52 18,15=53 17,15=54
id 16,15=55 11,15=56 12,12=57 15,12=58 13,12=59 14,12=60 15,15=61 12,15=62 14,15=63 13,15=64
id 8,11=71 10,16=72 10,11=73 8,16=74 7,11=75 11,11=76 11,16=77 7,16=78 11,8=85 7,19=86
id 8,12=87 10,12=88 10,15=89 8,15=90 7,9=91 11,9=93 7,18=94 7,8=106 11,18=107
health 0,13=50 27,14=50 3,12=46 24,15=46 4,12=56 5,12=46 23,15=56 22,15=46 8,11=98 10,16=88
health 8,16=68 8,15=118
`

// The planner builds a turret on the path of an attack that would get through, so that the
// attack gains less than half; without a threat it builds the maze.
func TestTerminalPlannerDefends(t *testing.T) {
	text := "turn 17 next 300\np1 health 37 cores 7 bits 0 time 0\np2 health 34 cores 4 bits %v time 0" + mazes
	gains := func(bits float32) (first terminal.Command, without, with float32) {
		g, s := position(t, fmt.Sprintf(text, bits))
		c, orders := planned(g, s)
		require.NotEmptyf(t, orders, "bits %v: no orders", bits)
		with = c.best(1, bits).gain
		c.Look(g, s, 0, c.Orders[:0])
		c.prepare()
		without = c.best(1, bits).gain
		t.Logf("bits %v: the enemy gains %v, after %+v %v", bits, without, orders, with)
		return orders[0], without, with
	}
	first, without, with := gains(13.7)
	assert.Truef(t, first.Op == terminal.OpPlace && first.Kind == terminal.Turret && first.Y < mazeLine-1, "the first order against a threat is %+v", first)
	assert.Truef(t, without >= planThreat && with <= without/2, "the enemy's best attack gains %v, and %v without the orders", with, without)
	again, _, _ := gains(1)
	assert.Truef(t, again != first, "the first order is %+v without a threat, too", again)
}
