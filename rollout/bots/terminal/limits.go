package terminal

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
)

// Limits bound what each bot of a match may use.
type Limits struct {
	// Start is the time after a bot was started that is not counted for its first
	// answer. 0: all is counted.
	Start time.Duration
	// Soft is the time for an answer beyond which each full second costs one
	// health. 0: thinking costs nothing.
	Soft time.Duration
	// Hard is the time for an answer, or for reading the frames before it, at
	// which a bot has lost. 0: there is none, a bot may hang the match.
	Hard time.Duration
	// Game is the time for all answers of a game together, the graces left out, at
	// whose end a bot has crashed: the original has none. 0: there is none.
	Game time.Duration
	// End is the time in which a bot is to end after the game. Then, with 0 at
	// once, it is killed.
	End time.Duration

	// Process bounds its processes: zero values are no limits, but a line of an
	// answer has at most child.DefaultAnswer bytes, a megabyte. The longest answers
	// that the rules can carry out have some 200 KB.
	Process child.Limits
}

// The limits where a config has none, and those of LocalLimits.
const (
	grace     = 3 * time.Second // the original's, before and after the game
	localHard = 10 * time.Minute
)

// SiteLimits are those of the contest's own config: waitTimeBotSoft,
// waitTimeBotMax, waitTimeStartGame and waitTimeEndGame. A key that is missing, or
// 0, sets no limit; of the last two it is 3 seconds.
func SiteLimits(c *config.Config) Limits {
	start, end := graces(c)
	return Limits{
		Start: start, End: end,
		Soft: milliseconds(c.Rules.SoftTime),
		Hard: milliseconds(c.Rules.MaxTime),
	}
}

// LocalLimits are for one's own machine, which may be slower or busy: thinking
// costs nothing, and an answer has ten minutes. The graces are those of the config.
func LocalLimits(c *config.Config) Limits {
	start, end := graces(c)
	return Limits{Start: start, End: end, Hard: localHard}
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// graces reads the times before and after the game out of a config's text.
func graces(c *config.Config) (start, end time.Duration) {
	var keys struct {
		Timing struct {
			Start *float64 `json:"waitTimeStartGame"`
			End   *float64 `json:"waitTimeEndGame"`
		} `json:"timingAndReplay"`
	}
	_ = json.Unmarshal(c.Raw, &keys) // what is no number is missing
	of := func(ms *float64) time.Duration {
		if ms == nil || !(*ms >= 0 && *ms <= math.MaxInt32) {
			return grace
		}
		return time.Duration(*ms) * time.Millisecond
	}
	return of(keys.Timing.Start), of(keys.Timing.End)
}

// answers returns the limits of answers as bots.Limits.
func (l *Limits) answers() *bots.Limits { return &bots.Limits{Answer: l.Hard, Game: l.Game} }

// validate says what is wrong with limits.
func (l *Limits) validate() error {
	if l.Start < 0 || l.Soft < 0 || l.Hard < 0 || l.Game < 0 || l.End < 0 {
		return fmt.Errorf("a negative limit: %+v", *l)
	}
	return nil
}

// timed are rules with these limits in the place of their own.
func (l *Limits) timed(r terminal.Rules) terminal.Rules {
	r.SoftTime, r.MaxTime = math.MaxInt32, 0
	if l.Soft > 0 {
		r.SoftTime = whole(l.Soft)
	}
	if l.Hard > 0 {
		r.MaxTime = whole(l.Hard)
	}
	return r
}

// whole is a time above 0 in milliseconds, at least one.
func whole(d time.Duration) int32 {
	return int32(min(max(d.Milliseconds(), 1), math.MaxInt32))
}
