package stepper

import (
	"fmt"
	"slices"

	"moonfarm/env"
	"moonfarm/sim"
)

// Step plays one turn of all games with the slab Action, on all workers, and
// restarts games as Setup.Autoreset says. It fails, and plays nothing, if an
// action is neither −1 nor a choice of its head, or if a game has ended and
// autoreset is Disabled. It fails with ErrInterrupted if Interrupt ends it.
func (s *Stepper) Step() error {
	if err := s.idle("Step"); err != nil {
		return err
	}
	if err := s.take(s.parts); err != nil {
		return err
	}
	if s.chooseFirst {
		return s.stepAfterChoices()
	}
	err := s.each(s.stepping)
	if err == nil && s.stop.ended.Load() {
		return ErrInterrupted // by Abandon
	}
	return err
}

// StepWith does a Step with the given actions instead of the slab Action. It reads
// them before it returns, and fails if their length differs from that of the
// slab.
func (s *Stepper) StepWith(actions []int32) error {
	if err := s.idle("StepWith"); err != nil {
		return err
	}
	if want := s.Rows() * len(s.spec.Heads); len(actions) != want {
		return fmt.Errorf("%d actions, expected %d for %d rows", len(actions), want, s.Rows())
	}
	if s.slabs == nil {
		return StateError("no slabs are bound")
	}
	bound := s.slabs.Action
	s.choose(actions)
	defer s.choose(bound)
	return s.Step()
}

// choose makes the games read the actions.
func (s *Stepper) choose(actions []int32) {
	s.slabs.Action = actions
	for _, k := range s.parts {
		k.choose(cut(actions, s.spec.Games, k.first, len(k.base)))
	}
}

// Observe writes the observations to the slabs again, for example after Bind.
func (s *Stepper) Observe() error {
	if err := s.idle("Observe"); err != nil {
		return err
	}
	return s.each(s.observing)
}

// idle returns an error if a call that needs all games is not allowed now.
func (s *Stepper) idle(what string) error {
	if s.fault != nil {
		return s.fault
	}
	if s.sent > 0 {
		return StateError(fmt.Sprintf("%s while %d blocks are under way: receive them first", what, s.sent))
	}
	return nil
}

// take checks and copies the actions of parts that are about to be stepped. It
// fails if a game cannot be stepped or an action is not a choice.
func (s *Stepper) take(parts []*part) error {
	if s.slabs == nil || s.slabs.Action == nil {
		return StateError("no slab Action is bound: a step needs to know what to play")
	}
	for _, k := range parts {
		if err := k.steppable(); err != nil {
			return err
		}
	}
	if len(s.slabs.Action) < parallelTake || len(parts) < len(s.parts) || s.sent > 0 {
		for _, k := range parts {
			k.take()
		}
	} else if err := s.each(s.taking); err != nil {
		return err
	}
	for _, k := range parts {
		if k.refused != nil {
			return k.refused
		}
	}
	return nil
}

// parallelTake is the number of actions from which all workers check them:
// checking as parallelTake takes as long as waking the workers.
const parallelTake = 1 << 14

// steppable returns an error if a game of the part cannot be stepped.
func (k *part) steppable() error {
	if err := k.allBegun(); err != nil {
		return err
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

// allBegun returns an error if a game of the part has not begun.
func (k *part) allBegun() error {
	if k.fresh == 0 {
		return nil
	}
	i := slices.Index(k.begun, false)
	return StateError(fmt.Sprintf("game %d has not begun: Reset it first", k.first+i))
}
