//go:build cgo

package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	from    source
	pending *datasets.Batch // the next batch, not yet taken
	err     error           // the error that ended reading
}

// source returns batches, each valid until the next call, and io.EOF after the
// last.
type source interface {
	Next() (*datasets.Batch, error)
	Close()
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
	if play {
		if r.from, err = d.Render(o); err != nil {
			return nil, fault{codeData, err.Error()} // the options are valid
		}
	} else {
		r.from = readFiles(d, o)
	}
	return r, nil
}

// next returns the next batch, the same one until take.
func (r *reader) next() (*datasets.Batch, error) {
	if r.pending != nil || r.err != nil {
		return r.pending, r.err
	}
	r.err = protect(func() (err error) {
		if r.pending, err = r.from.Next(); err != nil && err != io.EOF {
			err = fault{codeData, err.Error()}
		}
		return err
	})
	return r.pending, r.err
}

// take marks the batch as taken.
func (r *reader) take() { r.pending = nil }

// Close implements io.Closer.
func (r *reader) Close() error {
	r.from.Close()
	return nil
}

// files reads the files of a dataset: a goroutine makes the next batch while
// the caller works with the previous one. (A coroutine of package iter must
// stay on one thread of the system, and callers come from any thread.)
type files struct {
	made  chan made
	taken chan struct{} // the batch that was made may be overwritten
	stop  chan struct{}
	given bool
	ended sync.WaitGroup
}

// made is a batch, or the error that ends reading.
type made struct {
	b   *datasets.Batch
	err error
}

func readFiles(d *dataset, o datasets.ReadOptions) *files {
	f := &files{made: make(chan made), taken: make(chan struct{}), stop: make(chan struct{})}
	f.ended.Go(func() {
		err := protect(func() error { return f.run(d, o) })
		select {
		case f.made <- made{nil, err}:
		case <-f.stop:
		}
	})
	return f
}

// run makes batches until it is stopped.
func (f *files) run(d *dataset, o datasets.ReadOptions) error {
	for b, err := range d.Batches(o) {
		if err != nil {
			return err
		}
		select {
		case f.made <- made{b, nil}:
		case <-f.stop:
			return nil
		}
		select {
		case <-f.taken:
		case <-f.stop:
			return nil
		}
	}
	return io.EOF
}

// Next implements source.
func (f *files) Next() (*datasets.Batch, error) {
	if f.given {
		f.taken <- struct{}{}
	}
	m := <-f.made
	f.given = m.b != nil
	return m.b, m.err
}

// Close implements source: it stops the goroutine.
func (f *files) Close() {
	close(f.stop)
	f.ended.Wait()
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
