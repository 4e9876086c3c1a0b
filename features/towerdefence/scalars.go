package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The scalars of one side, and where the common ones begin.
const (
	scalarEnergy = iota
	scalarIncome
	scalarHealth
	scalarHits
	scalarScore
	scalarAvailable
	scalarCurtain
	scalarTeslas
	scalarsPerSide

	scalarRound      = 2 * scalarsPerSide
	scalarRoundsLeft = scalarRound + 1
	scalarReset      = scalarRound + 2
	scalars          = scalarRound + 3
)

// Scalars writes those of the own side, of the enemy's, then the common ones.
func (e *Encoder) Scalars(dst []float32, s *td.State, p sim.Player) {
	dst = dst[:scalars:scalars]
	e.side(dst[:scalarsPerSide], s, p)
	e.side(dst[scalarsPerSide:2*scalarsPerSide], s, p^1)
	round := int(s.Round)
	dst[scalarRound] = float32(round)
	dst[scalarRoundsLeft] = float32(e.rules.MaxRounds + 1 - round)
	period := e.rules.CurtainResetPeriod
	wait := period - round%period
	if round > 0 && round%period == 0 {
		wait = 0
	}
	dst[scalarReset] = float32(wait)
}

func (e *Encoder) side(dst []float32, s *td.State, p sim.Player) {
	h := &s.Half[p]
	dst = dst[:scalarsPerSide]
	paying := bits.OnesCount64(h.Live & h.Type2 & h.Type0)
	dst[scalarEnergy] = float32(h.Energy)
	dst[scalarIncome] = float32(e.rules.RoundIncome + e.rules.Buildings[td.Energy].EnergyPerTurn*paying)
	dst[scalarHealth] = float32(h.Health())
	dst[scalarHits] = float32(h.Hits())
	dst[scalarScore] = float32(e.game.Score(s, p))
	dst[scalarAvailable] = 0
	if h.Available {
		dst[scalarAvailable] = 1
	}
	dst[scalarCurtain] = float32(max(0, int(h.Curtain)-int(s.Round)+1))
	dst[scalarTeslas] = float32(h.Teslas)
}
