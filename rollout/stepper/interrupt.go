package stepper

import (
	"context"
	"sync"
	"sync/atomic"

	"moonfarm/rollout"
)

// ErrInterrupted means that Interrupt or Abandon ended a step. No turn was
// played.
const ErrInterrupted = StateError("the step was interrupted: no turn was played")

// interruption lets other goroutines end a step whose opponents take long.
type interruption struct {
	mu        sync.Mutex
	ctx       context.Context    // of the opponents and the policies that are asked
	cancel    context.CancelFunc // of ctx
	ended     atomic.Bool        // the opponents must stop choosing
	stepping  bool               // a step is in progress that Interrupt may end
	abandoned bool
}

// end makes the opponents return soon. The caller holds mu.
func (i *interruption) end() {
	i.ended.Store(true)
	if i.cancel != nil {
		i.cancel()
	}
}

// Interruptible reports whether an opponent can take long even for a single
// game, so that StepInterruptibly is useful with few games, too.
func (s *Stepper) Interruptible() bool { return s.slow }

// Interrupt ends the step in progress: a StepInterruptibly, or a Step against
// opponents that are rollout.Interruptible. If opponents are still choosing,
// the step soon returns ErrInterrupted without playing a turn, and may be
// repeated. Interrupt may be called from any goroutine, and does not affect
// later steps or blocks.
func (s *Stepper) Interrupt() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stepping {
		i.end()
	}
}

// Abandon ends all work in progress, so that Close need not wait for slow
// opponents. Every later step returns ErrInterrupted; blocks in progress are
// not played. Abandon may be called from any goroutine.
func (s *Stepper) Abandon() {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandoned = true
	i.end()
}

// renewContext gives the opponents a new context.
func (s *Stepper) renewContext() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop.ctx, s.stop.cancel = ctx, cancel
	s.stop.ended.Store(false)
	for _, k := range s.parts {
		rollout.Until(ctx, k.opponents...)
		for _, a := range k.askers {
			rollout.Until(ctx, a.Policy())
		}
	}
}

// resume lets opponents choose again after an interrupted step. If stepping is
// set, the next Interrupt ends the step that follows.
func (s *Stepper) resume(stepping bool) error {
	i := &s.stop
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.abandoned {
		return ErrInterrupted
	}
	if i.ended.Load() {
		s.renewContext()
	}
	i.stepping = stepping
	return nil
}

// StepInterruptibly does a StepWith, or a Step if actions is nil, that Interrupt can
// end with any opponents: they choose for at most atOnce games between two
// checks.
func (s *Stepper) StepInterruptibly(actions []int32) error {
	was := s.chooseFirst
	s.chooseFirst = true
	defer func() { s.chooseFirst = was }()
	if actions == nil {
		return s.Step()
	}
	return s.StepWith(actions)
}

// stepAfterChoices steps the games after all opponents have chosen, so that an
// interrupted step has changed nothing.
func (s *Stepper) stepAfterChoices() error {
	if err := s.resume(true); err != nil {
		return err
	}
	err := s.each(s.choosing)

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
			k.withdrawOrders()
		}
		return ErrInterrupted
	}
	return s.each(s.playing)
}

// interrupted reports whether the opponents must stop choosing.
func (k *part) interrupted() bool { return k.stepper.stop.ended.Load() }

// withdrawOrders removes the opponents' orders for a turn that is not played.
func (k *part) withdrawOrders() {
	for row := range k.all.OrderLen {
		k.all.OrderLen[row] = -1
	}
}
