//go:build cgo

package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
)

// tronDataset makes a small dataset that only has orders.
func tronDataset(t *testing.T) *dataset {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	j := datasets.Job{Game: "tron", Policies: []string{"random", "random"}, Episodes: 30, ShardEpisodes: 8, Obs: datasets.ObsNone}
	g, err := catalog.Find("tron")
	require.NoError(t, err)
	m := datasets.Makers{Vector: g.New, Policy: func(name string, _ rollout.Files) (rollout.Maker, error) { return policy.New("tron", name) }}
	_, err = datasets.Generate(t.Context(), dir, j, m, datasets.Options{Workers: 1})
	require.NoError(t, err)
	d, err := openDataset(dir)
	require.NoError(t, err)
	return d
}

// TestReader reads a dataset batch by batch: a batch stays until it is taken,
// and the end stays the end.
func TestReader(t *testing.T) {
	d := tronDataset(t)
	for _, o := range []datasets.ReadOptions{{Rows: 64}, {Rows: 10, Shuffle: 100, Workers: 2}, {Whole: true}, {Split: datasets.Train}} {
		play := o.Split == datasets.All // else the rows come from the files
		if play {
			o.Obs = datasets.ObsPlanes
		}
		r, err := newReader(d, o, play)
		require.NoError(t, err)
		rows := 0
		for {
			b, err := r.next()
			if err != nil {
				if err != io.EOF {
					t.Error(err)
				}
				break
			}
			if again, err := r.next(); again != b || err != nil || play && len(b.Planes) != b.Rows*6*64 {
				t.Fatalf("%d rows with %d bytes of planes, %v", b.Rows, len(b.Planes), err)
			}
			rows += b.Rows
			r.take()
		}
		want := int(d.Manifest().Totals.Rows)
		assert.Equalf(t, want, rows, "%d rows, want %d", rows, want)
		b, err := r.next()
		assert.Truef(t, b == nil && codeOf(err) == codeEnd, "after the end: %v, %v", b, err)
		text, err := json.Marshal(r.describe())
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(r.describe()), 8)
		assert.NotContains(t, string(text), "null")
		assert.NoError(t, r.Close())
	}
}

// TestReaderStops: a reader can be closed at any time.
func TestReaderStops(t *testing.T) {
	d := tronDataset(t)
	for taken := range 4 {
		o := datasets.ReadOptions{Rows: 16}
		if taken%2 == 0 {
			o.Workers = 2
		}
		r, err := newReader(d, o, taken%2 == 0)
		require.NoError(t, err)
		for i := range taken {
			if _, err := r.next(); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				r.take()
			}
		}
		assert.NoError(t, r.Close())
	}
}

func TestReaderRefused(t *testing.T) {
	for _, folder := range []string{filepath.Join(t.TempDir(), "nothing"), ""} {
		d, err := openDataset(folder)
		assert.Equalf(t, codeArgument, codeOf(err), "%v, %v", d, err)
	}
	d := tronDataset(t)
	for want, o := range map[string]datasets.ReadOptions{
		`no column "gold"`: {Columns: []string{"gold"}},
		"Makers":           {Obs: datasets.ObsPacked},
		"part 3 of 2":      {Part: 3, Parts: 2},
	} {
		t.Run(want, func(t *testing.T) {
			r, err := newReader(d, o, false)
			assert.Truef(t, codeOf(err) == codeArgument && strings.Contains(err.Error(), want), "%v, %v, want %q", r, err, want)
		})
	}
}
