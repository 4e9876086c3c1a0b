package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
)

// importFlags are the flags of import.
type importFlags struct {
	out     string
	workers int
	job     datasets.Job
}

// imported tells what import did. Its JSON keys are documented in the help.
type imported struct {
	Dir      string          `json:"dir"`
	Game     string          `json:"game"`
	RuleSets []importedRules `json:"rule_sets"`
	Episodes uint64          `json:"episodes"`
	Turns    uint64          `json:"turns"`
	Rows     uint64          `json:"rows"`
	Bytes    uint64          `json:"bytes"`
	Shards   int             `json:"shards"`
	Made     int             `json:"shards_made"`
	Found    int             `json:"shards_found"`
	Skipped  []skippedFile   `json:"skipped"`
	Seconds  float64         `json:"seconds"`
}

// importedRules counts the episodes that were played by one set of rules.
type importedRules struct {
	Name     string `json:"name"` // "" if they have none
	Episodes int    `json:"episodes"`
}

// skippedFile is a file that was left out.
type skippedFile struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

func (a *app) importing() *cobra.Command {
	f := &importFlags{}
	c := &cobra.Command{
		Use: "import GAME FILE… --out DIR", Short: "Make a dataset of recordings of the original engine",
		Long: `Makes a dataset of games that the original engine recorded (for terminal: its
replay files, compressed with gzip or not): like any other, with observations,
masks, the orders of both sides and the outcome; the policies are the names of
the players, and each episode's source is the name of its file.

Every recording is played again first and compared in every field, as replay
verify does. A file that is no recording of the game, is damaged, broke off
before the end of the game, or does not go here as recorded is skipped: one line
says why, and the exit status is 1, though the dataset of the others is made.

Games with different rules may be in one dataset. Its episodes are in the order
of the files as given, those with the same rules together, and a file given
twice is there twice; the dataset depends on nothing else: any number of workers
writes the same bytes. An import that was stopped continues if the same command
is given again.

With --json: one object with the keys dir, game, rule_sets (each with name, ""
if it is not a built-in one, and episodes), episodes, turns, rows, bytes, shards
(all in the dataset), shards_made (by this run), shards_found (made by runs
before), skipped (each with file and why), seconds; if all files are skipped,
too.`,
		Example: "  moonfarm import terminal ../shared/replays/terminal/*.replay.gz --out data/replays",
		Args:    takes("GAME", "FILE…"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.runImport(c.Context(), args[0], args[1:], f)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "`DIR` of the dataset: new, empty, or from an earlier run of the same command")
	datasetFlags(c, &f.job)
	c.Flags().StringVar(&f.job.Reward, "reward", env.ResultReward, "`NAME` of the reward; games GAME lists them")
	workersFlag(c, &f.workers)
	return c
}

func (a *app) runImport(ctx context.Context, game string, files []string, f *importFlags) error {
	if f.out == "" {
		return wrongUse("--out is missing: the folder to write, such as --out data/%s", game)
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
	return fmt.Errorf("%s of %d skipped; the others are in %s", plural(len(done.Skipped), "file"), len(files), f.out)
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
		return imported{}, wrongUse("--reward %s: %w", f.job.Reward, err)
	}
	m := a.meter("files")
	found, err := examine(ctx, t, files, f.workers, func(done int) { m.show(uint64(done), uint64(len(files)), 0, "") })
	passed := m.end()
	if err != nil {
		return imported{}, err
	}
	s := newRecordings(t, found, f.job.ShardEpisodes)
	done := imported{Dir: f.out, Game: game, RuleSets: s.rules, Skipped: s.skipped, Seconds: passed.Seconds()}
	if len(s.files) == 0 {
		for _, x := range s.skipped {
			if !a.json { // which has them
				fmt.Fprintf(a.stderr, "%s\n", x.Why)
			}
		}
		return done, fmt.Errorf("nothing to import: %s skipped", plural(len(s.skipped), "file"))
	}
	a.resume = fmt.Sprintf("finished shards are kept in %s; the same command continues", f.out)
	m = a.meter("episodes")
	r, err := datasets.Write(ctx, f.out, s.job(f.job), makers(g), s, datasets.Options{
		Workers:  f.workers,
		Progress: func(p datasets.Progress) { m.show(p.Episodes, p.AllEpisodes, p.Rows, "rows") },
	})
	done.Seconds += m.end().Seconds()
	if err != nil {
		return done, err
	}
	totals := r.Manifest.Totals
	done.Episodes, done.Turns, done.Rows, done.Bytes = totals.Episodes, totals.Turns, totals.Rows, totals.Bytes
	done.Shards, done.Made, done.Found = len(r.Manifest.Shards), r.Made, r.Found
	return done, nil
}

// importTools finds a game whose recordings can be imported.
func importTools(game string) (gameTools, error) {
	var can []string
	for _, t := range tools {
		if t.read == nil {
			continue
		}
		if t.game == game {
			return t, nil
		}
		can = append(can, t.game)
	}
	if _, err := catalog.Find(game); err != nil {
		return gameTools{}, usageError{err}
	}
	return gameTools{}, wrongUse("no recordings of %s can be imported; those that can are of: %s", game, strings.Join(can, ", "))
}

func (a *app) printImported(d imported) {
	for _, x := range d.Skipped {
		a.printf("%s\n", x.Why)
	}
	if d.Made == 0 {
		a.printf("%s is complete: ", d.Dir)
	} else {
		a.printf("%s: ", d.Dir)
	}
	a.printf("%s, %s, %s, %s; %.1f s", plural(d.Episodes, "episode"), plural(d.Rows, "row"), plural(d.Shards, "shard"), size(d.Bytes), d.Seconds)
	if d.Made > 0 && d.Found > 0 {
		a.printf(" (%s of an earlier run kept)", plural(d.Found, "shard"))
	}
	sep := "\nrules: "
	for _, r := range d.RuleSets {
		name := r.Name
		if name == "" {
			name = "of their own"
		}
		a.printf("%s%s: %d", sep, name, r.Episodes)
		sep = ", "
	}
	a.printf("\n")
}

// examined is what was found in a file.
type examined struct {
	file    string
	rules   string
	ruleSet string
	sum     [sha256.Size]byte // of the file
	why     string            // it cannot be imported
}

// examine plays every file again, on several goroutines. It fails only if the
// context is done.
func examine(ctx context.Context, t gameTools, files []string, workers int, progress func(done int)) ([]examined, error) {
	all := make([]examined, len(files))
	var mu sync.Mutex
	next, done := 0, 0
	var wg sync.WaitGroup
	for range min(workers, len(files)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				all[i] = examineFile(ctx, t, files[i])
				mu.Lock()
				done++
				progress(done)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all, context.Cause(ctx)
}

func examineFile(ctx context.Context, t gameTools, file string) examined {
	x := examined{file: file}
	r, sum, err := readRecording(ctx, t, file, true)
	if err != nil {
		x.why = strings.ReplaceAll(err.Error(), "\n", " ")
		return x
	}
	x.rules, x.ruleSet, x.sum = r.Rules, r.RuleSet, sum
	return x
}

// readRecording reads a file as an episode and returns the sum of its content.
func readRecording(ctx context.Context, t gameTools, file string, check bool) (r recorded, sum [sha256.Size]byte, err error) {
	of, _, in, err := openRecording(ctx, file)
	if err != nil {
		return r, sum, err
	}
	defer in.Close()
	if of.game != t.game {
		return r, sum, fmt.Errorf("%s: a recording of %s, not of %s", file, of.game, t.game)
	}
	content := &summed{in, sha256.New()}
	if r, err = t.read(file, content, check); err == nil {
		_, err = io.Copy(io.Discard, content)
	}
	return r, [sha256.Size]byte(content.sum.Sum(nil)), err
}

// summed sums what is read.
type summed struct {
	io.Reader
	sum hash.Hash
}

// Read implements io.Reader.
func (s *summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.sum.Write(p[:n])
	return n, err
}

// recordings is the datasets.Source of files that can be imported, those with
// the same rules together.
type recordings struct {
	tools   gameTools
	files   []examined
	texts   []string // of the rules
	rules   []importedRules
	skipped []skippedFile
	shards  []datasets.Part
}

// newRecordings sorts what was found into shards of so many episodes at most.
func newRecordings(t gameTools, found []examined, most uint64) *recordings {
	s := &recordings{tools: t, skipped: []skippedFile{}, rules: []importedRules{}}
	groups := map[string][]examined{}
	for _, x := range found {
		if x.why != "" {
			s.skipped = append(s.skipped, skippedFile{x.file, x.why})
			continue
		}
		if groups[x.rules] == nil {
			s.texts = append(s.texts, x.rules)
			s.rules = append(s.rules, importedRules{Name: x.ruleSet})
		}
		groups[x.rules] = append(groups[x.rules], x)
	}
	for i, text := range s.texts {
		s.files = append(s.files, groups[text]...)
		s.rules[i].Episodes = len(groups[text])
		for left := uint64(len(groups[text])); left > 0; {
			n := min(left, most)
			s.shards = append(s.shards, datasets.Part{Episodes: n, Rules: i})
			left -= n
		}
	}
	return s
}

// job completes the Job of the dataset. Its source tells the files apart from
// all others: the sum of their names and contents.
func (s *recordings) job(j datasets.Job) datasets.Job {
	j.Game, j.Rules, j.ShardEpisodes = s.tools.game, s.texts, 0
	j.Shards = s.shards
	sum := sha256.New()
	for _, x := range s.files {
		fmt.Fprintf(sum, "%x %s\n", x.sum, filepath.Base(x.file))
	}
	j.Source = fmt.Sprintf("FILE… # %s, sha256 of their sums and names %s", plural(len(s.files), "file"), hex.EncodeToString(sum.Sum(nil)))
	return j
}

// Shard implements datasets.Source.
func (s *recordings) Shard(ctx context.Context, shard int, yield func(e *rollout.Episode, source string) error) error {
	first := uint64(0)
	for _, p := range s.shards[:shard] {
		first += p.Episodes
	}
	for i := range s.shards[shard].Episodes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x := s.files[first+i]
		r, sum, err := readRecording(ctx, s.tools, x.file, false)
		if err == nil && (sum != x.sum || r.Rules != x.rules) {
			err = fmt.Errorf("%s: changed while it was imported", x.file)
		}
		if err != nil {
			return err
		}
		r.Episode.ID = first + i
		if err := yield(&r.Episode, filepath.Base(x.file)); err != nil {
			return err
		}
	}
	return nil
}
