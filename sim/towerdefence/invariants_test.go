package towerdefence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// brokenText is a position with every kind of object.
const brokenText = `round 50
A energy 35 health 90 hits 2 score 431 damage 75 curtain 2
B energy 12
0 E   .   .   .   d2  .   .>> D'' | .   .   .   .   .   .   .   .
1 E   .   A2  .   .<  .   .   d1  | .   .   t7  .   .   .   .   .
2 .   .   .   T*  .   .   .   T3  | .   .   t2  .   .   .   .   .
`

// TestInvariants breaks a good position in every way that check detects.
func TestInvariants(t *testing.T) {
	g, err := New(DefaultRules())
	require.NoError(t, err)
	good, err := ParseText(g, brokenText)
	require.NoError(t, err)
	simtest.Spoil(t, &good, g.fault, g.check, map[string]func(s *State){
		"Zero is 1":                           func(s *State) { s.Zero = 1 },
		"Live is not within Occupied":         func(s *State) { s.Half[0].Live |= 1 << 60 },
		"Extra is not within Live":            func(s *State) { s.Half[0].Extra1 |= 1 << 60 },
		"Wait is not within the unfinished":   func(s *State) { s.Half[0].Wait0 |= 1 << 60 },
		"Wait is not what is unfinished":      func(s *State) { s.Half[0].Wait1 = 0 },
		"Wait has others than defenses":       func(s *State) { s.Half[0].Type0 |= 1 << 4 },
		"a kind where nothing stands":         func(s *State) { s.Half[0].Type1 |= 1 << 60 },
		"buildings of no kind":                func(s *State) { s.Half[0].Type0 |= 1 << (2*8 + 3) },
		"stands more hits than its health":    func(s *State) { s.Half[0].Extra0 |= 1 },
		"was placed in round 50":              func(s *State) { s.Half[0].Born[0] = 50 },
		"is live: false, placed in round 40":  func(s *State) { s.Half[0].Born[4] = 40 },
		"shoots in another round":             func(s *State) { s.Half[0].Type0 ^= 1 << 10 },
		"missiles 2 without missiles 1":       func(s *State) { s.Half[0].Own[0] = 0 },
		"missiles 4 without missiles 3":       func(s *State) { s.Half[0].Far[3] = 1 },
		"3 tesla towers":                      func(s *State) { s.Half[0].Teslas = 3 },
		"is gone and not cleared":             func(s *State) { s.Half[0].Teslas = 1 },
		"is live: true, due in 51":            func(s *State) { s.Half[0].Tesla[0].Due = 51 },
		"is due in 51 and ready in 51":        func(s *State) { s.Half[1].Tesla[0].Ready-- },
		"is ready in 61":                      func(s *State) { s.Half[0].Tesla[0].Ready = 61 },
		"not listed by age":                   func(s *State) { s.Half[0].Tesla[0], s.Half[0].Tesla[1] = s.Half[0].Tesla[1], s.Half[0].Tesla[0] },
		"those that stand":                    func(s *State) { s.Half[0].Teslas, s.Half[0].Tesla[1] = 1, noTower },
		"ready 50 and due 1":                  func(s *State) { s.Half[0].Due = 1 },
		"energy -1":                           func(s *State) { s.Half[0].Energy = -1 },
		"health 1001":                         func(s *State) { s.Half[0].Base = 1001 << 32 },
		"were exposed but":                    func(s *State) { s.Half[0].Ledger = 0 },
		"the curtain protects up to round 55": func(s *State) { s.Half[0].Curtain = 55 },
	})
}

// TestInvariantsHold checks every state of random games.
func TestInvariantsHold(t *testing.T) {
	for seed := range uint64(20) {
		rules := DefaultRules()
		rules.StartEnergy = int(seed) * 100
		g, err := New(rules)
		require.NoError(t, err)
		simtest.Play(g, seed, func(_ int, s *State, _ sim.Status) bool {
			g.check(s)
			return true
		})
	}
}
