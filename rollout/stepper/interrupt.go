package stepper

import (
	"context"
	"sync"
	"sync/atomic"

	"moonfarm/rollout"
)

// ErrInterrupted says that Interrupt or Abandon ended a step: no turn was played.
const ErrInterrupted = StateError("the step was interrupted: no turn was played")

// interruption lets other goroutines end a step whose opponents take long.
type interruption struct {
	mu        sync.Mutex
	cancel    context.CancelFunc // of the opponents' context; nil: there are none
	ended     atomic.Bool        // the opponents are to choose no more
	stepping  bool               // a step is under way that Interrupt ends
	abandoned bool
}

// end makes the opponents return soon. The caller holds mu.
func (i *interruption) end() {
	i.ended.Store(true)
	if i.cancel != nil {
		i.cancel()
	}
}

// Interruptible reports whether an opponent can take long for a single game, so that
// StepInterruptibly is of use even for few games.
func (s *Stepper) Interruptible() bool { return s.slow }

// Interrupt makes the StepInterruptibly that is under way, and a Step against opponents
// that are rollout.Interruptible, return ErrInterrupted soon, if opponents are still
// choosing: no turn is played then, and the same step may be made again. It may be
// called from any goroutine, and concerns neither later steps nor blocks.
func (s *Stepper) Interrupt() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stepping {
		i.end()
	}
}

// Abandon ends all that is under way, so that Close need not wait for opponents that
// take long. Every later step returns ErrInterrupted, and blocks that were under way
// have not been played. It may be called from any goroutine.
func (s *Stepper) Abandon() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandoned = true
	i.end()
}

// listen gives the opponents a new context.
func (s *Stepper) listen() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop.cancel = cancel
	s.stop.ended.Store(false)
	for _, k := range s.parts {
		rollout.Until(ctx, k.opponents...)
	}
}

// resume lets opponents choose after an earlier step was interrupted. With stepping the
// next Interrupt concerns what follows.
func (s *Stepper) resume(stepping bool) error {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.abandoned {
		return ErrInterrupted
	}
	if i.ended.Load() {
		s.listen()
	}
	i.stepping = stepping
	return nil
}

// StepInterruptibly is StepWith, or Step if actions is nil, that Interrupt can end
// whatever the opponents are: they choose for some hundred games at a time.
func (s *Stepper) StepInterruptibly(actions []int32) error {
	was := s.careful
	s.careful = true
	defer func() { s.careful = was }()
	if actions == nil {
		return s.Step()
	}
	return s.StepWith(actions)
}

// stepCarefully steps after all opponents have chosen, so that an interrupted step has
// changed nothing.
func (s *Stepper) stepCarefully() error {
	if err := s.resume(true); err != nil {
		return err
	}
	err := s.each((*part).act)

	i := &s.stop
	i.mu.Lock()
	i.stepping = false
	interrupted := i.ended.Load()
	i.mu.Unlock()
	if err != nil {
		return err
	}
	if interrupted {
		for _, k := range s.parts {
			k.unsay()
		}
		return ErrInterrupted
	}
	return s.each((*part).play)
}

// interrupted reports whether the opponents are to choose no more.
func (k *part) interrupted() bool { return k.stepper.stop.ended.Load() }

// unsay takes back what opponents have ordered for a turn that is not played.
func (k *part) unsay() {
	for row := range k.all.OrderLen {
		k.all.OrderLen[row] = -1
	}
}
