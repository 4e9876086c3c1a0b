package towerdefence

import (
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The actions: one Discrete choice a round. Cells are own cells y*8 + x.
const (
	actionDefense     = 0 * td.Cells // + cell: place the building there
	actionAttack      = 1 * td.Cells
	actionEnergy      = 2 * td.Cells
	actionTesla       = 3 * td.Cells
	actionDeconstruct = 4 * td.Cells // + cell: remove the building there
	actionNothing     = 5 * td.Cells
	actionCurtain     = actionNothing + 1
	actions           = actionNothing + 2
)

// actionOps are the ops of the five boards of actions.
var actionOps = [5]td.Op{td.OpDefense, td.OpAttack, td.OpEnergy, td.OpTesla, td.OpDeconstruct}

// Actions implements features.ActionSpace for Tower Defence: one head with 322
// choices, whose mask is sound and complete.
type Actions struct{ game *td.Game }

// NewActions returns the action space for the rules of g.
func NewActions(g *td.Game) *Actions { return &Actions{g} }

// Heads returns the one head.
func (a *Actions) Heads() []int { return []int{actions} }

// Doc explains the choices.
func (a *Actions) Doc() string {
	return "One choice a round; c is an own cell y*8+x, x = 0 at the own base.\n" +
		"  0 … 63 place a defense on c, 64 … 127 an attack building, 128 … 191 an energy building,\n" +
		"  192 … 255 a tesla tower, 256 … 319 deconstruct what stands on c,\n" +
		"  320 do nothing, 321 raise the iron curtain."
}

// Mask writes six words: a board for each of the five kinds of action that name
// a cell, then nothing (bit 0) and the curtain (bit 1).
func (a *Actions) Mask(dst []uint64, s *td.State, p sim.Player) {
	a.game.Legal((*td.Legal)(dst[:6]), s, p)
}

// AppendOrders appends the one order of the action.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, _ *td.State, _ sim.Player) []sim.Order {
	c := action[0]
	switch {
	case c >= 0 && c < actionNothing:
		return append(dst, td.OrderAt(actionOps[c/td.Cells], int(c%td.Cells)))
	case c == actionNothing:
		return append(dst, td.Nothing)
	case c == actionCurtain:
		return append(dst, td.Curtain)
	}
	return dst
}

// Action finds the choice for the first order, which is the one that counts.
// Orders that are not legal moves, such as those that cost failures, have none.
func (a *Actions) Action(dst []int32, orders []sim.Order, _ *td.State, _ sim.Player) bool {
	dst[0] = actionNothing
	if len(orders) == 0 || orders[0] == td.Nothing {
		return true
	}
	op, x, y, failures := td.Decode(orders[0])
	cell := int32(y*td.Width + x)
	switch {
	case failures != 0 || orders[0] == td.Aborted:
		dst[0] = -1
	case op == td.OpCurtain:
		dst[0] = actionCurtain
	case op == td.OpDeconstruct:
		dst[0] = actionDeconstruct + cell
	case op == td.OpTesla:
		dst[0] = actionTesla + cell
	case op >= td.OpDefense && op <= td.OpEnergy:
		dst[0] = int32(op-td.OpDefense)*td.Cells + cell
	default:
		dst[0] = -1
	}
	return dst[0] >= 0
}
