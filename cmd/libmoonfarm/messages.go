//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"slices"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
)

// maxMessage bounds the size of a message for mf_state_from.
const maxMessage = 1 << 26

//export mf_state_from
func mf_state_from(game, rules, message address, n C.size_t, seat C.int32_t, seed C.uint64_t, buf address, room C.size_t, need, e address) C.int32_t {
	return guard(e, func() error {
		v, _, err := shown(game, rules, message, n, seat, seed)
		if err != nil {
			return err
		}
		return copyOut(stepper.AppendSnapshotOf(nil, v, uint64(seed)), false, buf, room, need)
	})
}

//export mf_message_describe
func mf_message_describe(game, rules, message address, n C.size_t, seat C.int32_t, buf address, room C.size_t, need, e address) C.int32_t {
	return guard(e, func() error {
		v, at, err := shown(game, rules, message, n, seat, 0)
		if err != nil {
			return err
		}
		info := v.Spec().Info
		return copyJSON(struct {
			Rules   string `json:"rules"`
			Seat    int    `json:"seat"`
			Players int    `json:"players"`
		}{info.Config, int(at), info.Players}, buf, room, need)
	})
}

//export mf_answer_from
func mf_answer_from(game, rules, state address, n C.size_t, seat C.int32_t, action address, heads C.int32_t, buf address, room C.size_t, need, e address) C.int32_t {
	return guard(e, func() error {
		g, text, err := engineOf(game, rules)
		if err != nil {
			return err
		}
		v, err := g.New(text, env.Settings{N: 1})
		if err != nil {
			return err
		}
		bytes, err := stateAt("state", state, n)
		if err != nil {
			return err
		}
		b, spec := env.NewBatch(v.Spec(), 1, env.WantAction), v.Spec()
		if seat < 0 || int(seat) >= spec.Info.Players || int(heads) != len(spec.Heads) {
			return wrong("seat is %d, heads %d: the game has %d seats, from 0, and an action %d heads", seat, heads, spec.Info.Players, len(spec.Heads))
		}
		given, err := numbers[int32]("action", action, len(spec.Heads))
		if err != nil {
			return err
		}
		for i, c := range given {
			if c < -1 || int(c) >= spec.Heads[i] {
				return wrong("action[%d] is %d: head %d has %d choices, from 0, or -1", i, c, i, spec.Heads[i])
			}
		}
		if err := stepper.Load(v, bytes); err != nil {
			return fault{codeData, err.Error()}
		}
		v.Observe(b)
		for i := range b.Action {
			b.Action[i] = -1
		}
		copy(b.Action[int(seat)*len(spec.Heads):], given)
		v.Step(b)
		orders := b.Orders[int(seat)*spec.Info.MaxOrders:][:max(b.OrderLen[seat], 0)]
		if err := stepper.Load(v, bytes); err != nil { // the answer is for the turn before
			return fault{codeData, err.Error()}
		}
		answer, err := g.AppendAnswer(nil, v, sim.Player(seat), orders)
		if err != nil {
			return err
		}
		return copyOut(answer, false, buf, room, need)
	})
}

// engineOf returns a game with an original engine, and the text of its rules.
func engineOf(game, rules address) (g catalog.Entry, text string, err error) {
	name, err := textAt("game", game)
	if err == nil {
		text, err = textAt("rules", rules)
	}
	if err != nil {
		return g, "", err
	}
	if g, err = catalog.Find(name); err != nil {
		return g, "", wrong("game: %v", err)
	}
	if g.Shown == nil {
		return g, "", wrong("game: no engine sends messages of %s", name)
	}
	if _, err := g.New(text, env.Settings{N: 1}); err != nil {
		return g, "", wrong("rules: %v", err)
	}
	return g, text, nil
}

// shown returns the game that a message shows, and the seat to which it was
// sent.
func shown(game, rules, message address, n C.size_t, seat C.int32_t, seed C.uint64_t) (env.Vector, sim.Player, error) {
	g, text, err := engineOf(game, rules)
	if err != nil {
		return nil, 0, err
	}
	if n > maxMessage {
		return nil, 0, fault{codeData, "message: it is longer than any"}
	}
	at, err := numbers[byte]("message", message, int(n))
	if err != nil {
		return nil, 0, err
	}
	v, p, err := g.Shown(catalog.Message{Rules: text, Seat: int(seat), Seed: uint64(seed), Text: slices.Clone(at)})
	if err != nil {
		return nil, 0, fault{codeData, "message: " + err.Error()}
	}
	return v, p, nil
}
