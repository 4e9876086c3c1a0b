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
	e.common(dst[2*scalarsPerSide:], s)
}

// allScalars writes the scalars of both seats.
func (e *Encoder) allScalars(dst []float32, s *td.State) {
	a, b := (*[scalars]float32)(dst[:scalars]), (*[scalars]float32)(dst[scalars:2*scalars])
	e.Scalars(a[:], s, 0)
	*(*[scalarsPerSide]float32)(b[:]) = *(*[scalarsPerSide]float32)(a[scalarsPerSide:])
	*(*[scalarsPerSide]float32)(b[scalarsPerSide:]) = *(*[scalarsPerSide]float32)(a[:])
	*(*[scalars - scalarRound]float32)(b[scalarRound:]) = *(*[scalars - scalarRound]float32)(a[scalarRound:])
}

// common writes the scalars that are the same for both sides.
func (e *Encoder) common(dst []float32, s *td.State) {
	round := int(s.Round)
	period := e.rules.CurtainResetPeriod
	wait := period - round%period
	if round > 0 && round%period == 0 {
		wait = 0
	}
	dst[0] = float32(round)
	dst[scalarRoundsLeft-scalarRound] = float32(e.rules.MaxRounds + 1 - round)
	dst[scalarReset-scalarRound] = float32(wait)
}

// side writes the scalars of player p's side.
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
