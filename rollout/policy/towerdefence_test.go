package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"moonfarm/env"
	tdfeatures "moonfarm/features/towerdefence"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// scripts are the scripted policies of the game.
var scripts = []string{"playout", "econ", "turtle", "rush", "tesla"}

// newTower returns n games of Tower Defence.
func newTower(n int) (env.Vector, error) {
	g, err := towerdefence.New(towerdefence.DefaultRules())
	if err != nil {
		return nil, err
	}
	return env.New(g, tdfeatures.Kit(g), env.Config{N: n})
}

// versus plays every pair of the named policies.
func versus(t *testing.T, games int, names ...string) *arena.Result {
	t.Helper()
	c := arena.Config{Games: games, Seed: 1, Workers: 2, Vector: func() (env.Vector, error) { return newTower(32) }}
	for _, name := range names {
		m, err := policy.New("towerdefence", name)
		if err != nil {
			t.Fatal(err)
		}
		c.Policies = append(c.Policies, arena.Entrant{Name: name, New: m})
	}
	r, err := arena.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The scripts beat random clearly, and all but playout beat playout; the styles
// differ enough that none of the pairs below is the same play twice, nor one
// without a chance.
func TestScriptsAgainstEachOther(t *testing.T) {
	r := versus(t, 200, append([]string{"random"}, scripts...)...)
	for _, p := range r.Pairs {
		t.Logf("%8s – %-8s %3d won %2d drawn %3d lost, score %.3f (%.3f … %.3f), %5.1f rounds",
			p.A, p.B, p.Wins, p.Draws, p.Losses, p.Score, p.Low, p.High, p.MeanTurns)
		decided := float64(p.Wins + p.Losses)
		if p.A == "random" && float64(p.Losses) < 0.9*decided || p.A == "playout" && float64(p.Losses) < 0.85*decided {
			t.Errorf("%s wins only %d of %.0f games against %s", p.B, p.Losses, decided, p.A)
		}
		if p.A == "econ" && p.B == "turtle" && (p.Score < 0.2 || p.Score > 0.9 || p.Score == 0.5) {
			t.Errorf("econ scores %v against turtle", p.Score)
		}
	}
	for _, s := range r.Policies {
		t.Logf("%8s score %.3f, %.3f at seat 0, rating %+.1f", s.Policy, s.Score, s.First, s.Rating)
	}
}

// share is what part of a script's buildings is of each kind.
func share(t *testing.T, spec string) (part [5]float64) {
	t.Helper()
	v, err := newTower(16)
	if err != nil {
		t.Fatal(err)
	}
	seats := []rollout.Policy{newPolicy(t, "towerdefence", spec, v.Spec()), newPolicy(t, "towerdefence", "playout", v.Spec())}
	all := 0.0
	count := sinkFunc(func(e *rollout.Episode) error {
		for turn := range e.Turns {
			switch op, _, _, _ := towerdefence.Decode(e.OrdersOf(turn, 0)[0]); op {
			case towerdefence.OpDefense, towerdefence.OpAttack, towerdefence.OpEnergy, towerdefence.OpTesla:
				part[op-1]++
				all++
			}
		}
		return nil
	})
	if err := rollout.Shard(context.Background(), v, seats, 4, 0, 60, count); err != nil {
		t.Fatal(err)
	}
	for k := range part {
		part[k] /= all
	}
	return part
}

type sinkFunc func(e *rollout.Episode) error

func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

func TestStyles(t *testing.T) {
	styles := map[string][5]float64{}
	for _, name := range scripts {
		styles[name] = share(t, name)
		t.Logf("%8s: defense %.2f, attack %.2f, energy %.2f, tesla %.2f", name,
			styles[name][0], styles[name][1], styles[name][2], styles[name][4])
	}
	more := func(k towerdefence.Kind, name string, than ...string) {
		for _, other := range than {
			if styles[name][k] < styles[other][k]+0.03 {
				t.Errorf("%s builds no more %v than %s", name, k, other)
			}
		}
	}
	more(towerdefence.Defense, "turtle", "econ", "rush")
	more(towerdefence.Attack, "rush", "econ", "turtle", "tesla")
	more(towerdefence.Energy, "econ", "rush")
	more(towerdefence.Tesla, "tesla", "econ", "rush", "turtle")
}

// What a script orders is accepted by the rules in every state it meets, for
// every kind of opponent, and costs no memory.
func TestScriptsAreLegal(t *testing.T) {
	const games = 24
	for _, name := range append([]string{"random"}, scripts...) {
		v, err := newTower(games)
		if err != nil {
			t.Fatal(err)
		}
		g, _ := env.Rules[towerdefence.State](v)
		states, _ := env.States[towerdefence.State](v)
		p := newPolicy(t, "towerdefence", name, v.Spec())
		b := env.NewBatch(v.Spec(), games, env.WantMask|env.WantAction|env.WantKey)
		var opponents []rollout.Policy
		for _, spec := range append([]string{"random"}, scripts...) {
			opponents = append(opponents, newPolicy(t, "towerdefence", spec, v.Spec()))
		}
		for i := range games {
			v.Reset(i, uint64(i))
		}
		var own, legal []sim.Order
		for range v.Spec().MaxTurns {
			v.Observe(b)
			for i := range games {
				p.Act(v, b, []int32{int32(2*i + i%2)})
				opponents[i%len(opponents)].Act(v, b, []int32{int32(2*i + 1 - i%2)})
			}
			before := slices.Clone(states)
			v.Step(b)
			for i := range games {
				row := 2*i + i%2
				own = b.Orders[row:][:b.OrderLen[row]]
				legal = g.AppendOrders(legal[:0], &before[i], sim.Player(row&1))
				if len(own) > 0 && !slices.Contains(legal, own[0]) {
					t.Fatalf("%s orders %x in round %d, which is not legal", name, own[0], before[i].Round)
				}
			}
		}
		v.Reset(0, 1)
		v.Observe(b)
		rows := numbers(b.Rows)
		if n := testing.AllocsPerRun(5, func() { p.Act(v, b, rows) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A script's choice depends on the row alone: not on the games beside it.
func TestScriptsArePure(t *testing.T) {
	for _, name := range append([]string{"random", "mix(1*econ,1*mix(1*rush,2*tesla),1*playout)"}, scripts...) {
		var want []sim.Order
		for _, games := range []int{1, 5, 32} {
			v, err := newTower(games)
			if err != nil {
				t.Fatal(err)
			}
			seats := []rollout.Policy{newPolicy(t, "towerdefence", name, v.Spec()), newPolicy(t, "towerdefence", "turtle", v.Spec())}
			var got []sim.Order
			sink := sinkFunc(func(e *rollout.Episode) error { got = append(got, e.Orders...); return nil })
			if err := rollout.Shard(context.Background(), v, seats, 2, 0, 20, sink); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: other orders with %d games at once", name, games)
			}
		}
	}
}

func TestScriptsPlayTheirGameOnly(t *testing.T) {
	m, err := policy.New("towerdefence", "econ")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := slabs([]int{2}, 1)
	s.Info.Name = "toy"
	if _, err := m(s); err == nil || !strings.Contains(err.Error(), "econ plays towerdefence, not toy") {
		t.Errorf("error %v", err)
	}
	if _, err := policy.New("toy", "mix(1*random,1*econ)"); err == nil || !strings.Contains(err.Error(), `character 16: no policy "econ" for toy`) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkEpisodes records whole episodes of the real game: choosing, stepping
// and recording, per game and turn.
func BenchmarkEpisodes(b *testing.B) {
	for _, name := range append([]string{"random"}, scripts...) {
		b.Run(name, func(b *testing.B) {
			v, err := newTower(64)
			if err != nil {
				b.Fatal(err)
			}
			table, err := rollout.NewTable(v, []rollout.Policy{
				newPolicy(b, "towerdefence", name, v.Spec()), newPolicy(b, "towerdefence", name, v.Spec())})
			if err != nil {
				b.Fatal(err)
			}
			turns, sum := 0, uint64(0)
			sink := sinkFunc(func(e *rollout.Episode) error {
				turns += e.Turns
				for _, o := range e.Orders {
					sum = sum*31 + uint64(o)
				}
				return nil
			})
			b.ReportAllocs()
			first := uint64(0)
			for turns < b.N {
				if err := table.Play(context.Background(), 1, first, 500, sink); err != nil {
					b.Fatal(err)
				}
				first += 500
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
			b.Logf("%s: %d turns in %d episodes, checksum %x", name, turns, first, sum)
		})
	}
}
