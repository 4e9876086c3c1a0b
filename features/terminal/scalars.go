package terminal

import (
	"moonfarm/features"
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// Indices of the scalars: those of one side, and the common ones after both sides.
const (
	scalarHealth = iota
	scalarCores
	scalarBits
	scalarCoresIncome
	scalarBitsIncome
	scalarBitsKept
	scalarPoints
	scalarsPerSide

	scalarTurn      = 2 * scalarsPerSide
	scalarTurnsLeft = scalarTurn + 1
	scalars         = scalarTurn + 2
)

// Scalars writes the scalars of the own side, of the enemy's side, and the common ones.
func (e *Encoder) Scalars(dst []float32, s *tm.State, p sim.Player) {
	features.CheckLength("scalars", len(dst), scalars)
	dst = dst[:scalars:scalars]
	e.side(dst[:scalarsPerSide], s, p)
	e.side(dst[scalarsPerSide:scalarTurn], s, p^1)
	e.common(dst[scalarTurn:], s)
}

// allScalars writes the scalars of both seats.
func (e *Encoder) allScalars(dst []float32, s *tm.State) {
	a, b := (*[scalars]float32)(dst), (*[scalars]float32)(dst[scalars:])
	e.Scalars(a[:], s, 0)
	copy(b[:scalarsPerSide], a[scalarsPerSide:scalarTurn])
	copy(b[scalarsPerSide:scalarTurn], a[:scalarsPerSide])
	copy(b[scalarTurn:], a[scalarTurn:])
}

// common writes the scalars that are the same for both sides.
func (e *Encoder) common(dst []float32, s *tm.State) {
	dst[0] = float32(s.Turn)
	dst[scalarTurnsLeft-scalarTurn] = float32(e.rules.MaxTurns) - float32(s.Turn)
}

// side writes the scalars of player p's side.
func (e *Encoder) side(dst []float32, s *tm.State, p sim.Player) {
	dst = dst[:scalarsPerSide]
	cores, bits := e.game.Income(s, p)
	dst[scalarHealth] = s.Health[p]
	dst[scalarCores] = s.Cores[p]
	dst[scalarBits] = s.Bits[p]
	dst[scalarCoresIncome] = cores
	dst[scalarBitsIncome] = bits
	dst[scalarBitsKept] = e.game.BitsKept(s, p)
	dst[scalarPoints] = e.rules.StartHealth - s.Health[p^1]
}
