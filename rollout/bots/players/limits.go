package players

import (
	"fmt"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// Limits bound what a bot may use in a game. A value that is nil is that of the
// profile, 0 no limit.
type Limits struct {
	// Site takes the contest's own limits, as far as they are known. Otherwise they
	// are such that no bot needs more which is to play there. Of Tower Defence it also
	// takes the contest's treatment of a missing command: towerdefence.Match.
	Site bool

	Accept *time.Duration // until it has connected, or until its folder is free
	Answer *time.Duration // real time for one answer
	// Soft is the real time for an answer beyond which each full second costs
	// health: of Terminal, other games have no such rule.
	Soft   *time.Duration
	Game   *time.Duration // real time for all answers of a game
	CPU    *time.Duration // processor time in a game, of all its processes
	Memory *int64         // bytes, of all its processes together
	// Processes is how many there may be at a time.
	Processes *int
}

// Generous limits, so that what runs wild does not take the machine with it.
const (
	localMemory    = 4 << 30
	localProcesses = 256
)

// matchLimits are limits in the form that matches take.
type matchLimits struct {
	bots.Limits
	process child.Limits
}

// generous are limits of one's own machine.
func generous(accept, answer time.Duration) matchLimits {
	return matchLimits{bots.Limits{Accept: accept, Answer: answer}, child.Limits{Memory: localMemory, Processes: localProcesses}}
}

// override puts the values that are given in the place of those of a profile.
func (l *Limits) override(b matchLimits) matchLimits {
	replace(&b.Accept, l.Accept)
	replace(&b.Answer, l.Answer)
	replace(&b.Game, l.Game)
	replace(&b.process.CPU, l.CPU)
	replace(&b.process.Memory, l.Memory)
	replace(&b.process.Processes, l.Processes)
	return b
}

func replace[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

func (l *Limits) validate() error {
	b, soft := l.override(matchLimits{}), time.Duration(0)
	replace(&soft, l.Soft)
	if soft < 0 || b.Accept < 0 || b.Answer < 0 || b.Game < 0 || b.process.CPU < 0 || b.process.Memory < 0 || b.process.Processes < 0 {
		return fmt.Errorf("a negative limit: %+v, soft %v", b, soft)
	}
	return nil
}
