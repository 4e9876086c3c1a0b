package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
)

// TestRecords compares the records of every table, form and codec with the batches that
// the Arrow library reads from the files.
func TestRecords(t *testing.T) {
	for _, c := range []Codec{Zstd, LZ4, None} {
		for _, o := range []Obs{ObsPlanes, ObsPacked, ObsNone} {
			j := mixed(toyJob(3, 2))
			j.Codec, j.Obs = c, o
			dir := generateToy(t, j, Options{Workers: 2})
			d := opened(t, dir)
			for _, table := range []string{"steps", "episodes", "finals"} {
				if table == "finals" && o == ObsNone {
					continue
				}
				var got []arrow.Record // all kept: each has memory of its own
				for r := range each(t, d.Records(table)) {
					got = append(got, r)
				}
				want := arrowRecords(t, dir, table)
				require.Len(t, got, len(want))
				for i := range want {
					require.Equal(t, want[i].Schema().Metadata().ToMap(), got[i].Schema().Metadata().ToMap())
					for k, f := range want[i].Schema().Fields() {
						g := got[i].Schema().Field(k)
						require.Equal(t, f.Name, g.Name)
						require.Equal(t, f.Metadata.ToMap()["moonfarm.shape"], g.Metadata.ToMap()["moonfarm.shape"])
						require.True(t, array.Equal(want[i].Column(k), got[i].Column(k)), "%s.%s", table, f.Name)
					}
					got[i].Release()
				}
			}
		}
	}
}

// arrowRecords returns the record batches of a table as the Arrow library reads them.
func arrowRecords(t *testing.T, dir, table string) (all []arrow.Record) {
	paths, err := filepath.Glob(filepath.Join(dir, table, "*.arrow"))
	require.NoError(t, err)
	for _, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		r, err := ipc.NewFileReader(f)
		require.NoError(t, err)
		for i := range r.NumRecords() {
			b, err := r.RecordAt(i)
			require.NoError(t, err)
			all = append(all, b)
		}
	}
	return all
}

// TestRecordsOfColumns: records of some columns are in the order of the table, and have
// the right sums.
func TestRecordsOfColumns(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	d := opened(t, dir)
	sum := sha256.New()
	for r := range each(t, d.Records("steps", about.ColReward, about.ColEpisode)) {
		require.Equal(t, "[episode reward]", fmt.Sprint([]string{r.ColumnName(0), r.ColumnName(1)}))
		require.EqualValues(t, 2, r.NumCols())
		sum.Write(arrow.Float32Traits.CastToBytes(r.Column(1).(*array.Float32).Float32Values()))
	}
	want, err := d.ColumnSHA256("steps", about.ColReward)
	require.NoError(t, err)
	require.Equal(t, want, hex.EncodeToString(sum.Sum(nil)))
	for range d.Records("steps") {
		break // a consumer may leave
	}
	for _, c := range [][]string{{"frames"}, {"steps", "colour"}, {"index"}} {
		n := 0
		for _, err := range d.Records(c[0], c[1:]...) {
			require.ErrorContains(t, err, "no ")
			n++
		}
		require.Equal(t, 1, n)
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, "steps", "00002.arrow"), 100))
	n := 0
	for _, err := range d.Records("steps") {
		if err != nil {
			require.ErrorContains(t, err, "steps/00002.arrow")
			n++
		}
	}
	require.Equal(t, 1, n)
}
