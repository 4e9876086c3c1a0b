package bots

import (
	"errors"
	"fmt"
	"io"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim/codecraft"
)

// shadow plays the same game in a vector, where built-in policies see it.
type shadow struct {
	vector   env.Vector
	batch    *env.Batch
	policies []rollout.Policy // by seat; nil: a client
}

// shadow makes the vector; nil if no seat has a policy.
func (m *Match) shadow(start *codecraft.State) (*shadow, error) {
	h := &shadow{policies: make([]rollout.Policy, len(m.Seats))}
	for i := range m.Seats {
		if m.Seats[i].Policy == nil {
			continue
		}
		if h.vector == nil {
			if err := h.open(m, start); err != nil {
				return nil, err
			}
		}
		p, err := m.Seats[i].Policy(h.vector.Spec())
		if err != nil {
			h.close()
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		h.policies[i] = p
	}
	if h.vector == nil {
		return nil, nil
	}
	var wants env.Want
	for _, p := range h.policies {
		if p != nil {
			wants |= p.Wants()
		}
	}
	h.batch = env.NewBatch(h.vector.Spec(), 1, wants)
	return h, nil
}

func (h *shadow) open(m *Match, start *codecraft.State) error {
	if m.Vector == nil {
		return errors.New("policies need a vector")
	}
	v, err := m.Vector()
	if err != nil {
		return err
	}
	states, ok := env.States[codecraft.State](v)
	if s := v.Spec().Info; !ok || s.Config != string(m.Rules.AppendText(nil)) || v.Len() != 1 {
		return fmt.Errorf("the vector has %d games of %s, want 1 of codecraft with the rules of the match", v.Len(), s.Name)
	}
	v.Reset(0, m.Seed)
	if m.Start != nil {
		states[0].Clone(start)
	}
	h.vector = v
	return nil
}

// ask asks the policies.
func (h *shadow) ask(places []place) {
	if h == nil {
		return
	}
	h.vector.Observe(h.batch)
	for i, p := range h.policies {
		if p != nil {
			p.Act(h.vector, h.batch, []int32{int32(i)})
		}
	}
}

// step plays the tick with the orders of the others, and fills in those of the
// policies.
func (h *shadow) step(places []place) {
	if h == nil {
		return
	}
	b, most := h.batch, h.vector.Spec().Info.MaxOrders
	for i, p := range h.policies {
		if p == nil {
			b.OrderLen[i] = int32(copy(b.Orders[i*most:(i+1)*most], places[i].orders))
		}
	}
	h.vector.Step(b)
	for i, p := range h.policies {
		if p != nil {
			places[i].orders = append(places[i].orders, b.Orders[i*most:i*most+int(b.OrderLen[i])]...)
		}
	}
}

func (h *shadow) close() {
	if h == nil {
		return
	}
	for _, p := range h.policies {
		if c, ok := p.(io.Closer); ok {
			c.Close()
		}
	}
}
