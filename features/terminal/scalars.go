package terminal

import (
	"moonfarm/sim"
	tm "moonfarm/sim/terminal"
)

// The scalars of one side, and where the common ones begin.
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

// Scalars writes those of the own side, of the enemy's, then the common ones.
func (e *Encoder) Scalars(dst []float32, s *tm.State, p sim.Player) {
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
	cores, bits := e.income(s, p)
	dst[scalarHealth] = s.Health[p]
	dst[scalarCores] = s.Cores[p]
	dst[scalarBits] = s.Bits[p]
	dst[scalarCoresIncome] = cores
	dst[scalarBitsIncome] = bits
	dst[scalarBitsKept] = tm.Tenths(float32(s.Bits[p] * float32(1-e.rules.BitDecay)))
	dst[scalarPoints] = e.rules.StartHealth - s.Health[p^1]
}

// income are the cores and bits that the restore before the next turn would pay
// if no structure came or fell.
func (e *Encoder) income(s *tm.State, p sim.Player) (cores, bits float32) {
	r := &e.rules
	cores, bits = r.CoresPerTurn, r.BitsPerTurn
	if t := int32(s.Turn) + 1; t >= r.GrowthStart {
		more := r.BitGrowth * float32(1+(t-r.GrowthStart)/r.GrowthInterval)
		bits += more
	}
	if !e.gives {
		return cores, bits
	}
	var c, b float32
	for k := range s.Ages[p] {
		ages := &s.Ages[p][k]
		for _, i := range ages.Cell[:ages.N] {
			structure := s.Cells[half[p][i].cell]
			if !r.RemovedGive && structure.RemoveIn() == 1 {
				continue
			}
			u := &r.Units[k]
			if structure.Upgraded() {
				u = &r.Upgraded[k]
			}
			c += u.GivesCores
			b += u.GivesBits
		}
	}
	return cores + c, bits + b
}
