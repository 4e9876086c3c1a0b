package stepper

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/sim"
)

// Step plays one turn of all games with the slab Action, on all workers, and
// restarts games as Config.Autoreset says. If an action is not −1 and no choice
// of its head either, or, with autoreset Disabled, if a game has ended, it fails
// and nothing is played.
func (s *Stepper) Step() error {
	if err := s.idle("Step"); err != nil {
		return err
	}
	if err := s.take(s.parts); err != nil {
		return err
	}
	return s.each((*part).step)
}

// Observe writes what the rows see to the slabs again, such as those that were
// just bound.
func (s *Stepper) Observe() error {
	if err := s.idle("Observe"); err != nil {
		return err
	}
	return s.each((*part).observe)
}

// idle says why a call that needs all games may not be made now.
func (s *Stepper) idle(what string) error {
	if s.fault != nil {
		return s.fault
	}
	if s.sent > 0 {
		return StateError(fmt.Sprintf("%s while %d blocks are under way: receive them first", what, s.sent))
	}
	return nil
}

// take takes the actions of parts that are about to be stepped, if all can be.
func (s *Stepper) take(parts []*part) error {
	if s.slabs == nil || s.slabs.Action == nil {
		return StateError("no slab Action is bound: a step needs to know what to play")
	}
	for _, k := range parts {
		if err := k.steppable(); err != nil {
			return err
		}
	}
	for _, k := range parts {
		if err := k.take(); err != nil {
			return err
		}
	}
	return nil
}

// steppable says why a game of the part may not be stepped.
func (k *part) steppable() error {
	if k.fresh > 0 {
		for i, begun := range k.begun {
			if !begun {
				return StateError(fmt.Sprintf("game %d has not begun: Reset it first", k.first+i))
			}
		}
	}
	if k.stepper.c.Autoreset != env.Disabled {
		return nil
	}
	for i, status := range k.mine.Status {
		if status != sim.Running {
			return StateError(fmt.Sprintf("game %d has ended: with autoreset Disabled it must be Reset before the next step", k.first+i))
		}
	}
	return nil
}
