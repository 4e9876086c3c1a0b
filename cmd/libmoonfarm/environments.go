//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"time"

	"moonfarm/features"
)

//export mf_open
func mf_open(c address, out address, e address) C.int32_t {
	return guard(e, func() error {
		to, err := pointerAt[C.mf_handle]("out", out)
		if err != nil {
			return err
		}
		*to = 0
		config, err := structAt[C.mf_config]("mf_config", c)
		if err != nil {
			return err
		}
		s, err := settingsOf(config)
		if err != nil {
			return err
		}
		v, err := openEnvironments(s)
		if err != nil {
			return err
		}
		return newHandle(v, out)
	})
}

func settingsOf(c *C.mf_config) (settings, error) {
	s := settings{
		envs: int(c.num_envs), seat: int(c.seat), autoreset: int(c.autoreset), turns: int(c.max_turns),
		batch: int(c.batch_size), workers: int(c.workers), memory: c.memory != 0, seed: uint64(c.seed),
	}
	return s, texts([]text{
		{"game", field(&c.game), &s.game}, {"rules", field(&c.rules), &s.rules},
		{"reward", field(&c.reward), &s.reward}, {"form", field(&c.form), &s.form}, {"opponents", field(&c.opponents), &s.opponents},
	})
}

// with calls f with the object of a handle, while no other call of the handle runs.
func with[T value](h C.mf_handle, e address, f func(v T) error) C.int32_t {
	return guard(e, func() error { return call(&handles, handle(h), f) })
}

//export mf_get_spec
func mf_get_spec(h C.mf_handle, out address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		to, err := structAt[C.mf_spec]("mf_spec", out)
		if err != nil {
			return err
		}
		s := v.Spec()
		n := func(n int) C.int32_t { return C.int32_t(n) }
		*to = C.mf_spec{
			size: to.size, players: n(s.Info.Players), num_envs: n(s.Games), rows: n(v.Rows()),
			blocks: n(v.Blocks()), batch_size: n(v.BlockGames()),
			planes: n(s.Shape.Planes), height: n(s.Shape.Height), width: n(s.Shape.Width),
			words: n(s.Shape.Words), scalars: n(s.Shape.Scalars), mask_words: n(s.MaskWords), heads: n(len(s.Heads)),
			choices:    n(features.Choices(s.Heads)),
			max_orders: n(s.Info.MaxOrders), max_turns: n(s.MaxTurns),
		}
		return nil
	})
}

//export mf_describe
func mf_describe(h C.mf_handle, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		return copyJSON(describe(v.game.Doc, v.Spec(), v.Interruptible()), buf, room, need)
	})
}

//export mf_bind
func mf_bind(h C.mf_handle, s address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		given, err := structAt[C.mf_slabs]("mf_slabs", s)
		if err != nil {
			return err
		}
		slabs, written, err := v.slabsOf(given)
		if err == nil {
			err = v.Bind(slabs)
		}
		if err == nil {
			v.written = written
		}
		return err
	})
}

//export mf_set_weights
func mf_set_weights(h C.mf_handle, weights address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		from, err := numbers[float64]("weights", weights, v.opponents)
		if err != nil {
			return err
		}
		return v.SetWeights(from)
	})
}

//export mf_reset
func mf_reset(h C.mf_handle, seeds address, mask address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		only, err := flags("mask", mask, v.mask)
		if err != nil {
			return err
		}
		var with []uint64
		if seeds != 0 {
			from, err := numbers[uint64]("seeds", seeds, len(v.seeds))
			if err != nil {
				return err
			}
			with = append(v.seeds[:0], from...) // the caller may change its memory meanwhile
		}
		return v.Reset(with, only)
	})
}

//export mf_step
func mf_step(h C.mf_handle, e address) C.int32_t {
	return with(h, e, func(v *environments) error { return v.Step() })
}

//export mf_step_with
func mf_step_with(h C.mf_handle, action address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		at, err := v.actions("action", action)
		if err != nil {
			return err
		}
		return v.StepWith(at)
	})
}

// actions returns the actions of all rows at an address. It fails if they overlap a slab that
// a step writes.
func (e *environments) actions(name string, at address) ([]int32, error) {
	if at == 0 {
		return nil, wrong("action is NULL")
	}
	c := &checker{}
	actions := slab[int32](c, name, at, e.Rows()*len(e.Spec().Heads))
	if c.first == nil {
		c.first = spanOf("action", actions).apartFrom(e.written)
	}
	return actions, c.first
}

//export mf_step_for
func mf_step_for(h C.mf_handle, action address, wait C.int32_t, e address) C.int32_t {
	return guard(e, func() error {
		return callBusy(&handles, handle(h), func(v *environments) error {
			err := v.resume("mf_step_for", func() (step func() error, err error) {
				var at []int32
				if action != 0 {
					at, err = v.actions("action", action)
				}
				return func() error { return v.StepInterruptibly(at) }, err
			})
			if err != nil {
				return err
			}
			return v.await(time.Duration(wait) * time.Millisecond)
		})
	})
}

//export mf_interrupt
func mf_interrupt(h C.mf_handle, e address) C.int32_t {
	return guard(e, func() error {
		if o := handles.find(handle(h)); o != nil { // does not wait for the running call, which it is to end
			if v, ok := o.value.(*environments); ok {
				v.Interrupt()
			}
		}
		return callBusy(&handles, handle(h), func(v *environments) error {
			v.settle()
			return nil
		})
	})
}

//export mf_observe
func mf_observe(h C.mf_handle, e address) C.int32_t {
	return with(h, e, func(v *environments) error { return v.Observe() })
}

//export mf_send
func mf_send(h C.mf_handle, block C.int32_t, e address) C.int32_t {
	return with(h, e, func(v *environments) error { return v.Send(int(block)) })
}

//export mf_recv
func mf_recv(h C.mf_handle, wait C.int32_t, block address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		to, err := pointerAt[C.int32_t]("block", block)
		if err != nil {
			return err
		}
		b, err := v.Recv(time.Duration(wait) * time.Millisecond)
		if err == nil {
			*to = C.int32_t(b)
		}
		return err
	})
}

//export mf_get_state
func mf_get_state(h C.mf_handle, env C.int32_t, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		state, err := v.AppendSnapshot(v.state[:0], int(env))
		if err != nil {
			return err
		}
		v.state = state
		return copyOut(state, false, buf, room, need)
	})
}

//export mf_set_state
func mf_set_state(h C.mf_handle, env C.int32_t, buf address, n C.size_t, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		state, err := stateAt("buf", buf, n)
		if err != nil {
			return err
		}
		return v.restore(int(env), state)
	})
}

// maxState bounds the size of a state for mf_set_state.
const maxState = 1 << 30

// stateAt returns the caller's bytes of a state.
func stateAt(name string, at address, n C.size_t) ([]byte, error) {
	if n > maxState {
		return nil, fault{codeData, "the state is damaged: it is longer than any"}
	}
	return numbers[byte](name, at, int(n))
}

// restore restores an environment from the bytes of a state.
func (e *environments) restore(env int, state []byte) error {
	err := e.Restore(env, state)
	if codeOf(err) == codeArgument && env >= 0 && env < e.Spec().Games { // then the bytes are wrong
		return fault{codeData, err.Error()}
	}
	return err
}

//export mf_render
func mf_render(h C.mf_handle, env C.int32_t, buf address, room C.size_t, need address, e address) C.int32_t {
	return with(h, e, func(v *environments) error {
		text, err := v.AppendText(v.state[:0], int(env))
		if err != nil {
			return err
		}
		v.state = text
		return copyOut(text, true, buf, room, need)
	})
}
