package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSampled compares the rows of samples with those of the plain reader.
func TestSampled(t *testing.T) {
	m := toyMakers()
	dir := generated(t, toyJob(2, 2), m, Options{Workers: 1})
	d := opened(t, dir)
	byShard := map[uint64]bool{} // the shards of a sample
	all, _ := readRows(t, d, ReadOptions{})
	sample := func(shards, every int) (rows []rowID) {
		clear(byShard)
		for b := range each(t, d.Sampled(shards, every)) {
			for i := range b.Rows {
				rows = append(rows, rowID{b.Episode[i], b.Turn[i], b.Seat[i]})
				byShard[b.Episode[i]/15] = true
			}
		}
		return rows
	}
	require.Equal(t, all, sample(7, 1), "all batches of all shards")
	require.Less(t, len(sample(3, 1)), len(all))
	require.Equal(t, map[uint64]bool{0: true, 2: true, 4: true}, byShard, "three of seven shards")

	// Every shard has one batch: each second of seven, from number 1 on, are three.
	sample(7, 2)
	require.Equal(t, map[uint64]bool{1: true, 3: true, 5: true}, byShard)
	require.Empty(t, sample(7, 15))

	require.NoError(t, os.Truncate(filepath.Join(dir, "steps", "00002.arrow"), 100))
	found := error(nil)
	for _, err := range d.Sampled(7, 1) {
		found = err
	}
	require.ErrorContains(t, found, "steps/00002.arrow")
}
