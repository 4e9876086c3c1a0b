package rollout

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/sim"
)

// Steps divide the turns of an episode into the actions of a sequential form. An
// Episode that has them counts steps where others count turns: Turns is the number of
// steps, and Ends has an entry for each seat and step. The orders of a turn stand at
// the step with which the seat ended the turn.
type Steps struct {
	// Action is the action of each seat in each step, at step*Players + seat: −1 if
	// no action leads to the rest of its orders, Waiting if the seat waits for others.
	Action []int32
	Turn   []int32 // [steps] the turn of each step
	Step   []int32 // [steps] number of the step in its turn, from 0
	// Reward is the reward of each seat, at step*Players + seat. The reward of a turn
	// stands at the action with which the seat ended the turn.
	Reward []float32
}

// Ends reports whether the action of a seat in a step is its last one of the turn.
func (s *Steps) Ends(step, seat, players int) bool {
	at := step*players + seat
	return s.Action[at] != Waiting && (step+1 == len(s.Turn) || s.Turn[step+1] != s.Turn[step] || s.Action[at+players] == Waiting)
}

// Waiting is the entry in Steps.Action of a seat that has ended its turn.
const Waiting = -2

// Unfold replays e, and divides its turns into the actions that stand for its orders in
// the sequential form of the Replayer's Vector. dst gets the same episode with Steps;
// it shares nothing with e but its policies. The orders that are played are those of
// the episode, even if the form cannot express them. Unfold fails as Step does.
func (r *Replayer) Unfold(dst, e *Episode) error {
	s := r.v.Spec()
	if !s.Sequential {
		return fmt.Errorf("episode %d: the form %s of %s is not sequential", e.ID, s.Form, s.Info.Name)
	}
	if err := r.Start(e); err != nil {
		return err
	}
	u := &unfolding{r: r, e: e, dst: dst, nothing: int32(s.Nothing), batch: env.NewBatch(s, 1, env.WantAction)}
	steps := dst.Steps
	if steps == nil {
		steps = new(Steps)
	}
	*steps = Steps{steps.Action[:0], steps.Turn[:0], steps.Step[:0], steps.Reward[:0]}
	*dst = Episode{ID: e.ID, Seed: e.Seed, Policies: e.Policies, Players: e.Players, Status: e.Status, Outcome: e.Outcome, Stopped: e.Stopped,
		Orders: dst.Orders[:0], Ends: dst.Ends[:0], Chosen: dst.Chosen[:0], Searches: dst.Searches.empty(), Recording: append(dst.Recording[:0], e.Recording...), Steps: steps,
		AskedOrders: append(dst.AskedOrders[:0], e.AskedOrders...), AskedEnds: append(dst.AskedEnds[:0], e.AskedEnds...)}
	for turn := range e.Turns {
		if err := u.turn(turn); err != nil {
			return err
		}
	}
	r.e = nil
	if e.Stopped != "" && u.batch.Status[0] == sim.Running {
		return nil
	}
	r.turn = e.Turns
	return r.compare(e, u.batch.Status[0])
}

// unfolding is an episode while it is unfolded.
type unfolding struct {
	r       *Replayer
	e, dst  *Episode
	nothing int32
	batch   *env.Batch
}

// turn plays a turn, step by step.
func (u *unfolding) turn(turn int) error {
	v, b, e, dst := u.r.v, u.batch, u.e, u.dst
	for step := int32(0); ; step++ {
		if b.Status[0] != sim.Running {
			return fmt.Errorf("episode %d: turn %d: the game is %v, but %d turns are recorded", e.ID, turn-1, b.Status[0], e.Turns)
		}
		for p := range e.Players {
			u.choose(turn, p)
		}
		dst.Turns++
		dst.Steps.Turn, dst.Steps.Step = append(dst.Steps.Turn, int32(turn)), append(dst.Steps.Step, step)
		u.repeat(turn)
		v.Step(b)
		for range e.Players {
			dst.Steps.Reward = append(dst.Steps.Reward, 0)
		}
		if int(b.Turn[0]) > turn {
			u.pay()
			return nil
		}
	}
}

// pay writes the rewards of the turn that was just played.
func (u *unfolding) pay() {
	s, n := u.dst.Steps, u.e.Players
	for p, reward := range u.batch.Reward {
		last := len(s.Turn) - 1
		for !s.Ends(last, p, n) {
			last--
		}
		s.Reward[last*n+p] = reward
	}
}

// choose writes the next action of a seat, and its orders if it ends the turn.
func (u *unfolding) choose(turn, p int) {
	b, dst := u.batch, u.dst
	action := b.Action[p : p+1]
	b.OrderLen[p] = 0
	if action[0] = Waiting; !u.r.v.Waits(p) {
		orders := u.e.OrdersOf(turn, sim.Player(p))
		u.r.v.Label(action, 0, sim.Player(p), orders)
		b.OrderLen[p] = -1
		if endsTurn(action[0], u.nothing) {
			b.OrderLen[p] = int32(copy(b.Orders[p*u.r.maxOrders:][:u.r.maxOrders], orders))
			dst.Orders = append(dst.Orders, orders...)
		}
	}
	dst.Steps.Action = append(dst.Steps.Action, action[0])
	dst.Ends = append(dst.Ends, int32(len(dst.Orders)))
}

// endsTurn reports whether a seat with this action gives the orders of its turn.
func endsTurn(action, nothing int32) bool { return action < 0 || action == nothing }

// repeat gives the step what the episode has for the turn.
func (u *unfolding) repeat(turn int) {
	e, dst := u.e, u.dst
	n := e.Players
	if len(e.Chosen) > 0 {
		dst.Chosen = append(dst.Chosen, e.Chosen[turn*n:(turn+1)*n]...)
	}
	if len(e.Searches.Value) > 0 {
		dst.Searches.Value = append(dst.Searches.Value, e.Searches.Value[turn*n:(turn+1)*n]...)
	}
}
