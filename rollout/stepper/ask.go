package stepper

import (
	"errors"
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout"
)

// asker is a policy that is asked about the rows of a part.
type asker struct {
	*rollout.Asker
	rows []int32 // in hand
}

// Ask writes to dst [rows, heads] what a policy would choose in the caller's rows:
// see rollout.Asker. The policy is made by maker in the first call with its name
// and stays until Close. The answers do not depend on workers or blocks. Ask fails
// if the maker does, or dst has another length.
func (s *Stepper) Ask(name string, maker rollout.Maker, dst []int32) error {
	if err := s.idle("Ask"); err != nil {
		return err
	}
	if want := s.Rows() * len(s.spec.Heads); len(dst) != want {
		return fmt.Errorf("room for %d choices, want %d for %d rows", len(dst), want, s.Rows())
	}
	for _, k := range s.parts {
		if err := k.addAsker(name, maker); err != nil {
			return err
		}
	}
	if err := s.resume(true); err != nil {
		return err
	}
	err := s.each(func(k *part) {
		k.ask(k.askers[name], cut(dst, s.spec.Games, k.first, len(k.base)))
	})
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stepping = false
	if err == nil && i.ended.Load() {
		return ErrInterrupted
	}
	return err
}

// addAsker makes the policy of that name, unless the part has it.
func (k *part) addAsker(name string, maker rollout.Maker) error {
	if k.askers[name] != nil {
		return nil
	}
	a, err := rollout.NewAsker(k.inner, maker)
	if err != nil {
		return err
	}
	n := len(k.base)
	if k.askers == nil {
		k.askers = map[string]*asker{}
	}
	k.askers[name] = &asker{Asker: a, rows: make([]int32, 0, n*k.players)}
	rollout.Until(k.stepper.stop.ctx, a.Policy())
	return nil
}

// ask writes the answers for the caller's rows of the part. It asks for atOnce rows at
// a time, so that Interrupt and Abandon end it soon.
func (k *part) ask(a *asker, dst []int32) {
	a.rows = a.rows[:0]
	for i := range k.base {
		if k.seats != nil {
			a.rows = append(a.rows, int32(i*k.players+int(k.seats[i])))
			continue
		}
		for p := range k.players {
			a.rows = append(a.rows, int32(i*k.players+p))
		}
	}
	heads := len(dst) / len(a.rows)
	step := atOnce / k.players * k.players // whole games
	for rows := a.rows; len(rows) > 0 && !k.interrupted(); {
		n := min(len(rows), step)
		a.Ask(dst[:n*heads], rows[:n])
		rows, dst = rows[n:], dst[n*heads:]
	}
}

// closeAskers closes the policies that are asked.
func (k *part) closeAskers() error {
	var all []error
	for _, a := range k.askers {
		all = append(all, a.Close())
	}
	return errors.Join(all...)
}

// waits reports whether the seat of a row has ended its turn.
func (k *part) waits(row int) bool { return k.sequential && env.Waits(k.inner, row) }
