package datasets

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// seeker plays like anyone. Its search finds up to three moves, which depend on the
// row's seed; some have orders that no choice encodes. For seeds that end in 00 it
// finds nothing.
type seeker struct {
	anyone
	rows  []int32
	found []*rollout.SearchResult
}

func (s *seeker) Act(v env.Vector, b *env.Batch, rows []int32) {
	s.anyone.Act(v, b, rows)
	s.rows, s.found = append(s.rows[:0], rows...), s.found[:0]
	for _, row := range rows {
		s.found = append(s.found, sought(b.RowSeed[row], s.spec.Info.MaxOrders))
	}
}

func (s *seeker) SearchResult(row int32) *rollout.SearchResult {
	if i := slices.Index(s.rows, row); i >= 0 {
		return s.found[i]
	}
	return nil
}

// sought returns the result of a seeker's search for a seed.
func sought(seed uint64, orders int) *rollout.SearchResult {
	moves := int(seed & 3)
	if moves == 0 {
		return nil
	}
	s := &rollout.SearchResult{Value: float64(int8(seed>>8)) / 128}
	for k := range moves {
		s.Shares = append(s.Shares, 1/float32(moves))
		for i := range int(seed>>(16+k)) & 7 % (orders + 1) {
			s.Orders = append(s.Orders, sim.Order(1+seed>>(24+5*k+3*i)%(simtest.ToyHeaps+1)))
		}
		s.Ends = append(s.Ends, int32(len(s.Orders)))
	}
	return s
}

// seeking gives the second seat of a job a policy that searches.
func seeking(j Job) Job {
	j.Policies[1] = "seek"
	return j
}

// TestSearchColumns: rows have the search results, with moves in the form of actions,
// and the dataset verifies.
func TestSearchColumns(t *testing.T) {
	for _, j := range []Job{seeking(toyJob(2, 1)), seeking(toyJob(3, 2))} {
		heads := j.Rules[0][len(j.Rules[0])-1] - '0'
		dir := generateToy(t, j, Options{Workers: 2})
		d := opened(t, dir)
		require.True(t, d.Manifest().Job.Search)
		v, err := toyMakers().Vector(j.Rules[0], env.Settings{N: 1})
		require.NoError(t, err)
		seeds := rowSeeds(t, d, v)
		sums, unsaid, row := 0, 0, 0
		for b := range each(t, d.Batches(ReadOptions{Rows: 77})) {
			require.Equal(t, heads == 1, b.SearchCounts == nil)
			for i := range b.Rows {
				moves, choices := b.SearchPolicy[b.SearchEnds[i]:b.SearchEnds[i+1]], b.SearchChoices[b.SearchChoiceEnds[i]:b.SearchChoiceEnds[i+1]]
				want := sought(seeds[row], v.Spec().Info.MaxOrders)
				row++
				if b.Seat[i] != 1 || want == nil {
					require.True(t, math.IsNaN(float64(b.SearchValue[i])))
					require.Empty(t, moves)
					require.Empty(t, choices)
					continue
				}
				sums++
				require.Equal(t, float32(want.Value), b.SearchValue[i])
				require.Equal(t, want.Shares, moves)
				for k := range moves {
					var numbers []int32 // the orders of a toy are its choices, one for each head
					for h, o := range want.OrdersOf(k) {
						if o > simtest.ToyHeaps {
							numbers = append(numbers, int32(-1-h))
							unsaid++
						} else {
							numbers = append(numbers, int32(h*(simtest.ToyHeaps+1))+int32(o))
						}
					}
					if heads == 1 && len(numbers) == 0 {
						numbers = []int32{0}
					}
					n := 1
					if heads > 1 {
						n = int(b.SearchCounts[int(b.SearchEnds[i])+k])
					}
					require.Equal(t, numbers, append([]int32(nil), choices[:n]...))
					choices = choices[n:]
				}
				require.Empty(t, choices)
			}
		}
		require.Greater(t, min(sums, unsaid), 50)
		card := inspected(t, dir, InspectOptions{Workers: 2})
		require.InDelta(t, 2, card.Moves.Mean, 0.25) // the mean of 1, 2 and 3
		require.Equal(t, []float64{1, 3}, []float64{card.Moves.Min, card.Moves.Max})
		require.InDelta(t, 0, card.Value.Mean, 0.25)
		require.Less(t, card.Value.Min, -0.8)
		requireSound(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
		r := requireSound(t, dir, Makers{Vector: toyMakers().Vector}, VerifyOptions{Workers: 2, Recompute: -1})
		require.True(t, r.Replayed)
	}
	dir := generateToy(t, toyJob(2, 1), Options{})
	require.Nil(t, inspected(t, dir, InspectOptions{}).Moves)
	d := opened(t, dir)
	for b := range each(t, d.Batches(ReadOptions{})) {
		require.Nil(t, b.SearchValue)
		require.Nil(t, b.SearchEnds)
	}
}

// rowSeeds returns the seeds of all rows of a dataset, from playing it again.
func rowSeeds(t *testing.T, d *Dataset, v env.Vector) (seeds []uint64) {
	b := env.NewBatch(v.Spec(), 1, env.WantRowSeed)
	for e := range each(t, d.Episodes()) {
		require.NoError(t, rollout.Replay(v, &e.Episode, b, func(int, *env.Batch) error {
			seeds = append(seeds, b.RowSeed...)
			return nil
		}))
	}
	return seeds
}

// TestSearchesPlayedAgain: replayed rows have search results, too; also from a dataset
// without observations, and when only these columns are asked for.
func TestSearchesPlayedAgain(t *testing.T) {
	for _, j := range []Job{seeking(toyJob(2, 1)), seeking(toyJob(3, 2))} {
		j.Episodes, j.Obs = 20, ObsNone
		from := opened(t, generateToy(t, j, Options{}))
		j.Obs = ObsPlanes
		as := opened(t, generateToy(t, j, Options{}))
		requireRendered(t, from, as, toyMakers(), ReadOptions{Obs: ObsPlanes})
		m := toyMakers()
		for b := range each(t, from.Batches(ReadOptions{Makers: &m, Columns: []string{about.ColSearchPolicy}})) {
			require.NotEmpty(t, b.SearchPolicy)
			require.Len(t, b.SearchEnds, b.Rows+1)
			require.Nil(t, b.SearchChoices)
			require.Nil(t, b.SearchValue)
		}
	}
}

// TestTamperingWithSearches: a value, share, choice or count changed only in the steps
// is found by comparing with the episodes; one changed in both is found by searching
// again.
func TestTamperingWithSearches(t *testing.T) {
	flip := func(name string, list bool) func(*arrowfile.RecordBatch) {
		done := false // once
		return func(t *arrowfile.RecordBatch) {
			d := t.Col(name)
			if done {
				return
			}
			done = true
			if list {
				d.Bytes[0] ^= 1
			} else {
				d.Fixed[0] ^= 1 // a NaN: the first seat does not search
			}
		}
	}
	for _, name := range []string{about.ColSearchValue, about.ColSearchPolicy, about.ColSearchChoices} {
		t.Run(name, func(t *testing.T) {
			dir := generateToy(t, seeking(toyJob(2, 1)), Options{})
			tamperWith(t, dir, about.StepsDir, flip(name, name != about.ColSearchValue))
			requireProblem(t, dir, Makers{}, VerifyOptions{}, "steps/00001.arrow: row ", name, ", the episode says")
			tamperWith(t, dir, about.EpisodesDir, flip(name, true))
			requireSound(t, dir, Makers{}, VerifyOptions{}) // only searching again finds it
			requireProblem(t, dir, toyMakers(), VerifyOptions{Recompute: -1}, "shard 1 made again: ", "column "+name, "found ", "expected ")
		})
	}
	dir := generateToy(t, seeking(toyJob(3, 2)), Options{})
	tamperWith(t, dir, about.StepsDir, flip(about.ColSearchCounts, true))
	requireProblem(t, dir, Makers{}, VerifyOptions{}, "steps/00001.arrow: row ", about.ColSearchCounts, ", the episode says")
	tamperWith(t, dir, about.EpisodesDir, flip(about.ColSearchCounts, true))
	requireProblem(t, dir, Makers{}, VerifyOptions{}, "episodes/00001.arrow: row 0: ", "choices of searches, of which")
}

// FuzzFound: any search results of an episode are refused, or can be taken apart.
func FuzzFound(f *testing.F) {
	nan := []byte{0, 0, 0xc0, 0x7f}
	f.Add(false, nan, []byte{1, 0, 0, 0}, nan, []byte{3, 0, 0, 0}, []byte{})
	f.Add(true, nan, []byte{1, 0, 0, 0}, nan, []byte{3, 0, 0, 0, 255, 255, 255, 255}, []byte{2, 0, 0, 0})
	f.Add(true, nan, []byte{2, 0, 0, 0}, nan, []byte{3, 0, 0, 0}, []byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, several bool, value, ends, shares, choices, counts []byte) {
		floats := func(b []byte) []float32 {
			return arrowfile.View[float32](append(arrowfile.Aligned(len(b) / 4 * 4)[:0], b[:len(b)/4*4]...))
		}
		ints := func(b []byte) []int32 {
			return arrowfile.View[int32](append(arrowfile.Aligned(len(b) / 4 * 4)[:0], b[:len(b)/4*4]...))
		}
		found := rollout.SearchResults{Value: floats(value), Ends: ints(ends), Shares: floats(shares), Choices: ints(choices), Counts: ints(counts)}
		heads := []int{9}
		if several {
			heads = []int{9, 4}
		}
		if about.FoundError(&found, len(found.Value), heads) != nil {
			return
		}
		last := int32(0)
		for row, end := range found.AppendChoiceEnds(nil) {
			require.LessOrEqual(t, last, end)
			require.LessOrEqual(t, int(end), len(found.Choices))
			require.LessOrEqual(t, int(found.Ends[row]), len(found.Shares))
			last = end
		}
		require.Len(t, found.Choices, int(last))
	})
}
