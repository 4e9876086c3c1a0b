package games

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// TestNumbers: the number depends on the rules, the start and every order. It does not
// depend on orders that do nothing, on the seed of a game that always starts alike, or
// on the players.
func TestNumbers(t *testing.T) {
	numbers := func(game string) *Numbers {
		g, err := catalog.Find(game)
		require.NoError(t, err)
		return New([]string{"", "other"}, func(int) (env.Vector, error) { return g.New("", env.Settings{N: 1}) })
	}
	episode := func(change func(e *rollout.Episode)) *rollout.Episode {
		e := &rollout.Episode{Players: 2, Turns: 2, Seed: 1, Orders: []sim.Order{1, 2}, Ends: []int32{1, 1, 1, 2}}
		change(e)
		return e
	}
	td, tron := numbers("towerdefence"), numbers("tron")
	number := func(n *Numbers, rules int, change func(e *rollout.Episode)) uint64 {
		x, err := n.Of(rules, episode(change))
		require.NoError(t, err)
		return x
	}
	same := func(*rollout.Episode) {}
	want := number(td, 0, same)
	for name, change := range map[string]func(e *rollout.Episode){
		"nothing ordered": func(e *rollout.Episode) { e.Orders, e.Ends = []sim.Order{1, 0, 2}, []int32{1, 2, 2, 3} },
		"seed":            func(e *rollout.Episode) { e.Seed = 2 },
		"names":           func(e *rollout.Episode) { e.ID, e.Policies = 7, []string{"a", "b"} },
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equalf(t, want, number(td, 0, change), "%s: another number", name)
		})
	}
	seen := map[uint64]string{want: "the game", number(td, 1, same): "rules"}
	for name, change := range map[string]func(e *rollout.Episode){
		"order":     func(e *rollout.Episode) { e.Orders = []sim.Order{1, 3} },
		"seat":      func(e *rollout.Episode) { e.Ends = []int32{0, 1, 1, 2} },
		"turn":      func(e *rollout.Episode) { e.Ends = []int32{1, 1, 2, 2} },
		"turns":     func(e *rollout.Episode) { e.Ends = []int32{1, 1, 1, 2, 2, 2} },
		"recording": func(e *rollout.Episode) { e.Recording = []byte{1} },
	} {
		t.Run(name, func(t *testing.T) {
			x := number(td, 0, change)
			other, ok := seen[x]
			assert.Falsef(t, ok, "%s: the number of %s", name, other)
			seen[x] = name
		})
	}
	assert.NotEqual(t, number(tron, 0, func(e *rollout.Episode) { e.Seed = 2 }), number(tron, 0, same), "games with two starts have one number")
}

// TestGolden: the numbers are in files, and split them. They may not change.
func TestGolden(t *testing.T) {
	e := &rollout.Episode{Players: 2, Turns: 1, Recording: []byte("r"), Orders: []sim.Order{5, 0, 1 << 63}, Ends: []int32{2, 3}}
	n, err := New([]string{"rules"}, nil).Of(0, e)
	if err != nil || n != 0x9ea4884bd75bc314 { // computed apart from this code
		t.Errorf("number %#x, error %v", n, err)
	}
}
