package datasets

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim"
)

// detailed returns the Overview of a dataset with Details.
func detailed(t *testing.T, j Job, o InspectOptions) *Overview {
	t.Helper()
	o.Details, o.Orders = true, func(orders []sim.Order) (list []string) {
		for _, o := range orders {
			list = append(list, fmt.Sprintf("%s %d", []string{"low", "high"}[min(o/4, 1)], o))
		}
		return list
	}
	return inspected(t, generateToy(t, j, Options{Workers: 1}), o)
}

// TestDetails compares Details with the figures of Inspect, which reads all rows in another way, and
// with plain counts.
func TestDetails(t *testing.T) {
	j := mixed(toyJob(2, 2))
	dir := generateToy(t, j, Options{Workers: 1})
	plain, got := inspected(t, dir, InspectOptions{Workers: 2}), detailed(t, j, InspectOptions{})
	d := got.Details
	got.Details = nil
	require.Equal(t, plain, got, "a small dataset is read as a whole")
	for _, c := range []struct {
		s Summary
		h overview.Histogram
	}{{got.Turns, d.Turns}, {got.Choices, d.Choices}} {
		require.Equal(t, []float64{c.s.Mean, c.s.Min, c.s.Max}, []float64{c.h.Mean, c.h.Min, c.h.Max}, c.s.Name)
	}
	require.Equal(t, got.Return.Max, d.Returns.Max)
	require.Equal(t, got.Manifest.Totals.Episodes, d.Turns.N)

	labels := make([]Labels, 2)
	taken, kinds, orders, idle := map[[2]int]uint64{}, map[string]uint64{}, uint64(0), uint64(0)
	chosen, different := make([]uint64, 3), 0
	for b := range each(t, opened(t, dir).Batches(ReadOptions{})) {
		for i := range b.Rows {
			labels[b.Seat[i]].Put(about.RowsOf(b.Action, i, 1, 2))
			for h, c := range about.RowsOf(b.Action, i, 1, 2) {
				if taken[[2]int{h, int(c)}]++; c != 0 && taken[[2]int{h, int(c)}] == 1 {
					different++
				}
			}
			given := uint64(0)
			for _, o := range b.Orders[b.OrderEnds[i]:b.OrderEnds[i+1]] {
				if o != 0 {
					given++
					kinds[[]string{"low", "high"}[min(o/4, 1)]]++
				}
			}
			if b.Seat[i] == 1 {
				chosen[b.Chosen[i]]++
			} else if orders += given; given == 0 {
				idle++
			}
		}
	}
	for i := range labels {
		labels[i].Seat = i
		labels[i].Close()
		require.Positive(t, labels[i].Heads.All)
	}
	require.Equal(t, labels, got.Labels)
	s := d.Seats[0]
	require.Equal(t, []uint64{idle, got.Rows / 2, got.Rows / 2}, []uint64{s.Idle, s.Rows, s.Orders.N})
	require.InDelta(t, float64(orders)/float64(s.Rows), s.Orders.Mean, 1e-9)
	require.Equal(t, chosen[:len(d.Seats[1].Chosen)], d.Seats[1].Chosen)
	require.Len(t, s.ByTurn, int(d.Turns.Max-1)/d.TurnWidth+1)
	for _, k := range d.Kinds {
		require.Equal(t, kinds[k.Name], k.Orders)
	}
	require.Len(t, d.Kinds, len(kinds))
	require.Equal(t, different, d.Actions.Different)
	require.NotEmpty(t, d.Actions.Choices)
	named := false
	for _, c := range d.Actions.Choices {
		require.Equal(t, taken[[2]int{c.Head, c.Choice}], c.Rows)
		require.NotZero(t, c.Choice)
		named = named || len(c.Orders) == 1
	}
	require.True(t, named, "the orders of a choice")
	require.EqualValues(t, got.Rows, d.Actions.Used.N)
}

// TestDetailsOfForms: packed observations have the planes that they unpack to, and datasets of orders
// alone have orders.
func TestDetailsOfForms(t *testing.T) {
	j := toyJob(2, 1)
	planes := detailed(t, j, InspectOptions{})
	j.Obs = ObsPacked
	packed := detailed(t, j, InspectOptions{})
	require.Equal(t, planes.Planes, packed.Planes)
	require.Equal(t, planes.Details, packed.Details)
	require.NotEmpty(t, packed.Planes)
	j.Obs = ObsNone
	none := detailed(t, j, InspectOptions{})
	require.Equal(t, planes.Details.Seats[0].Orders, none.Details.Seats[0].Orders)
	require.Nil(t, none.Details.Actions)
	require.Empty(t, none.Details.Choices.Bars)

	j = toyJob(2, 1)
	j.Ask = "other"
	require.Positive(t, detailed(t, j, InspectOptions{}).Details.Seats[0].Asked.All)
	few := detailed(t, j, InspectOptions{Shards: 2})
	require.Equal(t, 2, few.Shards)
	require.Less(t, few.Rows, planes.Rows)
	require.EqualValues(t, 100, few.Details.Turns.N, "all episodes are counted")
}
