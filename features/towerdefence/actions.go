package towerdefence

import (
	"slices"

	"moonfarm/features"
	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The actions: one Discrete choice per round. Cells are own cells, y*8 + x.
const (
	actionNothing = 5 * td.Cells // smaller choices are a command of td.LegalOps on a cell
	actionCurtain = actionNothing + 1
	actions       = actionNothing + 2
)

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

// Mask writes six words: a board for each of the five kinds of command that
// name a cell, then a word for nothing (bit 0) and the curtain (bit 1).
func (a *Actions) Mask(dst []uint64, s *td.State, p sim.Player) {
	features.CheckLength("mask", len(dst), len(td.Legal{}))
	a.game.Legal((*td.Legal)(dst[:6]), s, p)
}

// AppendOrders appends the order of the choice.
func (a *Actions) AppendOrders(dst []sim.Order, action []int32, _ *td.State, _ sim.Player) []sim.Order {
	features.CheckLength("action", len(action), 1)
	c := int(action[0])
	switch {
	case c >= 0 && c < actionNothing:
		return append(dst, td.OrderAt(td.LegalOps[c/td.Cells], c%td.Cells))
	case c == actionNothing:
		return append(dst, td.Nothing)
	case c == actionCurtain:
		return append(dst, td.Curtain)
	}
	return dst
}

// Action writes the choice for the first order; the rules ignore the others. An
// order that is no command, such as an unreadable answer, has no choice. A
// command that the rules refuse has a choice, which is masked out.
func (a *Actions) Action(dst []int32, orders []sim.Order, _ *td.State, _ sim.Player) bool {
	features.CheckLength("action", len(dst), 1)
	dst[0] = actionNothing
	if len(orders) == 0 || orders[0] == td.Nothing {
		return true
	}
	c := td.Decode(orders[0])
	board := slices.Index(td.LegalOps[:], c.Op)
	switch {
	case c.Failures == 0 && c.Op == td.OpCurtain:
		dst[0] = actionCurtain
	case c.Failures == 0 && board >= 0:
		dst[0] = int32(board*td.Cells + c.Y*td.Width + c.X)
	default:
		dst[0] = -1
	}
	return dst[0] >= 0
}
