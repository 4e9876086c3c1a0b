package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/datasets"
	"moonfarm/datasets/export"
	"moonfarm/env/catalog"
)

// Formats that export writes.
const (
	toParquet = "parquet"
	toNPZ     = "npz"
	toMinari  = "minari"
)

// splits are the values of --split, in the order of datasets.Split.
var splits = []string{"all", "train", "validation", "test"}

// exportFlags are the flags of export.
type exportFlags struct {
	to, out          string
	columns          []string
	obs              datasets.Obs
	reward           string
	discount         float64
	split            string
	validation, test float64
	workers          int
	force            bool
	filter           datasets.Filter
	outcomes         []string
}

// exported tells what export wrote. Its JSON keys are documented in the help.
type exported struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Path     string   `json:"path"`
	Rows     uint64   `json:"rows"`
	Episodes uint64   `json:"episodes"`
	Columns  []string `json:"columns"`
	Bytes    uint64   `json:"bytes"`
	Seconds  float64  `json:"seconds"`
}

func (a *app) export() *cobra.Command {
	f := &exportFlags{split: splits[0], validation: 0.1}
	c := &cobra.Command{
		Use: "export DATASET --to FORMAT --out PATH", Short: "Write a dataset in a format that others read",
		Long: `Writes the rows of a dataset, or those of a part of its episodes, as:

  parquet  a Parquet file: a row for each turn and seat. A tensor is a list of
           its values; the shapes are in the metadata of the file, under the
           keys moonfarm.columns and moonfarm.manifest, as JSON
  npz      a file that numpy.load reads: an array for each column, and metadata,
           the manifest as JSON; no lists (column orders)
  minari   a folder as Minari 0.5 reads it, data/main_data.hdf5 and
           data/metadata.json: an episode for each episode and seat, with what
           is seen after the last turn, and the masks in its infos (after the
           last turn with the choice that orders nothing alone). An action is -1
           where no choice says the orders. Python writes it: $PYTHON, or
           python3, with h5py and the package moonfarm of env/python

With --policy, --seat, --chosen, --outcome and --no-opening only rows that match
all of what is given are written: those of winners, say, to learn from.

With --obs, --reward, --discount or the column opponent the episodes are played
again, and the rows are made anew: from any dataset, also from one without
observations. PATH appears when all is written, and not at all after an
interrupt. One that is there is replaced with --force only.

With --json: one object with the keys from, to, path, rows, episodes (of minari,
else 0), columns, bytes, seconds.`,
		Example: `  moonfarm export data/td --to parquet --out td.parquet
  moonfarm export data/td --to npz --columns scalars,mask,action,return --discount 0.99 --split train --out train.npz
  moonfarm export data/td --to parquet --outcome win --policy econ --out winners.parquet
  moonfarm export data/td --to minari --out ~/.minari/datasets/towerdefence/random-v0`,
		Args: takes("DATASET"),
		RunE: func(c *cobra.Command, args []string) error { return a.runExport(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.Var(choice(&f.to, toParquet, toNPZ, toMinari), "to", "the format")
	flags.StringVar(&f.out, "out", "", "`PATH` to write")
	flags.StringSliceVar(&f.columns, "columns", nil, "`NAMES` of the columns, as inspect lists them (default: all that the format has)")
	flags.Var(choice(&f.obs, datasets.ObsPlanes, datasets.ObsPacked, datasets.ObsNone), "obs", "observations, made anew (default: as in the dataset)")
	flags.StringVar(&f.reward, "reward", "", "`NAME` of the reward, made anew (default: that of the dataset)")
	flags.Var(discount(&f.discount), "discount", "what a reward of the next turn counts in the return of this one (default: as in the dataset)")
	flags.Lookup("discount").DefValue = "" // said in words
	flags.Var(choice(&f.split, splits...), "split", "part of the episodes; which are in it is the same for every reader")
	flags.Var(share(&f.validation), "validation", "share of the episodes that are for validation")
	flags.Var(share(&f.test), "test", "share of the episodes that are for tests")
	flags.StringArrayVar(&f.filter.Policies, "policy", nil, "only rows in which this `POLICY`, or this member of a mix, chose; may be repeated")
	flags.IntSliceVar(&f.filter.Seats, "seat", nil, "only rows of these `SEATS`, from 0")
	flags.IntSliceVar(&f.filter.Chosen, "chosen", nil, "only rows in which the members of a mix with these `NUMBERS` chose, from 0")
	flags.StringSliceVar(&f.outcomes, "outcome", nil, "only rows of seats that ended with one of these `OUTCOMES`: win, draw, loss")
	flags.BoolVar(&f.filter.WithoutOpening, "no-opening", false, "leave out the turns of an opening, in which no policy chose")
	flags.BoolVar(&f.force, "force", false, "replace what is there")
	workersFlag(c, &f.workers)
	return c
}

func (a *app) runExport(ctx context.Context, dir string, f *exportFlags) error {
	if err := onDisk(f.out); err != nil {
		return err
	}
	switch {
	case f.to == "":
		return cli.WrongUse("--to is missing: %s, %s or %s", toParquet, toNPZ, toMinari)
	case f.out == "":
		return cli.WrongUse("--out is missing: the path to write, such as --out rows.%s", f.to)
	case f.to == toMinari && len(f.columns) > 0:
		return cli.WrongUse("--columns: the columns of %s are given", toMinari)
	case f.to == toMinari && f.filters():
		return cli.WrongUse("--policy, --seat, --chosen, --outcome, --no-opening: %s holds whole episodes, so no rows can be left out", toMinari)
	case f.validation+f.test > 1:
		return cli.WrongUse("--validation %g --test %g: expected shares that are 1 together or less", f.validation, f.test)
	}
	d, err := datasets.Open(dir)
	if err != nil {
		return err
	}
	o, err := f.readOptions(d)
	if err != nil {
		return err
	}
	if err := f.checkOut(); err != nil {
		return err
	}
	a.resume = "nothing was written"
	x := exported{From: dir, To: f.to, Path: f.out}
	m := a.meter("rows")
	defer m.end()
	if f.to == toMinari {
		err = f.minari(ctx, dir, &x, m)
	} else {
		err = f.file(ctx, d, o, &x, m)
	}
	x.Seconds = m.end().Seconds()
	if err != nil {
		return err
	}
	if x.Bytes, err = sizeOfPath(f.out); err != nil {
		return err
	}
	return a.print(x, func() {
		a.printf("%s: %s, %s, %s; %s\n", f.out, cli.Plural(x.Rows, "row"), strings.Join(x.Columns, ", "), cli.Size(x.Bytes), lasting(time.Duration(x.Seconds*float64(time.Second))))
	})
}

// filters reports whether rows are left out.
func (f *exportFlags) filters() bool { return !f.filter.Empty() || len(f.outcomes) > 0 }

// readOptions say what to read.
func (f *exportFlags) readOptions(d *datasets.Dataset) (datasets.ReadOptions, error) {
	o := datasets.ReadOptions{Columns: f.columns, Split: datasets.Split(slices.Index(splits, f.split)), Validation: f.validation, Test: f.test, Filter: f.filter}
	for _, text := range f.outcomes {
		o.Filter.Outcomes = append(o.Filter.Outcomes, datasets.FilterOutcome(text))
	}
	if f.obs != "" || f.reward != "" || f.discount != 0 || slices.Contains(f.columns, datasets.ColOpponent) {
		g, err := catalog.Find(d.Manifest().Job.Game)
		if err != nil {
			return o, err
		}
		m := makers(g)
		o.Makers, o.Obs, o.Reward, o.Discount, o.Workers = &m, f.obs, f.reward, f.discount, f.workers
	}
	if _, err := d.ReadColumns(o); err != nil {
		return o, cli.WrongUse("%w", err)
	}
	return o, nil
}

// checkOut tells why the path cannot be written.
func (f *exportFlags) checkOut() error {
	s, err := os.Stat(f.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !f.force:
		return cli.WrongUse("--out %s: it is there already; --force replaces it", f.out)
	case f.to != toMinari && s.IsDir():
		return cli.WrongUse("--out %s: expected the name of a file, found a folder", f.out)
	case f.to == toMinari:
		if _, err := os.Stat(filepath.Join(f.out, "data", "main_data.hdf5")); err != nil {
			return cli.WrongUse("--out %s: it is no dataset of Minari, and is not replaced", f.out)
		}
	}
	return nil
}

// file writes a file.
func (f *exportFlags) file(ctx context.Context, d *datasets.Dataset, o datasets.ReadOptions, x *exported, m *meter) error {
	options := export.Options{Read: o, Progress: func(done, all uint64) { m.show(done, all, 0, "") }}
	return writeWhole(f.out, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<18)
		var done export.Written
		var err error
		if f.to == toParquet {
			done, err = export.Parquet(ctx, b, d, options)
		} else {
			done, err = export.NPZ(ctx, b, filepath.Dir(f.out), d, options)
		}
		x.Rows, x.Columns = done.Rows, done.Columns
		if err != nil {
			return err
		}
		return b.Flush()
	})
}

// python is the program that writes Minari's layout.
func python() string {
	if name := os.Getenv("PYTHON"); name != "" {
		return name
	}
	return "python3"
}

// minari lets Python write the folder. It writes beside it, into a folder that is
// removed in any case.
func (f *exportFlags) minari(ctx context.Context, dir string, x *exported, m *meter) error {
	part := filepath.Join(filepath.Dir(f.out), "."+filepath.Base(f.out)+".part")
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.MkdirAll(part, 0o777); err != nil { // Minari's folders may not be there yet
		return err
	}
	defer os.RemoveAll(part)
	made := filepath.Join(part, filepath.Base(f.out))
	args := []string{"-m", "moonfarm", "export", dir, "--to", toMinari, "--out", made, "--progress", "--split", f.split,
		"--validation", fmt.Sprint(f.validation), "--test", fmt.Sprint(f.test), "--workers", fmt.Sprint(f.workers)}
	if f.obs != "" {
		args = append(args, "--obs", string(f.obs))
	}
	if f.reward != "" {
		args = append(args, "--reward", f.reward)
	}
	if f.discount != 0 {
		args = append(args, "--discount", fmt.Sprint(f.discount))
	}
	if err := runPython(ctx, args, x, m); err != nil {
		return err
	}
	if f.force {
		if err := os.RemoveAll(f.out); err != nil {
			return err
		}
	}
	return os.Rename(made, f.out)
}

// runPython runs Python, which tells on its output how far it is, a JSON object a
// line, and at last what it wrote.
func runPython(ctx context.Context, args []string, x *exported, m *meter) error {
	c := exec.CommandContext(ctx, python(), args...)
	var said strings.Builder
	c.Stderr, c.WaitDelay = &said, time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("--to %s: %w; $PYTHON may name a Python 3", toMinari, err)
	}
	var told struct {
		exported
		Done uint64 `json:"done"`
		All  uint64 `json:"all"`
	}
	lines := json.NewDecoder(out)
	for lines.Decode(&told) == nil {
		m.show(told.Done, told.All, 0, "")
	}
	err = c.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		all := strings.Split(strings.TrimSpace(said.String()), "\n")
		why := strings.TrimPrefix(all[len(all)-1], "moonfarm: ")
		if strings.Contains(why, "No module named") {
			why += "; needed are numpy, h5py and the package of env/python (see README), and $PYTHON may name a Python that has them"
		}
		return fmt.Errorf("--to %s: %s: %w: %s", toMinari, python(), err, why)
	}
	x.Rows, x.Episodes, x.Columns = told.Rows, told.Episodes, told.Columns
	return nil
}

// sizeOfPath is the size of a file, or of all files in a folder.
func sizeOfPath(name string) (bytes uint64, err error) {
	err = filepath.WalkDir(name, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		s, err := e.Info()
		if err == nil {
			bytes += uint64(s.Size())
		}
		return err
	})
	return bytes, err
}
