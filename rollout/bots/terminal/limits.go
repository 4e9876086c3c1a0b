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

// Limits bound the time and the resources of each bot of a match.
type Limits struct {
	// Start is the time after a bot's start that does not count for its first answer.
	Start time.Duration
	// Soft is the time for an answer beyond which each full second costs one
	// health. 0: thinking costs nothing.
	Soft time.Duration
	// Hard is the time for an answer, or for reading the frames before it, after which
	// a bot loses. 0: no limit, so that a bot can hang the match.
	Hard time.Duration
	// Game is the time for all answers of a game together, without Start, after which a
	// bot has crashed. The original has no such limit. 0: no limit.
	Game time.Duration
	// End is the time that a bot has to end after the game before it is killed.
	End time.Duration

	// Process bounds the bot's processes. Zero values mean no limit, except that a line
	// of an answer has at most child.MaxAnswer bytes, a megabyte. The longest answers
	// that the rules can carry out have some 200 KB.
	Process child.Limits
}

const (
	grace     = 3 * time.Second  // the original's default times before and after the game
	localHard = 10 * time.Minute // LocalLimits' time for an answer
)

// SiteLimits returns the limits of the contest's own config: waitTimeBotSoft,
// waitTimeBotMax, waitTimeStartGame and waitTimeEndGame. The first two set no limit if
// they are missing or 0; the last two are 3 seconds if they are missing.
func SiteLimits(c *config.Config) Limits {
	start, end := graces(c)
	return Limits{
		Start: start, End: end,
		Soft: milliseconds(c.Rules.SoftTime),
		Hard: milliseconds(c.Rules.MaxTime),
	}
}

// LocalLimits returns limits for the user's own machine, which may be slower or busy:
// thinking costs nothing, and the limit of an answer is ten minutes. Start and End are
// from the config.
func LocalLimits(c *config.Config) Limits {
	start, end := graces(c)
	return Limits{Start: start, End: end, Hard: localHard}
}

func milliseconds(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// graces reads the times before and after the game from a config's text.
func graces(c *config.Config) (start, end time.Duration) {
	var keys struct {
		Timing struct {
			Start *float64 `json:"waitTimeStartGame"`
			End   *float64 `json:"waitTimeEndGame"`
		} `json:"timingAndReplay"`
	}
	_ = json.Unmarshal(c.Raw, &keys) // a value that is not a number counts as missing
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

// validate returns an error for negative limits.
func (l *Limits) validate() error {
	if l.Start < 0 || l.Soft < 0 || l.Hard < 0 || l.Game < 0 || l.End < 0 {
		return fmt.Errorf("a negative limit: %+v", *l)
	}
	return nil
}

// withLimits returns the rules with these limits instead of their own.
func (l *Limits) withLimits(r terminal.Rules) terminal.Rules {
	r.SoftTime, r.MaxTime = math.MaxInt32, 0
	if l.Soft > 0 {
		r.SoftTime = wholeMilliseconds(l.Soft)
	}
	if l.Hard > 0 {
		r.MaxTime = wholeMilliseconds(l.Hard)
	}
	return r
}

// wholeMilliseconds returns a time above 0 in whole milliseconds, at least one.
func wholeMilliseconds(d time.Duration) int32 {
	return int32(min(max(d.Milliseconds(), 1), math.MaxInt32))
}
