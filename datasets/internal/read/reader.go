package read

import (
	"fmt"
	"io"
	"iter"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/rows"
	"moonfarm/datasets/internal/store"
	"moonfarm/sim/prng"
)

// bound sets the bounds of lists and texts of a batch that is read. A batch ends after
// the row with which its lists reach listBytes. So it holds at most listBytes and the
// lists of one row; for steps, the lists of the rows of one turn.
func (d *Dataset) bound(table int, t *arrowfile.RecordBatch) {
	g := d.manifest.Game
	turns := g.MaxTurns * g.Players
	most := map[string]struct{ values, size int }{
		about.ColOrders: {min(turns*g.MaxOrders, about.MaxEpisodeOrders), 8}, about.ColEnds: {turns, 4}, about.ColChosen: {turns, 1}, about.ColRecording: {about.MaxRecording, 1},
		about.ColAskedOrders: {min(turns*g.MaxOrders, about.MaxEpisodeOrders), 8}, about.ColAskedEnds: {turns, 4},
		about.ColSearchValue: {turns, 4}, about.ColSearchEnds: {turns, 4}, about.ColSearchPolicy: {about.MaxEpisodeMoves, 4},
		about.ColSearchChoices: {about.MaxEpisodeMoves, 4}, about.ColSearchCounts: {about.MaxEpisodeMoves, 4},
		about.ColPolicies: {about.MaxPolicy, 1}, about.ColSource: {about.MaxText, 1}, about.ColStopped: {about.MaxText, 1},
	}
	beyond := 0 // bytes of lists beyond listBytes
	for _, c := range t.Data {
		if c == nil || c.Ends == nil {
			continue
		}
		m := most[c.Column.Name]
		if table == about.StepsTable { // the bound of a row
			switch c.Column.Name {
			case about.ColOrders:
				m.values = g.MaxOrders
			case about.ColSearchChoices: // only games of several heads have more choices than moves
				m.values = min(about.MaxMoves*len(d.manifest.Action.Heads), about.MaxEpisodeMoves)
			default:
				m.values = about.MaxMoves
			}
			beyond += m.values * m.size * (g.Players - 1)
		}
		c.Most = max(m.values, 1)
		beyond += c.Most * m.size * c.Column.Values()
	}
	t.MostLists = about.ListBytes + min(beyond, about.MaxEpisodeLists)
}

// TableReader reads files of one table into one batch.
type TableReader struct {
	d     *Dataset
	r     *arrowfile.Reader
	Table *arrowfile.RecordBatch
}

// Reader returns a tableReader for the wanted columns of a table, or for all if want is
// nil.
func (d *Dataset) Reader(table int, want func(column string) bool) (*TableReader, error) {
	r, err := arrowfile.NewReader(d.Tables[table].Schema, d.manifest.Job.Codec)
	if err != nil {
		return nil, err
	}
	t, err := d.batch(table, want)
	if err != nil {
		return nil, err
	}
	return &TableReader{d, r, t}, nil
}

// batch returns memory for the wanted columns of a batch of a table.
func (d *Dataset) batch(table int, want func(column string) bool) (*arrowfile.RecordBatch, error) {
	t, err := arrowfile.NewRecordBatch(d.Tables[table].Schema, d.Tables[table].Rows, want)
	if err == nil {
		d.bound(table, t)
	}
	return t, err
}

// eachShard calls do for each of the shards, with one reader of the wanted columns
// of a table, until one fails.
func (d *Dataset) eachShard(shards iter.Seq2[about.Shard, error], table int, want func(column string) bool, do func(*TableReader, about.Shard) error) error {
	r, err := d.Reader(table, want)
	if err != nil {
		return err
	}
	defer r.Close()
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

// Close releases the memory, and never fails.
func (t *TableReader) Close() error {
	t.Table.Reset()
	return nil
}

// Read reads the batches of a file into the table, one after the other, and calls each
// with the number of the batch's first row. It stops if each returns an error. It fails
// if the file does not hold the rows that the manifest says.
func (t *TableReader) Read(f about.File, each func(first uint64) error) error {
	c, err := t.Open(f)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		first := c.Rows
		if more, err := c.Next(); err != nil || !more {
			return err
		}
		if err := each(first); err != nil {
			return err
		}
	}
}

// FileCursor reads the batches of one file, one at a time.
type FileCursor struct {
	Reader  *TableReader
	File    about.File
	f       store.Reader
	batch   int
	batches int
	Rows    uint64 // read
}

// Open begins to read a file.
func (t *TableReader) Open(f about.File) (*FileCursor, error) {
	file, err := t.d.Files.Open(t.d.Ctx, f.Path)
	if err != nil {
		return nil, err
	}
	c := &FileCursor{Reader: t, File: f, f: file}
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

// Close closes the file and releases the lists of its last batch.
func (f *FileCursor) Close() {
	f.f.Close()
	f.Reader.Table.Reset() // to release its lists, which may be long
}

// Next reads the next batch into the table; false at the end of the file.
func (f *FileCursor) Next() (bool, error) {
	if f.batch == f.batches {
		if f.Rows != f.File.Rows {
			return false, fmt.Errorf("%s: %d rows, the manifest says %d", f.File.Path, f.Rows, f.File.Rows)
		}
		return false, nil
	}
	if err := f.Reader.r.Read(f.batch, f.Reader.Table); err != nil {
		return false, fmt.Errorf("%s: batch %d: %w", f.File.Path, f.batch, err)
	}
	f.batch++
	if f.Rows += uint64(f.Reader.Table.Rows); f.Rows > f.File.Rows {
		return false, fmt.Errorf("%s: %d rows and more, the manifest says %d", f.File.Path, f.Rows, f.File.Rows)
	}
	return true, nil
}

// RowWalk goes through the step rows or finals of one file, row by row.
type RowWalk struct {
	Cursor *FileCursor
	Data   Batch // in hand
	Row    int   // number of the row in the batch
}

// More reads the next batch after the last row of the one in hand. It returns false if
// the file has no more rows.
func (r *RowWalk) More() (bool, error) {
	for r.Row == r.Data.Rows {
		if more, err := r.Cursor.Next(); err != nil || !more {
			return false, err
		}
		t := r.Cursor.Reader.Table
		r.Data, r.Row = BatchOf(t, t.Rows), 0
	}
	return true, nil
}

// Number returns the number of the row in the file.
func (r *RowWalk) Number() uint64 { return r.Cursor.Rows - uint64(r.Data.Rows) + uint64(r.Row) }

// End checks that no rows are left.
func (r *RowWalk) End() error {
	more, err := r.More()
	if more {
		return fmt.Errorf("%s: row %d belongs to no episode", r.Cursor.File.Path, r.Number())
	}
	return err
}

// stretch is the episodes of a shard from one number up to another.
type stretch struct {
	shard, table int32  // the table is that of the rows that are read
	rows, bytes  uint64 // of its file
	episodeBytes uint64 // of the file of episodes
	first, end   uint64 // episodes of the shard
	from, to     uint64 // episodes of the stretch
}

// file returns the file of the rows, without a sum.
func (s *stretch) file() about.File {
	return about.File{Path: about.PathOf(about.TableNames(true)[s.table], int(s.shard)), Rows: s.rows, Bytes: s.bytes}
}

// episodes returns the file of episodes, without a sum.
func (s *stretch) episodes() about.File {
	return about.File{Path: about.PathOf(about.EpisodesDir, int(s.shard)), Rows: s.end - s.first, Bytes: s.episodeBytes}
}

// route goes through the episodes of a part, as stretches of shards in the order of
// reading. With Shuffle it holds those of all shards.
type route struct {
	index      *indexReader
	table      int
	begin, end uint64 // of the part, in the order of reading
	before     uint64 // episodes of the shards that were passed
	at, shards int
	order      []int32 // of the shards; nil: in order
	held       []stretch
}

// route returns a route through a part; rand draws the order.
func (d *Dataset) route(o *ReadOptions, table int, rand *prng.Rand) (*route, error) {
	index, err := d.IndexReader()
	if err != nil {
		return nil, err
	}
	all := d.manifest.Totals.Episodes
	w := &route{index: index, table: table, shards: d.ShardCount(),
		begin: all * uint64(o.Part) / uint64(o.Parts), end: all * uint64(o.Part+1) / uint64(o.Parts)}
	if o.Shuffle == 0 {
		return w, nil
	}
	for i := range w.shards {
		s, err := w.shard(i)
		if err != nil {
			return nil, err
		}
		w.held = append(w.held, s)
	}
	w.order = rows.Shuffled(nil, w.shards, rand)
	return w, nil
}

// shard returns a whole shard as a stretch.
func (r *route) shard(i int) (stretch, error) {
	if r.order != nil {
		return r.held[r.order[i]], nil
	}
	s, err := r.index.Shard(i)
	f := s.Of(r.table)
	return stretch{shard: int32(i), table: int32(r.table), rows: f.Rows, bytes: f.Bytes, episodeBytes: s.Episodes.Bytes, first: s.First, end: s.First + s.Episodes.Rows}, err
}

// next returns the next stretch; io.EOF after the last.
func (r *route) next() (stretch, error) {
	for r.at < r.shards && r.before < r.end {
		s, err := r.shard(r.at)
		if err != nil {
			return s, err
		}
		n, before := s.end-s.first, r.before
		r.at, r.before = r.at+1, before+n
		s.from, s.to = s.first+min(max(r.begin, before)-before, n), s.first+min(max(r.end, before)-before, n)
		if s.from < s.to {
			return s, nil
		}
	}
	return stretch{}, io.EOF
}
