package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
)

// fog hides the heaps that a seat did not name in the turn before.
var fog = &features.Fog{Visible: "named", Remembered: []string{"heap"}}

// TestMemory: with memory the planes change, to what was last seen (env tests that), and nothing
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
	without, filled := inspected(t, plain, InspectOptions{Sums: true}).SHA256, inspected(t, dir, InspectOptions{Sums: true}).SHA256
	require.NotEqual(t, without["planes"], filled["planes"])
	filled["planes"] = without["planes"]
	require.Equal(t, without, filled, "no other column changes")

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
	all := files(t, plain)
	require.NotContains(t, all["manifest.json"], "memory")
	require.NotContains(t, all["manifest.json"], "remembered")
	require.NotContains(t, all["README.md"], "Out of sight")
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
