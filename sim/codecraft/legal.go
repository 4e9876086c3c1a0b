package codecraft

import "moonfarm/sim"

// AppendOrders appends orders of seat p.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	return append(dst, Nothing)
}
