package datasets

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
	"moonfarm/sim/simtest"
)

// fog hides the heaps that a seat did not name in the turn before.
var fog = &features.Fog{Visible: "named", Remembered: []string{"heap"}}

// TestMemory: with memory, planes show what was last seen, row for row, and nothing
// else changes. The bytes depend neither on workers nor on a stop, and are the same
// when made again.
func TestMemory(t *testing.T) {
	bare := toyJob(2, 8)
	bare.Program = ProgramMoonfarm
	j := bare
	j.Memory = true
	plain := generateToy(t, bare, Options{})
	dir := generated(t, j, foggyMakers(fog), Options{Workers: 1})
	want := files(t, dir)
	requireMemory(t, plain, dir)

	for _, workers := range []int{2, 5} {
		requireSameFiles(t, want, files(t, generated(t, j, foggyMakers(fog), Options{Workers: workers, Games: 3 * workers})))
	}
	stopped := half(t, j, foggyMakers(fog))
	_, err := Generate(t.Context(), stopped, bare, foggyMakers(fog), Options{})
	require.ErrorContains(t, err, "memory: it has true, this run false")
	r, err := Generate(t.Context(), stopped, j, foggyMakers(fog), Options{})
	require.NoError(t, err)
	require.Greater(t, r.Found, 0)
	requireSameFiles(t, want, files(t, stopped))

	report := requireSound(t, dir, foggyMakers(fog), VerifyOptions{Recompute: -1})
	require.Equal(t, report.Shards, report.Recomputed)
	orders := foggyMakers(fog)
	orders.Policy = nil // the recorded orders are played again
	report = requireSound(t, dir, orders, VerifyOptions{Recompute: -1})
	require.True(t, report.Replayed)

	require.Equal(t, []string{"heap"}, r.Manifest.Observation.Remembered)
	require.Contains(t, r.Manifest.Command, " --obs planes --memory --codec ")
	require.Contains(t, want["README.md"], "Out of sight these planes show what was last seen: heap.\n")
	without := files(t, plain)
	require.NotContains(t, without["manifest.json"], "memory")
	require.NotContains(t, without["manifest.json"], "remembered")
	require.NotContains(t, without["README.md"], "Out of sight")
}

// requireMemory compares the step rows of two datasets, the second with memory.
func requireMemory(t *testing.T, plain, remembered string) {
	t.Helper()
	rows := func(dir string) (planes [][]uint8, turns []int32) {
		for b := range each(t, opened(t, dir).Batches(ReadOptions{Rows: 100})) {
			planes = slices.AppendSeq(planes, slices.Chunk(slices.Clone(b.Planes), 2*simtest.ToyHeaps))
			turns = append(turns, b.Turn...)
		}
		return planes, turns
	}
	bare, turns := rows(plain)
	filled, _ := rows(remembered)
	require.Len(t, filled, len(bare))
	known, changed := [2][simtest.ToyHeaps]uint8{}, 0
	for row, planes := range bare {
		seat := row % 2
		if turns[row] == 0 {
			known[seat] = [simtest.ToyHeaps]uint8{}
		}
		for h := range simtest.ToyHeaps {
			if planes[simtest.ToyHeaps+h] != 0 {
				known[seat][h] = planes[h]
			}
			if planes[h] != known[seat][h] {
				planes[h] = known[seat][h]
				changed++
			}
		}
		require.Equal(t, planes, filled[row], "row %d", row)
	}
	require.Greater(t, changed, 100)
}

// TestMemoryRefused: memory needs fog and planes.
func TestMemoryRefused(t *testing.T) {
	j := toyJob(2, 1)
	j.Memory = true
	requireRefused(t, t.TempDir(), j, "these rules of toy have no fog of war")
	for _, o := range []Obs{ObsPacked, ObsNone} {
		j.Obs = o
		_, err := Generate(t.Context(), t.TempDir(), j, foggyMakers(fog), Options{})
		require.ErrorContains(t, err, "memory fills in planes, and the observations are "+string(o))
	}
}
