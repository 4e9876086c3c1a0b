package human

import (
	"fmt"

	"moonfarm/rollout"
	"moonfarm/sim"
)

// Bots play at seats of a game. They see it turn by turn.
type Bots interface {
	// Follow tells what was played so far, also after turns were taken back.
	Follow(e *rollout.Episode)
	// Orders returns the orders of a bot for the turn that follows.
	Orders(e *rollout.Episode, seat int) ([]sim.Order, error)
}

func (t *Session) isBot(seat int) bool { return seat < len(t.o.IsBot) && t.o.IsBot[seat] }

// askBots returns the orders of the bots, by seat. While they think, the game can be looked at.
func (t *Session) askBots() (orders [][]sim.Order, err error) {
	t.mu.Unlock()
	defer t.mu.Lock()
	orders = make([][]sim.Order, t.e.Players)
	for p := range orders {
		if t.isBot(p) {
			if orders[p], err = t.o.Bots.Orders(&t.e, p); err != nil {
				return nil, fmt.Errorf("%s: %w", t.o.Names[p], err)
			}
		}
	}
	return orders, nil
}
