package policy_test

import (
	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// blind observes nothing: the scripts read the state.
type blind struct{}

func (blind) Shape() features.Shape                              { return features.Shape{} }
func (blind) Table() features.Table                              { return features.Table{} }
func (blind) Planes([]uint8, *towerdefence.State, sim.Player)    {}
func (blind) Packed([]uint64, *towerdefence.State, sim.Player)   {}
func (blind) Scalars([]float32, *towerdefence.State, sim.Player) {}

// choices is the Discrete space of the game: four kinds of building and
// deconstruction by cell, nothing, the curtain.
type choices struct{ game *towerdefence.Game }

var choiceHeads = []int{5*towerdefence.Cells + 2}

func (choices) Heads() []int { return choiceHeads }
func (choices) Doc() string  { return "" }

func (a choices) Mask(dst []uint64, s *towerdefence.State, p sim.Player) {
	l := a.game.Legal(s, p)
	for i, k := range towerdefence.Kinds {
		dst[i] = l.Build[k]
	}
	dst[4], dst[5] = l.Deconstruct, 1
	if l.Curtain {
		dst[5] = 3
	}
}

func (choices) AppendOrders(dst []sim.Order, action []int32, _ *towerdefence.State, _ sim.Player) []sim.Order {
	c, cell := action[0]/towerdefence.Cells, int(action[0]%towerdefence.Cells)
	switch x, y := cell%towerdefence.Width, cell/towerdefence.Width; {
	case c < 4:
		return append(dst, towerdefence.Build(towerdefence.Kinds[c], x, y))
	case c == 4:
		return append(dst, towerdefence.Deconstruct(x, y))
	case cell == 1:
		return append(dst, towerdefence.Curtain)
	}
	return append(dst, towerdefence.Nothing)
}

func (choices) Action(dst []int32, _ []sim.Order, _ *towerdefence.State, _ sim.Player) bool {
	dst[0] = -1
	return false
}
