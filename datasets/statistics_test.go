package datasets

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/stats"
	"moonfarm/features"
)

// TestStatistics sums the sample again from the rows, number by number; packed
// observations have the statistics of their planes.
func TestStatistics(t *testing.T) {
	j := toyJob(3, 2)
	j.Episodes, j.ShardEpisodes = 400, 60
	dir := generateToy(t, j, Options{Workers: 2})
	d := opened(t, dir)
	got, err := d.Statistics()
	require.NoError(t, err)
	o := d.Manifest().Observation
	cells := o.Height * o.Width
	numbers := make([][]float64, o.Planes+o.Scalars)
	rows, shard := uint64(0), uint64(0)
	at := uint64(0) // row in the shard
	for b := range each(t, d.Batches(ReadOptions{})) {
		for i := range b.Rows {
			if s := b.Episode[i] / 60; s != shard {
				shard, at = s, 0
			}
			if at%stats.Every == 0 {
				rows++
				for k, v := range b.Planes[i*o.Planes*cells : (i+1)*o.Planes*cells] {
					numbers[k/cells] = append(numbers[k/cells], float64(v))
				}
				for k, v := range b.Scalars[i*o.Scalars : (i+1)*o.Scalars] {
					numbers[o.Planes+k] = append(numbers[o.Planes+k], float64(v))
				}
			}
			at++
		}
	}
	require.Greater(t, rows, uint64(20))
	require.Equal(t, Statistics{Every: stats.Every, Rows: rows, Planes: got.Planes, Scalars: got.Scalars}, *got)
	all := append(append([]Statistic{}, got.Planes...), got.Scalars...)
	require.Len(t, all, len(numbers))
	for i, s := range all {
		sum, nonzero, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
		for _, v := range numbers[i] {
			sum, nonzero, low, high = sum+v, nonzero+float64(about.Flag(v != 0)), min(low, v), max(high, v)
		}
		n := float64(len(numbers[i]))
		mean, squares := sum/n, 0.0
		for _, v := range numbers[i] {
			squares += (v - mean) * (v - mean)
		}
		require.Equal(t, []float64{mean, low, high, nonzero / n}, []float64{s.Mean, s.Min, s.Max, s.Nonzero}, s.Name)
		require.InDelta(t, math.Sqrt(squares/n), s.Deviation, 1e-9, s.Name)
		require.Equal(t, append(append([]features.Field{}, o.PlaneFields...), o.ScalarFields...)[i].Name, s.Name)
	}

	j.Obs = ObsPacked
	packed := opened(t, generateToy(t, j, Options{Workers: 3}))
	again, err := packed.Statistics()
	require.NoError(t, err)
	require.Equal(t, got, again)

	j.Obs = ObsNone
	none := opened(t, generateToy(t, j, Options{}))
	_, err = none.Statistics()
	require.ErrorContains(t, err, "has no statistics")
}

// TestTamperedTexts: statistics that are not those of the rows, and a card that does
// not fit the manifest, are found even if the sums fit.
func TestTamperedTexts(t *testing.T) {
	problem := func(dir, want string) {
		requireProblem(t, dir, Makers{}, VerifyOptions{Workers: 2}, want)
	}
	dir := generateToy(t, toyJob(2, 1), Options{})
	tamperWith(t, dir, about.StepsDir, func(t *arrowfile.RecordBatch) { t.Col(about.ColPlanes).Row(0)[3] ^= 1 }) // a row of the sample
	problem(dir, "statistics.json: not the statistics of the rows: its sha256 should be ")

	dir = generateToy(t, toyJob(2, 1), Options{})
	edit(t, dir, func(m *Manifest) {
		m.Statistics = attach(t, dir, about.StatisticsName, []byte(`{"every": 7}`))
	})
	problem(dir, "statistics.json: not the statistics of the rows")

	dir = generateToy(t, toyJob(2, 1), Options{})
	m, err := manifestIn(dir)
	require.NoError(t, err)
	m.Card = attach(t, dir, about.CardName, []byte("# Nothing\n"))
	text, err := m.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, about.ManifestName), text, 0o666))
	problem(dir, "README.md: it does not fit the manifest")
}

// TestCard: Hugging Face can read the card, and texts of users cannot break its form.
func TestCard(t *testing.T) {
	j := toyJob(2, 1)
	j.License = "cc-by-4.0"
	dir := generateToy(t, j, Options{})
	text := contents(t, dir, about.CardName)
	head, body, ok := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	require.True(t, ok)
	require.Equal(t, `license: cc-by-4.0
pretty_name: "toy: random against random"
task_categories:
- reinforcement-learning
tags:
- moonfarm
- games
- toy
size_categories:
- "1K<n<10K"
configs:
- config_name: steps
  default: true
  data_files: steps/*.arrow
- config_name: episodes
  data_files: episodes/*.arrow
- config_name: finals
  data_files: finals/*.arrow`, head)
	d := opened(t, dir)
	for _, want := range []string{"# toy: random against random\n", "\n100 episodes of toy for 2 seats, ", "with the Go package of moonfarm " + Version,
		"| `planes` | uint8 [2, 1, 8] | ", "| `orders` | uint64, any number | ", "| index/00000.arrow | ", d.Manifest().Statistics.SHA256,
		"| random, random | 100 | 1: ", "pa.ipc.open_file"} {
		require.Contains(t, body, want)
	}
	m := *d.Manifest()
	m.Job.Policies = []string{"a|b\n# c", "`x` <script>"}
	m.Job.License = "my: own"
	m.Totals.Pairings = []about.Pairing{{Policies: m.Job.Policies, Episodes: 1, Results: []map[string]uint64{{"-1": 2, "1": 3}, {"0.5": 1}}}}
	m.Job.Program, m.Command = ProgramMoonfarm, "moonfarm generate toy"
	card := string(about.CardText(&m))
	require.Contains(t, card, "\nlicense: \"my: own\"\n")
	require.Contains(t, card, "\n# toy: a\\|b \\# c against \\`x\\` \\<script\\>\n")
	require.Contains(t, card, "| a\\|b \\# c, \\`x\\` \\<script\\> | 1 | 1: 3, -1: 2; 0.5: 1 |")
	require.Contains(t, card, "```sh\nmoonfarm generate toy\n```\n")
	for range 1000 {
		m.Totals.Pairings = append(m.Totals.Pairings, m.Totals.Pairings[0])
	}
	require.Contains(t, string(about.CardText(&m)), "| and 951 pairings more | | |")
	j.License = "two\nlines"
	requireRefused(t, t.TempDir(), j, "a line of text is expected")
}
