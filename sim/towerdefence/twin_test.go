package towerdefence_test

import (
	"fmt"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/internal/plain"
	"moonfarm/sim/towerdefence/wire"
)

// compare returns the first difference between the fast state and the plain
// twin, "" if there is none. It looks at every field of the original.
func compare(g *towerdefence.Game, s *towerdefence.State, twin *plain.Game) string {
	if int(s.Round) != twin.Round {
		return fmt.Sprintf("round: fast %d, plain %d", s.Round, twin.Round)
	}
	for p := range sim.Player(2) {
		h := &s.Half[p]
		fast := plain.Player{
			Energy: int(h.Energy), Health: h.Health(), HitsTaken: h.Hits(), Score: g.Score(s, p),
			CurtainAvailable: h.Available, CurtainTime: s.CurtainTime(p), FailCount: int(h.Failures),
		}
		if fast != twin.Players[p] {
			return fmt.Sprintf("player %d: fast %+v, plain %+v", p, fast, twin.Players[p])
		}
	}
	var buildings [16][8]*plain.Building
	for i := range twin.Buildings {
		b := &twin.Buildings[i]
		buildings[b.X][b.Y] = b
	}
	var missiles [2][16][8]int
	for _, m := range twin.Missiles {
		missiles[m.Owner][m.X][m.Y]++
	}
	for x := range 16 {
		for y := range 8 {
			if d := compareCell(g, s, x, y, buildings[x][y]); d != "" {
				return fmt.Sprintf("cell %d,%d: %s", x, y, d)
			}
			for p := range sim.Player(2) {
				if fast := missilesAt(s, p, x, y); fast != missiles[p][x][y] {
					return fmt.Sprintf("missiles of %d at %d,%d: fast %d, plain %d", p, x, y, fast, missiles[p][x][y])
				}
			}
		}
	}
	return ""
}

func compareCell(g *towerdefence.Game, s *towerdefence.State, x, y int, want *plain.Building) string {
	p, own := sim.Player(0), x
	if x >= 8 {
		p, own = 1, 15-x
	}
	cell := y*8 + own
	kind, ok := s.Half[p].Kind(cell)
	if !ok || want == nil {
		if ok != (want != nil) {
			return fmt.Sprintf("building: fast %v, plain %+v", ok, want)
		}
		return ""
	}
	fast := plain.Building{X: x, Y: y, Owner: p, Kind: kind, Health: g.HealthOf(s, p, cell),
		BuildTime: g.BuildTime(s, p, cell), Cooldown: g.Cooldown(s, p, cell)}
	if fast != *want {
		return fmt.Sprintf("building: fast %+v, plain %+v", fast, *want)
	}
	return ""
}

func missilesAt(s *towerdefence.State, p sim.Player, x, y int) int {
	own := x
	if p == 1 {
		own = 15 - x
	}
	if own < 8 {
		return s.Half[p].MissilesOwn(y*8 + own)
	}
	return s.Half[p].MissilesFar(y*8 + 15 - own)
}

// randomCommand draws a command text: mostly sensible, some illegal, some that
// cannot be read.
func randomCommand(r *prng.Rand, g *towerdefence.Game, s *towerdefence.State, p sim.Player, buf []sim.Order) string {
	switch n := r.IntN(100); {
	case n < 70:
		orders := g.AppendOrders(buf[:0], s, p)
		return string(wire.AppendCommand(nil, orders[r.IntN(len(orders))]))
	case n < 72:
		return "0,0,5"
	case n < 90:
		return fmt.Sprintf("%d,%d,%d", r.IntN(10)-1, r.IntN(10)-1, r.IntN(8)-1)
	case n < 92:
		return fmt.Sprintf("%d,%d,%d,7", r.IntN(8), r.IntN(8), r.IntN(6))
	case n < 94:
		return fmt.Sprintf("%d,%d", r.IntN(8), r.IntN(8))
	case n < 95:
		return "Exception"
	case n < 97:
		return fmt.Sprintf("a%d,2,1", r.IntN(8))
	case n == 97 && r.IntN(100) == 0:
		return ",,"
	}
	return ""
}

// playTwins plays random games until the given number of rounds is reached and
// fails at the first difference. It returns the rounds it played.
func playTwins(t *testing.T, rules towerdefence.Rules, seed uint64, rounds int) (played int) {
	t.Helper()
	g, err := towerdefence.New(rules)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	buf := make([]sim.Order, 0, 512)
	for game := uint64(0); played < rounds; game++ {
		r := prng.New(prng.Key(seed, game, 0, 0, prng.PurposeGame))
		var s towerdefence.State
		g.Reset(&s, 0)
		twin := plain.New(rules)
		if energy := []int{0, 0, 200, 1000, 6000}[r.IntN(5)]; energy > 0 {
			for p := range sim.Player(2) {
				g.SetStart(&s, p, energy, 250)
				twin.Players[p].Energy, twin.Players[p].Health = energy, 250
			}
		}
		for status := sim.Running; status == sim.Running; played++ {
			a, b := randomCommand(&r, g, &s, 0, buf), randomCommand(&r, g, &s, 1, buf)
			before := s
			status = g.Play(&s, wire.ParseCommand(a), wire.ParseCommand(b))
			end := twin.Play(a, b)
			diff := compare(g, &s, twin)
			if diff == "" && (status == sim.Running) != (end == plain.Running) {
				diff = fmt.Sprintf("status: fast %v, plain %q", status, end)
			}
			if diff != "" {
				t.Fatalf("seed %d game %d round %d, commands %q and %q: %s\nbefore\n%s%s\nrules\n%s", seed, game, before.Round, a, b, diff,
					fastText(g, &before), boards(g, &s, twin), rules.AppendText(nil))
			}
		}
	}
	return played
}
