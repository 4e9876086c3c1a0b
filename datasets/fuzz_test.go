package datasets

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/write"
)

// FuzzRunFile: any run.json is read or refused; one that is read is the same when it is
// written again.
func FuzzRunFile(f *testing.F) {
	f.Add(contents(f, half(f, toyJob(2, 1), toyMakers()), about.RunName))
	f.Add([]byte(`{"game": "toy"}`))
	r, err := write.NewRun(f.Context(), f.TempDir(), toyJob(2, 1), toyMakers(), Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = r.Folder.Begun.Differ(text)
		got, err := write.DecodeRunFile(text)
		if err != nil || got.Moonfarm == "0.1.0 or before" {
			return
		}
		again, err := jsontext.Encode(got)
		require.NoError(t, err)
		once, err := write.DecodeRunFile(again)
		require.NoError(t, err)
		require.Equal(t, got, once)
	})
}

// FuzzSidecar: a sidecar that is read has the bytes of a written one.
func FuzzSidecar(f *testing.F) {
	f.Add(contents(f, half(f, toyJob(2, 1), toyMakers()), about.PathOf(about.ShardsDir, 0)))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = about.DecodeSidecar(text)
		var c about.Sidecar
		if json.Unmarshal(text, &c) != nil {
			return
		}
		fits, err := c.Encode() // with the right checksum
		require.NoError(t, err)
		if c, err = about.DecodeSidecar(fits); err != nil {
			return
		}
		again, err := c.Encode()
		require.NoError(t, err)
		require.True(t, bytes.Equal(fits, again))
		require.GreaterOrEqual(t, c.Shard, 0)
		require.Equal(t, about.PathOf(about.StepsDir, c.Shard), c.Steps.Path)
	})
}

// FuzzIndex: any part of the index is read or refused; one that is read fits the
// manifest.
func FuzzIndex(f *testing.F) {
	dir := generateToy(f, toyJob(2, 1), Options{})
	f.Add(contents(f, dir, about.PathOf(about.IndexDir, 0)))
	d := opened(f, dir)
	x, err := d.IndexReader()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		x.Text, x.Shards = text, x.Shards[:0]
		if x.Decode(0, d.Manifest().Index[0]) != nil {
			return
		}
		require.Len(t, x.Shards, d.ShardCount())
		var rows uint64
		for i, s := range x.Shards {
			require.Equal(t, d.Manifest().Job.Place(i), s.Place())
			rows += s.Steps.Rows
		}
		require.Equal(t, d.Manifest().Totals.Rows, rows)
	})
}
