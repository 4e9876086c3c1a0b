//go:build cgo

package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
)

// dataset is the object of a handle of mf_dataset_open.
type dataset struct {
	idle
	*datasets.Dataset
	makers datasets.Makers
}

// String names the kind of handle.
func (d *dataset) String() string { return "a dataset" }

// Close implements io.Closer. A dataset holds no file open.
func (d *dataset) Close() error { return nil }

func openDataset(folder string) (*dataset, error) {
	if folder == "" {
		return nil, wrong("the path of the dataset is empty")
	}
	d, err := datasets.OpenContext(datasets.WithStores(context.Background(), stores()), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wrong("%v", err)
	}
	if errors.As(err, new(*datasets.SchemeError)) {
		return nil, wrong("%v; a library built with -tags stores has s3", err)
	}
	if err != nil {
		return nil, fault{codeData, err.Error()}
	}
	g, err := catalog.Find(d.Manifest().Job.Game)
	if err != nil {
		return nil, fault{codeData, err.Error()}
	}
	return &dataset{Dataset: d, makers: datasets.Makers{Vector: g.New, Recorded: g.Recorded}}, nil
}

// reader is the object of a handle of mf_reader_open.
type reader struct {
	idle
	columns []datasets.Column
	pull    func() (*datasets.Batch, error, bool) // see iter.Pull2
	stop    func()
	pending *datasets.Batch // the next batch, not yet taken
	err     error           // the error that ended reading
}

// String names the kind of handle.
func (r *reader) String() string { return "a reader" }

// newReader begins to read.
func newReader(d *dataset, o datasets.ReadOptions, play bool) (*reader, error) {
	if play {
		o.Makers = &d.makers
	}
	columns, err := d.ReadColumns(o)
	if err != nil {
		return nil, wrong("%v", err)
	}
	if len(o.Columns) == 0 {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c datasets.Column) bool { return c.Name == datasets.ColOrders })
		for _, c := range columns {
			o.Columns = append(o.Columns, c.Name)
		}
	}
	if err := checkReading(o, columns); err != nil {
		return nil, err
	}
	r := &reader{columns: columns}
	return r, apart(func() error {
		r.pull, r.stop = iter.Pull2(d.Batches(o))
		return nil
	})
}

// next returns the next batch, the same one until take.
func (r *reader) next() (*datasets.Batch, error) {
	if r.pending != nil || r.err != nil {
		return r.pending, r.err
	}
	r.err = apart(func() error {
		b, err, more := r.pull()
		switch {
		case !more:
			return io.EOF
		case err != nil:
			return fault{codeData, err.Error()}
		}
		r.pending = b
		return nil
	})
	return r.pending, r.err
}

// take marks the batch as taken.
func (r *reader) take() { r.pending = nil }

// Close implements io.Closer.
func (r *reader) Close() error {
	return apart(func() error {
		r.stop()
		return nil
	})
}

// apart returns the error of f in a goroutine of its own: a coroutine that a goroutine of the library's caller makes
// stays on its thread of the system, and the next call may come from another one.
func apart(f func() error) (err error) {
	var ended sync.WaitGroup
	ended.Go(func() { err = protect(f) })
	ended.Wait()
	return err
}

// columnCard describes a column of a reader.
type columnCard struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"` // of a row
	List  bool   `json:"list"`
	Doc   string `json:"doc"`
}

// describe returns the cards of all columns.
func (r *reader) describe() []columnCard {
	cards := []columnCard{}
	for _, c := range r.columns {
		cards = append(cards, columnCard{c.Name, string(c.Type), list(c.Shape), c.List, c.Doc})
	}
	return cards
}

// lines returns the lines of a text that are not empty.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
