package datasets

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// TestFinals compares the observations after the last turn of every episode with those
// of another game that plays the orders again, for generated and imported episodes.
func TestFinals(t *testing.T) {
	for _, o := range []Obs{ObsPlanes, ObsPacked} {
		for _, limit := range []int{0, 3} {
			j := toyJob(3, 2)
			j.Obs, j.MaxTurns = o, limit
			dir := generateToy(t, j, Options{Workers: 2})
			requireFinals(t, dir, toyMakers())
			requireSound(t, dir, toyMakers(), VerifyOptions{Workers: 2, Recompute: -1})
		}
	}
	j, from := recordedJob()
	m := Makers{Vector: toyMakers().Vector}
	requireFinals(t, imported(t, j, m, from, Options{Workers: 2}), m)
}

func requireFinals(t *testing.T, dir string, m Makers) {
	d := opened(t, dir)
	job := d.Manifest().Job
	want := env.WantPlanes | env.WantScalars
	if job.Obs == ObsPacked {
		want = env.WantPacked | env.WantScalars
	}
	var vectors []env.Vector
	for _, rules := range job.Rules {
		v, err := m.Vector(rules, job.Config(1))
		require.NoError(t, err)
		vectors = append(vectors, v)
	}
	var all []string
	cut := 0
	for e := range each(t, d.Episodes()) {
		v := vectors[e.Rules]
		b := env.NewBatch(v.Spec(), 1, want)
		require.NoError(t, rollout.Replay(v, &e.Episode, b, nil))
		v.Observe(b)
		all = append(all, fmt.Sprint(e.ID, e.Turns, b.Planes, b.Packed, b.Scalars))
		if e.Status == sim.Cut {
			cut++
		}
	}
	require.Equal(t, job.MaxTurns > 0, cut > 0)
	n := 0
	for f := range each(t, d.Finals()) {
		require.Equal(t, all[n], fmt.Sprint(f.Episode, f.Turns, f.Planes, f.Packed, f.Scalars))
		n++
	}
	require.Len(t, all, n)
	for range d.Finals() {
		break // a consumer may leave
	}
	_, err := d.ColumnSHA256("finals", about.ColScalars)
	require.NoError(t, err)
	_, err = d.ColumnSHA256("finals", about.ColReward)
	require.ErrorContains(t, err, `no column "reward" in the finals`)
}

// TestNoFinals: datasets without observations have no finals.
func TestNoFinals(t *testing.T) {
	j := toyJob(2, 1)
	j.Obs = ObsNone
	dir := generateToy(t, j, Options{Workers: 2})
	for name := range files(t, dir) {
		require.NotContains(t, name, about.FinalsDir)
	}
	d := opened(t, dir)
	for range d.Finals() {
		t.Fatal("there is one")
	}
	_, err := d.ColumnSHA256("finals", about.ColTurn)
	require.ErrorContains(t, err, `no table "finals"; there are: steps, episodes`)
	requireSound(t, dir, toyMakers(), VerifyOptions{Recompute: -1})
}

// TestTamperedFinals changes one value of every column of the finals in turn.
func TestTamperedFinals(t *testing.T) {
	shallow := map[string]string{
		about.ColEpisode: "row 8 is of episode ",
		about.ColTurn:    "the episode has ",
		about.ColSeat:    "row 8 is of episode ",
	}
	flip := func(column string) func(*arrowfile.RecordBatch) {
		return func(t *arrowfile.RecordBatch) {
			for i := range 1 + about.Flag(column == about.ColTurn) { // the turns of both seats: a change of one is found at once
				t.Col(column).Row(8 + int(i))[0] ^= 1
			}
		}
	}
	requireTamperingIsFound(t, about.FinalsDir, about.FinalColumns(specOfToy(t).Shape, ObsPlanes), flip, shallow, 8)
}
