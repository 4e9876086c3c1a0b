package datasets

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"moonfarm/datasets/internal/jsontext"
)

// FuzzRunFile: any run.json is read or refused; one that is read is the same when it is
// written again.
func FuzzRunFile(f *testing.F) {
	f.Add(contents(f, half(f, toyJob(2, 1), toyMakers()), runName))
	f.Add([]byte(`{"game": "toy"}`))
	r, err := newRun(f.Context(), f.TempDir(), toyJob(2, 1), toyMakers(), Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = r.folder.begun.differ(text)
		got, err := decodeRunFile(text)
		if err != nil || got.Moonfarm == "0.1.0 or before" {
			return
		}
		again, err := jsontext.Encode(got)
		require.NoError(t, err)
		once, err := decodeRunFile(again)
		require.NoError(t, err)
		require.Equal(t, got, once)
	})
}

// FuzzSidecar: a sidecar that is read has the bytes of a written one.
func FuzzSidecar(f *testing.F) {
	f.Add(contents(f, half(f, toyJob(2, 1), toyMakers()), pathOf(shardsDir, 0)))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = decodeSidecar(text)
		var c sidecar
		if json.Unmarshal(text, &c) != nil {
			return
		}
		fits, err := c.encode() // with the right checksum
		require.NoError(t, err)
		if c, err = decodeSidecar(fits); err != nil {
			return
		}
		again, err := c.encode()
		require.NoError(t, err)
		require.True(t, bytes.Equal(fits, again))
		require.GreaterOrEqual(t, c.Shard, 0)
		require.Equal(t, pathOf(stepsDir, c.Shard), c.Steps.Path)
	})
}

// FuzzIndex: any part of the index is read or refused; one that is read fits the
// manifest.
func FuzzIndex(f *testing.F) {
	dir := generateToy(f, toyJob(2, 1), Options{})
	f.Add(contents(f, dir, pathOf(indexDir, 0)))
	d := opened(f, dir)
	x, err := d.indexReader()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text []byte) {
		x.text, x.shards = text, x.shards[:0]
		if x.decode(0, d.manifest.Index[0]) != nil {
			return
		}
		require.Len(t, x.shards, d.shardCount())
		var rows uint64
		for i, s := range x.shards {
			require.Equal(t, d.manifest.Job.place(i), s.place())
			rows += s.Steps.Rows
		}
		require.Equal(t, d.manifest.Totals.Rows, rows)
	})
}
