package datasets

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/write"
)

// TestNothingIsLeftRunning: no goroutine outlives the calls.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := generateToy(t, toyJob(2, 1), Options{Workers: 3})
	verified(t, dir, toyMakers(), VerifyOptions{Workers: 3, Recompute: -1})
	inspected(t, dir, InspectOptions{Workers: 3, Sums: true})
	d := opened(t, dir)
	for range d.Batches(ReadOptions{Rows: 10, Shuffle: 20}) {
		break
	}
	for range d.Episodes() {
		break
	}
	for k := 0; runtime.NumGoroutine() > before && k < 1000; k++ {
		time.Sleep(10 * time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestLongLists: batches also end where lists are long, without a change of the rows.
func TestLongLists(t *testing.T) {
	j := toyJob(3, 2)
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
}
