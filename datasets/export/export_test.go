package export

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
)

// made makes a small dataset of a game whose first seat plays a mixture.
func made(t *testing.T, game string, o datasets.Obs) (*datasets.Dataset, *datasets.Makers) {
	t.Helper()
	g, err := catalog.Find(game)
	require.NoError(t, err)
	m := &datasets.Makers{Vector: g.New, Recorded: g.Recorded, Policy: func(name string, _ rollout.Files) (rollout.Maker, error) { return policy.New(g.Name, name) }}
	j := datasets.Job{Game: game, Policies: []string{"mix(1*empty,1*random)", "random"}, Episodes: 5, ShardEpisodes: 2, MaxTurns: 15, Obs: o}
	if game == "towerdefence" {
		j.Policies[1] = "mcts(sims=2)"
	}
	if names := policy.Names(game); names[0].Name != "empty" {
		j.Policies[0] = "mix(1*" + names[0].Name + ",1*random)"
	}
	dir := filepath.Join(t.TempDir(), "made")
	_, err = datasets.Generate(context.Background(), dir, j, *m, datasets.Options{Workers: 1})
	require.NoError(t, err)
	d, err := datasets.Open(dir)
	require.NoError(t, err)
	return d, m
}

// column is all of a column: its values as bytes, and of lists where they end.
type column struct {
	values []byte
	ends   []int
}

// read reads columns by Batches.
func read(t *testing.T, d *datasets.Dataset, o datasets.ReadOptions, names []string) map[string]*column {
	t.Helper()
	all := map[string]*column{}
	for b, err := range d.Batches(o) {
		require.NoError(t, err)
		for _, name := range names {
			c := all[name]
			if c == nil {
				c = &column{}
				all[name] = c
			}
			before := 0
			if n := len(c.ends); n > 0 {
				before = c.ends[n-1]
			}
			if c.values, err = binary.Append(c.values, binary.LittleEndian, values(b, name)); err != nil {
				t.Fatal(err)
			}
			if lists := []string{datasets.ColOrders, datasets.ColSearchPolicy, datasets.ColSearchChoices}; slices.Contains(lists, name) {
				for _, end := range listEnds(b, name)[1:] {
					c.ends = append(c.ends, before+int(end))
				}
			}
		}
	}
	return all
}

// readParquet reads columns of a Parquet file. width is how many values a row has; 0
// tells of lists of any length.
func readParquet(t *testing.T, r *file.Reader, at int, c datasets.Column) *column {
	t.Helper()
	all, count := &column{}, 0
	for g := range r.NumRowGroups() {
		chunk, err := r.RowGroup(g).Column(at)
		require.NoError(t, err)
		for chunk.HasNext() {
			const most = 1000
			reps := make([]int16, most)
			defs := make([]int16, most)
			var got any
			var total int64
			var n int
			switch chunk := chunk.(type) {
			case *file.BooleanColumnChunkReader:
				v := make([]bool, most)
				total, n, err = chunk.ReadBatch(most, v, defs, reps)
				got = v[:n]
			case *file.Int32ColumnChunkReader:
				v := make([]int32, most)
				total, n, err = chunk.ReadBatch(most, v, defs, reps)
				if got = v[:n]; c.Type == "uint8" {
					narrow := make([]uint8, n)
					for i := range narrow {
						narrow[i] = uint8(v[i])
					}
					got = narrow
				}
			case *file.Int64ColumnChunkReader:
				v := make([]int64, most)
				total, n, err = chunk.ReadBatch(most, v, defs, reps)
				got = v[:n]
			case *file.Float32ColumnChunkReader:
				v := make([]float32, most)
				total, n, err = chunk.ReadBatch(most, v, defs, reps)
				got = v[:n]
			}
			require.NoError(t, err)
			all.values, err = binary.Append(all.values, binary.LittleEndian, got)
			require.NoError(t, err)
			if !isList(c) {
				continue
			}
			for i := range total { // a row begins where nothing is repeated
				if reps[i] == 0 {
					all.ends = append(all.ends, count)
				}
				count += int(defs[i])
			}
		}
	}
	if isList(c) {
		all.ends = append(all.ends[1:], count)
	}
	return all
}

// requireParquet demands that a Parquet file has the rows that Batches yields.
func requireParquet(t *testing.T, d *datasets.Dataset, o datasets.ReadOptions) {
	t.Helper()
	var out bytes.Buffer
	done := uint64(0)
	w, err := Parquet(context.Background(), &out, d, Options{Read: o, Progress: func(n, all uint64) { done = n }})
	require.NoError(t, err)
	require.Equal(t, w.Rows, done)
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.EqualValues(t, w.Rows, r.NumRows())
	var columns []datasets.Column
	require.NoError(t, json.Unmarshal([]byte(*r.MetaData().KeyValueMetadata().FindValue(keyColumns)), &columns))
	var m datasets.Manifest
	require.NoError(t, json.Unmarshal([]byte(*r.MetaData().KeyValueMetadata().FindValue(keyManifest)), &m))
	require.Equal(t, d.Manifest().Checksum, m.Checksum)
	want := read(t, d, o, w.Columns)
	for i, c := range columns {
		require.Equal(t, w.Columns[i], c.Name)
		require.Equal(t, c.Name, strings.Split(r.MetaData().Schema.Column(i).Path(), ".")[0])
		got := readParquet(t, r, i, c)
		require.True(t, bytes.Equal(want[c.Name].values, got.values), "column %s", c.Name)
		switch {
		case c.List:
			require.Equal(t, want[c.Name].ends, got.ends, "column %s", c.Name)
		case isList(c):
			for row, end := range got.ends {
				require.Equal(t, (row+1)*c.Values(), end, "column %s", c.Name)
			}
			require.Len(t, got.ends, int(w.Rows))
		}
	}
}

// requireNPZ demands that an .npz file has the rows that Batches yields.
func requireNPZ(t *testing.T, d *datasets.Dataset, o datasets.ReadOptions) {
	t.Helper()
	var out bytes.Buffer
	temp := t.TempDir()
	w, err := NPZ(context.Background(), &out, temp, d, Options{Read: o})
	require.NoError(t, err)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	require.Len(t, z.File, len(w.Columns)+1)
	o.Columns = w.Columns
	want := read(t, d, o, w.Columns)
	for i, name := range w.Columns {
		require.Equal(t, name+".npy", z.File[i].Name)
		in, err := z.File[i].Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in) // which checks the sum
		require.NoError(t, err)
		head := 10 + int(binary.LittleEndian.Uint16(text[8:]))
		require.Zero(t, head%64)
		require.True(t, bytes.Equal(want[name].values, text[head:]), "column %s", name)
	}
}

// TestEveryColumn: of every game, the exported columns are those that Batches yields,
// read from disk and played again.
func TestEveryColumn(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) {
			d, m := made(t, g.Name, datasets.ObsPacked)
			every := datasets.ReadOptions{Makers: m, Obs: datasets.ObsPlanes, Discount: 0.9, Steps: 3}
			columns, err := d.ReadColumns(every)
			require.NoError(t, err)
			for _, c := range columns {
				every.Columns = append(every.Columns, c.Name)
			}
			every.Columns = append(every.Columns, datasets.ColOpponent)
			for _, o := range []datasets.ReadOptions{
				{}, every,
				{Split: datasets.Train, Validation: 0.4}, {Split: datasets.Validation, Validation: 0.4, Makers: m, Obs: datasets.ObsNone},
				{Columns: []string{datasets.ColReturn, datasets.ColOrders}},
				{Filter: datasets.Filter{Seats: []int{1}}}, {Filter: datasets.Filter{Seats: []int{1}}, Makers: m},
			} {
				if able() == nil {
					requireParquet(t, d, o)
				}
				o.Columns = nil
				requireNPZ(t, d, o)
			}
		})
	}
}

// TestValues: every slice of a Batch is found by the name of its column.
func TestValues(t *testing.T) {
	b := &datasets.Batch{}
	v := reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Slice && !strings.HasSuffix(f.Name, "Ends") {
			v.Field(i).Set(reflect.MakeSlice(f.Type, 7+i, 7+i))
			require.Equal(t, 7+i, reflect.ValueOf(values(b, strings.Replace(strings.ToLower(f.Name), "search", "search_", 1))).Len(), f.Name)
		}
	}
}

func TestLevels(t *testing.T) {
	ends := []int{0, 2, 2, 3}
	var p parquetWriter
	p.levels(0, 3, func(row int) int { return ends[row] })
	require.Equal(t, []int16{1, 1, 0, 1}, p.defs)
	require.Equal(t, []int16{0, 1, 0, 0}, p.reps)
}

// TestLongLists: the lists of a column are more than are written at a time.
func TestLongLists(t *testing.T) {
	if err := able(); err != nil {
		t.Skip(err)
	}
	b := &datasets.Batch{Rows: 5, Orders: make([]sim.Order, 3*pieceValues), OrderEnds: []int32{0, 1, 1, pieceValues + 9, pieceValues + 9, 3 * pieceValues}}
	for i := range b.Orders {
		b.Orders[i] = sim.Order(i)
	}
	c := datasets.Column{Name: datasets.ColOrders, Type: "uint64", List: true}
	root, err := parquetSchema([]datasets.Column{c})
	require.NoError(t, err)
	var out bytes.Buffer
	p := &parquetWriter{ctx: context.Background(), s: &source{columns: []datasets.Column{c}}, out: file.NewParquetWriter(&out, root)}
	require.NoError(t, p.add(b))
	require.NoError(t, p.out.Close())
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	got := readParquet(t, r, 0, c)
	require.Equal(t, []int{1, 1, pieceValues + 9, pieceValues + 9, 3 * pieceValues}, got.ends)
	want, err := binary.Append(nil, binary.LittleEndian, b.Orders)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got.values))
}

func TestRefused(t *testing.T) {
	if err := able(); err != nil {
		t.Skip(err)
	}
	d, _ := made(t, "tron", datasets.ObsNone)
	ctx, cancel := context.WithCancelCause(context.Background())
	_, err := NPZ(ctx, io.Discard, t.TempDir(), d, Options{Read: datasets.ReadOptions{Columns: []string{datasets.ColOrders}}})
	require.ErrorContains(t, err, `column "orders": lists are not in .npz files`)
	_, err = NPZ(ctx, io.Discard, t.TempDir(), d, Options{Read: datasets.ReadOptions{Split: datasets.Test}})
	require.ErrorContains(t, err, "there are no rows of this split or part")
	_, err = Parquet(ctx, io.Discard, d, Options{Read: datasets.ReadOptions{Columns: []string{"planes"}}})
	require.ErrorContains(t, err, `"planes"`)
	full := errors.New("the disk is full")
	_, err = Parquet(ctx, failing{full}, d, Options{})
	require.ErrorIs(t, err, full)
	_, err = NPZ(ctx, failing{full}, t.TempDir(), d, Options{})
	require.ErrorIs(t, err, full)
	stopped := errors.New("stopped")
	cancel(stopped)
	_, err = Parquet(ctx, io.Discard, d, Options{})
	require.ErrorIs(t, err, stopped)
	temp := t.TempDir()
	_, err = NPZ(ctx, io.Discard, temp, d, Options{})
	require.ErrorIs(t, err, stopped)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// failing is a writer that fails.
type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }
