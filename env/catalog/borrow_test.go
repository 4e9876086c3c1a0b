package catalog_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
)

// TestBorrow: games that borrow, some turns from one Vector and some from another, are the same as games
// that do not, in every form. A Vector of other games, another form or reward has nothing to lend.
func TestBorrow(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, form := range forms(t, g) {
			open := func(c env.Settings) env.Vector {
				c.Form = form
				v, err := g.New("", c)
				require.NoError(t, err)
				return v
			}
			const n, turns = 3, 25
			own, borrowing := open(env.Settings{N: n}), open(env.Settings{N: n})
			tools := [2]env.Vector{open(env.Settings{N: 1}), open(env.Settings{N: 2})}
			s := own.Spec()
			wants := env.WantPlanes | env.WantPacked | env.WantScalars | env.WantMask | env.WantAction | env.WantRowSeed
			want, got := env.NewBatch(s, n, wants), env.NewBatch(s, n, wants)
			for turn := range turns {
				require.True(t, borrowing.Borrow(tools[turn/3%2]))
				own.Observe(want)
				borrowing.Observe(got)
				require.Truef(t, slices.Equal(got.Planes, want.Planes) && slices.Equal(got.Packed, want.Packed) && slices.Equal(got.Scalars, want.Scalars) &&
					slices.Equal(got.Mask, want.Mask) && slices.Equal(got.RowSeed, want.RowSeed), "%s in form %s, turn %d", g.Name, form, turn)
				choose(s, want, turn)
				copy(got.Action, want.Action)
				own.Step(want)
				borrowing.Step(got)
				require.Equalf(t, want.Reward, got.Reward, "%s in form %s, turn %d", g.Name, form, turn)
				borrowing.Return()
			}
			require.False(t, borrowing.Borrow(open(env.Settings{N: 1, Reward: s.Rewards[len(s.Rewards)-1].Name})), "another reward")
			for _, other := range catalog.Games() {
				v, err := other.New("", env.Settings{N: 1})
				require.NoError(t, err)
				require.Equalf(t, other.Name == g.Name && v.Spec().Form == form, borrowing.Borrow(v), "%s in form %s from %s", g.Name, form, other.Name)
				borrowing.Return()
			}
		}
	}
}
