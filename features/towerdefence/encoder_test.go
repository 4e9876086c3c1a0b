package towerdefence

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	td "moonfarm/sim/towerdefence"
)

func newGame(t testing.TB, change func(*td.Rules)) *td.Game {
	t.Helper()
	r := td.DefaultRules()
	if change != nil {
		change(&r)
	}
	g, err := td.New(r)
	require.NoError(t, err)
	return g
}

func TestConformance(t *testing.T) {
	g := newGame(t, nil)
	featuretest.Run(t, func() sim.Game[td.State] { return newGame(t, nil) }, Kit(g))
}

// plainPlanes returns the planes, written cell by cell from the accessors of
// the state.
func plainPlanes(g *td.Game, s *td.State, p sim.Player) []uint8 {
	dst := make([]uint8, planes*planeBytes)
	d := g.Rules().Buildings[td.Attack].Damage
	for side := range sim.Player(2) {
		h, other := &s.Half[p^side], &s.Half[p^side^1]
		for cell := range td.Cells {
			x, y := cell%8, cell/8
			if side == 1 {
				x = 15 - x
			}
			put := func(plane, v int) { dst[plane*planeBytes+y*16+x] = uint8(min(255, v)) }
			mine, theirs := planeOwn, planeEnemy
			if side == 1 {
				mine, theirs = planeEnemy, planeOwn
			}
			put(mine, h.MissilesOwn(cell))
			put(theirs, other.MissilesFar(cell))
			kind, ok := h.Kind(cell)
			if !ok {
				continue
			}
			switch kind {
			case td.Defense:
				put(planeDefense, 1)
			case td.Attack:
				put(planeAttack, 1)
			case td.Energy:
				put(planeEnergy, 1)
			case td.Tesla:
				put(planeTesla, 1)
				if h.Teslas == 2 && int(h.Tesla[1].Cell) == cell {
					put(planeTesla, 2)
				}
			}
			put(planeHits, (g.HealthOf(s, p^side, cell)+d-1)/d)
			if left := g.BuildTime(s, p^side, cell); left > 0 {
				put(planeBuilding, left)
			} else {
				put(planeIdle, g.Cooldown(s, p^side, cell))
			}
		}
	}
	return dst
}

// visit calls check with the states of random games, both seats.
func visit(g *td.Game, seed uint64, rounds int, check func(s *td.State, p sim.Player)) {
	r := prng.New(seed)
	var s td.State
	orders := make([]sim.Order, 0, 400)
	start := func() {
		g.Reset(&s, 0)
		for p := range sim.Player(2) {
			g.SetStart(&s, p, 20+r.IntN(2000), 100)
		}
	}
	start()
	for range rounds {
		check(&s, 0)
		check(&s, 1)
		var pick [2]sim.Order
		for p := range pick {
			if r.IntN(3) == 0 {
				orders = g.AppendOrders(orders[:0], &s, sim.Player(p))
				pick[p] = orders[r.IntN(len(orders))]
			} else {
				pick[p] = g.Playout(&s, sim.Player(p), &r)
			}
		}
		if g.Play(&s, pick[0], pick[1]) != sim.Running {
			start()
		}
	}
}

// clip limits planes to what the packed form can hold: counters of buildings
// other than tesla towers up to 3.
func clip(want []uint8) []uint8 {
	clipped := append([]uint8(nil), want...)
	for at := range planeBytes {
		if want[planeTesla*planeBytes+at] == 0 {
			for _, plane := range []int{planeBuilding, planeIdle} {
				i := plane*planeBytes + at
				clipped[i] = min(want[i], 3)
			}
		}
	}
	return clipped
}

func checkPlanes(t *testing.T, g *td.Game) {
	e := NewEncoder(g)
	visit(g, 7, 4000, func(s *td.State, p sim.Player) {
		want, at := plainPlanes(g, s, p), fmt.Sprintf("round %d seat %d", s.Round, p)
		featuretest.SamePlanes(t, e, at, featuretest.Planes(e, s, p), want)
		featuretest.SamePlanes(t, e, at+", packed", featuretest.Unpacked(t, e, s, p), clip(want))
	})
}

func TestPlanesTwin(t *testing.T) { checkPlanes(t, newGame(t, nil)) }

func TestPlanesTwinOtherRhythm(t *testing.T) {
	checkPlanes(t, newGame(t, func(r *td.Rules) {
		r.Buildings[td.Attack].Cooldown = 6
		r.Buildings[td.Energy].ConstructionTime = 4
		r.Buildings[td.Energy].Health = 15
		r.Buildings[td.Tesla].Health = 10
	}))
}

// income returns the income of the finished energy buildings and the round,
// counted cell by cell.
func income(g *td.Game, s *td.State, p sim.Player) int {
	r := g.Rules()
	sum := r.RoundIncome
	for cell := range td.Cells {
		if k, ok := s.Half[p].Kind(cell); ok && k == td.Energy && g.BuildTime(s, p, cell) <= 0 {
			sum += r.Buildings[td.Energy].EnergyPerTurn
		}
	}
	return sum
}

// TestScalars checks every scalar but curtain_reset, which has its own test.
func TestScalars(t *testing.T) {
	g := newGame(t, nil)
	e := NewEncoder(g)
	table := e.Description().Scalars
	available := map[bool]int{true: 1}
	visit(g, 3, 2000, func(s *td.State, p sim.Player) {
		got := make([]float32, scalars)
		e.Scalars(got, s, p)
		want := map[string]int{"round": int(s.Round), "rounds_left": 401 - int(s.Round)}
		for side, name := range []string{"own", "enemy"} {
			q := p ^ sim.Player(side)
			h := &s.Half[q]
			want[name+"_energy"], want[name+"_income"] = int(h.Energy), income(g, s, q)
			want[name+"_health"], want[name+"_hits"], want[name+"_score"] = h.Health(), h.Hits(), g.Score(s, q)
			want[name+"_curtain_available"], want[name+"_curtain_left"] = available[h.Available], max(0, s.CurtainTime(q))
			want[name+"_teslas"] = bits.OnesCount64(h.Standing(td.Tesla))
		}
		for i, f := range table {
			v, ok := want[f.Name]
			require.Truef(t, ok || f.Name == "curtain_reset", "scalar %s is not checked", f.Name)
			if ok && got[i] != float32(v) {
				t.Fatalf("round %d seat %d: %s is %v, want %d", s.Round, p, f.Name, got[i], v)
			}
		}
	})
}

// TestCurtainReset plays to the rounds around a reset and compares the
// countdown with the availability that follows.
func TestCurtainReset(t *testing.T) {
	g := newGame(t, nil)
	e := NewEncoder(g)
	var s td.State
	g.Reset(&s, 0)
	got := make([]float32, scalars)
	for range 65 {
		e.Scalars(got, &s, 0)
		wait := int(got[scalarReset])
		after := s
		for range wait {
			after.Half[0].Available = false
			g.Play(&after, 0, 0)
		}
		require.Truef(t, !after.Half[0].Available || wait <= 0, "round %d: available before the %d rounds are over", s.Round, wait)
		after.Half[0].Available = false
		g.Play(&after, 0, 0)
		require.Truef(t, after.Half[0].Available, "round %d: not available after %d rounds and one", s.Round, wait)
		g.Play(&s, 0, 0)
	}
}
