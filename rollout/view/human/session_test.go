package human_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view/human"
	"moonfarm/sim"
)

// games are the games of the catalog with the form for a person and another player.
var games = []struct {
	game, rules, form, other, hint string
	turns                          int
}{
	{"tron", "", "cells", "random", "territory", 100},
	{"towerdefence", "", "cells", "econ", "mcts(sims=8)", 40},
	{"terminal", "", "orders", "starter", "maze", 12},
	{"codecraft", "round2", "entities", "econ", "econ", 30},
}

func find(t testing.TB, game, spec string, s env.Spec) rollout.Policy {
	t.Helper()
	m, err := policy.New(game, spec)
	require.NoError(t, err)
	p, err := m(s)
	require.NoError(t, err)
	return p
}

// newSession makes a session with a person at a seat.
func newSession(t testing.TB, n, seat int, change func(o *human.Setup)) *human.Session {
	t.Helper()
	c := games[n]
	entry, err := catalog.Find(c.game)
	require.NoError(t, err)
	make := func() (env.Vector, error) {
		return entry.New(c.rules, env.Settings{N: 1, Form: c.form, MaxTurns: c.turns})
	}
	v, err := make()
	require.NoError(t, err)
	o := human.Setup{Vector: v, Watch: make, Seed: 3, Hint: find(t, c.game, c.hint, v.Spec()),
		Orders: func(list []sim.Order) []string { return recordings.OrderTexts(c.game, list) }}
	for p := range v.Spec().Info.Players {
		o.Seats, o.Names = append(o.Seats, find(t, c.game, c.other, v.Spec())), append(o.Names, fmt.Sprint("p", p))
	}
	o.Seats[seat] = nil
	if change != nil {
		change(&o)
	}
	x, err := human.New(o)
	require.NoError(t, err)
	return x
}

// choose chooses the option with a text, in a form with one head.
func choose(t *testing.T, x *human.Session, text string) error {
	t.Helper()
	o := x.Offer(human.AllHeads)
	i := slices.IndexFunc(o.Heads[0].Options, func(o human.Option) bool { return o.Text == text })
	require.GreaterOrEqual(t, i, 0, "not offered: "+text)
	return x.Choose(human.Answer{Turn: o.Turn, Step: o.Step, Picks: []human.Pick{{Choice: o.Heads[0].Options[i].Choice}}})
}

// pick draws legal choices, one for each head at most.
func pick(t *testing.T, g *rand.Rand, x *human.Session) human.Answer {
	t.Helper()
	o := x.Offer(human.AllHeads)
	a := human.Answer{Turn: o.Turn, Step: o.Step}
	for _, h := range o.Heads {
		require.NotEmpty(t, h.Options)
		if k := g.IntN(len(h.Options)); len(o.Heads) == 1 || g.IntN(2) == 0 {
			a.Picks = append(a.Picks, human.Pick{Head: h.Head, Choice: h.Options[k].Choice})
		}
	}
	if o.Sequential && g.IntN(4) == 0 {
		a.Picks = []human.Pick{{Head: 0, Choice: o.Nothing}}
	}
	return a
}

// TestPlay: a game with a person, who takes choices back, ends as its orders say when they are played again.
func TestPlay(t *testing.T) {
	for n, c := range games {
		t.Run(c.game, func(t *testing.T) {
			for seat := range 3 { // with 2 a person has all
				x, g := newSession(t, n, seat%2, func(o *human.Setup) {
					if seat == 2 {
						clear(o.Seats)
					}
				}), rand.New(rand.NewPCG(1, uint64(seat)))
				undone := 0
				for !x.Offer(0).Over {
					before, offer := x.Version(), x.Offer(human.AllHeads)
					err := x.Choose(pick(t, g, x))
					if errors.Is(err, human.ErrTogether) {
						require.Equal(t, before, x.Version())
						require.Equal(t, offer, x.Offer(human.AllHeads))
						continue
					}
					require.NoError(t, err)
					require.NotEqual(t, before, x.Version())
					if g.IntN(5) == 0 {
						ok, err := x.Undo()
						require.NoError(t, err)
						require.True(t, ok)
						undone++
					}
				}
				require.Positive(t, undone)
				e := x.Episode()
				entry, _ := catalog.Find(c.game)
				v, err := entry.New(c.rules, env.Settings{N: 1, MaxTurns: c.turns})
				require.NoError(t, err)
				r, err := rollout.NewReplayer(v)
				require.NoError(t, err)
				require.NoError(t, r.Start(e))
				for b := env.NewBatch(v.Spec(), 1, 0); r.More(); {
					require.NoError(t, r.Step(b))
				}
				f, err := x.Film()
				require.NoError(t, err)
				require.Equal(t, e.Turns, f.Turns())
				assert.ErrorIs(t, x.Choose(human.Answer{}), human.ErrOver)
			}
		})
	}
}

// TestUndoEpisode: a game of which turns were taken back is the game of the choices that are left, with their outcome: its
// film opens, and the recording of the original can be written.
func TestUndoEpisode(t *testing.T) {
	for n, c := range games {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprint(c.game, " all seats ", all), func(t *testing.T) {
				rules := ""
				change := func(o *human.Setup) {
					if rules = o.Vector.Spec().Info.Config; all {
						clear(o.Seats)
					}
				}
				x, g := newSession(t, n, 0, change), rand.New(rand.NewPCG(5, 5))
				play := func() {
					for turn := x.Episode().Turns; x.Episode().Turns == turn; {
						if err := x.Choose(pick(t, g, x)); !errors.Is(err, human.ErrTogether) {
							require.NoError(t, err)
						}
					}
				}
				back := func(turn int) {
					for x.Episode().Turns > turn || len(x.Offer(0).Chosen) > 0 {
						undone, err := x.Undo()
						require.NoError(t, err)
						require.True(t, undone)
					}
				}
				at := []*rollout.Episode{x.Episode()}
				for !x.Offer(0).Over {
					play()
					at = append(at, x.Episode())
				}
				for _, turn := range []int{len(at) - 2, len(at) / 2, 1, 0} {
					back(turn)
					if turn > 0 {
						_, err := x.Hint()
						require.NoError(t, err)
					}
					e := x.Episode()
					require.Equal(t, at[turn].Outcome, e.Outcome, "the outcome after turn %d", turn)
					require.Equal(t, turn, e.Turns)
					if turn > 0 { // else its lists are empty instead of nil
						require.Equal(t, at[turn], e)
					}
					f, err := x.Film()
					require.NoError(t, err)
					require.Equal(t, turn, f.Turns())
					if engine, ok := recordings.Of(c.game); ok && turn > 0 {
						saved := &recordings.RecordedGame{Rules: rules, Episode: *e}
						require.NoError(t, engine.Info().Forms[0].Write(io.Discard, saved), "after turn %d", turn)
					}
				}
			})
		}
	}
}

// TestRefused: choices that are not legal, or late, change nothing.
func TestRefused(t *testing.T) {
	for n, c := range games {
		t.Run(c.game, func(t *testing.T) {
			x := newSession(t, n, 0, nil)
			before := x.Version()
			for _, p := range []human.Pick{{-1, 0}, {9999, 0}, {0, -1}, {0, 1 << 20}} {
				assert.Error(t, x.Choose(human.Answer{Picks: []human.Pick{p}}), "%+v", p)
			}
			assert.ErrorIs(t, x.Choose(human.Answer{Turn: 1}), human.ErrLate)
			assert.ErrorIs(t, x.Choose(human.Answer{Step: 1}), human.ErrLate)
			assert.Equal(t, before, x.Version())
			assert.Zero(t, x.Episode().Turns)
		})
	}
}

// TestHint: a hint has commands, and changes nothing.
func TestHint(t *testing.T) {
	for n, c := range games {
		t.Run(c.game, func(t *testing.T) {
			x := newSession(t, n, 0, nil)
			before := x.Offer(human.AllHeads)
			a, err := x.Hint()
			require.NoError(t, err)
			require.NotEmpty(t, a.Moves)
			legal := map[string]human.Option{}
			for _, h := range before.Heads {
				for _, o := range h.Options {
					legal[o.Text] = o
				}
			}
			for _, m := range a.Moves {
				for _, o := range m.Options {
					require.NotEmpty(t, o.Text)
					if c.game != "codecraft" || o.Choice >= 0 { // there a policy orders what it cannot pay yet
						require.Equal(t, legal[o.Text], o, "a click can take it")
					}
				}
			}
			f, err := x.Film()
			require.NoError(t, err)
			assert.Equal(t, a.Value != nil, f.HasSeries("value"))
			assert.Equal(t, c.game == "towerdefence", a.Value != nil, "a search has a value")
			require.Equal(t, before, x.Offer(human.AllHeads))
		})
	}
	x := newSession(t, 0, 0, func(o *human.Setup) { o.Hint = nil })
	_, err := x.Hint()
	assert.ErrorContains(t, err, "no hints")
}

// TestDraft: the orders of a turn are drawn as they would be carried out, with what they leave to spend.
func TestDraft(t *testing.T) {
	x := newSession(t, 2, 0, nil)
	draft := func() (entities [][]any, cores any) {
		o := x.Offer(0)
		text, err := x.Draft(human.Answer{Turn: o.Turn, Step: o.Step})
		require.NoError(t, err)
		var d struct {
			Positions [][]struct {
				E [][]any
				S []any
			}
		}
		require.NoError(t, json.Unmarshal(text, &d))
		require.Len(t, d.Positions, 1)
		require.Len(t, d.Positions[0], 1)
		return d.Positions[0][0].E, d.Positions[0][0].S[1]
	}
	entities, cores := draft()
	assert.Empty(t, entities)
	require.NoError(t, choose(t, x, "wall 13,12"))
	entities, left := draft()
	require.Len(t, entities, 1)
	assert.Equal(t, []any{0., 13., 12.}, entities[0][:3])
	assert.Equal(t, cores.(float64)-1, left)
	assert.Zero(t, x.Episode().Turns)
	_, err := x.Draft(human.Answer{})
	assert.ErrorIs(t, err, human.ErrLate)
}

// TestOptions: every option of a game says what it does, and where.
func TestOptions(t *testing.T) {
	for n, c := range games {
		t.Run(c.game, func(t *testing.T) {
			x := newSession(t, n, 0, nil)
			for range 6 {
				o := x.Offer(human.AllHeads)
				require.NotEmpty(t, o.Heads)
				for _, h := range o.Heads {
					for _, k := range h.Options {
						if k.Choice != o.Nothing {
							require.NotEmpty(t, k.Kind, "head %d: %+v", h.Head, k)
						}
						require.True(t, k.X >= 0 && k.Y >= 0 && k.X < 80 && k.Y < 80)
					}
				}
				some := x.Offer(o.Heads[0].Head)
				require.Equal(t, o.Heads[0], some.Heads[0])
				if err := x.Choose(pick(t, rand.New(rand.NewPCG(3, 3)), x)); !errors.Is(err, human.ErrTogether) {
					require.NoError(t, err)
				}
				if x.Offer(0).Over {
					return
				}
			}
		})
	}
}

// TestBegin: a person takes over an earlier game.
func TestBegin(t *testing.T) {
	for n, c := range games {
		t.Run(c.game, func(t *testing.T) {
			entry, err := catalog.Find(c.game)
			require.NoError(t, err)
			v, err := entry.New(c.rules, env.Settings{N: 1, MaxTurns: c.turns})
			require.NoError(t, err)
			var seats []rollout.Policy
			for range v.Spec().Info.Players {
				seats = append(seats, find(t, c.game, c.other, v.Spec()))
			}
			var earlier *rollout.Episode
			require.NoError(t, rollout.Shard(context.Background(), v, seats, 9, 0, 1, sinkFunc(func(e *rollout.Episode) error { earlier = e; return nil })))
			x := newSession(t, n, 1, func(o *human.Setup) { o.Begin, o.Turns = earlier, min(5, earlier.Turns-1) })
			e := x.Episode()
			require.Equal(t, min(5, earlier.Turns-1), e.Turns)
			require.Equal(t, earlier.Ends[:len(e.Ends)], e.Ends)
			require.Equal(t, earlier.Orders[:len(e.Orders)], e.Orders)
			heads := x.Offer(human.AllHeads).Heads
			best := heads[0].Options[0]
			require.NoError(t, x.Choose(pick(t, rand.New(rand.NewPCG(4, 4)), x)))

			placed, far := human.Option{Choice: -1, Text: "far"}, "far"
			for _, h := range heads {
				for _, o := range h.Options {
					if o.Placed && o.Entity != 0 && placed.Entity == 0 {
						placed, far = o, regexp.MustCompile(`\d+,\d+`).ReplaceAllString(o.Text, "2,999")
					}
				}
			}

			// What an analysis has found is offered until the game goes otherwise.
			x = newSession(t, n, 1, func(o *human.Setup) {
				o.Begin, o.Turns = earlier, min(5, earlier.Turns-1)
				o.Analysis = func(turn, seat int) []string { return []string{fmt.Sprint(turn, " ", seat), best.Text, far} }
			})
			o := x.Offer(human.AllHeads)
			require.NotNil(t, o.Analysed)
			require.Len(t, o.Analysed.Options, 3)
			assert.Equal(t, human.Option{Choice: -1, Text: fmt.Sprint(o.Turn, " 1")}, o.Analysed.Options[0])
			assert.Equal(t, best, o.Analysed.Options[1])
			got := o.Analysed.Options[2] // the nearest that the person can choose
			assert.Equal(t, []any{placed.Entity, placed.Kind, placed.Choice >= 0}, []any{got.Entity, got.Kind, got.Choice >= 0})
			for g := rand.New(rand.NewPCG(4, 4)); x.Episode().Turns == o.Turn; {
				if err := x.Choose(pick(t, g, x)); !errors.Is(err, human.ErrTogether) {
					require.NoError(t, err)
				}
			}
			e = x.Episode()
			as := slices.Equal(e.Orders, earlier.Orders[:len(e.Orders)]) && slices.Equal(e.Ends, earlier.Ends[:len(e.Ends)])
			o = x.Offer(human.AllHeads)
			assert.Equal(t, as && !o.Over, o.Analysed != nil)
		})
	}
}

// TestDependent: an order that only an earlier one of the turn makes possible has its text, and is drafted and played.
func TestDependent(t *testing.T) {
	x := newSession(t, 2, 0, nil)
	for _, text := range []string{"wall 13,12", "upgrade 13,12"} {
		o := x.Offer(human.AllHeads)
		require.Len(t, o.Heads, 1)
		require.NoError(t, choose(t, x, text))
		for _, other := range o.Heads[0].Options {
			assert.True(t, other.Kind != "" || other.Choice == o.Nothing, "%+v", other)
		}
	}
	o := x.Offer(human.AllHeads)
	require.Len(t, o.Chosen, 2)
	assert.Equal(t, "upgrade", o.Chosen[1].Kind)
	assert.Equal(t, "upgrade 13,12", o.Chosen[1].Text)
	draft, err := x.Draft(human.Answer{Turn: o.Turn, Step: o.Step})
	require.NoError(t, err)
	assert.Regexp(t, `"looks":\[\["wall",0,1,1,2,.*"e":\[\[0,13,12,1,0,`, string(draft))
	require.NoError(t, x.Choose(human.Answer{Turn: o.Turn, Step: o.Step, Picks: []human.Pick{{Choice: o.Nothing}}}))
	assert.Equal(t, []string{"wall 13,12", "upgrade 13,12"}, recordings.OrderTexts("terminal", x.Episode().OrdersOf(0, 0)))
}

// sinkFunc is a sink of one function.
type sinkFunc func(e *rollout.Episode) error

func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

// TestSeats: a session needs a seat for a person.
func TestSeats(t *testing.T) {
	entry, err := catalog.Find("tron")
	require.NoError(t, err)
	v, err := entry.New("", env.Settings{N: 1})
	require.NoError(t, err)
	p := find(t, "tron", "random", v.Spec())
	for _, seats := range [][]rollout.Policy{{p, p}, {nil}} {
		_, err := human.New(human.Setup{Vector: v, Seats: seats, Names: []string{"a", "b"}})
		assert.Error(t, err)
	}
}

// TestAnyOrder: in a sequential form the person gives the orders of a turn in any order, and takes back the last one.
func TestAnyOrder(t *testing.T) {
	x := newSession(t, 2, 0, nil)
	require.NoError(t, choose(t, x, "1 scout 13,0"))
	require.NoError(t, choose(t, x, "wall 13,12"))
	require.NoError(t, choose(t, x, "wall 5,11"))
	require.NoError(t, choose(t, x, "turret 13,11"))
	require.NoError(t, choose(t, x, "support 12,11"))
	require.ErrorIs(t, choose(t, x, "wall 6,11"), human.ErrTogether, "all 8 cores are used")
	ok, err := x.Undo()
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, x.Offer(0).Chosen, 4)
	o := x.Offer(0)
	require.NoError(t, x.Choose(human.Answer{Turn: o.Turn, Step: o.Step, Picks: []human.Pick{{Choice: o.Nothing}}}))
	require.Equal(t, 1, x.Episode().Turns)
	assert.ElementsMatch(t, []string{"wall 5,11", "wall 13,12", "turret 13,11", "1 scout 13,0"}, recordings.OrderTexts("terminal", x.Episode().OrdersOf(0, 0)))
}

// TestUndo: a person with one seat, or with all, for which it chooses one after the other, takes back choices, also of an earlier
// seat, and at last all of them: the game is as at the start then, and the same choices lead to the same game.
func TestUndo(t *testing.T) {
	for n, c := range games {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprint(c.game, " all seats ", all), func(t *testing.T) {
				x, g := newSession(t, n, 0, func(o *human.Setup) {
					if all {
						clear(o.Seats)
					}
				}), rand.New(rand.NewPCG(6, 6))
				first := x.Offer(human.AllHeads)
				var answers []human.Answer
				seen := map[int]bool{}
				for x.Episode().Turns < 4 && !x.Offer(0).Over {
					seen[x.Seat()] = true
					require.Equal(t, x.Seat(), x.Offer(0).Seat)
					a := pick(t, g, x)
					if err := x.Choose(a); !errors.Is(err, human.ErrTogether) {
						require.NoError(t, err)
						answers = append(answers, a)
					}
					if g.IntN(3) == 0 && len(answers) > 0 {
						ok, err := x.Undo()
						require.NoError(t, err)
						require.True(t, ok)
						answers = answers[:len(answers)-1]
					}
				}
				want := x.Episode()
				require.Equal(t, all, len(seen) > 1)
				require.Positive(t, want.Turns)
				for undone := true; undone; {
					var err error
					undone, err = x.Undo()
					require.NoError(t, err)
				}
				now := x.Offer(human.AllHeads)
				first.Step = now.Step // counts every change
				require.Equal(t, first, now)
				for _, a := range answers {
					o := x.Offer(0)
					a.Turn, a.Step = o.Turn, o.Step
					require.NoError(t, x.Choose(a))
				}
				require.Equal(t, want, x.Episode())
			})
		}
	}
}

// TestOpponent: a network that chooses order by order plays against a person as it plays elsewhere. One that is recurrent does so
// also where turns are taken back, and in a game that goes on from an earlier one.
func TestOpponent(t *testing.T) {
	const turns, goesOn = 6, 3
	entry, err := catalog.Find("terminal")
	require.NoError(t, err)
	v, err := entry.New("", env.Settings{N: 1, MaxTurns: turns, Form: "orders"})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "recurrent.onnx")
	require.NoError(t, os.WriteFile(file, neuraltest.Recurrent(v.Spec(), 1), 0o666))
	for _, spec := range []string{"net(greedy)", policy.Quote(file)} {
		v, err := entry.New("", env.Settings{N: 1, MaxTurns: turns})
		require.NoError(t, err)
		seats := []rollout.Policy{find(t, "terminal", "empty", v.Spec()), find(t, "terminal", spec, v.Spec())}
		require.NoError(t, rollout.Shard(context.Background(), v, seats, 1, 0, 1, sinkFunc(func(e *rollout.Episode) error {
			for _, begin := range []int{0, goesOn} {
				x := newSession(t, 2, 0, func(o *human.Setup) {
					if o.Seed, o.Seats[1] = e.Seed, find(t, "terminal", spec, o.Vector.Spec()); begin > 0 {
						o.Begin, o.Turns = e, begin
					}
				})
				pass := func() {
					o := x.Offer(0)
					require.NoError(t, x.Choose(human.Answer{Turn: o.Turn, Step: o.Step, Picks: []human.Pick{{Choice: o.Nothing}}}))
				}
				for x.Episode().Turns < turns-1 {
					pass()
				}
				for x.Episode().Turns > begin {
					_, err := x.Undo()
					require.NoError(t, err)
				}
				for x.Episode().Turns < turns {
					pass()
				}
				orders := 0
				for turn := range turns {
					want := recordings.OrderTexts("terminal", e.OrdersOf(turn, 1))
					require.Equal(t, want, recordings.OrderTexts("terminal", x.Episode().OrdersOf(turn, 1)), "%s, turn %d", spec, turn)
					orders += len(want)
				}
				assert.Positive(t, orders)
			}
			return nil
		})))
	}
}

// slowBot answers when the game has been looked at.
type slowBot struct{ look func() }

func (*slowBot) Follow(*rollout.Episode) {}

func (s *slowBot) Orders(*rollout.Episode, int) ([]sim.Order, error) {
	looked := make(chan struct{})
	go func() { s.look(); close(looked) }()
	select {
	case <-looked:
		return nil, nil
	case <-time.After(3 * time.Minute):
		return nil, errors.New("the game cannot be looked at while a bot thinks")
	}
}

// TestSlowBot: while a bot thinks, a person looks at the game, and asks for a hint.
func TestSlowBot(t *testing.T) {
	b := &slowBot{}
	s := newSession(t, 1, 0, func(o *human.Setup) { o.Seats[1], o.IsBot, o.Bots = nil, []bool{false, true}, b })
	looks := 0
	b.look = func() {
		looks++
		assert.Equal(t, looks-1, s.Offer(human.AllHeads).Turn)
		_, err := s.Hint()
		assert.NoError(t, err)
		film, err := s.Film()
		assert.NoError(t, err)
		assert.NotNil(t, film)
	}
	for turn := range 3 {
		require.NoError(t, s.Choose(human.Answer{Turn: turn, Step: s.Offer(human.AllHeads).Step}))
	}
	assert.Equal(t, 3, looks)
	assert.Equal(t, 3, s.Episode().Turns)
}
