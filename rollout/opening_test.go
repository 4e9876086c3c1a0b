package rollout_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
)

// opened plays 60 episodes, `games` at once, in which random plays the first turns.
func opened(t *testing.T, games, turns int, seats func(v env.Vector) []rollout.Policy, sink rollout.Sink) {
	t.Helper()
	v := newToy(t, toys[1], env.Settings{N: games})
	g, err := rollout.NewGames(v, rollout.Cast{Seats: makersOf(seats(v)), Opening: rollout.Opening{Turns: turns, Policy: newMaker(t, "random")}})
	require.NoError(t, err)
	require.NoError(t, g.Play(context.Background(), 7, 0, 60, sink))
}

// TestOpening: random plays the first turns and the seats' policies play all others, for
// any number of games at once; in the first turns no member of a mixture chooses.
func TestOpening(t *testing.T) {
	const turns = 2
	of := func(spec string) func(v env.Vector) []rollout.Policy {
		return func(v env.Vector) []rollout.Policy { return newSeats(t, v, spec) }
	}
	first := func(e *rollout.Episode) string {
		n := min(turns, e.Turns) * e.Players
		end := int32(0)
		if n > 0 {
			end = e.Ends[n-1]
		}
		return fmt.Sprint(e.Ends[:n], e.Orders[:end])
	}
	var drawn []string
	opened(t, 3, 0, of("random"), sinkFunc(func(e *rollout.Episode) error { drawn = append(drawn, first(e)); return nil }))
	for _, games := range []int{1, 3, 50} {
		opened(t, games, turns, of("empty"), sinkFunc(func(e *rollout.Episode) error {
			got := first(e)
			assert.Equalf(t, drawn[e.ID], got, "%d games, episode %d opens with %s, random with %s", games, e.ID, got, drawn[e.ID])
			late := e.Orders[e.Ends[min(turns, e.Turns)*e.Players-1]:]
			assert.Emptyf(t, late, "%d games, episode %d: orders %v after the opening, of a policy that gives none", games, e.ID, late)
			return nil
		}))
	}
	slices.Sort(drawn)
	if n := len(slices.Compact(drawn)); n < 30 {
		t.Errorf("only %d different openings of 60", n)
	}
	var one, many tape
	mixed := of("mix(1*empty,1*random)")
	opened(t, 1, turns, mixed, &one)
	opened(t, 13, turns, mixed, &many)
	assert.Equal(t, many.String(), one.String(), "13 games at once give other episodes than one")
	chosen := [2]int{}
	opened(t, 4, turns, mixed, sinkFunc(func(e *rollout.Episode) error {
		for k, c := range e.Chosen {
			if early := k/e.Players < turns; early && c != 0 {
				t.Errorf("episode %d: member %d is said to have chosen in turn %d of the opening", e.ID, c, k/e.Players)
			} else if !early {
				chosen[c]++
			}
		}
		return nil
	}))
	assert.Truef(t, chosen[0] != 0 && chosen[1] != 0, "after the opening the members chose %v times", chosen)
}

// TestOpeningSearches: rows of the opening have no search result, all later rows do.
func TestOpeningSearches(t *testing.T) {
	const turns = 1
	seats := func(v env.Vector) []rollout.Policy {
		p := newSeats(t, v, "random")
		p[1] = &seeker{orders: toys[1].Orders}
		return p
	}
	late := 0
	opened(t, 5, turns, seats, sinkFunc(func(e *rollout.Episode) error {
		for k, x := range e.Searches.Value {
			if early := k/e.Players < turns; early && !math.IsNaN(float64(x)) {
				t.Errorf("episode %d: somebody searched in turn %d", e.ID, k/e.Players)
			} else if !early && !math.IsNaN(float64(x)) {
				late++
			}
		}
		return nil
	}))
	assert.NotEqual(t, 0, late, "nobody searched after the opening")
}
