package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
)

// half returns a folder in which a run of the job was stopped after some shards, the first among them:
// of two workers one may finish three shards before the other has finished the first.
func half(t testing.TB, j Job, m Makers) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "half")
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Generate(ctx, dir, j, m, Options{Workers: 1, Progress: func(p Progress) {
		if p.Shards >= 3 {
			cancel(stop)
		}
	}})
	require.ErrorIs(t, err, stop)
	return dir
}

// change rewrites a file; old must be in it.
func change(t testing.TB, path, old, new string) {
	text := string(contents(t, path))
	require.Contains(t, text, old)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, old, new, 1)), 0o666))
}

// TestOtherVersionsDoNotContinue: shards of two versions are never mixed.
func TestOtherVersionsDoNotContinue(t *testing.T) {
	j := toyJob(2, 1)
	dir := half(t, j, toyMakers())
	path := filepath.Join(dir, about.RunName)
	text := contents(t, path)
	for old, c := range map[string]struct{ new, want string }{
		`"moonfarm": "` + Version + `"`: {`"moonfarm": "0.1.7"`, "moonfarm 0.1.7 wrote it in format 3, this is moonfarm " + Version},
		`"format": 3`:                   {`"format": 4`, "wrote it in format 4, this is moonfarm " + Version + ", which writes format 3"},
		`"manifest_sha256": "`:          {`"manifest_sha256": "0`, "another build of moonfarm " + Version},
		`"seed": "7"`:                   {`"seed": "8"`, "another run: seed"},
		string(text):                    {`{"game": "toy"}`, "names no version"},
		`"moonfarm"`:                    {`"moon"`, "names no version"},
		`{`:                             {``, "damaged"},
	} {
		t.Run(old, func(t *testing.T) {
			change(t, path, old, c.new)
			before := files(t, dir)
			requireRefused(t, dir, j, c.want, path)
			requireSameFiles(t, before, files(t, dir))
			require.NoError(t, os.WriteFile(path, text, 0o666))
		})
	}
	_, err := Generate(t.Context(), dir, j, toyMakers(), Options{})
	require.NoError(t, err)

	edit(t, dir, func(m *Manifest) { m.Moonfarm = "0.1.9" })
	requireRefused(t, dir, j, "a complete dataset of another version: moonfarm 0.1.9 wrote it in format 3, this is moonfarm "+Version)
}

// TestResumeSumsShards: a file of a finished shard that changed without
// changing its size is found before anything is made.
func TestResumeSumsShards(t *testing.T) {
	j := toyJob(2, 1)
	for _, name := range []string{about.PathOf(about.StepsDir, 1), about.PathOf(about.EpisodesDir, 0)} {
		dir := half(t, j, toyMakers())
		path := filepath.Join(dir, name)
		text := contents(t, path)
		bad := bytes.Clone(text)
		bad[len(bad)/2] ^= 4
		require.NoError(t, os.WriteFile(path, bad, 0o666))
		requireRefused(t, dir, j, path+": sha256 is ", "; remove ")
		require.NoError(t, os.WriteFile(path, text, 0o666))
		shards := []int{}
		_, err := Generate(t.Context(), dir, j, toyMakers(), Options{Workers: 2, Progress: func(p Progress) { shards = append(shards, p.Shards) }})
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, shards[:3], "progress of the look at finished shards")
		require.Equal(t, files(t, dir)[name], string(text))
	}
}

// TestResumeIsStopped: the check of finished shards ends with the context.
func TestResumeIsStopped(t *testing.T) {
	dir := half(t, toyJob(2, 1), toyMakers())
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err := Generate(ctx, dir, toyJob(2, 1), toyMakers(), Options{})
	require.ErrorIs(t, err, stop)
	require.FileExists(t, filepath.Join(dir, about.PathOf(about.ShardsDir, 0)))
}

// TestChangedWhileMade changes a finished shard while a run makes others: the
// run fails at its end and writes no manifest.
func TestChangedWhileMade(t *testing.T) {
	for want, spoil := range map[string]func(dir string) error{
		"steps/00000.arrow: no such file": func(dir string) error { return os.Remove(filepath.Join(dir, about.PathOf(about.StepsDir, 0))) },
		"episodes/00001.arrow: 9 bytes":   func(dir string) error { return os.Truncate(filepath.Join(dir, about.PathOf(about.EpisodesDir, 1)), 9) },
		"shards/00001.json: no such file": func(dir string) error { return os.Remove(filepath.Join(dir, about.PathOf(about.ShardsDir, 1))) },
		"shards/00000.json: changed": func(dir string) error {
			c, err := about.DecodeSidecar(contents(t, dir, about.PathOf(about.ShardsDir, 0)))
			require.NoError(t, err)
			c.Turns++
			text, err := c.Encode()
			require.NoError(t, err)
			return os.WriteFile(filepath.Join(dir, about.PathOf(about.ShardsDir, 0)), text, 0o666)
		},
		"shards/00000.json: damaged; remove": func(dir string) error {
			change(t, filepath.Join(dir, about.PathOf(about.ShardsDir, 0)), `"shard": 0`, `"shard": 1`)
			return nil
		},
	} {
		t.Run(want, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			spoilt := false
			_, err := Generate(t.Context(), dir, toyJob(2, 1), toyMakers(), Options{Progress: func(p Progress) {
				if p.Shards >= 3 && !spoilt {
					spoilt = true
					require.NoError(t, spoil(dir))
				}
			}})
			require.True(t, spoilt)
			require.ErrorContains(t, err, strings.TrimSpace(want))
			require.NoFileExists(t, filepath.Join(dir, about.ManifestName))
			_, err = Open(dir)
			require.ErrorContains(t, err, "not complete")
		})
	}
}

// TestSidecarLies: a changed sidecar of an earlier run is refused.
func TestSidecarLies(t *testing.T) {
	for _, key := range []string{"shard", "rows", "bytes", "turns", "over", "cut", "episodes", "sum", "squares", "nonzero", "min", "max"} {
		dir, key := half(t, toyJob(2, 1), toyMakers()), fmt.Sprintf("%q: ", key)
		change(t, filepath.Join(dir, about.PathOf(about.ShardsDir, 0)), key, key+"1")
		_, err := Generate(t.Context(), dir, toyJob(2, 1), toyMakers(), Options{})
		require.ErrorContains(t, err, "shards/00000.json: damaged; remove it to make the shard again", key)
		require.NoFileExists(t, filepath.Join(dir, about.ManifestName))
	}
}
