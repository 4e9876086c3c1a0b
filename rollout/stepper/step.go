package stepper

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/sim"
)

// Step plays one turn of all games with the slab Action, on all workers, and
// restarts games as Setup.Autoreset says. If an action is not −1 and no choice
// of its head either, or, with autoreset Disabled, if a game has ended, it fails
// and nothing is played. So it does with ErrInterrupted if Interrupt ends it.
func (s *Stepper) Step() error {
	if err := s.idle("Step"); err != nil {
		return err
	}
	if err := s.take(s.parts); err != nil {
		return err
	}
	if s.careful {
		return s.stepCarefully()
	}
	err := s.each((*part).step)
	if err == nil && s.stop.ended.Load() {
		return ErrInterrupted // abandoned
	}
	return err
}

// StepWith is Step with other actions than those in the slab Action, which are read
// before it returns. It fails as well if they have not the length of that slab.
func (s *Stepper) StepWith(actions []int32) error {
	if err := s.idle("StepWith"); err != nil {
		return err
	}
	if want := s.Rows() * len(s.spec.Heads); len(actions) != want {
		return fmt.Errorf("%d actions, want %d for %d rows", len(actions), want, s.Rows())
	}
	if s.slabs == nil {
		return StateError("no slabs are bound")
	}
	bound := s.slabs.Action
	s.choose(actions)
	defer s.choose(bound)
	return s.Step()
}

// choose takes these actions into use.
func (s *Stepper) choose(actions []int32) {
	s.slabs.Action = actions
	for _, k := range s.parts {
		k.choose(cut(actions, s.spec.Games, k.first, len(k.base)))
	}
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
	if len(s.slabs.Action) < many || len(parts) < len(s.parts) || s.sent > 0 {
		for _, k := range parts {
			k.take()
		}
	} else if err := s.each((*part).take); err != nil {
		return err
	}
	for _, k := range parts {
		if k.refused != nil {
			return k.refused
		}
	}
	return nil
}

// many actions are checked by all workers: to check these takes as long as the
// workers take to begin.
const many = 1 << 14

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
