package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
)

// Dataset is a complete dataset on disk, opened for reading. It may be used by
// several goroutines at once.
type Dataset struct {
	dir      string
	manifest *Manifest
	steps    arrowfile.Schema
	episodes arrowfile.Schema
}

// Open opens the dataset in dir. It reads and checks the manifest, no more: an
// incomplete dataset, a foreign folder and a damaged manifest are errors;
// damaged files are found when they are read, changed content by Verify.
func Open(dir string) (*Dataset, error) {
	m, err := readManifest(dir)
	if err != nil {
		if _, e := os.Stat(filepath.Join(dir, runName)); e == nil {
			return nil, fmt.Errorf("%s: the dataset is not complete; repeat the command that makes it (%w)", dir, err)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no dataset there: %w", dir, err)
		}
		return nil, err
	}
	l := newLayout(m.Job, []env.Spec{m.spec()})
	return &Dataset{dir: dir, manifest: m, steps: l.steps, episodes: l.episodes}, nil
}

// Manifest returns what the dataset is. It must not be changed.
func (d *Dataset) Manifest() *Manifest { return d.manifest }

// tableReader reads files of one schema into one table.
type tableReader struct {
	dir   string
	r     *arrowfile.Reader
	table *arrowfile.Table
}

// reader makes a tableReader for the steps or the episodes; want chooses
// columns, nil all.
func (d *Dataset) reader(s arrowfile.Schema, rows int, want func(string) bool) (*tableReader, error) {
	r, err := arrowfile.NewReader(s, d.manifest.Job.Codec)
	if err != nil {
		return nil, err
	}
	t, err := arrowfile.NewTable(s, rows, want)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &tableReader{d.dir, r, t}, nil
}

func (d *Dataset) stepReader(want func(string) bool) (*tableReader, error) {
	return d.reader(d.steps, d.manifest.Steps.BatchRows, want)
}

func (d *Dataset) episodeReader() (*tableReader, error) {
	return d.reader(d.episodes, d.manifest.Episodes.BatchRows, nil)
}

func (t *tableReader) close() { t.r.Close() }

// read calls each after every batch of the file has been read into the table;
// first is the number of its first row. It stops if each returns an error. It
// fails if the file does not hold the rows that the manifest says.
func (t *tableReader) read(f File, each func(first uint64) error) error {
	c, err := t.open(f)
	if err != nil {
		return err
	}
	defer c.close()
	for {
		first := c.rows
		if more, err := c.next(); err != nil || !more {
			return err
		}
		if err := each(first); err != nil {
			return err
		}
	}
}

// fileCursor reads the batches of one file, one at a time.
type fileCursor struct {
	t       *tableReader
	file    File
	f       *os.File
	batch   int
	batches int
	rows    uint64 // read
}

// open begins to read a file.
func (t *tableReader) open(f File) (*fileCursor, error) {
	file, err := os.Open(filepath.Join(t.dir, filepath.FromSlash(f.Path)))
	if err != nil {
		return nil, err
	}
	c := &fileCursor{t: t, file: f, f: file}
	s, err := file.Stat()
	if err == nil {
		c.batches, err = t.r.Open(file, s.Size())
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return c, nil
}

func (c *fileCursor) close() { c.f.Close() }

// next reads the next batch into the table; false if there is none.
func (c *fileCursor) next() (bool, error) {
	if c.batch == c.batches {
		if c.rows != c.file.Rows {
			return false, fmt.Errorf("%s: %d rows, the manifest says %d", c.file.Path, c.rows, c.file.Rows)
		}
		return false, nil
	}
	if err := c.t.r.Read(c.batch, c.t.table); err != nil {
		return false, fmt.Errorf("%s: batch %d: %w", c.file.Path, c.batch, err)
	}
	c.batch++
	c.rows += uint64(c.t.table.Rows)
	return true, nil
}

// ColumnSHA256 is the sha256, in hexadecimal, of the values of a column over
// all shards in order: numbers as little-endian bytes, bools as a byte each,
// the values of lists one after the other. table is "steps" or "episodes".
// Readers in other languages can compare theirs with it.
func (d *Dataset) ColumnSHA256(table, column string) (string, error) {
	r, files, err := d.column(table, column)
	if err != nil {
		return "", err
	}
	defer r.close()
	sum := sha256.New()
	data := r.table.Col(column)
	for _, f := range files {
		err := r.read(f, func(uint64) error {
			sum.Write(columnBytes(data, r.table.Rows))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// column returns a reader of one column and the files it is in.
func (d *Dataset) column(table, column string) (*tableReader, []File, error) {
	var files []File
	schema, rows := d.steps, d.manifest.Steps.BatchRows
	switch table {
	case stepsDir:
		for _, s := range d.manifest.Shards {
			files = append(files, s.Steps)
		}
	case episodesDir:
		schema, rows = d.episodes, d.manifest.Episodes.BatchRows
		for _, s := range d.manifest.Shards {
			files = append(files, s.Episodes)
		}
	default:
		return nil, nil, fmt.Errorf("no table %q; there are: steps, episodes", table)
	}
	r, err := d.reader(schema, rows, func(name string) bool { return name == column })
	if err != nil {
		return nil, nil, err
	}
	if r.table.Col(column) == nil {
		r.close()
		return nil, nil, fmt.Errorf("no column %q in the %s", column, table)
	}
	return r, files, nil
}

// columnBytes are the values of the column's first rows.
func columnBytes(d *arrowfile.Data, rows int) []byte {
	if d.Fixed == nil {
		return d.Bytes
	}
	return d.Fixed[:rows*d.Column.Width()]
}

// parallel calls do for 0 … n−1 on several goroutines, each with what set
// makes for it, until one fails or the context is done.
func parallel[W interface{ close() }](ctx context.Context, workers, n int, set func() (W, error), do func(W, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(max(workers, 1), n) {
		wg.Go(func() {
			w, err := set()
			if err != nil {
				cancel(err)
				return
			}
			defer w.close()
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				if err := do(w, i); err != nil {
					cancel(err) // the first cause stays
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
