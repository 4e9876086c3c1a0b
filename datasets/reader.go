package datasets

import (
	"fmt"
	"io"
	"iter"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/sim/prng"
)

// tableReader reads files of one table into one batch.
type tableReader struct {
	d     *Dataset
	r     *arrowfile.Reader
	table *arrowfile.RecordBatch
}

// reader returns a tableReader for the wanted columns of a table, or for all if want is
// nil.
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

// batch returns memory for the wanted columns of a batch of a table.
func (d *Dataset) batch(table int, want func(column string) bool) (*arrowfile.RecordBatch, error) {
	t, err := arrowfile.NewRecordBatch(d.tables[table].schema, d.tables[table].rows, want)
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

// close releases the memory.
func (t *tableReader) close() { t.table.Reset() }

// read reads the batches of a file into the table, one after the other, and calls each
// with the number of the batch's first row. It stops if each returns an error. It fails
// if the file does not hold the rows that the manifest says.
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
	c.t.table.Reset() // to release its lists, which may be long
}

// next reads the next batch into the table; false at the end of the file.
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
	row    int      // number of the row in the batch
	rows   int      // in the batch
}

// more reads the next batch after the last row of the one in hand. It returns false if
// the file has no more rows.
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

// number returns the number of the row in the file.
func (w *rowWalk) number() uint64 { return w.cursor.rows - uint64(w.rows) + uint64(w.row) }

// end checks that no rows are left.
func (w *rowWalk) end() error {
	more, err := w.more()
	if more {
		return fmt.Errorf("%s: row %d belongs to no episode", w.cursor.file.Path, w.number())
	}
	return err
}

// stretch is the episodes of a shard from one number up to another, and the file from
// which they are read.
type stretch struct {
	file     File // without a sum
	episodes File // of the same shard, without a sum
	first    uint64
	from, to uint64
}

// route goes through the episodes of a part, as stretches of shards in the order of
// reading. With Shuffle it holds the numbers of all shards.
type route struct {
	index      *indexReader
	table      int
	begin, end uint64 // of the part, in the order of reading
	before     uint64 // episodes of the shards that were passed
	at, shards int
	order      []int32 // of the shards; nil: in order
	held       []numbers
}

// numbers are the counts and places of a shard that a route keeps.
type numbers struct{ rows, bytes, episodes, first, end uint64 } // episodes: bytes of their file

// route returns a route through a part; rand draws the order.
func (d *Dataset) route(o *ReadOptions, table int, rand *prng.Rand) (*route, error) {
	index, err := d.indexReader()
	if err != nil {
		return nil, err
	}
	all := d.manifest.Totals.Episodes
	w := &route{index: index, table: table, shards: d.shardCount(),
		begin: all * uint64(o.Part) / uint64(o.Parts), end: all * uint64(o.Part+1) / uint64(o.Parts)}
	if o.Shuffle == 0 {
		return w, nil
	}
	for i := range w.shards {
		s, err := w.shard(i)
		if err != nil {
			return nil, err
		}
		w.order, w.held = append(w.order, int32(i)), append(w.held, numbers{s.file.Rows, s.file.Bytes, s.episodes.Bytes, s.first, s.to})
	}
	shuffle(rand, w.order)
	return w, nil
}

// shard returns a whole shard as a stretch.
func (w *route) shard(i int) (stretch, error) {
	s, err := w.index.shard(i)
	if err != nil {
		return stretch{}, err
	}
	f := s.of(w.table)
	return stretch{file: File{Path: f.Path, Rows: f.Rows, Bytes: f.Bytes}, episodes: File{Path: s.Episodes.Path, Rows: s.Episodes.Rows, Bytes: s.Episodes.Bytes},
		first: s.First, to: s.First + s.Episodes.Rows}, nil
}

// next returns the next stretch; io.EOF after the last.
func (w *route) next() (stretch, error) {
	for w.at < w.shards && w.before < w.end {
		var s stretch
		if w.order == nil {
			var err error
			if s, err = w.shard(w.at); err != nil {
				return s, err
			}
		} else {
			i := w.order[w.at]
			h := w.held[i]
			s = stretch{file: File{Path: pathOf(tableNames(true)[w.table], int(i)), Rows: h.rows, Bytes: h.bytes}, first: h.first, to: h.end,
				episodes: File{Path: pathOf(episodesDir, int(i)), Rows: h.end - h.first, Bytes: h.episodes}}
		}
		n, before := s.to-s.first, w.before
		w.at, w.before = w.at+1, before+n
		s.from, s.to = s.first+min(max(w.begin, before)-before, n), s.first+min(max(w.end, before)-before, n)
		if s.from < s.to {
			return s, nil
		}
	}
	return stretch{}, io.EOF
}

// stepData holds the columns of a table of steps or finals. Columns that the table does
// not have are nil.
type stepData struct {
	episode               []uint64
	turn                  []int32
	seat                  []uint8
	planes                []uint8
	packed                []uint64
	scalars               []float32
	mask                  []uint64
	action, asked         []int32
	orders                *arrowfile.Data
	reward, ret, outcome  []float32
	terminated, truncated []uint8
	chosen                []uint8
	value                 []float32
	search                [searchLists]*arrowfile.Data
}

// The lists of moves of searches, in stepData.search.
const (
	searchPolicy = iota
	searchChoices
	searchCounts
	searchLists
)

// newStepData returns the first rows of the columns of a table.
func newStepData(t *arrowfile.RecordBatch, rows int) stepData {
	b := func(name string) []byte {
		if d := t.Col(name); d != nil {
			return d.Values(rows)
		}
		return nil
	}
	s := stepData{
		episode: arrowfile.View[uint64](b(ColEpisode)), turn: arrowfile.View[int32](b(ColTurn)), seat: b(ColSeat),
		planes: b(ColPlanes), packed: arrowfile.View[uint64](b(ColPacked)), scalars: arrowfile.View[float32](b(ColScalars)),
		mask: arrowfile.View[uint64](b(ColMask)), action: arrowfile.View[int32](b(ColAction)), orders: t.Col(ColOrders),
		asked:  arrowfile.View[int32](b(ColAsked)),
		reward: arrowfile.View[float32](b(ColReward)), ret: arrowfile.View[float32](b(ColReturn)),
		outcome: arrowfile.View[float32](b(ColOutcome)), terminated: b(ColTerminated), truncated: b(ColTruncated), chosen: b(ColChosen),
		value: arrowfile.View[float32](b(ColSearchValue)),
	}
	for i, name := range [searchLists]string{ColSearchPolicy, ColSearchChoices, ColSearchCounts} {
		s.search[i] = t.Col(name)
	}
	return s
}

// rowsOf returns the values of n rows of a column from the given row on; nil without
// that column.
func rowsOf[T any](column []T, row, n, size int) []T {
	if column == nil {
		return nil
	}
	return column[row*size : (row+n)*size]
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
