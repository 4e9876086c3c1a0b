package command

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/rollout/files"
	"moonfarm/rollout/recordings"
	"moonfarm/sim/texts"
)

// converted is the result of replay convert. Its JSON keys are documented in JSON.md.
type converted struct {
	From  string   `json:"from"`
	Game  string   `json:"game"`
	Files []string `json:"files"`
}

// numberRange makes the value of a flag that takes the number of a thing, such as an
// episode, or a range, N-M. By default it stands for all.
func numberRange(first, last *uint64, thing string) console.Value {
	set := func(text string) error {
		from, to, isRange := strings.Cut(text, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		if err != nil || err2 != nil || b < a || b == math.MaxUint64 {
			return fmt.Errorf("expected the number of %s, such as 12, or a range, such as 0-9", thing)
		}
		*first, *last = a, b
		return nil
	}
	show := func() string {
		switch {
		case *last == math.MaxUint64:
			return ""
		case *first == *last:
			return strconv.FormatUint(*first, 10)
		}
		return fmt.Sprintf("%d-%d", *first, *last)
	}
	return console.Value{Parse: set, Show: show, Kind: "N|N-M"}
}

func (a *app) replayConvert() *cobra.Command {
	o := convertOptions{last: math.MaxUint64}
	c := &cobra.Command{
		Use: "convert DATASET --out DIR", Short: "Make recordings of episodes",
		Long: `From the folder of a dataset, writes its episodes, or the episodes that
--episodes selects, as one recording each, with its number as the name:
00000012.replay. Replay verify finds them equal, and import takes them. Existing
recordings of the same name are replaced, as a whole or not at all. The page
rollout/recordings/README.md lists the forms of --format for each game.

The players have the names of the policies.`,
		Example: `  moonfarm replay convert data/terminal --episodes 0-9 --out replays
  moonfarm replay convert data/td --format match-log --out logs`,
		Args: console.Takes("DATASET"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.out == "" {
				return console.WrongUse("--out is missing: the folder to write, such as --out replays")
			}
			if err := requirePath(o.out); err != nil {
				return err
			}
			o.dir = args[0]
			return a.episodesToReplays(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.out, "out", "", "`DIR` to write to")
	c.Flags().Var(numberRange(&o.first, &o.last, "an episode"), "episodes", "episodes of the dataset, counted from 0 (default: all)")
	c.Flags().StringVar(&o.form, "format", "", "`FORM` of the recordings (default: the first of the game's)")
	c.Flags().BoolVar(&o.zip, "gzip", false, "compress the files and add .gz to their names")
	return c
}

// convertOptions select the episodes to write, and their form.
type convertOptions struct {
	dir, out    string
	first, last uint64
	form        string
	zip         bool
}

// holdsDataset reports whether a path is a URL, or a folder without a recording: the
// folder of a dataset, finished or not.
func holdsDataset(dir string) (bool, error) {
	if strings.Contains(dir, "://") { // only datasets are at URLs
		return true, nil
	}
	s, err := os.Stat(dir)
	if err != nil || !s.IsDir() {
		return false, err
	}
	_, err = recordings.OpenFolder(dir)
	return err != nil, nil
}

// recordingForm returns the form of recordings that --format names.
func (c *convertOptions) recordingForm(game string) (*recordings.Form, error) {
	var names []string
	for i, f := range recordings.InfoOf(game).Forms {
		if f.Name == c.form || c.form == "" && i == 0 {
			if f.WriteFolder != nil && c.zip {
				return f, console.WrongUse("--gzip: a %s is a folder", f.Noun)
			}
			return f, nil
		}
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: %s has no replay files to convert to", c.dir, game)
	}
	return nil, console.WrongUse("--format %s: expected one of: %s (for %s)", c.form, strings.Join(names, ", "), game)
}

// episodesToReplays writes episodes of a dataset as recordings.
func (a *app) episodesToReplays(ctx context.Context, o convertOptions) error {
	meter := a.Meter("episodes")
	defer meter.End()
	d, err := datasets.OpenContext(ctx, o.dir)
	if err != nil {
		return err
	}
	m := d.Manifest()
	form, err := o.recordingForm(m.Job.Game)
	if err != nil {
		return err
	}
	if all := m.Totals.Episodes; o.first >= all || o.last >= all && o.last != math.MaxUint64 {
		return console.WrongUse("--episodes %v: expected numbers from 0 to %d", numberRange(&o.first, &o.last, "an episode"), all-1)
	}
	o.last = min(o.last, m.Totals.Episodes-1)
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	a.Resume = fmt.Sprintf("the %ss finished so far are in %s", form.Noun, o.out)
	c := converted{From: o.dir, Game: m.Job.Game}
	for e, err := range d.EpisodesFrom(o.first) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		name, err := o.write(form, e, m.Job.Rules[e.Rules])
		if err != nil {
			return fmt.Errorf("episode %d: %w", e.ID, err)
		}
		c.Files = append(c.Files, name)
		meter.Show(e.ID-o.first+1, o.last-o.first+1, 0, "")
		if e.ID == o.last {
			break
		}
	}
	meter.End()
	return a.Print(c, func() {
		a.Printf("%s: %s of %s in %s\n", o.dir, texts.Plural(len(c.Files), form.Noun), m.Job.Game, o.out)
	})
}

// write writes one episode and returns the name of the file or folder.
func (c *convertOptions) write(form *recordings.Form, e *datasets.Episode, rules string) (string, error) {
	name := filepath.Join(c.out, fmt.Sprintf("%08d", e.ID)+form.Ext)
	g := &recordings.RecordedGame{Name: recordings.NameIn(e.Source), Rules: rules, Episode: e.Episode}
	if form.WriteFolder != nil {
		write := func(create func(string) (io.WriteCloser, error)) error { return form.WriteFolder(create, g) }
		return name, files.WriteFolder(name, func() error { return checkReplaced(name, form) }, write)
	}
	write := func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<16)
		if err := form.Write(b, g); err != nil {
			return err
		}
		return b.Flush()
	}
	if c.zip {
		name, write = name+".gz", zipped(write)
	}
	return name, files.Write(name, write)
}

// zipped returns a write function that compresses the output of write.
func zipped(write func(w io.Writer) error) func(w io.Writer) error {
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

// checkReplaced returns an error if a folder of that name exists and has files that do
// not belong to the form.
func checkReplaced(name string, form *recordings.Form) error {
	there, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range there {
		if !form.Owns(e) {
			return fmt.Errorf("%s: it is no %s, as it holds %s, and is not replaced", name, form.Noun, e.Name())
		}
	}
	return nil
}
