package datasets

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/about"
	"moonfarm/features"
	"moonfarm/sim/simtest"
)

// TestSequentialRows reads a dataset of whole turns in a sequential form. The actions of a turn
// lead to its orders, the rewards of its rows sum to that of the turn, and the rows of seats that
// wait are left out.
func TestSequentialRows(t *testing.T) {
	d := opened(t, generated(t, toyJob(2, 4), toyMakers(), Options{}))
	m := toyMakers()
	type turn struct {
		reward float32
		ended  bool // the game, with the last row
		orders []uint64
	}
	turns := map[rowID]turn{}
	for b := range each(t, d.Batches(ReadOptions{})) {
		for i := range b.Rows {
			w := turn{reward: b.Reward[i], ended: b.Terminated[i] != 0}
			for _, o := range b.Orders[b.OrderEnds[i]:b.OrderEnds[i+1]] {
				w.orders = append(w.orders, uint64(o))
			}
			turns[rowID{b.Episode[i], b.Turn[i], b.Seat[i]}] = w
		}
	}
	got, several, mask := map[rowID]*turn{}, 0, 0
	for b := range each(t, d.Batches(ReadOptions{Makers: &m, Form: "orders"})) {
		require.Equal(t, []int{b.Rows}, b.Shape(about.ColAction))
		for i := range b.Rows {
			id := rowID{b.Episode[i], b.Turn[i], b.Seat[i]}
			if b.Step[i] == 0 {
				require.NotContains(t, got, id)
				got[id] = &turn{}
			}
			w, a := got[id], b.Action[i]
			require.False(t, w.ended, "a row after the end")
			w.reward, w.ended = w.reward+b.Reward[i], b.Terminated[i] != 0
			orders := b.Orders[b.OrderEnds[i]:b.OrderEnds[i+1]]
			if a > 0 {
				require.Len(t, w.orders, int(b.Step[i]))
				require.Empty(t, orders, "orders stand at the end of a turn")
				require.NotZero(t, b.Mask[i]>>a&1, "the action is not legal")
				w.orders = append(w.orders, uint64(a))
				several++
			} else if want := turns[id].orders; len(want) > 0 {
				for k, o := range orders {
					require.Equal(t, want[k], uint64(o))
				}
			}
			mask += int(b.Mask[i] & 1)
		}
	}
	require.Len(t, got, len(turns))
	for id, want := range turns {
		require.InDelta(t, want.reward, got[id].reward, 1e-6)
		require.Equal(t, want.ended, got[id].ended)
		for _, o := range got[id].orders {
			require.Contains(t, want.orders, o)
		}
		require.True(t, slices.IsSorted(got[id].orders))
	}
	assert.Greater(t, several, len(turns)/2)
	assert.Positive(t, mask)
}

// TestSequentialReading: rows of a sequential form do not depend on workers, and the shuffled ones
// are the same rows.
func TestSequentialReading(t *testing.T) {
	d := opened(t, generated(t, mixed(toyJob(2, 4)), toyMakers(), Options{}))
	m := toyMakers()
	all := func(o ReadOptions) (texts []string) {
		o.Makers, o.Form = &m, "orders"
		for b := range each(t, d.Batches(o)) {
			for i := range b.Rows {
				texts = append(texts, rowText(b, i))
			}
		}
		return texts
	}
	want := all(ReadOptions{Rows: 7, Steps: 3})
	assert.Equal(t, want, all(ReadOptions{Rows: 100, Steps: 3, Workers: 3}))
	shuffled := all(ReadOptions{Rows: 10, Steps: 3, Shuffle: 300, Seed: 4})
	assert.NotEqual(t, want, shuffled)
	assert.Equal(t, shuffled, all(ReadOptions{Rows: 10, Steps: 3, Shuffle: 300, Seed: 4, Workers: 2}))
	assert.ElementsMatch(t, want, shuffled)
	losers := all(ReadOptions{Steps: 3, Filter: Filter{Outcomes: []FilterOutcome{Loss}}})
	assert.Less(t, len(losers), len(want))
	assert.Subset(t, want, losers)
	episodes := 0
	for b := range each(t, d.Batches(ReadOptions{Makers: &m, Form: "orders", Whole: true})) {
		episodes++
		assert.Zero(t, b.Rows%2, "rows of seats that wait are there, too")
		assert.True(t, slices.Contains(b.Terminated, 1) && b.Final.Turns <= simtest.ToyTurns)
		last := map[uint8]int32{}
		for i := range b.Rows {
			if b.Action[i] == -1 {
				continue
			}
			last[b.Seat[i]] = b.Turn[i]
		}
		assert.Equal(t, int32(b.Final.Turns-1), last[0])
	}
	assert.Equal(t, 100, episodes)
}

// TestFormWithoutMemory: a dataset with memory is read in a form that has none.
func TestFormWithoutMemory(t *testing.T) {
	j, m := toyJob(2, 4), foggyMakers(&features.Fog{Visible: "named", Remembered: []string{"heap"}})
	j.Memory = true
	d := opened(t, generated(t, j, m, Options{}))
	rows := 0
	for b := range each(t, d.Batches(ReadOptions{Makers: &m, Form: "orders"})) {
		rows += b.Rows
	}
	assert.Greater(t, rows, int(d.Manifest().Totals.Rows))
	_, err := d.ReadColumns(ReadOptions{Makers: &m, Form: "orders", Obs: ObsPlanes, Memory: true})
	assert.ErrorContains(t, err, "memory fills in the planes of the form cells")
}

// TestFormOfDataset: the rows of a sequential form are not stored, and wrong forms are refused.
func TestFormOfDataset(t *testing.T) {
	j, m := toyJob(2, 4), toyMakers()
	plain := opened(t, generated(t, j, m, Options{}))
	j.Form = "cells"
	require.Equal(t, plain.Manifest(), opened(t, generated(t, j, m, Options{})).Manifest(), "the default has no name")
	for form, want := range map[string]string{"orders": "several rows", "none": `no form "none"`} {
		j.Form = form
		_, err := Generate(t.Context(), t.TempDir()+"/d", j, m, Options{})
		assert.ErrorContains(t, err, want)
	}
	_, err := plain.ReadColumns(ReadOptions{Makers: &m, Form: "none"})
	assert.ErrorContains(t, err, `no form "none"`)
	_, err = plain.ReadColumns(ReadOptions{Form: "orders"})
	assert.ErrorContains(t, err, "Makers")
	for form, sequential := range map[string]bool{"cells": false, "orders": true} {
		columns, err := plain.ReadColumns(ReadOptions{Makers: &m, Form: form})
		require.NoError(t, err)
		assert.Equal(t, sequential, slices.ContainsFunc(columns, func(c Column) bool { return c.Name == about.ColStep }))
	}
}

// TestOtherActions reads datasets whose actions the game no longer has: rows get an error that says so, and their
// orders make rows of a form that is named.
func TestOtherActions(t *testing.T) {
	m := toyMakers()
	for obs, rows := range map[Obs]bool{ObsPlanes: true, ObsNone: false} {
		t.Run(string(obs), func(t *testing.T) {
			j := toyJob(2, 4)
			j.Obs = obs
			dir := generated(t, j, m, Options{})
			edit(t, dir, func(m *Manifest) { m.Action.Heads, m.Action.Unmasked = []int{8, 8, 8, 8}, 1 })
			d := opened(t, dir)
			check := func(o ReadOptions, fault string) {
				t.Helper()
				n := 0
				var err error
				for b, failed := range d.Batches(o) {
					if err = failed; err != nil {
						break
					}
					n += b.Rows
				}
				if fault == "" || !rows {
					require.NoError(t, err)
					require.Positive(t, n)
				} else {
					require.ErrorContains(t, err, fault)
				}
			}
			check(ReadOptions{}, "4 heads, 1 of them without a mask, which no game has now, expected a mask for each; choose a form")
			check(ReadOptions{Makers: &m}, "4 heads of up to 8 choices, expected 4 of up to 9 as in the form cells of this moonfarm; choose a form when reading, and its orders make new rows: cells, orders")
			check(ReadOptions{Makers: &m, Form: features.Cells}, "")
			check(ReadOptions{Makers: &m, Form: "orders"}, "")
			_, err := Verify(t.Context(), dir, m, VerifyOptions{Recompute: -1})
			if rows {
				require.ErrorContains(t, err, "its actions have 4 heads")
			} else {
				require.NoError(t, err)
				requireSound(t, dir, m, VerifyOptions{Recompute: -1})
			}
		})
	}
}
