package rollout_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Episodes record which member of a mixture chose, for the seats that have a mixture.
func TestEpisodesTellWhoChose(t *testing.T) {
	for _, g := range toys {
		v := newToy(t, g, env.Settings{N: 3})
		seats := newSeats(t, v, "random")
		plain := 0
		sink := sinkFunc(func(e *rollout.Episode) error { plain += len(e.Chosen); return nil })
		if err := rollout.Shard(context.Background(), v, seats, 4, 0, 10, sink); err != nil || plain != 0 {
			t.Fatalf("%d choices without a mixture, error %v", plain, err)
		}
		seats[1] = newSeats(t, v, "mix(1*random,2*mix(1*empty,1*random))")[0]
		counts := [2][4]int{}
		err := rollout.Shard(context.Background(), v, seats, 4, 0, 100, sinkFunc(func(e *rollout.Episode) error {
			require.Equalf(t, e.Turns*e.Players, len(e.Chosen), "%d choices in %d turns of %d seats", len(e.Chosen), e.Turns, e.Players)
			for k, c := range e.Chosen {
				if k%e.Players == 1 {
					counts[1][c]++
					if c == 1 && len(e.OrdersOf(k/e.Players, 1)) != 0 {
						t.Fatal("the empty member gave orders")
					}
				} else {
					counts[0][c]++
				}
			}
			return nil
		}))
		require.NoError(t, err)
		c := counts[1]
		assert.Truef(t, min(c[0], c[1], c[2]) != 0 && c[3] == 0, "members chose %v times", c)
		c = counts[0]
		assert.Zerof(t, c[1]+c[2]+c[3], "a policy without members chose %v", c)
	}
}

// Kept rows equal the rows of a replay, page by page, also in reused pages. So does the
// observation after the last turn, which differs from the one before that turn, whether
// the rules or a limit ended the game.
func TestKeptRows(t *testing.T) {
	const want = env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction
	for _, g := range toys {
		for _, limit := range []int{0, 3} {
			games := newGames(t, newToy(t, g, env.Settings{N: 5, MaxTurns: limit}), "random", want)
			one := newToy(t, g, env.Settings{N: 1, MaxTurns: limit})
			r, err := rollout.NewReplayer(one)
			if err != nil {
				t.Fatal(err)
			}
			b := env.NewBatch(one.Spec(), 1, want)
			cut := 0
			err = games.Play(context.Background(), 4, 0, 200, sinkFunc(func(e *rollout.Episode) error {
				if n := (e.Turns + rollout.PageTurns - 1) / rollout.PageTurns; len(e.Rows.Pages) != n {
					t.Fatalf("episode %d: %d pages for %d turns", e.ID, len(e.Rows.Pages), e.Turns)
				}
				if err := r.Start(e); err != nil {
					return err
				}
				for turn := 0; r.More(); turn++ {
					if err := r.Step(b); err != nil {
						return err
					}
					p, k := e.Rows.Pages[turn/rollout.PageTurns], turn%rollout.PageTurns
					same(t, "planes", p.Planes, b.Planes, k)
					same(t, "packed", p.Packed, b.Packed, k)
					same(t, "scalars", p.Scalars, b.Scalars, k)
					same(t, "mask", p.Mask, b.Mask, k)
					same(t, "action", p.Action, b.Action, k)
					same(t, "reward", e.Rows.Reward, b.Reward, turn)
				}
				last := slices.Clone(b.Scalars) // the number of the turn among them
				r.Final(b)
				if f := &e.Rows.Final; !slices.Equal(f.Planes, b.Planes) || !slices.Equal(f.Packed, b.Packed) || !slices.Equal(f.Scalars, b.Scalars) {
					t.Fatalf("episode %d: %+v is kept, a replay ends with %v, %v, %v", e.ID, *f, b.Planes, b.Packed, b.Scalars)
				}
				if slices.Equal(last, b.Scalars) {
					t.Fatalf("episode %d: the last turn changed nothing", e.ID)
				}
				if e.Status == sim.Cut {
					cut++
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			if (cut > 0) != (limit > 0) {
				t.Errorf("%d of 200 games are cut with a limit of %d turns", cut, limit)
			}
		}
	}
}

// same compares the rows of turn k in a slab of a page with those of a batch.
func same[T comparable](t *testing.T, what string, kept, rows []T, k int) {
	t.Helper()
	got := kept[k*len(rows) : (k+1)*len(rows)]
	require.Truef(t, slices.Equal(got, rows), "%s of turn %d: %v is kept, a replay has %v", what, k, got, rows)
}
