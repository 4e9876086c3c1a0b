package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/datasets/imports"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/texts"
)

// importFlags are the flags of import.
type importFlags struct {
	out     string
	rules   string // a file or the name of a rule set; "": not given
	keep    bool
	workers int
	job     datasets.Job
}

// imported is the result of import. Its JSON keys are documented in JSON.md.
type imported imports.Imported

// importHelp is the help of import.
const importHelp = `Makes a dataset of recorded games, like any other: with observations, masks,
the orders of all sides and the outcome. FILEs may be compressed with gzip, and
recordings of all kinds that the page rollout/recordings/README.md lists for the
game may be mixed.

The policies are the names of the players, and each episode's source is the name
of its file, with the number and the name of the game where a file holds many.

First every game is played again and compared in every field, the winner
included, or checked as replay verify does. Skipped are files that are no
recording of the game, and games that are damaged, broke off before their end,
or differ here from the recording: one line gives the reason, the exit status is
1, and the dataset has the other games. With --keep-until-difference the turns
before the first difference, or before the recording broke off, are kept: the
episode is truncated there, and the column stopped of the episodes gives the
reason.

Games with different rules may be in one dataset. Its episodes are in the order
of the files as given, but episodes with the same rules are together, and a file
given twice is there twice. The dataset depends on nothing else: any number of
workers writes the same bytes. To continue an import that was stopped, give the
same command again.`

func (a *app) importing() *cobra.Command {
	f := &importFlags{}
	c := &cobra.Command{
		Use: "import GAME FILE… --out DIR", Short: "Make a dataset of recordings",
		Long: importHelp,
		Example: `  moonfarm import terminal ../shared/replays/terminal/*.replay.gz --out data/replays
  moonfarm import codecraft match-*.replay --out data/matches
  moonfarm import towerdefence ../shared/traces/towerdefence/*.jsonl.gz match-logs/2018* --out data/td`,
		Args: console.Takes("GAME", "FILE…"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runImport(c.Context(), args[0], args[1:], f)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	datasetFlags(c, &f.job)
	c.Flags().StringVar(&f.job.Reward, "reward", env.ResultReward, "`NAME` of the reward; games GAME lists them")
	c.Flags().StringVar(&f.rules, "rules", "", "`FILE` with the rule values of the recorded games, or the name of a rule set, if recordings do not contain them (rollout/recordings/README.md)")
	c.Flags().BoolVar(&f.keep, "keep-until-difference", false, "keep the turns before the first difference, or before a recording broke off, as a truncated episode")
	console.WorkersFlag(c, &f.workers)
	a.LockFlag(c, "the folder")
	return c
}

func (a *app) runImport(ctx context.Context, game string, files []string, f *importFlags) error {
	if f.out == "" {
		return console.WrongUse("--out is missing: the folder to write, such as --out data/%s", game)
	}
	done, err := a.importFiles(ctx, game, files, f)
	if err != nil {
		if a.JSON && len(done.Skipped) > 0 { // the list is useful even without a dataset
			err = errors.Join(err, a.Print(done, nil))
		}
		return err
	}
	if err := a.Print(done, func() { a.printImported(done) }); err != nil || len(done.Skipped) == 0 {
		return err
	}
	return fmt.Errorf("%s skipped; the others are in %s", imports.SkippedText(done.Skipped, len(files)), f.out)
}

// importFiles makes the dataset of the files that can be imported. It fails if no file
// can be imported.
func (a *app) importFiles(ctx context.Context, game string, files []string, f *importFlags) (imported, error) {
	engine, err := importEngine(game)
	if err != nil {
		return imported{}, err
	}
	g, err := catalog.Find(game)
	if err != nil {
		return imported{}, err
	}
	v, err := g.New("", env.Settings{N: 1, Reward: f.job.Reward})
	if err != nil {
		return imported{}, console.WrongUse("--reward %s: %w", f.job.Reward, err)
	}
	if err := errors.Join(chooseForm(&f.job, v.Spec()), checkMemory(g, &f.job)); err != nil {
		return imported{}, err
	}
	if f.job.ShardEpisodes == 0 {
		f.job.ShardEpisodes = g.ShardEpisodes
	}
	rules, err := rulesOfRecordings(f.rules, game)
	if err != nil {
		return imported{}, err
	}
	o := imports.Options{
		ReadOptions: recordings.ReadOptions{Rules: rules, Keep: f.keep}, Dir: f.out, ShardEpisodes: f.job.ShardEpisodes, Workers: f.workers,
	}
	m := a.Meter("files")
	o.Progress = func(done int) { m.Show(uint64(done), uint64(len(files)), 0, "") }
	o.Begin = func(found *imports.Games) error {
		m.End()
		if err := checkMemory(g, &f.job, found.Rules...); err != nil {
			return err
		}
		m = a.Meter("episodes")
		a.Resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", f.out)
		return nil
	}
	o.Dataset = datasets.Options{
		Workers: f.workers, Locks: &a.Locks,
		Progress: func(p datasets.Progress) { m.Show(p.Episodes, p.AllEpisodes, p.Rows, "rows") },
	}
	r, err := imports.Run(ctx, engine, files, f.job, Makers(g), o)
	m.End()
	for i, x := range r.Skipped {
		r.Skipped[i].Why = recordings.OneLine(asFlagError(x.Err))
	}
	done := imported(r)
	if errors.Is(err, imports.ErrNothing) && !a.JSON { // the JSON object has the remarks
		fmt.Fprint(a.Stderr, done.remarks())
	}
	return done, err
}

// rulesOfRecordings reads a file of rules for recordings of a game that do not contain them.
func rulesOfRecordings(file, game string) (string, error) {
	e, err := importEngine(game)
	if err != nil {
		return "", err
	}
	if file != "" && !e.Info().RulesMissing {
		return "", console.WrongUse("--rules: recordings of %s contain their own rules", game)
	}
	return readRules(file, recordings.InfoOf(game).RuleSets)
}

// importEngine finds the engine of a game whose recordings can be imported.
func importEngine(game string) (recordings.Engine, error) {
	if e, ok := recordings.Of(game); ok {
		return e, nil
	}
	if _, err := catalog.Find(game); err != nil {
		return nil, console.WrongUse("%w", err)
	}
	var can []string
	for _, e := range recordings.Engines() {
		can = append(can, e.Info().Game)
	}
	return nil, console.WrongUse("no recordings of %s can be imported; there are importers for: %s", game, strings.Join(can, ", "))
}

// asFlagError makes the error of an option of package recordings an error of the flag with
// that name, which is wrong use.
func asFlagError(err error) error {
	var o *recordings.OptionError
	if !errors.As(err, &o) {
		return err
	}
	return console.WrongUse("%s", strings.Replace(err.Error(), o.Error(), "--"+o.Error(), 1))
}

// remarks returns a line for each file and game that may differ from what is played here,
// and for each that was skipped.
func (i *imported) remarks() string {
	var b strings.Builder
	for _, x := range i.Inexact {
		fmt.Fprintf(&b, "%s\n", texts.Escaped(x.File+": "+x.Why))
	}
	for _, x := range i.Skipped {
		fmt.Fprintf(&b, "%s\n", texts.Escaped(x.Why))
	}
	return b.String()
}

func (a *app) printImported(d imported) {
	a.Text(d.remarks())
	for _, x := range d.Kept {
		name := x.File
		if x.Game > 0 {
			name = fmt.Sprintf("%s, game %d", name, x.Game)
		}
		a.Printf("%s: kept %s: %s\n", name, texts.Plural(x.Turns, "turn"), x.Why)
	}
	PrintSize(a.Console, d.Dir, d.Size, fmt.Sprintf("; %.1f s", d.Seconds))
	sep, own, sets := "\nrules: ", 0, 0
	for _, r := range d.RuleSets {
		if r.Name == "" {
			own, sets = own+r.Episodes, sets+1
			continue
		}
		a.Text(sep)
		a.Printf("%s: %d", r.Name, r.Episodes)
		sep = ", "
	}
	if sets > 0 {
		a.Text(sep)
		a.Printf("of their own: %d", own)
	}
	if sets > 1 {
		a.Printf(" (%d sets)", sets)
	}
	a.Printf("\n")
}
