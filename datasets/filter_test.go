package datasets

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
)

// TestFilter: a filter keeps the matching rows, unchanged and in their order, whether
// they are read or replayed, for any size of batches; shuffled, it keeps all of them.
func TestFilter(t *testing.T) {
	j, m := mixed(toyJob(2, 2)), toyMakers()
	j.Policies[0], j.Opening, j.Episodes = "seek", "random:1", 40
	dir := filepath.Join(t.TempDir(), "filtered")
	_, err := Generate(t.Context(), dir, j, m, Options{Workers: 2})
	require.NoError(t, err)
	requireSound(t, dir, m, VerifyOptions{Workers: 2, Recompute: -1})
	d := opened(t, dir)
	member := func(b *Batch, i int) string { return d.Manifest().Job.Members[1][b.Chosen[i]] }
	late := func(b *Batch, i int) bool { return b.Turn[i] > 0 }
	for name, c := range map[string]struct {
		f    Filter
		want func(b *Batch, i int) bool
	}{
		"winners":           {Filter{Outcomes: []FilterOutcome{Win}}, func(b *Batch, i int) bool { return b.Outcome[i] > 0 }},
		"others":            {Filter{Outcomes: []FilterOutcome{Draw, Loss}}, func(b *Batch, i int) bool { return b.Outcome[i] <= 0 }},
		"seat":              {Filter{Seats: []int{1}}, func(b *Batch, i int) bool { return b.Seat[i] == 1 }},
		"seeker":            {Filter{Policies: []string{"seek"}}, func(b *Batch, i int) bool { return late(b, i) && b.Seat[i] == 0 }},
		"member":            {Filter{Policies: []string{"empty"}}, func(b *Batch, i int) bool { return late(b, i) && b.Seat[i] == 1 && member(b, i) == "empty" }},
		"chosen":            {Filter{Chosen: []int{2}}, func(b *Batch, i int) bool { return late(b, i) && b.Seat[i] == 1 && b.Chosen[i] == 2 }},
		"mix":               {Filter{Policies: []string{d.Manifest().Job.Policies[1]}}, func(b *Batch, i int) bool { return late(b, i) && b.Seat[i] == 1 }},
		"winners at seat 1": {Filter{Outcomes: []FilterOutcome{Win}, Seats: []int{1}}, func(b *Batch, i int) bool { return b.Outcome[i] > 0 && b.Seat[i] == 1 }},
		"no opening, winners": {Filter{Outcomes: []FilterOutcome{Win}, WithoutOpening: true}, func(b *Batch, i int) bool {
			return late(b, i) && b.Outcome[i] > 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for b := range each(t, d.Batches(ReadOptions{Split: Train, Validation: 0.2})) {
				for i := range b.Rows {
					if c.want(b, i) {
						want = append(want, rowText(b, i))
					}
				}
			}
			require.NotEmpty(t, want, name)
			for _, makers := range []*Makers{nil, &m} {
				for _, o := range []ReadOptions{{Rows: 7}, {Rows: 64}, {Rows: 10, Shuffle: 100}} {
					o.Makers, o.Filter, o.Split, o.Validation = makers, c.f, Train, 0.2
					if makers != nil {
						o.Workers = 2
					}
					var got, sizes = []string{}, []int{}
					for b := range each(t, d.Batches(o)) {
						sizes = append(sizes, b.Rows)
						for i := range b.Rows {
							got = append(got, rowText(b, i))
						}
					}
					if o.Shuffle > 0 {
						require.NotEqual(t, want, got, name)
						require.ElementsMatch(t, want, got, name)
					} else {
						require.Equal(t, want, got, name)
					}
					require.Zero(t, len(slices.DeleteFunc(sizes[:len(sizes)-1], func(n int) bool { return n == o.Rows })), "%s: all batches but the last are full", name)
				}
				o := ReadOptions{Columns: []string{about.ColReward}, Makers: makers, Filter: c.f, Split: Train, Validation: 0.2}
				n := 0
				for b := range each(t, d.Batches(o)) { // none of the columns that the filter needs is asked for
					require.Nil(t, b.Seat)
					require.Len(t, b.Reward, b.Rows)
					n += b.Rows
				}
				require.Equal(t, len(want), n, name)
			}
		})
	}
}

// TestFilterImported: the filter finds the players of recordings in the episodes.
func TestFilterImported(t *testing.T) {
	j, from := recordedJob()
	m := Makers{Vector: toyMakers().Vector}
	d := opened(t, imported(t, j, m, from, Options{Workers: 2}))
	wanted := map[uint64][]bool{}
	name := ""
	for e := range each(t, d.Episodes()) {
		if name == "" {
			name = e.Policies[1]
		}
		for _, p := range e.Policies {
			wanted[e.ID] = append(wanted[e.ID], p == name)
		}
	}
	for _, makers := range []*Makers{nil, &m} {
		rows := 0
		for b := range each(t, d.Batches(ReadOptions{Makers: makers, Filter: Filter{Policies: []string{name}}})) {
			for i, id := range b.Episode {
				require.True(t, wanted[id][b.Seat[i]])
			}
			rows += b.Rows
		}
		want := 0
		for e := range each(t, d.Episodes()) {
			for seat := range e.Policies {
				if wanted[e.ID][seat] {
					want += e.Turns
				}
			}
		}
		require.Equal(t, want, rows)
	}
}

// TestFilterRefused: a filter that can match nothing is refused, and so is one with
// whole episodes.
func TestFilterRefused(t *testing.T) {
	d, m := opened(t, generateToy(t, toyJob(2, 1), Options{})), toyMakers()
	several := opened(t, generateToy(t, mixed(toyJob(2, 1)), Options{}))
	_, err := several.ReadColumns(ReadOptions{Filter: Filter{Chosen: []int{3}}})
	require.ErrorContains(t, err, "chosen 3: the policies have up to 3")
	for want, o := range map[string]ReadOptions{
		"seat 2":          {Filter: Filter{Seats: []int{2}}},
		`policy "nobody"`: {Filter: Filter{Policies: []string{"nobody"}}},
		"no seat has a policy of several members": {Filter: Filter{Chosen: []int{0}}},
		"whole episodes have":                     {Filter: Filter{Seats: []int{1}}, Whole: true, Makers: &m},
		`outcome "won"`:                           {Filter: Filter{Outcomes: []FilterOutcome{"won"}}},
		"no policy of that name played":           {Filter: Filter{Policies: []string{"x"}}, Makers: &m},
	} {
		t.Run(want, func(t *testing.T) {
			n := 0
			for _, err := range d.Batches(o) {
				n++
				require.ErrorContains(t, err, want)
			}
			require.Equal(t, 1, n)
			_, err := d.ReadColumns(o)
			require.ErrorContains(t, err, want)
		})
	}
}
