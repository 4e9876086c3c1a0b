package command

import (
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
	"moonfarm/rollout/bots/players"
)

// concurrencyFlag adds --concurrency.
func concurrencyFlag(c *cobra.Command, to *int) {
	c.Flags().Var(console.Whole(to, 1, console.MaxWorkers), "concurrency", "number of games of bots at once")
}

// limitFlags are the flags for the limits of bots.
type limitFlags struct {
	profile   string
	accept    time.Duration
	answer    time.Duration
	game      time.Duration
	soft      time.Duration
	cpu       time.Duration
	memory    int // megabytes
	processes int
}

// Profiles of limits.
const (
	localLimits = "local"
	siteLimits  = "site"
)

// limitsDoc is the help on limits.
const limitsDoc = `Bots have limits. --limits local, the default, is generous. --limits site sets
the limits of the contests, as far as they are known: in codecraft 1 s for an
answer, 40 s of processor time and 256 MB; in towerdefence 2 s for a round; in
terminal the values of its config, where each full second beyond a soft limit
costs one health. Other flags set single limits. In towerdefence, site also
counts a round without a command.txt as a failed command, and 50 of these in a
row end the match, as in the contest; otherwise such a bot does nothing. Times
are real, by the clock of this machine. They decide a game of terminal that ends
with equal health: the player that took less time for all answers wins (policies
take 0), so that the same game may end differently when it is played again. A
bot that was started here is killed when its game ends, with all processes that
it has started. This is no sandbox: a bot can do all that you can do. Play bots
that you do not trust in a container.`

// add adds the flags.
func (f *limitFlags) add(c *cobra.Command) {
	f.profile = localLimits
	flags := c.Flags()
	flags.Var(console.Choice(&f.profile, localLimits, siteLimits), "limits", "limits of bots that no other flag sets")
	flags.Var(console.Seconds(&f.answer), "timeout", "for each answer of a bot, in towerdefence for a round; 0: no limit (default: codecraft 10, towerdefence 60, terminal 600; with a config its value)")
	flags.Var(console.Seconds(&f.accept), "accept-timeout", "until a client has connected, or the folder of a bot is free; 0: no limit (default: 60 for started bots, 600 for folders)")
	flags.Var(console.Seconds(&f.game), "game-timeout", "for all answers of a bot in a game; 0: no limit (default: no limit)")
	flags.Var(console.Seconds(&f.soft), "soft-timeout", "in terminal, for each answer: a full second beyond it costs one health; 0: thinking costs nothing (default: local 0, site the value of the config)")
	flags.Var(console.Seconds(&f.cpu), "cpu-time", "of processor time in a game, for a bot with all its processes (default: no limit)")
	flags.Var(console.Whole(&f.memory, 0, 1<<24), "max-memory", "megabytes of memory for a bot with all its processes; 0: no limit (default 4096; Linux only)")
	flags.Var(console.Whole(&f.processes, 0, 1<<20), "max-processes", "processes of a bot at a time; 0: no limit (default 256; Linux only)")
	for _, name := range []string{"max-memory", "max-processes"} {
		flags.Lookup(name).DefValue = "" // said in words
	}
}

// limits returns the limits that the flags set.
func (f *limitFlags) limits(c *cobra.Command, game string) (players.Limits, error) {
	l := players.Limits{Site: f.profile == siteLimits}
	if c.Flags().Changed("soft-timeout") && !gamedoc.Of(game).SoftLimit {
		return l, console.WrongUse("--soft-timeout: in %s thinking costs no health; expected --timeout", game)
	}
	for _, t := range []struct {
		flag string
		from *time.Duration
		to   **time.Duration
	}{{"timeout", &f.answer, &l.Answer}, {"accept-timeout", &f.accept, &l.Accept}, {"game-timeout", &f.game, &l.Game}, {"soft-timeout", &f.soft, &l.Soft}, {"cpu-time", &f.cpu, &l.CPU}} {
		if c.Flags().Changed(t.flag) {
			*t.to = t.from
		}
	}
	if c.Flags().Changed("max-memory") {
		bytes := int64(f.memory) << 20
		l.Memory = &bytes
	}
	if c.Flags().Changed("max-processes") {
		l.Processes = &f.processes
	}
	return l, nil
}
