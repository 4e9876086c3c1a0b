package datasets

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
)

// seen is an observation and its mask as text.
func seen(planes []uint8, scalars []float32, b *Batch, i int) string {
	c := Batch{Rows: b.Rows, Planes: planes, Scalars: scalars}
	return rowText(&c, i)
}

// nextRow is what a transition adds to a row.
type nextRow struct {
	observation      string
	mask             uint64
	reward, discount float32
}

// stepID identifies a row of a form that may be sequential.
type stepID struct {
	rowID
	step int32
}

func stepOf(b *Batch, i int) stepID {
	id := stepID{rowID: rowID{b.Episode[i], b.Turn[i], b.Seat[i]}}
	if b.Step != nil {
		id.step = b.Step[i]
	}
	return id
}

// transitions computes the transitions of n actions from rows in order and the observations after the last turn. Their
// masks are 0 where the rules ended the episode, and 1 where a limit cut it.
func transitions(t *testing.T, d *Dataset, o ReadOptions, n int) map[stepID]nextRow {
	finals, cut := map[stepID]string{}, map[uint64]bool{}
	o.Whole = true
	for b := range each(t, d.Batches(o)) {
		last := *b
		last.Rows = int(d.Manifest().Game.Players)
		for p := range last.Rows {
			id := stepID{rowID: rowID{episode: b.Episode[0], seat: uint8(p)}}
			finals[id] = seen(b.Final.Planes, b.Final.Scalars, &last, p)
		}
		cut[b.Episode[0]] = b.Truncated[b.Rows-1] != 0 || b.Truncated[b.Rows-2] != 0
	}
	o.Whole = false
	type row struct {
		id          stepID
		observation string
		mask        uint64
		reward      float32
	}
	all := map[stepID][]row{} // of each seat in each episode
	for b := range each(t, d.Batches(o)) {
		for i := range b.Rows {
			id := stepID{rowID: rowID{episode: b.Episode[i], seat: b.Seat[i]}}
			all[id] = append(all[id], row{stepOf(b, i), seen(b.Planes, b.Scalars, b, i), b.Mask[i], b.Reward[i]})
		}
	}
	out := map[stepID]nextRow{}
	for seat, rows := range all {
		for i, r := range rows {
			next, later, power := nextRow{observation: finals[seat]}, min(i+n, len(rows)), 1.0
			for _, r := range rows[i:later] {
				next.reward += float32(power) * r.reward
				power *= o.Discount
			}
			next.discount = float32(power)
			if later < len(rows) {
				next.observation, next.mask = rows[later].observation, rows[later].mask
			} else if cut[seat.episode] {
				next.mask = 1
			} else {
				next.discount = 0
			}
			out[r.id] = next
		}
	}
	return out
}

// TestNext compares the next observations, in every way of reading, with the rows in order.
func TestNext(t *testing.T) {
	toy, foggy := toyMakers(), foggyMakers(&features.Fog{Visible: "named", Remembered: []string{"heap"}})
	for name, c := range map[string]struct {
		m      *Makers
		form   string
		memory bool
	}{"cells": {&toy, "", false}, "orders": {&toy, "orders", false}, "memory": {&foggy, "", true}} {
		t.Run(name, func(t *testing.T) {
			j := toyJob(2, 4)
			j.Obs, j.MaxTurns, j.Episodes = ObsNone, 4, 40 // the rules end some episodes before
			d := opened(t, generated(t, j, *c.m, Options{}))
			for _, n := range []int{1, 3, math.MaxInt32} {
				o := ReadOptions{Makers: c.m, Form: c.form, Obs: ObsPlanes, Memory: c.memory, Discount: 0.5}
				want := transitions(t, d, o, n)
				if o.Next, o.Steps = true, n; n == 1 {
					o.Steps = 0
				}
				for _, way := range append(ways[:5:5], ReadOptions{Rows: 5, Filter: Filter{Seats: []int{1}}}) {
					o.Rows, o.Shuffle, o.Workers, o.Filter = way.Rows, way.Shuffle, way.Workers, way.Filter
					requireNext(t, d, o, want)
				}
			}
		})
	}
}

// requireNext reads rows with their next observations.
func requireNext(t *testing.T, d *Dataset, o ReadOptions, want map[stepID]nextRow) {
	t.Helper()
	rows, over, more := 0, 0, 0
	for b := range each(t, d.Batches(o)) {
		for i := range b.Rows {
			w := want[stepOf(b, i)]
			require.Equal(t, w.observation, seen(b.NextPlanes, b.NextScalars, b, i), "%+v: %+v", o, stepOf(b, i))
			require.InDelta(t, w.reward, b.NStep[i], 1e-6)
			require.Equal(t, w.discount, b.NextDiscount[i])
			switch legal, heads := bits.OnesCount64(b.NextMask[i]), len(b.Action)/b.Rows; w.mask {
			case 0:
				require.Equal(t, heads, legal, "nothing alone is legal")
				over++
			case 1:
				require.GreaterOrEqual(t, legal, heads)
				more += legal - heads
			default:
				require.Equal(t, w.mask, b.NextMask[i])
			}
			rows++
		}
	}
	if o.Filter.Empty() {
		require.Len(t, want, rows)
	}
	require.Positive(t, rows)
	require.Positive(t, over, "ends by the rules")
	require.Positive(t, more, "legal orders where a limit cut an episode")
}
