package command

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
)

// jobFlags are the flags for the content of a dataset, on one machine or many.
type jobFlags struct {
	gameFlags
	policies string
	job      datasets.Job
}

// add adds the flags.
func (f *jobFlags) add(c *cobra.Command) {
	j, flags := &f.job, c.Flags()
	j.Episodes = 1000
	flags.Var(whole(&j.Episodes, 1, maxEpisodes), "episodes", "number of games to play")
	seedFlag(c, &j.Seed)
	flags.StringVar(&f.policies, "policy", "random", "`A,B`: the policy of each seat, or one for all (see policies GAME)")
	flags.StringVar(&j.Opening, "opening", "", "`random:K`: the first K turns of every seat are drawn at random, by the episode, so that games differ")
	datasetFlags(c, j)
	f.gameFlags.add(c)
}

// read makes the job of a game from the flags.
func (f *jobFlags) read(game string) (j datasets.Job, g catalog.Entry, err error) {
	t, err := f.open(game)
	if err != nil {
		return j, g, err
	}
	j = f.job
	if j.ShardEpisodes == 0 {
		j.ShardEpisodes = t.game.ShardEpisodes
	}
	if shards := shardsOf(&j); shards > maxShards {
		return j, g, cli.WrongUse("--shard-episodes %d: %d shards for %d episodes, expected at most %d", j.ShardEpisodes, shards, j.Episodes, maxShards)
	}
	j.Game, j.Reward, j.MaxTurns = game, f.reward, f.maxTurns
	if t.rules != "" {
		j.Rules = []string{t.rules}
	}
	if _, err := datasets.OpeningTurns(j.Opening); err != nil {
		return j, g, cli.WrongUse("--%w", err)
	}
	if err := checkMemory(t.game, &j, t.rules); err != nil {
		return j, g, err
	}
	j.Policies, err = t.seats(f.policies)
	return j, t.game, err
}

// shardsOf returns the number of shards of a job.
func shardsOf(j *datasets.Job) uint64 {
	n := j.Episodes / j.ShardEpisodes
	if j.Episodes%j.ShardEpisodes > 0 {
		n++
	}
	return n
}

// generateFlags are the flags of generate.
type generateFlags struct {
	jobFlags
	out     string
	strict  bool
	workers int
	part    int // the index of the part
	parts   int // number of parts; 0: the dataset is not split
}

// generated tells what generate did. Its JSON keys are documented in the help.
type generated struct {
	Dir      string   `json:"dir"`
	Game     string   `json:"game"`
	Rules    string   `json:"rules_version"`
	Policies []string `json:"policies"`
	Seed     uint64   `json:"seed,string"`
	datasetSize
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`
}

// datasetSize counts the content of a dataset, and the shards that a run made.
type datasetSize = datasets.Size

// printSize prints the folder of a dataset, its counts and more, without the end of the
// line.
func (a *app) printSize(dir string, d datasetSize, more string) {
	complete := ""
	if d.Made == 0 {
		complete = " is complete"
	}
	episodes := cli.Plural(d.Episodes, "episode")
	if d.Distinct > 0 {
		episodes += ", " + cli.Plural(d.Distinct, "different game")
	}
	a.printf("%s%s: %s, %s, %s, %s%s", dir, complete,
		episodes, cli.Plural(d.Rows, "row"), cli.Plural(d.Shards, "shard"), cli.Size(d.Bytes), more)
	if d.Made > 0 && d.Found > 0 {
		a.printf(" (%s of an earlier run kept)", cli.Plural(d.Found, "shard"))
	}
}

// Limits of the format.
const (
	maxEpisodes = 1 << 40
	maxShards   = 1 << 20
)

func (a *app) generate() *cobra.Command {
	f := &generateFlags{}
	c := &cobra.Command{
		Use: "generate GAME --out DIR", Short: "Play episodes and write them as a dataset",
		Long: `Plays episodes of a game and writes them to a folder as a dataset: Arrow files
with one row per turn and seat, one row per episode, and a manifest.

The files depend on the game, its rules, the policies, the seed and the other
settings, and on nothing else: any number of workers writes the same bytes. To
continue a run that was stopped or killed, give the same command again. DIR may
be a URL: file:///data/td, in moonfarm-full also s3://bucket/data/td, and in
moonfarm-full built with -tags cloud gs:// and azblob://.

Policies that draw nothing at random, such as planner, play the same game in
every episode where all games start alike (towerdefence, terminal): generate
then prints the number of different games to standard error. With --opening
random:K the policy random plays the first K turns of every seat, with the
episode's own seed, and the policies play on from there.

If a policy searches, such as mcts, rows of its seats also have the results of
the search, with any --obs: the value of the state (column search_value), and
the share of each move that it weighed (search_policy; the moves are in
search_choices, with search_counts in games of several heads). The section
Searches of datasets/FORMAT.md explains how to learn from them. A time budget,
mcts(ms=…), is refused, as such games cannot be reproduced.

With --part I/N the run makes only part I of N of the files, I from 0: N
machines that cannot talk to each other make one part each, and merge puts the
parts together.

With --json: one object with the keys dir, game, rules_version, policies (one
per seat), seed (a string), episodes, distinct (different games among them, by
their start and all orders), turns, rows, bytes, shards (all in the
dataset, or of the part), shards_made (by this run), shards_found (made by runs
before), seconds, rows_per_second (of this run).`,
		Example: `  moonfarm generate towerdefence --episodes 2000 --seed 1 --out data/td
  moonfarm generate towerdefence --policy 'econ,mix(0.8*econ,0.2*random)' --obs packed --out data/mixed
  moonfarm generate codecraft --rules round1-4 --policy econ --episodes 100 --out data/craft
  moonfarm generate towerdefence --episodes 2000 --part 0/4 --out parts/0
  moonfarm generate codecraft --memory --policy econ --episodes 100 --out data/remembered
  moonfarm generate towerdefence --policy 'mcts(sims=200)' --episodes 100 --out data/searched
  moonfarm generate terminal --policy planner --opening random:3 --episodes 200 --out data/planner`,
		Args: takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runGenerate(c.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	f.add(c)
	c.Flags().Var(part(&f.part, &f.parts), "part", "make only this part of the files, counted from 0; merge puts parts together")
	c.Flags().BoolVar(&f.strict, "strict", false, "fail at the first episode in which a network gives NaN or infinite logits or values")
	workersFlag(c, &f.workers)
	a.lockFlag(c, "the folder")
	return c
}

func (a *app) runGenerate(ctx context.Context, game string, f *generateFlags) error {
	j, g, err := f.read(game)
	if err != nil {
		return err
	}
	if f.out == "" {
		return cli.WrongUse("--out is missing: the folder to write, such as --out data/%s", game)
	}
	a.resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", f.out)
	defer thrifty()()
	m := a.meter("episodes")
	r, err := datasets.Generate(ctx, f.out, j, makers(g), datasets.Options{
		Workers: f.workers, Part: f.part, Parts: f.parts, Strict: f.strict, Locks: &a.locks,
		Progress: func(p datasets.Progress) { m.show(p.Episodes, p.AllEpisodes, p.Rows, "rows") },
	})
	passed := m.end()
	if err != nil {
		return err
	}
	man := r.Manifest
	done := generated{
		Dir: f.out, Game: game, Rules: man.Rules[0].Version, Policies: man.Job.Policies, Seed: man.Job.Seed,
		datasetSize: r.Size(), Seconds: passed.Seconds(),
	}
	if r.Made > 0 && done.Seconds > 0 { // of the rows that this run made, about
		done.RowsPerSecond = float64(uint64(float64(done.Rows)*float64(done.Made)/float64(done.Shards))) / done.Seconds
	}
	a.tellRepeats(done.datasetSize, j.Opening)
	if err := a.tellNetworks(man, f.strict); err != nil {
		return err
	}
	return a.print(done, func() { a.printGenerated(done, f) })
}

// thrifty makes the garbage collector keep memory small until undo is called. Making
// shards keeps nearly all memory that it allocates. Collecting garbage whenever memory
// has grown by a tenth has no measurable cost, with some ten collections for a gigabyte
// of rows, and saves a sixth of the memory.
func thrifty() (undo func()) {
	was := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(was) }
}

// checkMemory returns an error if --memory is given and the game does not support it by
// one of the sets of rules.
func checkMemory(g catalog.Entry, j *datasets.Job, rules ...string) error {
	if !j.Memory {
		return nil
	}
	if j.Obs != datasets.ObsPlanes {
		return cli.WrongUse("--memory: it fills in planes, expected --obs planes, found %s", j.Obs)
	}
	for _, text := range rules {
		if _, err := g.New(text, env.Settings{N: 1, Memory: true}); err != nil {
			return cli.WrongUse("--memory: %w", err)
		}
	}
	return nil
}

// seats parses --policy: one policy for all seats, or one for each.
func (t *table) seats(text string) ([]string, error) {
	specs, err := readSpecs("policy", text)
	if err != nil {
		return nil, err
	}
	players := t.spec.Info.Players
	for len(specs) == 1 && len(specs) < players {
		for len(specs) < players {
			specs = append(specs, specs[0])
		}
	}
	if len(specs) != players {
		return nil, cli.WrongUse("--policy %s: %d policies, expected one, or one for each of the %d seats of %s", text, len(specs), players, t.game.Name)
	}
	for _, s := range specs {
		if _, _, err := t.policy("policy", s); err != nil {
			return nil, err
		}
	}
	return specs, nil // as they were given: canonical names have no folders
}

// tellRepeats warns on standard error that games repeat, with a remedy.
func (a *app) tellRepeats(d datasetSize, opening string) {
	if d.Distinct < d.Episodes {
		more := "--opening random:K draws the first K turns of each at random"
		if opening != "" {
			more = "a longer opening than " + opening + " makes more of them"
		}
		fmt.Fprintf(a.stderr, "moonfarm: games repeat: %s are %s; %s\n",
			cli.Plural(d.Episodes, "episode"), cli.Plural(d.Distinct, "different game"), more)
	}
}

// tellNetworks warns on standard error of networks that gave NaN or infinite numbers. With
// strict they are an error, also in a dataset that an earlier run completed without
// --strict.
func (a *app) tellNetworks(m *datasets.Manifest, strict bool) error {
	for seat, n := range m.Totals.Networks {
		if n.NotFinite == 0 {
			continue
		}
		text := fmt.Sprintf("the network of %s at seat %d gave NaN or infinite logits or values in %d of %s",
			m.Job.Policies[seat], seat, n.NotFinite, cli.Plural(n.Evaluations, "evaluation"))
		if strict {
			return fmt.Errorf("--strict: %s", text)
		}
		fmt.Fprintf(a.stderr, "moonfarm: %s\n", text)
	}
	return nil
}

func (a *app) printGenerated(g generated, f *generateFlags) {
	speed := ""
	if g.Made > 0 {
		speed = fmt.Sprintf("; %.1f s, %s rows/s", g.Seconds, cli.Group(uint64(g.RowsPerSecond)))
	}
	a.printSize(g.Dir, g.datasetSize, speed)
	if f.parts > 1 {
		a.printf("; part %d/%d is done, merge puts the parts together", f.part, f.parts)
	}
	a.printf("\n")
}
