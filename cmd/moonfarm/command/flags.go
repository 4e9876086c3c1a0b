package command

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/gamedoc"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout/bots/players"
	"moonfarm/rollout/policy"
)

// value is the value of a flag: how it is parsed and printed, and its name in the
// help.
type value struct {
	set   func(text string) error // pflag puts "invalid argument" before the text of its error
	show  func() string
	kind  string
	words []string // all valid values, if they are few
}

// Set, String and Type implement pflag.Value.
func (v value) Set(text string) error { return v.set(text) }
func (v value) String() string        { return v.show() }
func (v value) Type() string          { return v.kind }

// whole makes the value of a flag that takes a whole number from least to most.
func whole[T int | uint64](to *T, least, most T) value {
	set := func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err == nil && n >= uint64(least) && n <= uint64(most):
			*to = T(n)
			return nil
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("expected a whole number, at most %d", most)
		case uint64(most) >= math.MaxInt64:
			return fmt.Errorf("expected a whole number, %d or more", least)
		}
		return fmt.Errorf("expected a whole number from %d to %d", least, most)
	}
	return value{set: set, show: func() string { return fmt.Sprint(*to) }, kind: "N"}
}

// wholeOr makes the value of a flag that takes a whole number, 0 or more, or a word,
// which stands for −1. Errors call the number what.
func wholeOr(to *int, what, word, kind string) value {
	v := whole(to, 0, math.MaxInt)
	set := func(text string) error {
		if text == word {
			*to = -1
			return nil
		}
		if v.set(text) != nil {
			return fmt.Errorf("expected %s, 0 or more, or %s", what, word)
		}
		return nil
	}
	show := func() string {
		if *to < 0 {
			return word
		}
		return v.show()
	}
	return value{set: set, show: show, kind: kind}
}

// part makes the value of a flag that takes the number of a part and the number of parts.
func part(number, all *int) value {
	set := func(text string) error {
		i, n, ok := strings.Cut(text, "/")
		a, err := strconv.Atoi(i)
		b, e := strconv.Atoi(n)
		if !ok || err != nil || e != nil || a < 0 || a >= b || b > maxShards {
			return fmt.Errorf("expected I/N with I from 0 to N-1, such as 0/4, and N up to %d", maxShards)
		}
		*number, *all = a, b
		return nil
	}
	show := func() string {
		if *all == 0 {
			return ""
		}
		return fmt.Sprintf("%d/%d", *number, *all)
	}
	return value{set: set, show: show, kind: "I/N"}
}

// discount makes the value of a flag that takes a number above 0 and at most 1.
func discount(to *float64) value {
	set := func(text string) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return errors.New("expected a number above 0 and at most 1, such as 0.99")
		}
		*to = x
		return nil
	}
	return value{set: set, show: func() string { return strconv.FormatFloat(*to, 'g', -1, 64) }, kind: "X"}
}

// share makes the value of a flag that takes a number from 0 to 1.
func share(to *float64) value {
	set := func(text string) error {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return errors.New("expected a number from 0 to 1")
		}
		*to = x
		return nil
	}
	return value{set: set, show: func() string { return strconv.FormatFloat(*to, 'g', -1, 64) }, kind: "X"}
}

// seconds makes the value of a flag that takes a time in seconds and has no default.
func seconds(to *time.Duration) value {
	set := func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0 && n <= 1e6) {
			return errors.New("expected seconds, from 0 to 1000000")
		}
		*to = time.Duration(n * float64(time.Second))
		if n > 0 && *to == 0 {
			*to = 1
		}
		return nil
	}
	return value{set: set, show: func() string { return "" }, kind: "SECONDS"}
}

// pause makes the value of a flag that takes a time above 0.
func pause(to *time.Duration) value {
	set := func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > time.Hour {
			return errors.New("expected a time above 0 and up to an hour, such as 500ms or 3s")
		}
		*to = d
		return nil
	}
	return value{set: set, show: func() string { return to.String() }, kind: "TIME"}
}

// choice makes the value of a flag that takes one of a few words.
func choice[T ~string](to *T, of ...T) value {
	words := make([]string, len(of))
	for i, w := range of {
		words[i] = string(w)
	}
	set := func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("expected one of: %s", strings.Join(words, ", "))
		}
		*to = T(text)
		return nil
	}
	return value{set: set, show: func() string { return string(*to) }, kind: strings.Join(words, "|"), words: words}
}

// truth makes the value of a flag that is on or off.
func truth(to *bool) value {
	set := func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("expected true or false, or nothing for true")
		}
		*to = on
		return nil
	}
	return value{set: set, show: func() string { return strconv.FormatBool(*to) }, kind: "bool"} // a name that the help leaves out
}

// maxWorkers is the limit of --workers.
const maxWorkers = 4096

// workersFlag adds --workers, by default one per core.
func workersFlag(c *cobra.Command, to *int) {
	*to = runtime.GOMAXPROCS(0)
	c.Flags().Var(whole(to, 1, maxWorkers), "workers", "number of workers; the result is the same for any number")
}

// lockFlag adds --no-lock. what names the file or folder that is then not locked.
func (a *app) lockFlag(c *cobra.Command, what string) {
	c.Flags().Var(truth(&a.locks.None), "no-lock", "do not lock "+what+": for file systems with neither locks nor lock files; make sure yourself that no other program writes there")
	c.Flags().Lookup("no-lock").NoOptDefVal = "true"
}

// concurrencyFlag adds --concurrency.
func concurrencyFlag(c *cobra.Command, to *int) {
	c.Flags().Var(whole(to, 1, maxWorkers), "concurrency", "number of games of bots at once")
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
	flags.Var(choice(&f.profile, localLimits, siteLimits), "limits", "limits of bots that no other flag sets")
	flags.Var(seconds(&f.answer), "timeout", "for each answer of a bot, in towerdefence for a round; 0: no limit (default: codecraft 10, towerdefence 60, terminal 600; with a config its value)")
	flags.Var(seconds(&f.accept), "accept-timeout", "until a client has connected, or the folder of a bot is free; 0: no limit (default: 60 for started bots, 600 for folders)")
	flags.Var(seconds(&f.game), "game-timeout", "for all answers of a bot in a game; 0: no limit (default: no limit)")
	flags.Var(seconds(&f.soft), "soft-timeout", "in terminal, for each answer: a full second beyond it costs one health; 0: thinking costs nothing (default: local 0, site the value of the config)")
	flags.Var(seconds(&f.cpu), "cpu-time", "of processor time in a game, for a bot with all its processes (default: no limit)")
	flags.Var(whole(&f.memory, 0, 1<<24), "max-memory", "megabytes of memory for a bot with all its processes; 0: no limit (default 4096; Linux only)")
	flags.Var(whole(&f.processes, 0, 1<<20), "max-processes", "processes of a bot at a time; 0: no limit (default 256; Linux only)")
	for _, name := range []string{"max-memory", "max-processes"} {
		flags.Lookup(name).DefValue = "" // said in words
	}
}

// limits returns the limits that the flags set.
func (f *limitFlags) limits(c *cobra.Command, game string) (players.Limits, error) {
	l := players.Limits{Site: f.profile == siteLimits}
	if c.Flags().Changed("soft-timeout") && !gamedoc.Of(game).SoftLimit {
		return l, cli.WrongUse("--soft-timeout: in %s thinking costs no health; expected --timeout", game)
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

// runnerFlags are the flags of match that stand for flags of the original's runner of
// codecraft, or for functions of its window.
type runnerFlags struct {
	players.RunnerOptions
	config     string
	saveConfig string
}

// add adds the flags.
func (f *runnerFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "config `FILE` of codecraft's original: seed, game and players")
	flags.StringVar(&f.saveConfig, "save-config", "", "`FILE` for a config of this game: with the limits --timeout and --accept-timeout; its players must be empty, quickstart or tcp:")
	flags.StringVar(&f.Repeat, "repeat", "", "recorded `FILE` of codecraft that is shown to the players again; their answers have no effect")
	flags.BoolVar(&f.Debug, "debug", false, "offer clients of codecraft the debug interface: they are asked to draw before every tick, and see an empty window")
	flags.BoolVar(&f.StopWhenCrashed, "stop-when-crashed", false, "give a game of codecraft up when all bots have crashed and no policy but empty plays, as the contest's site could; the local runner goes on")
	flags.BoolVar(&f.Remote, "allow-remote", false, "let clients of other machines connect, if a config's host says so")
	flags.Bool("batch-mode", true, "a flag of codecraft's original: no window. There never is one")
}

// check refuses flags that the game does not have, and flags that exclude each other.
func (f *runnerFlags) check(c *cobra.Command, game string) error {
	for _, name := range []string{"config", "save-config", "repeat", "debug", "stop-when-crashed", "allow-remote"} {
		if c.Flags().Changed(name) && !gamedoc.Of(game).Config {
			return cli.WrongUse("--%s: %s has no such thing", name, game)
		}
	}
	for _, name := range []string{"save-config", "save-replay", "save-results"} {
		if f.Repeat != "" && c.Flags().Changed(name) {
			return cli.WrongUse("--repeat and --%s: a recorded game is repeated, no game is played", name)
		}
	}
	if f.saveConfig == "" {
		return nil
	}
	return checkFile(game, "save-config", f.saveConfig)
}

// seedFlag adds --seed.
func seedFlag(c *cobra.Command, to *uint64) {
	*to = 1
	c.Flags().Var(whole(to, 0, math.MaxUint64), "seed", "master seed: all chance follows from it")
}

// datasetFlags adds the flags for the form of a dataset.
func datasetFlags(c *cobra.Command, j *datasets.Job) {
	j.Obs, j.Codec, j.TensorMetadata = datasets.ObsPlanes, datasets.Zstd, datasets.TensorsExtension
	flags := c.Flags()
	flags.Var(choice(&j.Obs, datasets.ObsPlanes, datasets.ObsPacked, datasets.ObsNone), "obs",
		"observations as uint8 planes, as bits packed in uint64 words, or none (then no masks and actions either)")
	flags.BoolVar(&j.Memory, "memory", false, "where there is fog of war, planes of entities that do not move show what was last seen there")
	flags.Var(choice(&j.Codec, datasets.Zstd, datasets.LZ4, datasets.None), "codec", "compression")
	flags.Var(choice(&j.TensorMetadata, datasets.TensorsExtension, datasets.TensorsPlain), "tensor-metadata",
		"shapes of tensors as arrow.fixed_shape_tensor, or plain for readers that refuse extensions (Polars)")
	j.Program = datasets.ProgramMoonfarm
	flags.StringVar(&j.License, "license", "", "`NAME` of the licence that the dataset's card names, such as cc-by-4.0")
	j.Discount = 1
	flags.Var(discount(&j.Discount), "discount", "weight of the next turn's rewards in the return of this turn")
	flags.Var(whole(&j.ShardEpisodes, 1, maxEpisodes), "shard-episodes", "episodes in one file, which one worker makes; the bytes depend on it (default "+shardDefaults()+")")
	flags.Lookup("shard-episodes").DefValue = "" // said in words
}

// shardDefaults lists the default numbers of episodes in a shard: "500; codecraft: 10".
func shardDefaults() string {
	games := catalog.Games()
	words := []string{fmt.Sprint(games[0].ShardEpisodes)}
	for _, g := range games {
		if g.ShardEpisodes != games[0].ShardEpisodes {
			words = append(words, fmt.Sprintf("%s: %d", g.Name, g.ShardEpisodes))
		}
	}
	return strings.Join(words, "; ")
}

// readSpecs splits the list of policies of a flag. No entry may be empty.
func readSpecs(flag, text string) ([]string, error) {
	list := policy.SplitList(text)
	for i, spec := range list {
		if spec == "" {
			return nil, cli.WrongUse("--%s %q: policy %d of %d is empty", flag, text, i+1, len(list))
		}
	}
	return list, nil
}
