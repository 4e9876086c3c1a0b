package policy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/network"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/policy/neural/neuraltest"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
)

// recurrentCase is a game with a recurrent network of one of its forms.
type recurrentCase struct {
	game, form string
	turns      int
	file       string
	model      *network.Model
}

func (r *recurrentCase) vector(form string, n int) (env.Vector, error) {
	g, err := catalog.Find(r.game)
	if err != nil {
		return nil, err
	}
	return g.New("", env.Settings{N: n, Form: form, MaxTurns: r.turns})
}

func recurrentCases(t *testing.T) (all []*recurrentCase) {
	for _, c := range []*recurrentCase{{game: "tron", turns: 32}, {game: "towerdefence", turns: 30}, {game: "terminal", form: "orders", turns: 3}} {
		v, err := c.vector(c.form, 1)
		require.NoError(t, err)
		data := neuraltest.Recurrent(v.Spec(), 1)
		c.file = filepath.Join(t.TempDir(), c.game+".onnx")
		require.NoError(t, os.WriteFile(c.file, data, 0o666))
		c.model, err = network.Read(data, 0)
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}

// spec replaces NET in a spec.
func (r *recurrentCase) spec(spec string) string {
	return strings.ReplaceAll(spec, "NET", policy.Quote(r.file)+"(greedy)")
}

func (r *recurrentCase) maker(t *testing.T, spec string) rollout.Maker {
	return policytest.NewMaker(t, r.game, r.spec(spec))
}

// plain plays the network by hand: one game, one row and one action at a time.
type plain struct {
	t      *testing.T
	v      env.Vector
	b      *env.Batch
	r      *network.Runner
	states []map[string][]float32 // by seat and input
}

func newPlain(t *testing.T, c *recurrentCase) *plain {
	v, err := c.vector(c.form, 1)
	require.NoError(t, err)
	return &plain{t: t, v: v, r: c.model.NewRunner(1), b: env.NewBatch(v.Spec(), 1, env.WantPlanes|env.WantScalars|env.WantMask|env.WantAction)}
}

// act chooses an action for a seat.
func (p *plain) act(seat int) {
	s, state := p.v.Spec(), p.states[seat]
	copy(p.r.Bytes("planes"), p.b.Planes[seat*s.Shape.PlaneBytes():])
	copy(p.r.Floats("scalars"), p.b.Scalars[seat*s.Shape.Scalars:])
	for name, x := range state {
		copy(p.r.Floats(name), x)
	}
	p.r.Run(1)
	for name := range state {
		state[name] = slices.Clone(p.r.Output("next_" + name))
	}
	logits, mask := p.r.Output("logits"), p.b.Mask[seat*s.MaskWords:]
	for h, at := 0, 0; h < len(s.Heads); h++ {
		best := -1
		for k := range s.Heads[h] {
			if bit := at + k; mask[bit/64]>>(bit%64)&1 != 0 && (best < 0 || logits[bit] > logits[at+best]) {
				best = k
			}
		}
		p.b.Action[seat*len(s.Heads)+h] = int32(best)
		at += s.Heads[h]
	}
}

// turn returns the orders that the network would give in the next turn.
func (p *plain) turn() (orders [][]sim.Order) {
	orders = make([][]sim.Order, len(p.states))
	most := p.v.Spec().Info.MaxOrders
	p.v.Observe(p.b)
	for now, turn := p.b.Turn[0], p.b.Turn[0]; now == turn; now = p.b.Turn[0] {
		var chose []int
		for seat := range p.states {
			if !p.v.Waits(seat) {
				p.act(seat)
				chose = append(chose, seat)
			}
		}
		p.v.Step(p.b)
		for _, seat := range chose {
			if n := p.b.OrderLen[seat]; n > 0 {
				orders[seat] = slices.Clone(p.b.Orders[seat*most:][:n])
			}
		}
		if p.b.Turn[0] == turn {
			p.v.Observe(p.b)
		}
	}
	return orders
}

// check replays an episode and compares the orders of the turns and seats that the network plays.
func (p *plain) check(e *rollout.Episode, plays func(turn, seat int) bool, ordersOf func(turn int, seat sim.Player) []sim.Order) (compared int) {
	p.states = nil
	for range e.Players {
		p.states = append(p.states, map[string][]float32{"state_h": make([]float32, 8), "state_c": make([]float32, 8), "state_count": make([]float32, 1)})
	}
	most := p.v.Spec().Info.MaxOrders
	p.v.Reset(0, e.Seed)
	for turn := range e.Turns {
		start := p.v.AppendSnapshot(nil, 0)
		orders := p.turn()
		for seat := range e.Players {
			if plays(turn, seat) {
				compared++
				require.Equalf(p.t, orders[seat], append([]sim.Order(nil), ordersOf(turn, sim.Player(seat))...), "episode %d, turn %d, seat %d", e.ID, turn, seat)
			}
		}
		require.NoError(p.t, p.v.Restore(0, start))
		for seat := range e.Players {
			p.b.OrderLen[seat] = int32(copy(p.b.Orders[seat*most:][:most], e.OrdersOf(turn, sim.Player(seat))))
		}
		p.v.Step(p.b)
	}
	return compared
}

// keptShard keeps the episodes of a shard.
type keptShard struct {
	mu  *sync.Mutex
	all map[uint64]*rollout.Episode
}

func (k keptShard) Episode(e *rollout.Episode) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[e.ID] = &rollout.Episode{ID: e.ID, Seed: e.Seed, Players: e.Players, Turns: e.Turns, Orders: slices.Clone(e.Orders), Ends: slices.Clone(e.Ends),
		Chosen: slices.Clone(e.Chosen), AskedOrders: slices.Clone(e.AskedOrders), AskedEnds: slices.Clone(e.AskedEnds), Networks: slices.Clone(e.Networks)}
	return nil
}
func (k keptShard) Commit() error { return nil }
func (k keptShard) Abort()        {}

// play plays 12 episodes in shards of that size.
func (r *recurrentCase) play(t *testing.T, cast rollout.Cast, form string, games, workers int, size uint64) map[uint64]*rollout.Episode {
	kept := keptShard{&sync.Mutex{}, map[uint64]*rollout.Episode{}}
	job := rollout.Job{Seed: 3, Episodes: 12, ShardEpisodes: size, Cast: cast, Vector: func() (env.Vector, error) { return r.vector(form, games) }}
	shards := numbers(job.Shards())
	var list []int
	for _, s := range slices.Backward(shards) { // in another order
		list = append(list, int(s))
	}
	require.NoError(t, rollout.Run(context.Background(), job, list, func(int) (rollout.ShardSink, error) { return kept, nil }, rollout.Options{Workers: workers}))
	return kept.all
}

// TestRecurrent: a recurrent network has a state for each game and seat. It goes on in every turn, also where the
// opening or another member of a mixture plays, and does not depend on how the games are played.
func TestRecurrent(t *testing.T) {
	for _, c := range recurrentCases(t) {
		p := newPlain(t, c)
		for _, x := range []struct {
			name    string
			seats   [2]string
			opening int
			ask     string
			plays   func(e *rollout.Episode, turn, seat int) bool
		}{
			{name: "itself", seats: [2]string{"NET", "NET"}, plays: func(*rollout.Episode, int, int) bool { return true }},
			{name: "opening", seats: [2]string{"NET", "NET"}, opening: 2, plays: func(_ *rollout.Episode, turn, _ int) bool { return turn >= 2 }},
			{name: "mixture", seats: [2]string{"mix(1*NET,1*random)", "mix(1*random,1*mix(1*random,1*NET))"},
				plays: func(e *rollout.Episode, turn, seat int) bool { return e.Chosen[2*turn+seat] == uint8(2*seat) }},
			{name: "asked", seats: [2]string{"random", "random"}, ask: "NET"},
		} {
			t.Run(c.game+" "+x.name, func(t *testing.T) {
				cast := rollout.Cast{Seats: []rollout.Maker{c.maker(t, x.seats[0]), c.maker(t, x.seats[1])}}
				cast.Opening = rollout.Opening{Turns: x.opening, Policy: c.maker(t, "random")}
				if x.ask != "" {
					cast.Ask = c.maker(t, x.ask)
				}
				want := c.play(t, cast, "", 1, 1, 12)
				p.t = t
				compared, differ := 0, 0
				for _, e := range want {
					plays, ordersOf := func(turn, seat int) bool { return x.plays(e, turn, seat) }, e.OrdersOf
					if x.ask != "" {
						plays, ordersOf = func(int, int) bool { return true }, e.AskedOf
					}
					compared += p.check(e, plays, ordersOf)
					if e.ID > 0 && !slices.Equal(e.Orders, want[0].Orders) {
						differ++
					}
				}
				assert.Greater(t, compared, 10, "turns compared")
				if x.name != "itself" {
					assert.NotZero(t, differ, "all games are alike")
				}
				for _, v := range []struct {
					games, workers int
					size           uint64
				}{{5, 1, 12}, {3, 2, 4}, {40, 3, 1}} {
					got := c.play(t, cast, "", v.games, v.workers, v.size)
					require.Equalf(t, want, got, "%+v", v)
				}
			})
		}
	}
}

// TestRecurrentTurns: a policy that acts again in a turn chooses the same, allocates nothing, and says which turn it has
// missed. Its States go on in another policy.
func TestRecurrentTurns(t *testing.T) {
	for _, c := range recurrentCases(t)[1:] {
		t.Run(c.game, func(t *testing.T) {
			v, err := c.vector("", 3)
			require.NoError(t, err)
			p, fresh := policytest.NewPolicy(t, c.game, c.spec("NET"), v.Spec()), policytest.NewPolicy(t, c.game, c.spec("NET"), v.Spec())
			b := env.NewBatch(v.Spec(), 3, p.Wants()|env.WantAction)
			heads, most := len(v.Spec().Heads), v.Spec().Info.MaxOrders
			act := func(p rollout.Policy, rows ...int32) (text string) {
				v.Observe(b)
				p.Act(v, b, rows)
				for _, row := range rows {
					text += fmt.Sprintln(b.OrderLen[row], b.Action[int(row)*heads:][:heads], b.Orders[int(row)*most:][:max(b.OrderLen[row], 0)])
				}
				return text
			}
			rows := []int32{0, 1, 2, 3, 4, 5}
			for range 2 {
				first := act(p, rows...)
				require.Equal(t, first, act(p, rows...), "acting again")
				require.Zero(t, testing.AllocsPerRun(1, func() { p.Act(v, b, rows) }), "allocations")
				v.Step(b)
			}
			require.PanicsWithValue(t, fmt.Sprintf("rollout: %s acts in turn 2 of the game in row 5, expected turn 0: it must act in every turn", p.Name()), func() { act(fresh, 5) })
			from, to := rollout.StatesOf(p)[0], rollout.StatesOf(fresh)[0]
			bytes := from.Append(nil, 1, 2)
			rest, err := to.Check(append(bytes, 7))
			require.NoError(t, err)
			require.Equal(t, []byte{7}, rest)
			to.Restore(5, bytes) // of another row, in an equal game
			require.Equal(t, act(p, 5), act(fresh, 5))
			_, err = to.Check(bytes[:5])
			require.ErrorContains(t, err, "has 5 bytes, expected")
			bytes[0]++
			_, err = to.Check(bytes)
			require.ErrorContains(t, err, "a state of the network with sha256")
			v.Reset(0, 0)
			require.Equal(t, to.Append(nil, 0, 0), from.Append(nil, 0, 0), "nothing is remembered of an earlier game")
		})
	}
}

// TestRecurrentSearch: searches refuse recurrent networks.
func TestRecurrentSearch(t *testing.T) {
	for _, c := range recurrentCases(t)[1:] {
		v, err := c.vector("", 1)
		require.NoError(t, err)
		maker, err := policy.New(c.game, "mcts(sims=2,model="+policy.Quote(c.file)+",trust=0)")
		require.NoError(t, err)
		_, err = maker(v.Spec())
		require.ErrorContains(t, err, c.game+`.onnx is recurrent (input "state_h"): a search evaluates positions without the turns before them`)
	}
}
