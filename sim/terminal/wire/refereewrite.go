package wire

import (
	"fmt"
	"io"

	"moonfarm/sim"
)

// WriteMatch plays a match and writes it as a replay file. A match whose orders
// end before it is over becomes a recording that broke off: it ends with the
// deploy frame after the last turn.
//
// It fails if the rules cannot be played, if orders are left when the match is
// over, and with the first error of out.
func WriteMatch(out io.Writer, m *Match, style Style) error {
	r, err := NewReferee(m.Config.Rules)
	if err != nil {
		return err
	}
	r.Name(m.Names)
	w := NewWriter(out, &m.Config, style)
	if err := w.Frame(r.Frame()); err != nil {
		return err
	}
	t := new(sim.Turn)
	for turn := range m.Turns {
		if !r.Waiting() {
			return fmt.Errorf("turn %d: the match is over, but %d turns have orders", turn, m.Turns)
		}
		m.Turn(t, turn)
		r.Submit(t)
		for more := true; more; more = r.Next() {
			if err := w.Frame(r.Frame()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Turn fills t with the orders of a turn.
func (m *Match) Turn(t *sim.Turn, turn int) {
	for p := range sim.Player(2) {
		t.Set(p, m.OrdersOf(turn, p))
	}
}
