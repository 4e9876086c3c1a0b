package players

import (
	"fmt"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
)

// Limits bound the time and resources of a bot in a game. For a nil value the limit of the
// profile holds: the contest's with Site, else a generous one. 0 means no limit.
type Limits struct {
	// Site chooses the contest's own limits, as far as they are known. In Tower Defence
	// it also chooses the contest's treatment of a missing command: see Tournament in
	// towerdefence.Match.
	Site bool

	Accept *time.Duration // until the bot has connected, or until its folder is free
	Answer *time.Duration // real time for one answer
	// Soft is the real time for an answer beyond which each full second costs
	// health. Only Terminal has such a rule.
	Soft      *time.Duration
	Game      *time.Duration // real time for all answers of a game
	CPU       *time.Duration // processor time of all its processes in a game
	Memory    *int64         // bytes of all its processes together
	Processes *int           // number of its processes at a time

	Box     child.BoxKind // what its processes may reach
	Folders child.BoxFolders
	Cores   chan int // see child.Limits
}

// Generous limits that keep the machine usable when a bot runs wild.
const (
	localMemory    = 4 << 30
	localProcesses = 256
)

// matchLimits are limits in the form that matches take.
type matchLimits struct {
	bots.Limits
	process child.Limits
}

// generous returns the limits of the profile for the user's own machine.
func generous(accept, answer time.Duration) matchLimits {
	return matchLimits{bots.Limits{Accept: accept, Answer: answer}, child.Limits{Memory: localMemory, Processes: localProcesses}}
}

// override returns the limits of a profile with the values of l that are not nil.
func (l *Limits) override(b matchLimits) matchLimits {
	replace(&b.Accept, l.Accept)
	replace(&b.Answer, l.Answer)
	replace(&b.Game, l.Game)
	replace(&b.process.CPU, l.CPU)
	replace(&b.process.Memory, l.Memory)
	replace(&b.process.Processes, l.Processes)
	b.process.Box, b.process.Folders, b.process.Cores = l.Box, l.Folders, l.Cores
	return b
}

// replace sets *to to *value, if value is not nil.
func replace[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// validate returns an error for negative limits.
func (l *Limits) validate() error {
	b, soft := l.override(matchLimits{}), time.Duration(0)
	replace(&soft, l.Soft)
	if soft < 0 || b.Accept < 0 || b.Answer < 0 || b.Game < 0 || b.process.CPU < 0 || b.process.Memory < 0 || b.process.Processes < 0 {
		return fmt.Errorf("a negative limit: %+v, soft %v", b, soft)
	}
	return nil
}
