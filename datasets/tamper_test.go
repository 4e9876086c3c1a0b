package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
)

// tamperWith rewrites a table of shard 1 with change applied to every batch, and makes
// the manifest fit, so that only the content is wrong.
func tamperWith(t *testing.T, dir, table string, change func(t *arrowfile.RecordBatch)) {
	d := opened(t, dir)
	shards := shardsOf(t, dir)
	k, _, err := d.Find(table)
	require.NoError(t, err)
	f := shards[1].Of(k)
	r, err := d.Reader(k, nil)
	require.NoError(t, err)
	defer r.Close()
	w, err := arrowfile.NewWriter(d.Tables[k].Schema, d.Manifest().Job.Codec)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, w.Start(&out))
	require.NoError(t, r.Read(*f, func(uint64) error {
		change(r.Table)
		return w.Write(r.Table)
	}))
	require.NoError(t, w.Finish())
	require.NoError(t, os.WriteFile(filepath.Join(dir, f.Path), out.Bytes(), 0o666))
	d.Manifest().Totals.Bytes += uint64(out.Len()) - f.Bytes
	f.SHA256, f.Bytes = store.SHA256(out.Bytes()), uint64(out.Len())
	reindex(t, dir, d.Manifest(), shards)
}

// shardsOf lists the shards of a dataset.
func shardsOf(t testing.TB, dir string) (list []Shard) {
	d := opened(t, dir)
	for s := range each(t, d.Shards()) {
		list = append(list, s)
	}
	return list
}

// reindex writes an index of these shards, and the manifest.
func reindex(t testing.TB, dir string, m *Manifest, shards []Shard) {
	x, err := about.NewIndexWriter(disk.At(dir, dir), about.NewLayout(m.Job, []env.Spec{m.Spec()}))
	require.NoError(t, err)
	for _, s := range shards {
		require.NoError(t, x.Add(t.Context(), about.Sidecar{Files: s.Files}, s.Place()))
	}
	require.NoError(t, x.Flush(t.Context()))
	m.Index = x.Parts
	rewrite(t, dir, m)
}

// attach writes a text beside the manifest.
func attach(t testing.TB, dir, name string, text []byte) Attachment {
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	return about.AttachmentOf(name, text)
}

func rewrite(t testing.TB, dir string, m *Manifest) {
	m.Card = attach(t, dir, about.CardName, about.CardText(m))
	text, err := m.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, about.ManifestName), text, 0o666))
}

// TestTampering changes one value of every column in turn, with checksums that fit, and
// checks that Verify finds it.
func TestTampering(t *testing.T) {
	const row = 20
	flip := func(name string) func(*arrowfile.RecordBatch) {
		return func(t *arrowfile.RecordBatch) {
			d := t.Col(name)
			if d.Fixed != nil {
				b := d.Row(row)
				if name == about.ColReward || name == about.ColReturn {
					b = b[3:] // an order that does something
				}
				b[0] ^= 1
			} else {
				d.Bytes[8*row] ^= 1
			}
		}
	}
	shallow := map[string]string{
		about.ColEpisode:    "found episode",
		about.ColTurn:       "expected episode",
		about.ColSeat:       "expected episode",
		ColOrders:           "order 0 is",
		about.ColReward:     "the rewards make",
		about.ColReturn:     "the rewards make",
		about.ColOutcome:    "outcome",
		about.ColTerminated: "terminated 1",
		about.ColTruncated:  "truncated 1",
	}
	requireTamperingIsFound(t, about.StepsDir, about.StepColumns(specOfToy(t), ObsPlanes, about.Extras{}), flip, shallow, row)
}

// requireTamperingIsFound changes the columns of a table one by one. Without playing
// again Verify must find the changes listed in shallow; for other columns it must find,
// by playing again, that a row is wrong.
func requireTamperingIsFound(t *testing.T, table string, columns []Column, change func(column string) func(*arrowfile.RecordBatch),
	shallow map[string]string, row int) {
	t.Helper()
	for _, c := range columns {
		t.Run(c.Name, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			tamperWith(t, dir, table, change(c.Name))
			if want := shallow[c.Name]; want != "" {
				requireProblem(t, dir, Makers{}, VerifyOptions{Workers: 2}, table+"/00001.arrow: ", want)
				return
			}
			requireSound(t, dir, Makers{}, VerifyOptions{Workers: 2}) // the change is found only by playing again
			r := verified(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
			require.Equal(t, 6, r.Recomputed)
			require.Len(t, r.Problems, 1)
			require.Regexp(t, fmt.Sprintf(`shard 1 made again: .*%s/00001\.arrow: column %s, row %d \(episode \d+, turn \d+, seat 0\): .*found .*, expected `,
				table, c.Name, row), r.Problems[0])
		})
	}
}

// TestWrongTotals: wrong totals are found though the checksum of the manifest fits.
func TestWrongTotals(t *testing.T) {
	for want, change := range map[string]func(*Manifest){
		"totals do not agree":       func(m *Manifest) { m.Totals.Rows++ },
		"totals are not the sums":   func(m *Manifest) { m.Totals.Rows += 2; m.Totals.Turns++ },
		"index is ../x of 7 shards": func(m *Manifest) { m.Index[0].Path = "../x" },
		"index/00000.arrow of 8":    func(m *Manifest) { m.Index[0].Shards++ },
		"of 0 shards": func(m *Manifest) {
			m.Index = append(m.Index, about.IndexPart{Path: about.PathOf(about.IndexDir, 1)})
		},
		"bytes, expected index": func(m *Manifest) { m.Index[0].Bytes = 1 << 40 },
		"0 turns":               func(m *Manifest) { m.Game.MaxTurns = 0 },
		"columns of the steps":  func(m *Manifest) { m.Observation.Planes++ },
		"rules number 0":        func(m *Manifest) { m.Job.Rules[0] += " " },
		"do not fit the job":    func(m *Manifest) { m.Totals.Shards-- },
		"0 episodes per shard":  func(m *Manifest) { m.Job.ShardEpisodes = 0 },
		"0 episodes":            func(m *Manifest) { m.Job.Episodes = 0 },
		"the discount of the returns is 0.5, that of the job 1": func(m *Manifest) { m.Reward.Gamma = 0.5 },
		// Readers of rows rely on a policy, and a list of members, for each seat.
		"1 policies, members of 1 do not fit 2 seats": func(m *Manifest) { m.Job.Policies, m.Job.Members = m.Job.Policies[1:], [][]string{{}} },
		"members of 1 policies, there are 2":          func(m *Manifest) { m.Job.Members = [][]string{{}} },
	} {
		t.Run(want, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			edit(t, dir, change)
			_, err := Verify(t.Context(), dir, Makers{}, VerifyOptions{})
			require.ErrorContains(t, err, want)
		})
	}
	for want, change := range map[string]func([]Shard){
		"has 16 episodes, expected 15":        func(s []Shard) { s[0].Episodes.Rows++; s[1].Episodes.Rows-- },
		"row 1 is of shard 3":                 func(s []Shard) { s[1].Number = 3 },
		"row 1 is of shard 1 from episode 14": func(s []Shard) { s[1].First-- },
		"of rules number 0":                   func(s []Shard) { s[1].Rules = 1 },
		"rows of finals for 15 episodes of 2": func(s []Shard) { s[1].Finals.Rows-- },
		"step rows for 15 episodes":           func(s []Shard) { s[1].Steps.Rows += 1 << 30; s[2].Steps.Rows -= 1 << 30 },
	} {
		t.Run(want, func(t *testing.T) {
			dir := generateToy(t, toyJob(2, 1), Options{})
			m, err := manifestIn(dir)
			require.NoError(t, err)
			shards := shardsOf(t, dir)
			change(shards)
			reindex(t, dir, m, shards)
			_, err = opened(t, dir).ColumnSHA256("steps", about.ColReward)
			require.ErrorContains(t, err, "index/00000.arrow: ")
			require.ErrorContains(t, err, want)
			r := verified(t, dir, Makers{}, VerifyOptions{})
			require.Contains(t, r.Problems[0], want)
		})
	}
	dir := generateToy(t, toyJob(2, 1), Options{})
	edit(t, dir, func(m *Manifest) { m.Totals.Pairings[0].Results[0]["1"]++ })
	r := verified(t, dir, Makers{}, VerifyOptions{})
	require.Contains(t, r.Problems[0], "totals are ")
}
