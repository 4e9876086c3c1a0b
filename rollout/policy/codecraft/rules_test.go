package codecraft_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	scripts "moonfarm/rollout/policy/codecraft"
	"moonfarm/rollout/policy/policytest"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// oddRules returns random valid rules that no preset has.
func oddRules(r *prng.Rand) codecraft.Rules {
	for {
		names := codecraft.Presets()
		rules, _ := codecraft.Preset(names[r.IntN(len(names))])
		rules.Players = int32(1 + r.IntN(sim.MaxPlayers))
		rules.MaxNodes = int32(1 + r.IntN(300))
		for range 1 + r.IntN(12) {
			p := &rules.Types[r.IntN(codecraft.Types)]
			switch r.IntN(9) {
			case 0:
				p.Size = int32(1 + r.IntN(5))
			case 1:
				p.CanMove = !p.CanMove
			case 2:
				p.Sight = int32(r.IntN(41))
			case 3:
				p.MaxHealth = int32(1 + r.IntN(3000))
			case 4:
				p.Cost = int32(r.IntN(60))
			case 5:
				p.CanBuild, p.Builds, p.InitHealth = true, codecraft.ListOf(codecraft.Type(r.IntN(8)), codecraft.Turret), int32(r.IntN(20))
			case 6:
				p.CanBuild, p.Builds, p.InitHealth = false, codecraft.TypeList{}, 0
			case 7:
				p.PopUse, p.PopProvide = int32(r.IntN(4)), int32(r.IntN(20))
			case 8:
				p.CanAttack, p.Range, p.Damage, p.Collects = true, int32(1+r.IntN(20)), int32(1+r.IntN(10)), r.IntN(2) == 0
			}
		}
		if rules.Validate() == nil {
			return rules
		}
	}
}

// The scripts give legal orders under any valid rules, also in states after random orders.
func TestColoniesUnderOddRules(t *testing.T) {
	r := prng.New(9)
	sets, most := 40, int32(0)
	if long() {
		sets = 1000
	}
	var all []*scripts.ScriptPlayer
	for _, name := range names() {
		all = append(all, newScript(t, name))
	}
	s, turn := new(codecraft.State), sim.NewTurn(1<<10)
	var orders []sim.Order
	for n := range sets {
		rules := oddRules(&r)
		g := newCraft(t, rules)
		g.Reset(s, uint64(n))
		for p := range rules.Players {
			s.Resource[p] = int32(r.IntN(5000))
		}
		for status := sim.Running; status == sim.Running && s.Tick < 60; status = g.Step(s, turn) {
			for p := range sim.Player(rules.Players) {
				if s.Tick%16 == 0 { // orders that no script would give
					orders = g.AppendOrders(orders[:0], s, p)
					for i := range orders {
						a, b, c := r.Uint64(), r.Uint64(), r.Uint64()
						orders[i] ^= sim.Order(a & b & c &^ 0xfffffff) // one bit of eight
					}
					turn.Set(p, orders)
					continue
				}
				script := all[(int(s.Tick)/20+int(p)+n)%len(all)]
				orders = script.AppendOrders(orders[:0], g, s, p)
				for _, o := range orders {
					i := s.Find(codecraft.Decode(o).ID)
					if i < 0 || s.Units[i].Owner != p {
						t.Fatalf("rules %d, tick %d, seat %d: %s orders %+v", n, s.Tick, p, script.Name(), codecraft.Decode(o))
					}
				}
				if len(orders) > g.Info().MaxOrders {
					t.Fatalf("rules %d, tick %d, seat %d: %s gives %d orders", n, s.Tick, p, script.Name(), len(orders))
				}
				turn.Set(p, orders)
			}
			most = max(most, s.N)
		}
	}
	assert.GreaterOrEqualf(t, most, int32(100), "no game of more than %d units", most)
}

// The search gives legal orders under any valid rules, also after random orders.
func TestSearchUnderOddRules(t *testing.T) {
	r := prng.New(11)
	sets, improved := 25, 0
	if long() {
		sets = 500
	}
	for n := range sets {
		rules := oddRules(&r)
		v := policytest.NewVector(t, "codecraft", string(rules.AppendText(nil)), 1, 60)
		search := policytest.NewPolicy(t, "codecraft", "pgs(sims=12)", v.Spec()).(rollout.Searcher)
		random := policytest.NewPolicy(t, "codecraft", "random", v.Spec())
		b := env.NewBatch(v.Spec(), 1, search.Wants()|random.Wants())
		states, _ := env.States[codecraft.State](v)
		s, room := &states[0], v.Spec().Info.MaxOrders
		v.Reset(0, uint64(n))
		for p := range rules.Players {
			s.Resource[p] = int32(r.IntN(5000))
		}
		for b.Status[0] == sim.Running && s.Tick < 60 {
			v.Observe(b)
			for row := range rules.Players {
				if s.Tick%16 == 0 {
					random.Act(v, b, []int32{row})
					continue
				}
				search.Act(v, b, []int32{row})
				improved += len(search.SearchResult(row).Ends) - 1
				for _, o := range b.Orders[int(row)*room:][:b.OrderLen[row]] {
					if i := s.Find(codecraft.Decode(o).ID); i < 0 || int32(s.Units[i].Owner) != row {
						t.Fatalf("rules %d, tick %d, seat %d: order %+v", n, s.Tick, row, codecraft.Decode(o))
					}
				}
			}
			v.Step(b)
		}
	}
	assert.Positive(t, improved, "searches that change orders")
}

// turtle stays home until the last quarter of the game begins.
func TestTurtleAttacksInTheLastQuarter(t *testing.T) {
	rules := codecraft.DefaultRules()
	rules.Fog = false
	g, c := newCraft(t, rules), newScript(t, "turtle")
	quarter := rules.MaxTurns * 3 / 4
	for tick, want := range map[int32]bool{quarter - 1: false, quarter: true} {
		s, err := codecraft.ParseText(g, fmt.Sprintf("tick %d\n30 r1 . . . . .b2\nx30", tick))
		require.NoError(t, err)
		attacks := false
		for _, o := range c.AppendOrders(nil, g, &s, 0) {
			d := codecraft.Decode(o)
			attacks = attacks || d.Op == codecraft.OpMove && d.X == 36 && d.Y == 30
		}
		assert.Equalf(t, want, attacks, "tick %d: the army goes to the enemy", tick)
	}
}
