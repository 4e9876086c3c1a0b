package datasets

import (
	"fmt"
	"iter"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
)

// tableReader reads files of one table into one batch.
type tableReader struct {
	d     *Dataset
	r     *arrowfile.Reader
	table *arrowfile.Table
}

// reader makes a tableReader for the wanted columns of a table; a nil want is
// for all.
func (d *Dataset) reader(table int, want func(column string) bool) (*tableReader, error) {
	r, err := arrowfile.NewReader(d.tables[table].schema, d.manifest.Job.Codec)
	if err != nil {
		return nil, err
	}
	t, err := d.batch(table, want)
	if err != nil {
		return nil, err
	}
	return &tableReader{d, r, t}, nil
}

// batch is memory for the wanted columns of a batch of a table.
func (d *Dataset) batch(table int, want func(column string) bool) (*arrowfile.Table, error) {
	t, err := arrowfile.NewTable(d.tables[table].schema, d.tables[table].rows, want)
	if err == nil {
		d.bound(table, t)
	}
	return t, err
}

// eachShard calls do for each of the shards, with one reader of the wanted columns
// of a table, until one fails.
func (d *Dataset) eachShard(shards iter.Seq2[Shard, error], table int, want func(column string) bool, do func(*tableReader, Shard) error) error {
	r, err := d.reader(table, want)
	if err != nil {
		return err
	}
	defer r.close()
	for s, err := range shards {
		if err == nil {
			err = do(r, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close lets go of the memory.
func (t *tableReader) close() { t.table.Reset() }

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
	f       store.Reader
	batch   int
	batches int
	rows    uint64 // read
}

// open begins to read a file.
func (t *tableReader) open(f File) (*fileCursor, error) {
	file, err := t.d.files.Open(t.d.ctx, f.Path)
	if err != nil {
		return nil, err
	}
	c := &fileCursor{t: t, file: f, f: file}
	if size := file.Size(); uint64(size) != f.Bytes {
		err = fmt.Errorf("%d bytes, the manifest says %d", size, f.Bytes)
	} else {
		c.batches, err = t.r.Open(file, size)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return c, nil
}

func (c *fileCursor) close() {
	c.f.Close()
	c.t.table.Reset() // its lists may be long
}

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
	if c.rows += uint64(c.t.table.Rows); c.rows > c.file.Rows {
		return false, fmt.Errorf("%s: %d rows and more, the manifest says %d", c.file.Path, c.rows, c.file.Rows)
	}
	return true, nil
}

// rowWalk goes through the step rows or finals of one file, row by row.
type rowWalk struct {
	cursor *fileCursor
	data   stepData // the batch in hand
	row    int      // of the batch
	rows   int      // in the batch
}

// more reads the next batch when the rows of the one in hand are through. It
// returns false if the file has no more rows.
func (w *rowWalk) more() (bool, error) {
	for w.row == w.rows {
		if more, err := w.cursor.next(); err != nil || !more {
			return false, err
		}
		t := w.cursor.t.table
		w.data, w.row, w.rows = newStepData(t, t.Rows), 0, t.Rows
	}
	return true, nil
}

// number is the number of the row in the file.
func (w *rowWalk) number() uint64 { return w.cursor.rows - uint64(w.rows) + uint64(w.row) }

// end checks that no rows are left.
func (w *rowWalk) end() error {
	more, err := w.more()
	if more {
		return fmt.Errorf("%s: row %d belongs to no episode", w.cursor.file.Path, w.number())
	}
	return err
}
