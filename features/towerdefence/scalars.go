package towerdefence

import (
	"moonfarm/features"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The scalars of one side, and the index of the first common one.
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

// Scalars writes the scalars of the own side, of the enemy's side, then the
// common ones.
func (e *Encoder) Scalars(dst []float32, s *td.State, p sim.Player) {
	features.CheckLength("scalars", len(dst), scalars)
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
	dst[0] = float32(s.Round)
	dst[scalarRoundsLeft-scalarRound] = float32(e.rules.MaxRounds + 1 - int(s.Round))
	dst[scalarReset-scalarRound] = float32(e.game.CurtainReset(s.Round))
}

// side writes the scalars of player p's side.
func (e *Encoder) side(dst []float32, s *td.State, p sim.Player) {
	h := &s.Half[p]
	dst = dst[:scalarsPerSide]
	dst[scalarEnergy] = float32(h.Energy)
	dst[scalarIncome] = float32(e.game.Income(h))
	dst[scalarHealth] = float32(h.Health())
	dst[scalarHits] = float32(h.Hits())
	dst[scalarScore] = float32(e.game.Score(s, p))
	dst[scalarAvailable] = 0
	if h.Available {
		dst[scalarAvailable] = 1
	}
	dst[scalarCurtain] = float32(max(0, s.CurtainTime(p)))
	dst[scalarTeslas] = float32(h.Teslas)
}
