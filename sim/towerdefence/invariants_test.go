package towerdefence

import (
	"strings"
	"testing"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// brokenText is a position with something of everything.
const brokenText = `round 50
A energy 35 health 90 hits 2 score 431 damage 75 curtain 2
B energy 12
0 E   .   .   .   d2  .   .>> D'' | .   .   .   .   .   .   .   .
1 E   .   A2  .   .<  .   .   d1  | .   .   t7  .   .   .   .   .
2 .   .   .   T*  .   .   .   T3  | .   .   t2  .   .   .   .   .
`

// TestInvariants breaks a good position in every way that check looks for.
func TestInvariants(t *testing.T) {
	g, err := New(DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	good, err := ParseText(g, brokenText)
	if err != nil {
		t.Fatal(err)
	}
	g.check(&good)
	for want, spoil := range map[string]func(h, enemy *Half, s *State){
		"Zero is 1":                           func(_, _ *Half, s *State) { s.Zero = 1 },
		"Live is not within Occupied":         func(h, _ *Half, _ *State) { h.Live |= 1 << 60 },
		"Extra is not within Live":            func(h, _ *Half, _ *State) { h.Extra1 |= 1 << 60 },
		"Wait is not within the unfinished":   func(h, _ *Half, _ *State) { h.Wait0 |= 1 << 60 },
		"Wait is not what is unfinished":      func(h, _ *Half, _ *State) { h.Wait1 = 0 },
		"Wait has others than defenses":       func(h, _ *Half, _ *State) { h.Type0 |= 1 << 4 },
		"a kind where nothing stands":         func(h, _ *Half, _ *State) { h.Type1 |= 1 << 60 },
		"buildings of no kind":                func(h, _ *Half, _ *State) { h.Type0 |= 1 << (2*8 + 3) },
		"stands more hits than its health":    func(h, _ *Half, _ *State) { h.Extra0 |= 1 },
		"was placed in round 50":              func(h, _ *Half, _ *State) { h.Born[0] = 50 },
		"is live: false, placed in round 40":  func(h, _ *Half, _ *State) { h.Born[4] = 40 },
		"shoots in another round":             func(h, _ *Half, _ *State) { h.Type0 ^= 1 << 10 },
		"missiles 2 without missiles 1":       func(h, _ *Half, _ *State) { h.Own[0] = 0 },
		"missiles 4 without missiles 3":       func(h, _ *Half, _ *State) { h.Far[3] = 1 },
		"3 tesla towers":                      func(h, _ *Half, _ *State) { h.Teslas = 3 },
		"is gone and not cleared":             func(h, _ *Half, _ *State) { h.Teslas = 1 },
		"is live: true, due in 51":            func(h, _ *Half, _ *State) { h.Tesla[0].Due = 51 },
		"is due in 51 and ready in 51":        func(_, e *Half, _ *State) { e.Tesla[0].Ready-- },
		"is ready in 61":                      func(h, _ *Half, _ *State) { h.Tesla[0].Ready = 61 },
		"not listed by age":                   func(h, _ *Half, _ *State) { h.Tesla[0], h.Tesla[1] = h.Tesla[1], h.Tesla[0] },
		"those that stand":                    func(h, _ *Half, _ *State) { h.Teslas, h.Tesla[1] = 1, noTower },
		"ready 50 and due 1":                  func(h, _ *Half, _ *State) { h.Due = 1 },
		"energy -1":                           func(h, _ *Half, _ *State) { h.Energy = -1 },
		"health 1001":                         func(h, _ *Half, _ *State) { h.Base = 1001 << 32 },
		"were exposed but":                    func(h, _ *Half, _ *State) { h.Ledger = 0 },
		"the curtain protects up to round 55": func(h, _ *Half, _ *State) { h.Curtain = 55 },
	} {
		s := good
		spoil(&s.Half[0], &s.Half[1], &s)
		if fault := g.fault(&s); !strings.Contains(fault, want) {
			t.Errorf("found %q, want %q", fault, want)
		}
		if func() (ok bool) { defer func() { ok = recover() != nil }(); g.check(&s); return }() == false {
			t.Errorf("%s: check does not panic", want)
		}
	}
}

// TestInvariantsHold checks every state of random games.
func TestInvariantsHold(t *testing.T) {
	g, err := New(DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		r := prng.New(seed)
		var s State
		g.Reset(&s, 0)
		g.SetStart(&s, 0, int(seed)*100, 100)
		g.check(&s)
		for g.Play(&s, g.Playout(&s, 0, &r), g.Playout(&s, 1, &r)) == sim.Running {
			g.check(&s)
		}
	}
}
