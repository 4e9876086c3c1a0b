package stepper

import (
	"context"
	"sync"

	"moonfarm/rollout"
)

// ErrInterrupted says that Interrupt or Abandon ended a step: no turn was played.
const ErrInterrupted = StateError("the step was interrupted: no turn was played")

// interruption lets other goroutines end a step whose opponents take long.
type interruption struct {
	mu        sync.Mutex
	ctx       context.Context // of the opponents
	cancel    context.CancelFunc
	stepping  bool
	abandoned bool
}

// Interruptible reports whether an opponent can take long, so that a Step may be
// worth interrupting.
func (s *Stepper) Interruptible() bool { return s.slow }

// Interrupt makes the Step that is under way return ErrInterrupted soon, if its
// opponents are still choosing: no turn is played then, and the same Step may be
// called again. It may be called from any goroutine, and concerns neither later
// steps nor blocks.
func (s *Stepper) Interrupt() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stepping {
		i.cancel()
	}
}

// Abandon ends all that is under way, so that Close need not wait for opponents that
// take long. Every later Step returns ErrInterrupted, and blocks that were under way
// have not been played. It may be called from any goroutine.
func (s *Stepper) Abandon() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandoned = true
	if i.cancel != nil {
		i.cancel()
	}
}

// listen gives the opponents a new context.
func (s *Stepper) listen() {
	s.stop.ctx, s.stop.cancel = context.WithCancel(context.Background())
	for _, k := range s.parts {
		rollout.Until(s.stop.ctx, k.opponents...)
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
	if i.ctx.Err() != nil {
		s.listen()
	}
	i.stepping = stepping
	return nil
}

// stepSlowly is Step with opponents that take long. All of them choose before any
// game is stepped, so that an interrupted step has changed nothing.
func (s *Stepper) stepSlowly() error {
	if err := s.resume(true); err != nil {
		return err
	}
	err := s.each((*part).act)

	i := &s.stop
	i.mu.Lock()
	i.stepping = false
	interrupted := i.ctx.Err() != nil
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
func (k *part) interrupted() bool { return k.stepper.slow && k.stepper.stop.ctx.Err() != nil }

// unsay takes back what opponents have ordered for a turn that is not played.
func (k *part) unsay() {
	for row := range k.all.OrderLen {
		k.all.OrderLen[row] = -1
	}
}
