package env

import (
	"fmt"

	"moonfarm/sim"
)

// Mode is when an Autoreset restarts a game that has ended. The modes are those
// of Gymnasium 1.1 (gymnasium.vector.AutoresetMode), whose step is Step
// followed by Observe here.
type Mode uint8

const (
	// NextStep restarts a game in the Step after the one that ended it. That
	// Step ignores the actions of the game and returns reward 0, neither
	// terminated nor truncated; the Observe after it shows the new episode. The
	// Observe before it shows the last observation.
	NextStep Mode = iota
	// SameStep restarts a game within the Step that ended it, after the last
	// observation has been written to Final. Observe shows the new episode,
	// while Reward, Terminated and Truncated belong to the old one.
	SameStep
	// Disabled never restarts games. The caller does, with Begin or Reset,
	// before the next Step.
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
// itself a Vector, and reports the ends of episodes as Gymnasium does. To
// restore a game that has ended use the method Continue; a snapshot that is
// given to Restore must be of a running game.
//
// Once a game has been restarted, Outcome returns the outcome in the new
// episode; FinalOutcome has that of the old one.
type Autoreset struct {
	Vector // below

	// Terminated and Truncated report the latest Step: the rules ended the
	// game, or a limit cut it. They are never both true. [games]
	Terminated, Truncated []bool
	// Final holds the last observation of each game's latest ended episode in
	// SameStep mode, with its Status and Turn, in the same rows as any Batch.
	// It stays until the game ends again. Slabs that are nil are not written.
	Final *Batch
	// FinalOutcome holds the outcome of each row at the end of its game's
	// latest ended episode, in every mode. [Rows]
	FinalOutcome []sim.Outcome

	mode     Mode
	seeds    func(game int, episode uint64) uint64
	episodes []uint64 // [games] number of the current episode
	ended    []bool   // [games] the game has ended and was not restarted
}

// NewAutoreset puts the layer over v and starts episode 0 of every game.
// seeds(game, episode) is the seed of an episode. In SameStep mode, last
// observations are written to final: it belongs to the caller, has the rows of
// v, and must not be passed to Observe. In other modes it may be nil.
// NewAutoreset fails if a slab of final does not fit v.
func NewAutoreset(v Vector, mode Mode, seeds func(game int, episode uint64) uint64, final *Batch) (*Autoreset, error) {
	if mode > Disabled {
		return nil, fmt.Errorf("env: autoreset %v: there are NextStep, SameStep and Disabled", mode)
	}
	spec := v.Spec()
	n := spec.Games
	if mode == SameStep {
		if fault := final.fault(lengthsOf(&spec, final.Seats != nil), &spec); fault != "" {
			return nil, fmt.Errorf("env: autoreset SameStep needs a Batch for the last observations: %s", fault)
		}
	}
	a := &Autoreset{
		Terminated: make([]bool, n), Truncated: make([]bool, n),
		Final:        final,
		FinalOutcome: make([]sim.Outcome, n*spec.Info.Players),
		Vector:       v,
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

// Episode returns the number of the current episode of game i, from 0. Reset
// does not change it.
func (a *Autoreset) Episode(i int) uint64 {
	if uint(i) >= uint(len(a.episodes)) {
		panic(fmt.Sprintf("env: Episode of game %d: the Vector has %d, from 0", i, len(a.episodes)))
	}
	return a.episodes[i]
}

// Reset implements Vector: game i starts again with the caller's seed. This
// does not count as an episode, so that the seeds of later episodes do not
// change.
func (a *Autoreset) Reset(i int, seed uint64) {
	a.Vector.Reset(i, seed)
	a.ended[i], a.Terminated[i], a.Truncated[i] = false, false, false
}

// Begin begins the given episode of game i, whether the game has ended or not.
// Later episodes count from it.
func (a *Autoreset) Begin(i int, episode uint64) {
	a.start(i, episode)
	a.Terminated[i], a.Truncated[i] = false, false
}

// start begins the given episode of game i. It leaves Terminated and Truncated,
// which report the episode before.
func (a *Autoreset) start(i int, episode uint64) {
	a.episodes[i] = episode
	a.Vector.Reset(i, a.seeds(i, episode))
	a.ended[i] = false
}

// Continue sets game i to a snapshot, in the given episode; later episodes
// count from it. Terminated and Truncated are set to the status in the
// snapshot. Continue fails, and changes nothing, as Restore does.
func (a *Autoreset) Continue(i int, episode uint64, snapshot []byte) error {
	if err := a.Restore(i, snapshot); err != nil {
		return err
	}
	status := snapshotStatus(snapshot)
	a.episodes[i], a.ended[i] = episode, status != sim.Running
	a.Terminated[i], a.Truncated[i] = status == sim.Over, status == sim.Cut
	return nil
}

// Step implements Vector: it plays one turn of every running game and restarts
// games as the mode says. Status and Turn in b report the turn that was played,
// even if the game has been restarted since; where NextStep restarts a game,
// they are Running and 0. In mode Disabled Step panics, as Gymnasium does, if a
// game has ended and was not restarted.
func (a *Autoreset) Step(b *Batch) {
	if a.mode == Disabled {
		for i, ended := range a.ended {
			if ended && !b.idle(i) {
				panic(fmt.Sprintf("env: game %d has ended: with autoreset Disabled it must be reset before the next Step", i))
			}
		}
	}
	a.Vector.Step(b) // a game that has ended stays as it is, with reward 0
	for i := range a.ended {
		if b.idle(i) {
			continue
		}
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

// end stores the final outcome and observation of game i, and restarts it in
// SameStep mode.
func (a *Autoreset) end(i int) {
	a.ended[i] = true
	n := len(a.FinalOutcome) / len(a.ended)
	for seat := range n {
		a.FinalOutcome[i*n+seat] = a.Vector.Outcome(i, sim.Player(seat))
	}
	if a.mode == SameStep {
		a.Vector.ObserveGame(a.Final, i)
		a.start(i, a.episodes[i]+1)
	}
}
