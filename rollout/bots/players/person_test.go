package players

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view/human"
	"moonfarm/sim"
)

// remembers is a bot of Tower Defence that counts the rounds in a file of its folder, and builds in the row of that number.
func remembers() int {
	text, _ := os.ReadFile("rounds")
	if n := len(text); n != roundShown() || os.WriteFile("rounds", append(text, 'x'), 0o666) != nil {
		return 4 // it was not shown all rounds
	}
	return tell(fmt.Sprintf("0,%d,2", len(text)%8))
}

// counts is a bot of Terminal that counts its turns, and builds a wall in the column of that number.
func counts() int {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for n := 0; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		turn := 0
		if found, _ := fmt.Sscanf(line[max(strings.Index(line, `"turnInfo":[0,`), 0):], `"turnInfo":[0,%d`, &turn); found == 0 {
			continue
		}
		if turn != n {
			return 4 // it was not shown all turns
		}
		n++
		fmt.Printf("[[\"FF\",%d,13]]\n[]\n", turn)
	}
}

// personGames has for each game the rules, the form for a person, a bot, and the order that the bot gives in each turn.
var personGames = []struct {
	game, rules, form, bot string
	order                  func(turn int) string // nil: none
}{
	{"towerdefence", "game.config.max-rounds=6\n", "cells", "remembers", func(turn int) string { return fmt.Sprint("energy 0,", turn) }},
	{"terminal", "moonfarm.maxTurns=6\n", "orders", "counts", func(turn int) string { return fmt.Sprintf("wall %d,14", 27-turn) }},
	{"codecraft", "players=2\nmax_tick_count=6\n", "entities", "craft", nil},
}

// against begins a game of a person against a bot. begin is an earlier game, or nil.
func against(t *testing.T, n int, begin *rollout.Episode, turns int) (*human.Session, *Table) {
	t.Helper()
	c := personGames[n]
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	g := open(t, Options{Rules: c.rules, Seats: 2}, c.game)
	p, err := g.Enter("cmd:'" + self + "' bot " + c.bot)
	require.NoError(t, err)
	watch := func() (env.Vector, error) { return g.game.New(g.Rules, env.Settings{N: 1, Form: c.form}) }
	v, err := watch()
	require.NoError(t, err)
	table := g.NewTable(t.Context(), Meeting{Seats: []*Entrant{{Name: "person"}, p}, Copies: true,
		Fault: func(f LiveFault) { assert.NotEqual(t, FaultCrash, f.Kind, "%+v", f) }})
	x, err := human.New(human.Setup{Vector: v, Watch: watch, Seats: make([]rollout.Policy, 2), Bots: table, IsBot: []bool{false, true},
		Names: []string{"person", "bot"}, Seed: 3, Begin: begin, Turns: turns,
		Orders: func(list []sim.Order) []string { return recordings.OrderTexts(c.game, list) }})
	require.NoError(t, err)
	return x, table
}

// nothing is the answer of a person who ends the turn without an order.
func nothing(x *human.Session) human.Answer {
	o := x.Offer(0)
	a := human.Answer{Turn: o.Turn, Step: o.Step}
	if o.Sequential {
		a.Picks = []human.Pick{{Choice: o.Nothing}}
	}
	return a
}

// pass plays a turn in which the person does nothing.
func pass(t *testing.T, x *human.Session) {
	t.Helper()
	require.NoError(t, x.Choose(nothing(x)))
}

// TestBotAgainstPerson: a bot plays against a person, who takes turns back, and takes over an earlier game. It is shown every turn, and
// its answers are those of the turn.
func TestBotAgainstPerson(t *testing.T) {
	for n, c := range personGames {
		t.Run(c.game, func(t *testing.T) {
			x, table := against(t, n, nil, 0)
			check := func(e *rollout.Episode) {
				for turn := 0; turn < e.Turns && c.order != nil; turn++ {
					texts := recordings.OrderTexts(c.game, e.OrdersOf(turn, sim.Player(1)))
					require.NotEmpty(t, texts, "turn %d", turn)
					require.Equal(t, c.order(turn), texts[0])
				}
			}
			for range 4 {
				pass(t, x)
			}
			for range 2 {
				done, err := x.Undo()
				require.NoError(t, err)
				require.True(t, done)
			}
			require.Equal(t, 2, x.Episode().Turns)
			for !x.Offer(0).Over {
				pass(t, x)
			}
			e := x.Episode()
			assert.GreaterOrEqual(t, e.Turns, 6)
			check(e)
			_, err := x.Film()
			require.NoError(t, err)
			table.Close()

			x, table = against(t, n, e, 3)
			pass(t, x)
			require.Equal(t, 4, x.Episode().Turns)
			check(x.Episode())
			table.Close()
			if x.Choose(nothing(x)) == nil { // the bot had answered before
				require.Equal(t, 5, x.Episode().Turns)
			}
			turns := x.Episode().Turns
			assert.ErrorContains(t, x.Choose(nothing(x)), "bot: ", "the bot has ended")
			assert.Equal(t, turns, x.Episode().Turns, "nothing is played without it")
		})
	}
}
