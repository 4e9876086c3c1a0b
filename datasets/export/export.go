// Package export writes the step rows of a dataset in formats that others read:
// Parquet, and numpy's .npz. Rows are streamed: the memory is that of some batches.
//
// Parquet files are written by the package parquet/file of arrow. Its package
// pqarrow, which takes Arrow records, needs gRPC.
package export

import (
	"context"
	"fmt"
	"slices"

	"moonfarm/datasets"
	"moonfarm/datasets/internal/arrowfile"
)

// Options say which rows and columns to write.
type Options struct {
	// Read says which rows, columns and observations: all but Rows and Whole. Without
	// Columns, all are written that the format has: .npz has no lists.
	Read datasets.ReadOptions
	// Progress, if not nil, is told how many rows are done.
	Progress func(done, all uint64)
}

// Written says what was written.
type Written struct {
	Rows    uint64
	Columns []string
}

// batchBytes is about the size of a batch of rows, and of a row group of a Parquet
// file.
const batchBytes = 16 << 20

// source yields the rows of a dataset to a writer.
type source struct {
	d       *datasets.Dataset
	o       Options
	columns []datasets.Column
	rows    uint64
}

// newSource finds the columns that are wanted and counts the rows.
func newSource(ctx context.Context, d *datasets.Dataset, o Options) (*source, error) {
	s := &source{d: d, o: o}
	s.o.Read.Whole = false
	var err error
	if s.columns, err = d.ReadColumns(s.o.Read); err != nil {
		return nil, err
	}
	width := 1
	for _, c := range s.columns {
		width += c.Width()
	}
	s.o.Read.Rows = min(max(batchBytes/width, 64), 1<<16)
	if o.Read.Split == datasets.All && o.Read.Parts <= 1 && o.Read.Filter.Empty() {
		s.rows = d.Manifest().Totals.Rows
		return s, nil
	}
	count := datasets.ReadOptions{Columns: []string{datasets.ColSeat}, Rows: 1 << 16, Split: o.Read.Split,
		Validation: o.Read.Validation, Test: o.Read.Test, Part: o.Read.Part, Parts: o.Read.Parts, Filter: o.Read.Filter}
	for b, err := range d.Batches(count) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		s.rows += uint64(b.Rows)
	}
	return s, nil
}

// each yields the batches of rows until the context is done.
func (s *source) each(ctx context.Context, yield func(b *datasets.Batch) error) error {
	done := uint64(0)
	for b, err := range s.d.Batches(s.o.Read) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = yield(b)
		}
		if err != nil {
			return err
		}
		done += uint64(b.Rows)
		if s.o.Progress != nil {
			s.o.Progress(done, s.rows)
		}
	}
	if done != s.rows {
		return fmt.Errorf("found %d rows, expected %d", done, s.rows)
	}
	return nil
}

// written is what a writer that has come to the end of the rows has written.
func (s *source) written() Written {
	w := Written{Rows: s.rows}
	for _, c := range s.columns {
		w.Columns = append(w.Columns, c.Name)
	}
	return w
}

// values are the values of a column of a batch: a slice of numbers; bools are
// bytes.
func values(b *datasets.Batch, column string) any {
	return map[string]any{
		datasets.ColEpisode: b.Episode, datasets.ColTurn: b.Turn, datasets.ColSeat: b.Seat, datasets.ColPlanes: b.Planes,
		datasets.ColPacked: b.Packed, datasets.ColScalars: b.Scalars, datasets.ColMask: b.Mask, datasets.ColAction: b.Action,
		datasets.ColReward: b.Reward, datasets.ColReturn: b.Return, datasets.ColOutcome: b.Outcome, datasets.ColTerminated: b.Terminated,
		datasets.ColTruncated: b.Truncated, datasets.ColChosen: b.Chosen, datasets.ColNStep: b.NStep, datasets.ColOpponent: b.Opponent,
		datasets.ColOrders: b.Orders, datasets.ColSearchValue: b.SearchValue, datasets.ColSearchPolicy: b.SearchPolicy,
		datasets.ColSearchChoices: b.SearchChoices, datasets.ColSearchCounts: b.SearchCounts,
	}[column]
}

// listEnds are the ends of the lists of a column of a batch.
func listEnds(b *datasets.Batch, column string) []int32 {
	switch column {
	case datasets.ColOrders:
		return b.OrderEnds
	case datasets.ColSearchChoices:
		return b.SearchChoiceEnds
	}
	return b.SearchEnds
}

// withoutLists are the columns that are no lists.
func withoutLists(columns []datasets.Column) []datasets.Column {
	return slices.DeleteFunc(columns, func(c datasets.Column) bool { return c.List })
}

// isBool reports whether the bytes of a column are bools.
func isBool(c datasets.Column) bool { return c.Type == arrowfile.Bool }
