package datasets

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/filelock"
)

// TestVerify: a fresh dataset has no problems, whether the policies or the recorded
// orders play it again.
func TestVerify(t *testing.T) {
	for _, c := range []Codec{Zstd, LZ4, None} {
		for _, o := range []Obs{ObsPlanes, ObsPacked, ObsNone} {
			j := toyJob(3, 2)
			j.Codec, j.Obs, j.MaxTurns = c, o, 6
			dir := generateToy(t, j, Options{Workers: 2})
			require.NoError(t, os.WriteFile(filepath.Join(dir, filelock.Prefix+".windows"), nil, 0o666)) // of a run on Windows
			m := toyMakers()
			r := requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
			require.Equal(t, 7, r.Recomputed)
			require.False(t, r.Replayed)
			m.Policy = nil
			r = requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: 3})
			require.Equal(t, 3, r.Recomputed)
			require.True(t, r.Replayed)
		}
	}
}

// TestEveryFlippedBitIsFound flips 1000 random bits over all files.
func TestEveryFlippedBitIsFound(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{Workers: 2})
	all := files(t, dir)
	total := 0
	var names []string
	for name, content := range all {
		names, total = append(names, name), total+len(content)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		at := r.IntN(total)
		for _, name := range names {
			content := all[name]
			if at >= len(content) {
				at -= len(content)
				continue
			}
			b := []byte(content)
			bit := r.IntN(8)
			b[at] ^= 1 << bit
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, b, 0o666))
			rep, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{})
			require.True(t, err != nil || len(rep.Problems) > 0, "%s: byte %d bit %d", name, at, bit)
			require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
			break
		}
	}
	requireSound(t, dir, Makers{}, VerifyOptions{})
}

// TestOtherVersionOfRules: a dataset whose rules have another version here is not played again.
func TestOtherVersionOfRules(t *testing.T) {
	m := toyMakers()
	dir := generateToy(t, toyJob(2, 1), Options{})
	edit(t, dir, func(m *Manifest) { m.Rules[0].Version += "9" })
	_, err := Verify(t.Context(), dir, m, VerifyOptions{Recompute: 1})
	require.ErrorContains(t, err, "9 of the rules, this moonfarm plays ")
	_, err = opened(t, dir).ReadColumns(ReadOptions{Makers: &m})
	require.ErrorContains(t, err, "9 of the rules, this moonfarm plays ")
}
