package datasets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAsk: a policy that is asked in every row answers as it plays. Its answers do not change the
// games, and are the same in files, in replayed rows and in other forms.
func TestAsk(t *testing.T) {
	for _, orders := range []int{1, 4} {
		m := toyMakers()
		j := toyJob(2, orders)
		j.Policies = []string{"mix(1*empty,1*random)", "other"}
		plain := opened(t, generated(t, j, m, Options{}))
		j.Ask = "other"
		dir := generated(t, j, m, Options{Workers: 2})
		d := opened(t, dir)
		assert.Equal(t, "other", d.Manifest().Job.Ask)
		requireSameFiles(t, files(t, dir), files(t, generated(t, j, m, Options{Workers: 1})))
		report, err := Verify(t.Context(), dir, m, VerifyOptions{Workers: 1, Recompute: -1})
		require.NoError(t, err)
		assert.Empty(t, report.Problems)
		heads := d.Manifest().Action.Heads
		bare := j
		bare.Obs = ObsNone
		none := opened(t, generated(t, bare, m, Options{}))
		for name, of := range map[string]struct {
			d *Dataset
			o ReadOptions
		}{
			"files":    {d, ReadOptions{}},
			"replayed": {d, ReadOptions{Makers: &m, Reward: "stones", Workers: 2}},
			"bare":     {none, ReadOptions{Makers: &m, Obs: ObsPacked}},
		} {
			t.Run(name, func(t *testing.T) {
				rows, other := 0, 0
				for b := range each(t, of.d.Batches(of.o)) {
					for i := range b.Rows {
						rows++
						asked, action := b.Asked[i*len(heads):][:len(heads)], b.Action[i*len(heads):][:len(heads)]
						if b.Seat[i] == 1 {
							require.Equal(t, action, asked, "the policy that is asked sits here")
						} else if !assert.ObjectsAreEqual(action, asked) {
							other++
						}
					}
				}
				assert.Equal(t, int(plain.Manifest().Totals.Rows), rows)
				assert.Greater(t, other, rows/10)
			})
		}
		if orders == 1 {
			continue
		}
		for b := range each(t, d.Batches(ReadOptions{Makers: &m, Form: "orders"})) {
			for i := range b.Rows {
				if b.Seat[i] == 1 {
					require.Equal(t, b.Action[i], b.Asked[i])
				}
			}
		}
	}
}

// TestAskMistakes: a policy that does not exist is refused, and imported episodes have none.
func TestAskMistakes(t *testing.T) {
	j := toyJob(2, 1)
	j.Ask = "nobody"
	_, err := Generate(t.Context(), t.TempDir()+"/d", j, toyMakers(), Options{})
	assert.ErrorContains(t, err, `no policy "nobody"`)
	j.Source, j.ShardEpisodes, j.Shards, j.Policies = "elsewhere", 0, []Part{{Episodes: 1}}, nil
	assert.ErrorContains(t, j.WithDefaults().Check(), "in imported episodes no policy")
}
