package datasets

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/write"
)

// TestLongLists: batches also end where lists are long, without a change of the rows.
func TestLongLists(t *testing.T) {
	j := full(toyJob(3, 2))
	j.Episodes = 40
	want := generateToy(t, j, Options{})
	dir := filepath.Join(t.TempDir(), "data")
	r, err := write.NewRun(t.Context(), dir, j, toyMakers(), Options{})
	require.NoError(t, err)
	r.Layout.Lists = 100
	_, err = r.Generate(t.Context())
	require.NoError(t, err)
	require.Greater(t, opened(t, dir).Manifest().Totals.Bytes, 2*opened(t, want).Manifest().Totals.Bytes, "many small batches")
	require.Equal(t, columnSums(t, want), columnSums(t, dir))
	requireSound(t, dir, Makers{}, VerifyOptions{})
	_, rows := readRows(t, opened(t, want), ReadOptions{})
	_, got := readRows(t, opened(t, dir), ReadOptions{Shuffle: 50})
	require.Equal(t, rows, got)
}
