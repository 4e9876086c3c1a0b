package datasets

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/store"
	"moonfarm/datasets/internal/write"
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

// vanished removes the final observations from the Rows of every episode.
type vanished struct{ rollout.Sink }

func (v vanished) Episode(e *rollout.Episode) error {
	e.Rows.Final.Scalars = e.Rows.Final.Scalars[:0]
	return v.Sink.Episode(e)
}

// TestFinalsAreKept: episodes that hold their rows are not played again for their last
// observations; the kept ones are written.
func TestFinalsAreKept(t *testing.T) {
	j := toyJob(2, 1).WithDefaults()
	specs, err := j.Complete(toyMakers())
	require.NoError(t, err)
	l := about.NewLayout(j, specs)
	v, err := toyMakers().Vector("", j.Config(4))
	require.NoError(t, err)
	maker, err := toyMakers().Policy("random", nil)
	require.NoError(t, err)
	var sums []string
	for _, wrap := range []func(rollout.Sink) rollout.Sink{
		func(s rollout.Sink) rollout.Sink { return s },
		func(s rollout.Sink) rollout.Sink { return vanished{s} },
	} {
		made, m := 0, toyMakers()
		x, err := write.NewEncoder(l, Makers{Vector: func(rules string, c env.Settings) (env.Vector, error) {
			made++
			return m.Vector(rules, c)
		}})
		require.NoError(t, err)
		to := [about.AllTables]store.Sum{store.NewSum(), store.NewSum(), store.NewSum()}
		require.NoError(t, x.Start(j.Place(0), []io.Writer{&to[0], &to[1], &to[2]}))
		games, err := rollout.NewGames(v, rollout.Cast{Seats: []rollout.Maker{maker, maker}, Keep: l.Keep(4)})
		require.NoError(t, err)
		sink := wrap(playedTo(func(e *rollout.Episode) error { return x.Episode(e, "") }))
		require.NoError(t, games.Play(context.Background(), j.Seed, 0, j.ShardEpisodes, sink))
		_, err = x.Finish()
		require.NoError(t, err)
		require.Equal(t, 1, made, "a game in which starts are looked at, and none to play again")
		sums = append(sums, to[0].SHA256(), to[2].SHA256())
	}
	require.Equal(t, sums[0], sums[2])
	require.NotEqual(t, sums[1], sums[3])
	dir := generateToy(t, toyJob(2, 1), Options{})
	require.Equal(t, sums[:2], []string{shardsOf(t, dir)[0].Steps.SHA256, shardsOf(t, dir)[0].Finals.SHA256})
	require.False(t, slices.Contains(sums[2:], shardsOf(t, dir)[0].Finals.SHA256))
}
