package towerdefence

import (
	"math/bits"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestConformance(t *testing.T) {
	g := newGame(t, nil)
	featuretest.Run(t, func() sim.Game[td.State] { return newGame(t, nil) }, Kit(g))
}

// plainPlanes writes the planes cell by cell from the accessors of the state.
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

// unpack writes the planes from the packed words, as the table says.
func unpack(words []uint64) []uint8 {
	dst := make([]uint8, planes*planeBytes)
	for side := range 2 {
		w := words[side*wordsPerHalf : (side+1)*wordsPerHalf]
		for cell := range td.Cells {
			at := cell/8*16 + cell%8
			owner, visitor := planeOwn, planeEnemy
			if side == 1 {
				at = cell/8*16 + 15 - cell%8
				owner, visitor = planeEnemy, planeOwn
			}
			bit := func(i int) uint8 { return uint8(w[i] >> cell & 1) }
			for i := range 4 {
				dst[i*planeBytes+at] = bit(i)
				dst[owner*planeBytes+at] += bit(10 + i)
				dst[visitor*planeBytes+at] += bit(14 + i)
			}
			dst[planeBuilding*planeBytes+at] = bit(4) + 2*bit(5)
			if bit(0)|bit(1)|bit(2)|bit(3) != 0 {
				dst[planeHits*planeBytes+at] = 1 + bit(6) + 2*bit(7)
			}
			dst[planeIdle*planeBytes+at] = bit(8) + 2*bit(9)
			for i := range 2 {
				tower := w[18] >> (32 * i)
				if tower&0xff == uint64(cell) {
					dst[planeTesla*planeBytes+at] = uint8(i + 1)
					dst[planeBuilding*planeBytes+at] = uint8(tower >> 8)
					dst[planeIdle*planeBytes+at] = uint8(tower >> 16)
				}
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

// clip is what the packed form can tell of the planes: rounds of buildings that
// are no tesla towers only up to 3.
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
	got := make([]uint8, planes*planeBytes)
	words := make([]uint64, 2*wordsPerHalf)
	visit(g, 7, 4000, func(s *td.State, p sim.Player) {
		if t.Failed() {
			return
		}
		want := plainPlanes(g, s, p)
		e.Planes(got, s, p)
		e.Packed(words, s, p)
		fromWords, wantWords := unpack(words), clip(want)
		for i := range want {
			if got[i] != want[i] || fromWords[i] != wantWords[i] {
				t.Errorf("round %d seat %d plane %s row %d column %d: planes %d, want %d; packed %d, want %d", s.Round, p,
					e.Table().Planes[i/planeBytes].Name, i%planeBytes/16, i%16, got[i], want[i], fromWords[i], wantWords[i])
				return
			}
		}
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

// income is what the finished energy buildings and the round pay, counted cell
// by cell.
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
	table := e.Table().Scalars
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
			if !ok && f.Name != "curtain_reset" {
				t.Fatalf("scalar %s is not checked", f.Name)
			}
			if ok && got[i] != float32(v) {
				t.Fatalf("round %d seat %d: %s is %v, want %d", s.Round, p, f.Name, got[i], v)
			}
		}
	})
}

// TestCurtainReset plays to the rounds around a reset and checks the count down
// to it against the availability that follows.
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
		if after.Half[0].Available && wait > 0 {
			t.Fatalf("round %d: available before the %d rounds are over", s.Round, wait)
		}
		after.Half[0].Available = false
		g.Play(&after, 0, 0)
		if !after.Half[0].Available {
			t.Fatalf("round %d: not available after %d rounds and one", s.Round, wait)
		}
		g.Play(&s, 0, 0)
	}
}
