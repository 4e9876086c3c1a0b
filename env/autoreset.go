package env

import (
	"fmt"

	"moonfarm/sim"
)

// Mode says when an Autoreset restarts a game that has ended. The three are
// those of Gymnasium (1.1, gymnasium.vector.AutoresetMode), whose step is our
// Step followed by Observe.
type Mode uint8

const (
	// NextStep restarts in the Step after the one that ended the game. That
	// Step ignores what the game's rows say and gives reward 0, neither
	// terminated nor truncated; the Observe after it shows the new episode.
	// The last observation is what Observe shows before it.
	NextStep Mode = iota
	// SameStep restarts within the Step that ended the game, after the last
	// observation has been written to Final. Observe shows the new episode,
	// while reward, terminated and truncated tell of the old.
	SameStep
	// Disabled never restarts by itself: the caller does, with ResetMask (or
	// Reset), before the next Step.
	Disabled
)

// String returns Gymnasium's name of the mode, such as "NextStep".
func (m Mode) String() string {
	switch m {
	case NextStep:
		return "NextStep"
	case SameStep:
		return "SameStep"
	case Disabled:
		return "Disabled"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// Autoreset is a layer over a Vector that restarts games when they end. It is
// itself a Vector, with Gymnasium's view of the end of episodes. A game that is
// restored from a snapshot in the Vector below, not by the method Restore, must be
// one that runs.
type Autoreset struct {
	// Terminated and Truncated tell of the latest Step: the rules ended the
	// game, or a limit cut it. They are never both true. [games]
	Terminated, Truncated []bool
	// Final holds, in SameStep mode, the last observation of a game's latest
	// ended episode, with its Status and Turn, in the same rows as any Batch.
	// It stays until the game ends again. Slabs that are nil are not written.
	Final *Batch
	// FinalOutcome is how each row stood at the end of its game's latest
	// ended episode, in every mode. [Rows]
	FinalOutcome []sim.Outcome

	inner    Vector
	mode     Mode
	seeds    func(game int, episode uint64) uint64
	episodes []uint64 // [games] restarts so far
	ended    []bool   // [games] ended and not restarted
}

// NewAutoreset puts the layer over v and starts episode 0 of every game. The
// seed of each episode is seeds(game, episode). final takes the last
// observations in SameStep mode; it belongs to the caller, has the rows of v,
// and may not be a Batch that is passed to Observe. It may be nil in the other
// modes. NewAutoreset fails if an argument is missing, or a slab of final does
// not fit v.
func NewAutoreset(v Vector, mode Mode, seeds func(game int, episode uint64) uint64, final *Batch) (*Autoreset, error) {
	if mode > Disabled {
		return nil, fmt.Errorf("env: autoreset %v: there are NextStep, SameStep and Disabled", mode)
	}
	if v == nil || seeds == nil {
		return nil, fmt.Errorf("env: autoreset needs a Vector and a function for its seeds")
	}
	spec := v.Spec()
	n := spec.Games
	if mode == SameStep {
		if fault := final.fault(lengthsOf(&spec, final != nil && final.Seats != nil), &spec); fault != "" {
			return nil, fmt.Errorf("env: autoreset SameStep needs a Batch for the last observations: %s", fault)
		}
	}
	a := &Autoreset{
		Terminated: make([]bool, n), Truncated: make([]bool, n),
		Final:        final,
		FinalOutcome: make([]sim.Outcome, n*spec.Info.Players),
		inner:        v,
		mode:         mode,
		seeds:        seeds,
		episodes:     make([]uint64, n),
		ended:        make([]bool, n),
	}
	for i := range n {
		a.Reset(i, seeds(i, 0))
	}
	return a, nil
}

// Unwrap returns the Vector below.
func (a *Autoreset) Unwrap() Vector { return a.inner }

// Spec implements Vector.
func (a *Autoreset) Spec() Spec { return a.inner.Spec() }

// Episode is the number of the episode of game i, from 0: how often it was
// restarted, those by Reset not counted.
func (a *Autoreset) Episode(i int) uint64 {
	if uint(i) >= uint(len(a.episodes)) {
		panic(fmt.Sprintf("env: Episode of game %d: the Vector has %d, from 0", i, len(a.episodes)))
	}
	return a.episodes[i]
}

// Reset implements Vector: game i begins anew with a seed of the caller's
// choice. It does not count as an episode, so that the seeds of those to come
// stay what they are.
func (a *Autoreset) Reset(i int, seed uint64) {
	a.inner.Reset(i, seed)
	a.ended[i], a.Terminated[i], a.Truncated[i] = false, false, false
}

// ResetMask begins the next episode of every game whose entry is true, ended
// or not, and leaves the others as they are. It is Gymnasium's
// reset(options={"reset_mask": mask}) and panics if mask has not one entry per
// game.
func (a *Autoreset) ResetMask(mask []bool) {
	if len(mask) != len(a.ended) {
		panic(fmt.Sprintf("env: a reset mask of length %d for %d games", len(mask), len(a.ended)))
	}
	for i, wanted := range mask {
		if wanted {
			a.Begin(i, a.episodes[i]+1)
		}
	}
}

// Begin begins that episode of game i, ended or not; those after it follow.
func (a *Autoreset) Begin(i int, episode uint64) {
	a.start(i, episode)
	a.Terminated[i], a.Truncated[i] = false, false
}

// start begins that episode of game i, and leaves what Terminated and Truncated
// tell of the one before.
func (a *Autoreset) start(i int, episode uint64) {
	a.episodes[i] = episode
	a.inner.Reset(i, a.seeds(i, episode))
	a.ended[i] = false
}

// Restore makes game i what a snapshot of the Vector below holds, in that
// episode; those after it follow. Terminated and Truncated tell whether the
// snapshot is of a game that has ended. Restore fails, and changes nothing, as
// that of the Snapshotter does.
func (a *Autoreset) Restore(i int, episode uint64, snapshot []byte) error {
	s, ok := Unwrap(a.inner).(Snapshotter)
	if !ok {
		return fmt.Errorf("env: games of %s cannot be restored here", a.Spec().Info.Name)
	}
	if err := s.Restore(i, snapshot); err != nil {
		return err
	}
	status := snapshotStatus(snapshot)
	a.episodes[i], a.ended[i] = episode, status != sim.Running
	a.Terminated[i], a.Truncated[i] = status == sim.Over, status == sim.Cut
	return nil
}

// Observe implements Vector.
func (a *Autoreset) Observe(b *Batch) { a.inner.Observe(b) }

// ObserveGame implements Vector.
func (a *Autoreset) ObserveGame(b *Batch, i int) { a.inner.ObserveGame(b, i) }

// Outcome implements Vector: it tells of the new episode once a game has been
// restarted, FinalOutcome of the one before.
func (a *Autoreset) Outcome(i int, p sim.Player) sim.Outcome { return a.inner.Outcome(i, p) }

// Step implements Vector: it plays one turn of every game that is running and
// restarts games as the mode says. Status and Turn in b tell of the turn that
// was played, even if the game has been restarted since; where NextStep
// restarts, they are Running and 0. In mode Disabled it panics if a game has
// ended and was not restarted, as Gymnasium does.
func (a *Autoreset) Step(b *Batch) {
	if a.mode == Disabled {
		for i, ended := range a.ended {
			if ended {
				panic(fmt.Sprintf("env: game %d has ended: with autoreset Disabled it must be reset before the next Step", i))
			}
		}
	}
	a.inner.Step(b) // a game that has ended rests, with reward 0
	for i := range a.ended {
		if a.ended[i] { // only in NextStep
			a.start(i, a.episodes[i]+1)
			b.Status[i], b.Turn[i] = sim.Running, 0
			a.Terminated[i], a.Truncated[i] = false, false
			continue
		}
		a.Terminated[i], a.Truncated[i] = b.Status[i] == sim.Over, b.Status[i] == sim.Cut
		if b.Status[i] != sim.Running {
			a.end(i)
		}
	}
}

// end keeps what the end of game i leaves, and restarts it in SameStep.
func (a *Autoreset) end(i int) {
	a.ended[i] = true
	n := len(a.FinalOutcome) / len(a.ended)
	for seat := range n {
		a.FinalOutcome[i*n+seat] = a.inner.Outcome(i, sim.Player(seat))
	}
	if a.mode == SameStep {
		a.inner.ObserveGame(a.Final, i)
		a.start(i, a.episodes[i]+1)
	}
}
