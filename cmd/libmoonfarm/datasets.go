//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"moonfarm/datasets"
	"moonfarm/datasets/derive"
)

//export mf_dataset_open
func mf_dataset_open(folder address, out address, e address) C.int32_t {
	return guard(e, func() error {
		from, err := pointerAt[C.char]("folder", folder)
		if err != nil {
			return err
		}
		d, err := openDataset(C.GoString(from))
		if err != nil {
			return err
		}
		return newHandle(d, out)
	})
}

// newHandle writes a new handle of v to out.
func newHandle(v value, out address) error {
	to, err := pointerAt[C.mf_handle]("out", out)
	if err != nil {
		return errors.Join(err, v.Close())
	}
	*to = C.mf_handle(handles.add(v))
	return nil
}

//export mf_dataset_describe
func mf_dataset_describe(h C.mf_handle, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(d *dataset) error { return copyJSON(d.Manifest(), buf, room, need) })
}

//export mf_reader_open
func mf_reader_open(h C.mf_handle, c address, out address, e address) C.int32_t {
	return with(h, e, func(d *dataset) error {
		reading, err := structAt[C.mf_reading]("mf_reading", c)
		if err != nil {
			return err
		}
		o, err := readOptions(reading)
		if err != nil {
			return err
		}
		r, err := newReader(d, o, reading.play != 0)
		if err != nil {
			return err
		}
		return newHandle(r, out)
	})
}

func readOptions(c *C.mf_reading) (datasets.ReadOptions, error) {
	var columns, obs, reward, filter, form string
	if err := texts([]text{
		{"columns", field(&c.columns), &columns}, {"obs", field(&c.obs), &obs}, {"reward", field(&c.reward), &reward}, {"filter", field(&c.filter), &filter},
		{"form", field(&c.form), &form},
	}); err != nil {
		return datasets.ReadOptions{}, err
	}
	if c.split < 0 || c.split > C.MF_TEST {
		return datasets.ReadOptions{}, wrong("split is %d: expected MF_ALL, MF_TRAIN, MF_VALIDATION or MF_TEST", c.split)
	}
	for name, n := range map[string]C.int64_t{"rows": c.rows, "shuffle": c.shuffle} {
		if n < 0 || n > math.MaxInt32 {
			return datasets.ReadOptions{}, wrong("%s is %d: expected 0 to %d", name, n, math.MaxInt32)
		}
	}
	wanted, err := readFilter(filter)
	if err != nil {
		return datasets.ReadOptions{}, err
	}
	return datasets.ReadOptions{
		Filter: wanted, Columns: lines(columns), Rows: int(c.rows), Shuffle: int(c.shuffle), Seed: uint64(c.seed), Epoch: uint64(c.epoch),
		Split: datasets.Split(c.split), Validation: float64(c.validation), Test: float64(c.test), Part: int(c.part), Parts: int(c.parts),
		Obs: datasets.Obs(obs), Memory: c.memory != 0, Reward: reward, Discount: float64(c.discount), Steps: int(c.steps), Next: c.next != 0,
		Whole: c.whole != 0, Workers: int(c.workers), Form: form,
	}, nil
}

// readFilter reads the lines of a filter.
func readFilter(text string) (f datasets.Filter, err error) {
	for _, line := range lines(text) {
		key, value, _ := strings.Cut(line, "=")
		number := func(to *[]int) {
			n, fails := strconv.Atoi(value)
			if *to = append(*to, n); fails != nil {
				err = wrong("filter: %s: expected a number", line)
			}
		}
		switch key {
		case "policy":
			f.Policies = append(f.Policies, value)
		case "seat":
			number(&f.Seats)
		case "chosen":
			number(&f.Chosen)
		case "outcome":
			f.Outcomes = append(f.Outcomes, datasets.FilterOutcome(value))
		case "opening":
			if f.WithoutOpening = value == "no"; !f.WithoutOpening {
				err = wrong("filter: %s: expected opening=no", line)
			}
		default:
			err = wrong("filter: %s: expected policy=, seat=, chosen=, outcome= or opening=", line)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

//export mf_reader_describe
func mf_reader_describe(h C.mf_handle, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(r *reader) error { return copyJSON(r.describe(), buf, room, need) })
}

//export mf_reader_next
func mf_reader_next(h C.mf_handle, batch address, e address) C.int32_t {
	return with(h, e, func(r *reader) error {
		to, err := structAt[C.mf_batch]("mf_batch", batch)
		if err != nil {
			return err
		}
		if to.reserved != 0 || min(to.capacity, to.orders_capacity, to.moves_capacity, to.choices_capacity) < 0 {
			return wrong("the mf_batch has the capacity %d, of orders %d, moves %d, choices %d, reserved %d: expected 0 for that, and no less for the others",
				to.capacity, to.orders_capacity, to.moves_capacity, to.choices_capacity, to.reserved)
		}
		b, err := r.next()
		if err != nil {
			return err
		}
		to.rows, to.orders_count = C.int64_t(b.Rows), C.int64_t(len(b.Orders))
		to.moves_count, to.choices_count = C.int64_t(max(len(b.SearchPolicy), len(b.SearchCounts))), C.int64_t(len(b.SearchChoices))
		if !fits(to) {
			return nil
		}
		if err := copyBatch(to, b); err != nil {
			return err
		}
		r.take()
		return nil
	})
}

// fits reports whether the caller's memory has room for the batch, whose sizes
// were written to it.
func fits(to *C.mf_batch) bool {
	moves := field(&to.search_policy) != 0 || field(&to.search_counts) != 0
	return to.rows <= to.capacity &&
		(field(&to.orders) == 0 || to.orders_count <= to.orders_capacity) &&
		(!moves || to.moves_count <= to.moves_capacity) &&
		(field(&to.search_choices) == 0 || to.choices_count <= to.choices_capacity)
}

// copyBatch copies a batch to the caller.
func copyBatch(to *C.mf_batch, b *datasets.Batch) error {
	c := &checker{}
	column(c, "episode", field(&to.episode), b.Episode)
	column(c, "turn", field(&to.turn), b.Turn)
	column(c, "seat", field(&to.seat), b.Seat)
	column(c, "planes", field(&to.planes), b.Planes)
	column(c, "packed", field(&to.packed), b.Packed)
	column(c, "scalars", field(&to.scalars), b.Scalars)
	column(c, "mask", field(&to.mask), b.Mask)
	column(c, "action", field(&to.action), b.Action)
	column(c, "opponent", field(&to.opponent), b.Opponent)
	column(c, "reward", field(&to.reward), b.Reward)
	column(c, "returns", field(&to.returns), b.Return)
	column(c, "nstep", field(&to.nstep), b.NStep)
	column(c, "outcome", field(&to.outcome), b.Outcome)
	column(c, "terminated", field(&to.terminated), b.Terminated)
	column(c, "truncated", field(&to.truncated), b.Truncated)
	column(c, "chosen", field(&to.chosen), b.Chosen)
	column(c, "orders", field(&to.orders), b.Orders)
	column(c, "order_ends", field(&to.order_ends), b.OrderEnds)
	column(c, "search_value", field(&to.search_value), b.SearchValue)
	column(c, "search_policy", field(&to.search_policy), b.SearchPolicy)
	column(c, "search_counts", field(&to.search_counts), b.SearchCounts)
	column(c, "search_ends", field(&to.search_ends), b.SearchEnds)
	column(c, "search_choices", field(&to.search_choices), b.SearchChoices)
	column(c, "search_choice_ends", field(&to.search_choice_ends), b.SearchChoiceEnds)
	column(c, "asked", field(&to.asked), b.Asked)
	column(c, "step", field(&to.step), b.Step)
	column(c, "next_planes", field(&to.next_planes), b.NextPlanes)
	column(c, "next_packed", field(&to.next_packed), b.NextPacked)
	column(c, "next_scalars", field(&to.next_scalars), b.NextScalars)
	column(c, "next_mask", field(&to.next_mask), b.NextMask)
	column(c, "next_discount", field(&to.next_discount), b.NextDiscount)
	if f := b.Final; f != nil {
		column(c, "final_planes", field(&to.final_planes), f.Planes)
		column(c, "final_packed", field(&to.final_packed), f.Packed)
		column(c, "final_scalars", field(&to.final_scalars), f.Scalars)
	}
	return c.first
}

// column copies one column, unless the caller's memory for it overlaps that of
// another.
func column[T any](c *checker, name string, at address, from []T) {
	copy(own[T](c, name, at, len(from)), from)
}

//export mf_advantages
func mf_advantages(reward, value, last address, turns, columns C.int64_t, discount, lambda C.double, out, e address) C.int32_t {
	return guard(e, func() error {
		if columns < 1 || turns < 0 || turns > math.MaxInt32/columns {
			return wrong("turns are %d and columns %d: expected at least 0 and 1, and no more than %d numbers", turns, columns, math.MaxInt32)
		}
		if turns == 0 {
			return nil
		}
		rows, err := numbers[float32]("reward", reward, int(turns*columns))
		values, err2 := numbers[float32]("value", value, int(turns*columns))
		to, err3 := numbers[float32]("out", out, int(turns*columns))
		var after []float32
		var err4 error
		if last != 0 {
			after, err4 = numbers[float32]("last", last, int(columns))
		}
		if err := cmp.Or(err, err2, err3, err4); err != nil {
			return err
		}
		for _, other := range []span{spanOf("reward", rows), spanOf("value", values), spanOf("last", after)} {
			if mine := spanOf("out", to); other.from != mine.from || other.name == "last" {
				if err := mine.apartFrom([]span{other}); err != nil {
					return err
				}
			}
		}
		derive.Advantages(to, rows, values, after, int(columns), float64(discount), float64(lambda))
		return nil
	})
}
