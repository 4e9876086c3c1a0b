package codecraft

import (
	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// The scalars.
const (
	scalarScore    = iota
	scalarResource //
	scalarPopUse
	scalarPopProvide
	scalarCounts                            // kinds scalars
	scalarRivals  = scalarCounts + kinds    // score and resource of each of the three other players
	scalarTurn    = scalarRivals + 2*others //
	scalarLeft    = scalarTurn + 1
	scalarPlayers = scalarLeft + 1
	scalarFog     = scalarPlayers + 1
	scalars       = scalarFog + 1
)

// others is the greatest number of other players.
const others = sim.MaxPlayers - 1

// Scalars writes the numbers of seat p, of the other players, and of the game.
func (e *Encoder) Scalars(dst []float32, s *cc.State, p sim.Player) {
	features.CheckLength("scalars", len(dst), scalars)
	d := (*[scalars]float32)(dst)
	p &= 3
	*d = [scalars]float32{}
	d[scalarScore] = float32(s.Score[p])
	d[scalarResource] = float32(s.Resource[p])
	d[scalarPopUse] = float32(s.PopUse[p])
	d[scalarPopProvide] = float32(s.PopProvide[p])
	for t, n := range s.Count[p] {
		if cc.Type(t) != cc.Resource {
			d[scalarCounts+int(kindOf[t])] = float32(n)
		}
	}
	for q := range sim.Player(e.rules.Players) {
		if q != p {
			at := scalarRivals + 2*int(rivals[p][q]-1)
			d[at], d[at+1] = float32(s.Score[q]), float32(s.Resource[q])
		}
	}
	d[scalarTurn] = float32(s.Tick)
	d[scalarLeft] = float32(e.rules.MaxTurns) - float32(s.Tick)
	d[scalarPlayers] = float32(e.rules.Players)
	if e.rules.Fog {
		d[scalarFog] = 1
	}
}
