package command

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/sim/texts"
)

// generateFlags are the flags of generate.
type generateFlags struct {
	JobFlags
	out     string
	strict  bool
	workers int
	part    int // the index of the part
	parts   int // number of parts; 0: the dataset is not split
}

// generated is the result of generate. Its JSON keys are documented in JSON.md.
type generated struct {
	Dir      string   `json:"dir"`
	Game     string   `json:"game"`
	Rules    string   `json:"rules_version"`
	Policies []string `json:"policies"`
	Seed     uint64   `json:"seed,string"`
	datasets.Size
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`
}

// PrintSize prints the place of a dataset, its counts and more, without the end of the
// line.
func PrintSize(c *console.Console, place string, d datasets.Size, more string) {
	complete := ""
	if d.Made == 0 {
		complete = " is complete"
	}
	episodes := texts.Plural(d.Episodes, "episode")
	if d.Distinct > 0 {
		episodes += ", " + texts.Plural(d.Distinct, "different game")
	}
	c.Printf("%s%s: %s, %s, %s, %s%s", place, complete,
		episodes, texts.Plural(d.Rows, "row"), texts.Plural(d.Shards, "shard"), console.FormatSize(d.Bytes), more)
	if d.Made > 0 && d.Found > 0 {
		c.Printf(" (%s of an earlier run kept)", texts.Plural(d.Found, "shard"))
	}
}

// part makes the value of a flag that takes the number of a part and the number of parts.
func part(number, all *int) console.Value {
	set := func(text string) error {
		i, n, ok := strings.Cut(text, "/")
		a, err := strconv.Atoi(i)
		b, e := strconv.Atoi(n)
		if !ok || err != nil || e != nil || a < 0 || a >= b || b > MaxShards {
			return fmt.Errorf("expected I/N with I from 0 to N-1, such as 0/4, and N up to %d", MaxShards)
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
	return console.Value{Parse: set, Show: show, Kind: "I/N"}
}

func (a *app) generate() *cobra.Command {
	f := &generateFlags{}
	c := &cobra.Command{
		Use: "generate GAME --out DIR", Short: "Play episodes and write them as a dataset",
		Long: `Plays episodes of a game and writes them to a folder as a dataset: Arrow files
with one row per turn and seat, one row per episode, and a manifest.

The files depend on the game, its rules, the policies, the seed and the other
settings, and on nothing else: any number of workers writes the same bytes. To
continue a run that was stopped or killed, or to make missing files of a
complete dataset again, repeat the command. DIR may be a URL: file:///data/td,
in moonfarm-full also s3://bucket/data/td.

Policies that draw nothing at random, such as planner, play the same game in
every episode where all games start alike (towerdefence, terminal): generate
then prints the number of different games to standard error. With --opening
random:K the policy random plays the first K turns of every seat, with the
episode's own seed, and the policies play on from there.

If a policy searches, such as mcts, rows of its seats also have the results of
the search: see the section Searches of datasets/FORMAT.md. A time budget,
mcts(ms=…), is refused, as such games cannot be reproduced.`,
		Example: `  moonfarm generate towerdefence --episodes 2000 --seed 1 --out data/td
  moonfarm generate towerdefence --policy 'econ,mix(0.8*econ,0.2*random)' --obs packed --out data/mixed
  moonfarm generate codecraft --rules round1-4 --policy econ --episodes 100 --out data/craft
  moonfarm generate terminal --policy planner --opening random:3 --episodes 200 --out data/planner`,
		Args: console.Takes("GAME"),
		RunE: func(c *cobra.Command, args []string) error { return a.runGenerate(c.Context(), args[0], f) },
	}
	c.Flags().StringVar(&f.out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	f.Add(c)
	c.Flags().Var(part(&f.part, &f.parts), "part", "make only this part of the files, counted from 0; merge puts parts together")
	c.Flags().BoolVar(&f.strict, "strict", false, "fail at the first episode in which a network gives NaN or infinite logits or values")
	console.WorkersFlag(c, &f.workers)
	a.LockFlag(c, "the folder")
	return c
}

func (a *app) runGenerate(ctx context.Context, game string, f *generateFlags) error {
	j, g, err := f.Job(game)
	if err != nil {
		return err
	}
	if f.out == "" {
		return console.WrongUse("--out is missing: the folder to write, such as --out data/%s", game)
	}
	a.Resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", f.out)
	defer SaveMemory()()
	m := a.Meter("episodes")
	r, err := datasets.Generate(ctx, f.out, j, Makers(g), datasets.Options{
		Workers: f.workers, Part: f.part, Parts: f.parts, Strict: f.strict, Locks: &a.Locks,
		Progress: func(p datasets.Progress) { m.Show(p.Episodes, p.AllEpisodes, p.Rows, "rows") },
	})
	passed := m.End()
	if err != nil {
		return err
	}
	man := r.Manifest
	done := generated{
		Dir: f.out, Game: game, Rules: man.Rules[0].Version, Policies: man.Job.Policies, Seed: man.Job.Seed,
		Size: r.Size(), Seconds: passed.Seconds(),
	}
	if r.Made > 0 && done.Seconds > 0 { // of the rows that this run made, about
		done.RowsPerSecond = float64(uint64(float64(done.Rows)*float64(done.Made)/float64(done.Shards))) / done.Seconds
	}
	a.warnRepeats(done.Size, j.Opening)
	if err := a.warnNetworks(man, f.strict); err != nil {
		return err
	}
	return a.Print(done, func() { a.printGenerated(done, f) })
}

// SaveMemory makes the garbage collector keep memory small until undo is called. Making
// shards keeps nearly all memory that it allocates. Collecting garbage whenever memory
// has grown by a tenth has no measurable cost, with some ten collections for a gigabyte
// of rows, and saves a sixth of the memory.
func SaveMemory() (undo func()) {
	was := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(was) }
}

// warnRepeats warns on standard error that games repeat, with a remedy.
func (a *app) warnRepeats(d datasets.Size, opening string) {
	if d.Distinct < d.Episodes {
		more := "--opening random:K draws the first K turns of each at random"
		if opening != "" {
			more = "a longer opening than " + opening + " makes more of them"
		}
		a.Tell("moonfarm: games repeat: %s are %s; %s\n",
			texts.Plural(d.Episodes, "episode"), texts.Plural(d.Distinct, "different game"), more)
	}
}

// warnNetworks warns on standard error of networks that gave NaN or infinite numbers. With
// strict they are an error, also in a dataset that an earlier run completed without
// --strict.
func (a *app) warnNetworks(m *datasets.Manifest, strict bool) error {
	for seat, n := range m.Totals.Networks {
		if n.NotFinite == 0 {
			continue
		}
		text := fmt.Sprintf("the network of %s at seat %d gave NaN or infinite logits or values in %d of %s",
			m.Job.Policies[seat], seat, n.NotFinite, texts.Plural(n.Evaluations, "evaluation"))
		if strict {
			return fmt.Errorf("--strict: %s", text)
		}
		a.Tell("moonfarm: %s\n", text)
	}
	return nil
}

func (a *app) printGenerated(g generated, f *generateFlags) {
	speed := ""
	if g.Made > 0 {
		speed = fmt.Sprintf("; %.1f s, %s rows/s", g.Seconds, texts.Group(uint64(g.RowsPerSecond)))
	}
	PrintSize(a.Console, g.Dir, g.Size, speed)
	if f.parts > 1 {
		a.Printf("; part %d/%d is done, merge puts the parts together", f.part, f.parts)
	}
	a.Printf("\n")
}
