package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/arrowfile"
)

// tamper rewrites the steps of shard 1 with change applied to every batch, and
// makes the manifest fit: only the content is wrong then.
func tamper(t *testing.T, dir string, change func(t *arrowfile.Table)) {
	d, err := Open(dir)
	require.NoError(t, err)
	r, err := d.stepReader(nil)
	require.NoError(t, err)
	defer r.close()
	w, err := arrowfile.NewWriter(d.steps, d.manifest.Job.Codec)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, w.Start(&out))
	f := &d.manifest.Shards[1].Steps
	require.NoError(t, r.read(*f, func(uint64) error {
		change(r.table)
		return w.Write(r.table)
	}))
	require.NoError(t, w.Finish())
	require.NoError(t, os.WriteFile(filepath.Join(dir, f.Path), out.Bytes(), 0o666))
	d.manifest.Totals.Bytes += uint64(out.Len()) - f.Bytes
	f.SHA256, f.Bytes = sum256(out.Bytes()), uint64(out.Len())
	rewrite(t, dir, d.manifest)
}

func rewrite(t *testing.T, dir string, m *Manifest) {
	text, err := m.encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, manifestName), text, 0o666))
}

// TestTampering changes one value of every column in turn, with checksums that
// fit, and looks at what Verify says of it.
func TestTampering(t *testing.T) {
	const row = 20
	flip := func(name string) func(*arrowfile.Table) {
		return func(t *arrowfile.Table) {
			d := t.Col(name)
			if d.Fixed != nil {
				b := d.Row(row)
				if name == ColReward || name == ColReturn {
					b = b[3:] // one that counts
				}
				b[0] ^= 1
			} else {
				d.Bytes[8*row] ^= 1
			}
		}
	}
	shallow := map[string]string{
		ColEpisode:    "found episode",
		ColTurn:       "expected episode",
		ColSeat:       "expected episode",
		ColOrders:     "order 0 is",
		ColReward:     "the rewards sum to",
		ColReturn:     "the rewards sum to",
		ColOutcome:    "outcome",
		ColTerminated: "terminated 1",
		ColTruncated:  "truncated 1",
	}
	for _, c := range stepColumns(specOfToy(t), ObsPlanes) {
		t.Run(c.Name, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			tamper(t, dir, flip(c.Name))
			r, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{Workers: 2})
			require.NoError(t, err)
			if want := shallow[c.Name]; want != "" {
				require.Len(t, r.Problems, 1)
				require.Contains(t, r.Problems[0], "steps/00001.arrow: ")
				require.Contains(t, r.Problems[0], want)
				return
			}
			require.Empty(t, r.Problems, "only playing again finds it")
			r, err = Verify(t.Context(), dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
			require.NoError(t, err)
			require.Equal(t, 6, r.Recomputed)
			require.Len(t, r.Problems, 1)
			require.Regexp(t, `shard 1 made anew: .*steps/00001\.arrow: column `+c.Name+`, row 20 \(episode \d+, turn \d+, seat 0\): .*found .*, expected `, r.Problems[0])
		})
	}
}

// TestLayoutOfFolder: missing and foreign files are named.
func TestLayoutOfFolder(t *testing.T) {
	dir := generateToy(t, toyJob(2, 1), Options{})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "steps", "notes.txt"), nil, 0o666))
	require.NoError(t, os.Remove(filepath.Join(dir, "episodes", "00002.arrow")))
	require.NoError(t, os.Truncate(filepath.Join(dir, "steps", "00003.arrow"), 1000))
	r, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{})
	require.NoError(t, err)
	require.Len(t, r.Problems, 3)
	all := r.Problems[0] + r.Problems[1] + r.Problems[2]
	require.Contains(t, all, "steps/notes.txt: does not belong")
	require.Contains(t, all, "00002.arrow: no such file")
	require.Contains(t, all, "steps/00003.arrow: 1000 bytes, the manifest says")
}

// TestWrongTotals: numbers in a manifest that its checksum fits.
func TestWrongTotals(t *testing.T) {
	for want, change := range map[string]func(*Manifest){
		"totals are not the sums":      func(m *Manifest) { m.Totals.Rows++ },
		"has 16 episodes, expected 15": func(m *Manifest) { m.Shards[0].Episodes.Rows++ },
		"is in ../x":                   func(m *Manifest) { m.Shards[0].Steps.Path = "../x" },
		"columns of the steps":         func(m *Manifest) { m.Observation.Planes++ },
		"rules number 0":               func(m *Manifest) { m.Job.Rules[0] += " " },
		"do not fit the job":           func(m *Manifest) { m.Shards = m.Shards[1:] },
		"0 episodes per shard":         func(m *Manifest) { m.Job.ShardEpisodes = 0 },
		"0 episodes":                   func(m *Manifest) { m.Job.Episodes = 0 },
	} {
		dir := generateToy(t, toyJob(2, 1), Options{})
		m, err := readManifest(dir)
		require.NoError(t, err)
		change(m)
		rewrite(t, dir, m)
		_, err = Verify(t.Context(), dir, Makers{}, VerifyOptions{})
		require.ErrorContains(t, err, want)
	}
	dir := generateToy(t, toyJob(2, 1), Options{})
	m, err := readManifest(dir)
	require.NoError(t, err)
	m.Totals.Pairings[0].Results[0]["1"]++
	rewrite(t, dir, m)
	r, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{})
	require.NoError(t, err)
	require.Contains(t, r.Problems[0], "totals are ")
}
