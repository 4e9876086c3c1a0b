package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/read"
)

// TestRepair: a missing shard, card or model of a complete dataset is made again with the same bytes,
// by generate and merge; a file that changed is refused with the way out.
func TestRepair(t *testing.T) {
	j := mixed(toyJob(3, 2))
	from := generateToy(t, j, Options{})
	parts := inParts(t, j, 2)
	want := withoutFolders(files(t, from))
	for kind, out := range places(t) {
		for name, makes := range map[string]func() (RunResult, error){
			"generate": func() (RunResult, error) {
				return Generate(withBuckets(t), out, j, toyMakers(), Options{Workers: 2})
			},
			"merge": func() (RunResult, error) {
				return Merge(withBuckets(t), out, parts, toyMakersOf, Options{})
			},
		} {
			_, err := makes()
			require.NoError(t, err)
			to, err := read.StoreOf(withBuckets(t), out)
			require.NoError(t, err)
			for _, gone := range [][]string{{about.PathOf(about.StepsDir, 1)}, {about.PathOf(about.EpisodesDir, 0), about.PathOf(about.FinalsDir, 6), about.PathOf(about.StepsDir, 6)}, {about.CardName}} {
				for _, file := range gone {
					require.NoError(t, to.Remove(withBuckets(t), file))
				}
				x, err := OpenRun(withBuckets(t), out, j, toyMakers(), Options{})
				require.NoError(t, err)
				_, err = x.Complete(withBuckets(t))
				require.ErrorContains(t, err, "generate makes them again")
				require.NoError(t, x.Close())
				r, err := makes()
				require.NoError(t, err, "%s in a %s: %v", name, kind, gone)
				require.False(t, r.AlreadyComplete)
				require.Equal(t, 7, r.Made+r.Found)
				requireSameFiles(t, want, objects(t, out))
				r, err = makes()
				require.NoError(t, err)
				require.True(t, r.AlreadyComplete)
				require.Zero(t, r.Made)
			}
		}
	}
}

// TestRepairRefused: what a user may have changed is not overwritten, and what cannot be made again
// alone is named.
func TestRepairRefused(t *testing.T) {
	j := toyJob(2, 1)
	for want, spoil := range map[string]func(dir string) error{
		"steps/00000.arrow: 9 bytes, expected": func(dir string) error { return os.Truncate(filepath.Join(dir, about.PathOf(about.StepsDir, 0)), 9) },
		"episodes/00001.arrow: expected a file, found a folder": func(dir string) error {
			name := filepath.Join(dir, about.PathOf(about.EpisodesDir, 1))
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Mkdir(name, 0o777)
		},
		about.CardName + ": no such file or directory; copy it from elsewhere": func(dir string) error { // of a version that worded it differently
			m, err := manifestIn(dir)
			if err == nil {
				m.Card = about.AttachmentOf(about.CardName, append(about.CardText(m), '!'))
				var text []byte
				text, err = m.Encode()
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, about.ManifestName), text, 0o666), os.Remove(filepath.Join(dir, about.CardName)))
			}
			return err
		},
		about.CardName + ": 3 bytes, expected":        func(dir string) error { return os.Truncate(filepath.Join(dir, about.CardName), 3) },
		about.StatisticsName + ": no such file":       func(dir string) error { return os.Remove(filepath.Join(dir, about.StatisticsName)) },
		"index/00000.arrow: no such file":             func(dir string) error { return os.Remove(filepath.Join(dir, about.PathOf(about.IndexDir, 0))) },
		"copy it from elsewhere, or make the dataset": func(dir string) error { return os.Truncate(filepath.Join(dir, about.PathOf(about.IndexDir, 0)), 0) },
	} {
		t.Run(want, func(t *testing.T) {
			dir := generateToy(t, j, Options{})
			require.NoError(t, spoil(dir))
			have := files(t, dir)
			requireRefused(t, dir, j, dir+": the dataset was complete and has changed: ", want)
			requireSameFiles(t, have, files(t, dir))
		})
	}
}

// TestRepairOtherBytes: a shard that would have other bytes is not put into a complete dataset.
func TestRepairOtherBytes(t *testing.T) {
	j := toyJob(2, 1)
	dir := generateToy(t, j, Options{})
	tamperWith(t, dir, about.StepsDir, func(b *arrowfile.RecordBatch) { b.Col(about.ColReward).Fixed[0] ^= 1 })
	require.NoError(t, os.Remove(filepath.Join(dir, about.PathOf(about.StepsDir, 1))))
	requireRefused(t, dir, j, "shard 1: "+dir+" was made by another build: the files of the shard would differ")
	require.NoFileExists(t, filepath.Join(dir, about.PathOf(about.StepsDir, 1)))
	require.NoFileExists(t, filepath.Join(dir, about.PathOf(about.StepsDir, 1)+".tmp"))
}
