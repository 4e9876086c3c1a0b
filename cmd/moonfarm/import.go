package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/originals"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
)

// importFlags are the flags of import.
type importFlags struct {
	out     string
	rules   string // a file or the name of a rule set; "": not given
	keep    bool
	workers int
	job     datasets.Job
}

// imported tells what import did. Its JSON keys are documented in the help.
type imported struct {
	Dir      string          `json:"dir"`
	Game     string          `json:"game"`
	RuleSets []importedRules `json:"rule_sets"`
	datasetSize
	Skipped []skippedFile `json:"skipped"`
	Inexact []skippedFile `json:"inexact"`
	Kept    []keptGame    `json:"kept"`
	Seconds float64       `json:"seconds"`
}

// importedRules counts the episodes that were played by one set of rules.
type importedRules struct {
	Name     string `json:"name"` // "" if they have none
	Episodes int    `json:"episodes"`
}

// skippedFile is a file that was left out, or a game of it, or one that may differ
// from what is played here.
type skippedFile struct {
	File string `json:"file"`
	Game int    `json:"game"` // from 1; 0: the file
	Why  string `json:"why"`
}

// keptGame is a game that is there only so far as it is as recorded.
type keptGame struct {
	File  string `json:"file"`
	Game  int    `json:"game"` // from 1; 0: files hold one only
	Turns int    `json:"turns"`
	Why   string `json:"why"`
}

// importHelp is the help of import.
func importHelp() string {
	return `Makes a dataset of recorded games: like any other, with observations, masks,
the orders of all sides and the outcome. What it takes, compressed with gzip or
not, and mixed as you like:

` + eachGame(func(t originals.Game) string { return t.Help.Imports }) + `

The policies are the names of the players, and each episode's source is the name
of its file, with the number and the name of the game where a file holds many.

Every game is played again first and compared in every field, or checked as
replay verify does. A file that is no recording of the game, a game that is
damaged, broke off before its end, or does not go here as recorded is skipped:
one line says why, and the exit status is 1, though the dataset of the others is
made. With --keep-until-difference the turns before the first difference, or
before it broke off, are kept: the episode is truncated there, and the column
stopped of the episodes says why.

Games with different rules may be in one dataset. Its episodes are in the order
of the files as given, those with the same rules together, and a file given
twice is there twice; the dataset depends on nothing else: any number of workers
writes the same bytes. An import that was stopped continues if the same command
is given again.

With --json: one object with the keys dir, game, rule_sets (each with name, ""
if it is not a built-in one, and episodes), episodes, distinct (different games
among them), turns, rows, bytes, shards (all in the dataset), shards_made (by
this run), shards_found (made by runs before), skipped (each with file, game,
which is its number, or 0 for the whole file, and why), inexact (the games of
engines of which not all rules are known, also those skipped: each with file,
game and why), kept (the games that are
truncated: each with file, game, turns and why), seconds; if all files are
skipped, too.`
}

func (a *app) importing() *cobra.Command {
	f := &importFlags{}
	c := &cobra.Command{
		Use: "import GAME FILE… --out DIR", Short: "Make a dataset of recordings",
		Long: importHelp(),
		Example: `  moonfarm import terminal ../shared/replays/terminal/*.replay.gz --out data/replays
  moonfarm import codecraft match-*.replay --out data/matches
  moonfarm import towerdefence ../shared/traces/towerdefence/*.jsonl.gz match-logs/2018* --out data/td`,
		Args: takes("GAME", "FILE…"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runImport(c.Context(), args[0], args[1:], f)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	datasetFlags(c, &f.job)
	c.Flags().StringVar(&f.job.Reward, "reward", env.ResultReward, "`NAME` of the reward; games GAME lists them")
	c.Flags().StringVar(&f.rules, "rules", "", "`FILE` with the rule values of the recorded games, or the name of a rule set; for games whose recordings do not tell them ("+rulesDoc(untold())+")")
	c.Flags().BoolVar(&f.keep, "keep-until-difference", false, "keep the turns before the first difference, or before a recording broke off, as a truncated episode")
	workersFlag(c, &f.workers)
	a.lockFlag(c, "the folder")
	return c
}

func (a *app) runImport(ctx context.Context, game string, files []string, f *importFlags) error {
	if f.out == "" {
		return cli.WrongUse("--out is missing: the folder to write, such as --out data/%s", game)
	}
	done, err := a.importFiles(ctx, game, files, f)
	if err != nil {
		if a.json && len(done.Skipped) > 0 { // the list is wanted even if nothing else is there
			err = errors.Join(err, a.print(done, nil))
		}
		return err
	}
	if err := a.print(done, func() { a.printImported(done) }); err != nil || len(done.Skipped) == 0 {
		return err
	}
	return fmt.Errorf("%s skipped; the others are in %s", done.skippedText(len(files)), f.out)
}

// skippedText counts what was left out, of so many files.
func (d *imported) skippedText(files int) string {
	whole := 0
	for _, x := range d.Skipped {
		if x.Game == 0 {
			whole++
		}
	}
	games := len(d.Skipped) - whole
	switch {
	case games == 0:
		return fmt.Sprintf("%s of %d", cli.Plural(whole, "file"), files)
	case whole == 0:
		return cli.Plural(games, "game")
	}
	return fmt.Sprintf("%s and %s of %d", cli.Plural(games, "game"), cli.Plural(whole, "file"), files)
}

// untold lists the games whose recordings do not tell all of their rules.
func untold() (list []originals.Game) {
	for _, t := range originals.Games {
		if t.RulesUntold {
			list = append(list, t)
		}
	}
	return list
}

// importFiles makes the dataset of the files that can be imported. It fails if
// none can.
func (a *app) importFiles(ctx context.Context, game string, files []string, f *importFlags) (imported, error) {
	t, err := importTools(game)
	if err != nil {
		return imported{}, err
	}
	g, err := catalog.Find(game)
	if err != nil {
		return imported{}, err
	}
	if _, err := g.New("", env.Config{N: 1, Reward: f.job.Reward}); err != nil {
		return imported{}, cli.WrongUse("--reward %s: %w", f.job.Reward, err)
	}
	if err := checkMemory(g, &f.job); err != nil {
		return imported{}, err
	}
	if f.job.ShardEpisodes == 0 {
		f.job.ShardEpisodes = g.ShardEpisodes
	}
	o, err := f.options(t)
	if err != nil {
		return imported{}, err
	}
	defer o.spool.close()
	m := a.meter("files")
	found, err := examine(ctx, t, files, f.workers, o, func(done int) { m.show(uint64(done), uint64(len(files)), 0, "") })
	passed := m.end()
	if err != nil {
		return imported{}, err
	}
	s := newRecordings(t, o, found, f.job.ShardEpisodes)
	done := imported{Dir: f.out, Game: game, RuleSets: s.rules, Skipped: s.skipped, Kept: s.kept, Inexact: s.inexact, Seconds: passed.Seconds()}
	if len(s.games) == 0 {
		if !a.json { // which has them
			fmt.Fprint(a.stderr, done.remarks())
		}
		return done, fmt.Errorf("nothing to import: %s skipped", strings.TrimSuffix(done.skippedText(len(files)), fmt.Sprintf(" of %d", len(files))))
	}
	if len(s.texts) > maxRuleSets {
		return done, fmt.Errorf("games with %d sets of rules; a dataset may have %d: import them in parts", len(s.texts), maxRuleSets)
	}
	if err := checkMemory(g, &f.job, s.texts...); err != nil {
		return done, err
	}
	a.resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", f.out)
	m = a.meter("episodes")
	r, err := datasets.Write(ctx, f.out, s.job(f.job), makers(g), s, datasets.Options{
		Workers: f.workers, Locks: &a.locks,
		Progress: func(p datasets.Progress) { m.show(p.Episodes, p.AllEpisodes, p.Rows, "rows") },
	})
	done.Seconds += m.end().Seconds()
	if err != nil {
		return done, err
	}
	done.datasetSize = sizeOf(r)
	return done, nil
}

// maxRuleSets bounds the sets of rules in one dataset: each has shards of its
// own, and its text is in the manifest.
const maxRuleSets = 1000

// options are those of an import; their spool is the caller's to close.
func (f *importFlags) options(t originals.Game) (importOptions, error) {
	o := importOptions{ReadOptions: originals.ReadOptions{Keep: f.keep}}
	if f.rules != "" && !t.RulesUntold {
		return o, cli.WrongUse("--rules: recordings of %s tell their rules", t.Game)
	}
	var err error
	if o.Rules, err = readRules(f.rules, t); err != nil {
		return o, err
	}
	o.spool, err = newSpool(f.out)
	return o, err
}

// importTools finds a game whose recordings can be imported.
func importTools(game string) (originals.Game, error) {
	var can []string
	for _, t := range originals.Games {
		if t.Read == nil {
			continue
		}
		if t.Game == game {
			return t, nil
		}
		can = append(can, t.Game)
	}
	if _, err := catalog.Find(game); err != nil {
		return originals.Game{}, cli.WrongUse("%w", err)
	}
	return originals.Game{}, cli.WrongUse("no recordings of %s can be imported; those that can are of: %s", game, strings.Join(can, ", "))
}

// remarks are the lines that say what may differ from what is played here, and what
// was skipped.
func (d *imported) remarks() string {
	var b strings.Builder
	for _, x := range d.Inexact {
		fmt.Fprintf(&b, "%s: %s\n", x.File, x.Why)
	}
	for _, x := range d.Skipped {
		fmt.Fprintf(&b, "%s\n", x.Why)
	}
	return b.String()
}

func (a *app) printImported(d imported) {
	a.printf("%s", d.remarks())
	for _, x := range d.Kept {
		name := x.File
		if x.Game > 0 {
			name = fmt.Sprintf("%s, game %d", name, x.Game)
		}
		a.printf("%s: kept %s: %s\n", name, cli.Plural(x.Turns, "turn"), x.Why)
	}
	a.printSize(d.Dir, d.datasetSize, fmt.Sprintf("; %.1f s", d.Seconds))
	sep, own, sets := "\nrules: ", 0, 0
	for _, r := range d.RuleSets {
		if r.Name == "" {
			own, sets = own+r.Episodes, sets+1
			continue
		}
		a.printf("%s%s: %d", sep, r.Name, r.Episodes)
		sep = ", "
	}
	if sets > 0 {
		a.printf("%sof their own: %d", sep, own)
	}
	if sets > 1 {
		a.printf(" (%d sets)", sets)
	}
	a.printf("\n")
}
