package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
)

// manyShards returns a dataset of n shards with a toy episode each, of which only the
// manifest and the index exist.
func manyShards(t testing.TB, n int, imported bool) string {
	j := toyJob(2, 1)
	j.Episodes, j.ShardEpisodes = uint64(n), 1
	if imported {
		j.Source, j.ShardEpisodes = "games.zip", 0
		for range n {
			j.Shards = append(j.Shards, Part{Episodes: 1})
		}
	}
	r, err := write.NewRun(t.Context(), filepath.Join(t.TempDir(), "many"), j, toyMakers(), Options{})
	require.NoError(t, err)
	x, err := about.NewIndexWriter(r.Folder.Files, r.Layout)
	require.NoError(t, err)
	m := about.NewManifest(r.Layout, r.Command)
	for i := range n {
		c := about.Sidecar{Shard: i, Turns: 2, Over: 1,
			Files: about.Files{Steps: File{Path: about.PathOf(about.StepsDir, i), SHA256: store.SHA256([]byte{byte(i)}), Rows: 4, Bytes: 1000},
				Episodes: File{Path: about.PathOf(about.EpisodesDir, i), SHA256: store.SHA256([]byte{1, byte(i)}), Rows: 1, Bytes: 100},
				Finals:   File{Path: about.PathOf(about.FinalsDir, i), SHA256: store.SHA256([]byte{2, byte(i)}), Rows: 2, Bytes: 100}},
		}
		require.NoError(t, m.Add(c))
		require.NoError(t, x.Add(t.Context(), c, r.Place(i)))
	}
	require.NoError(t, x.Flush(t.Context()))
	m.Index, m.Statistics.Path, m.Totals.Distinct = x.Parts, about.StatisticsName, 1
	rewrite(t, r.Folder.Dir, m)
	return r.Folder.Dir
}

// TestManyShards: a dataset of 50,000 shards, with MOONFARM_LONG of a million, opens at once,
// and listing them takes the memory of one part of the index.
func TestManyShards(t *testing.T) {
	n := 50_000
	if os.Getenv("MOONFARM_LONG") != "" {
		n = 1_000_000
	}
	for _, imported := range []bool{false, true} {
		if imported {
			n /= 10
		}
		dir := manyShards(t, n, imported)
		s, err := os.Stat(filepath.Join(dir, about.ManifestName))
		require.NoError(t, err)
		require.Less(t, s.Size(), int64(200_000))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		d := opened(t, dir)
		opened := time.Since(start)
		seen := 0
		for s := range each(t, d.Shards()) {
			if s.Number != seen || s.First != uint64(seen) {
				t.Fatalf("shard %d from %d on, expected number %d", s.Number, s.First, seen)
			}
			seen++
		}
		listed := time.Since(start)
		runtime.GC()
		runtime.ReadMemStats(&after)
		require.Equal(t, n, seen)
		t.Logf("%d shards: opened in %v, listed in %v, %d bytes held", n, opened, listed, int64(after.HeapAlloc)-int64(before.HeapAlloc))
		require.Less(t, opened, 2*time.Second)
		require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
		few := 0
		for s := range each(t, d.Spread(5)) {
			require.Equal(t, few*n/5, s.Number)
			few++
		}
		require.Equal(t, 5, few)
	}
}

// TestIndexParts writes and reads datasets of several parts of the index, and finds
// damage in each part.
func TestIndexParts(t *testing.T) {
	dir := manyShards(t, 2*about.IndexShards+5, false)
	d := opened(t, dir)
	require.Len(t, d.Manifest().Index, 3)
	require.EqualValues(t, 5, d.Manifest().Index[2].Shards)
	for k := range 3 {
		path := filepath.Join(dir, about.PathOf(about.IndexDir, k))
		text := contents(t, path)
		flipped := bytes.Clone(text)
		flipped[len(text)/2] ^= 1
		var failed error
		for _, bad := range [][]byte{text[:len(text)-1], append(bytes.Clone(text), 0), {}, nil, flipped} {
			if bad == nil {
				require.NoError(t, os.Remove(path))
			} else {
				require.NoError(t, os.WriteFile(path, bad, 0o666))
			}
			seen := 0
			for _, err := range d.Shards() {
				if failed = err; err == nil {
					seen++
				}
			}
			require.ErrorContains(t, failed, about.PathOf(about.IndexDir, k)+": ")
			require.Equal(t, k*about.IndexShards, seen)
		}
		require.ErrorContains(t, failed, "sha256 is ", "of the flipped one")
		require.NoError(t, os.WriteFile(path, text, 0o666))
	}
}

// TestEpisodesFrom: reading can begin with any episode, and opens its shard first.
func TestEpisodesFrom(t *testing.T) {
	d := opened(t, generateToy(t, toyJob(2, 1), Options{}))
	all := d.Manifest().Totals.Episodes
	for from := range all + 2 {
		next := from
		for e := range each(t, d.EpisodesFrom(from)) {
			require.Equal(t, next, e.ID)
			next++
		}
		require.Equal(t, max(all, from), next)
	}
	d = opened(t, manyShards(t, 2*about.IndexShards+5, false))
	for _, from := range []uint64{0, 1, about.IndexShards - 1, about.IndexShards, 2 * about.IndexShards, 2*about.IndexShards + 4} {
		for s := range each(t, d.ShardsFrom(from)) {
			require.Equal(t, from, s.First)
			break
		}
	}
}
