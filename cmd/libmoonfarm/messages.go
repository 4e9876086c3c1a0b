//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"encoding/json"
	"unsafe"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/stepper"
	"moonfarm/sim"
)

// maxMessage bounds what mf_state_from is given.
const maxMessage = 1 << 26

//export mf_state_from
func mf_state_from(game, rules, message address, n C.size_t, seat C.int32_t, seed C.uint64_t, buf address, room C.size_t, need, e address) C.int32_t {
	return guard(e, func() error {
		v, _, err := shown(game, rules, message, n, seat, seed)
		if err != nil {
			return err
		}
		state, err := stepper.AppendSnapshotOf(nil, v, uint64(seed))
		if err != nil {
			return err
		}
		return put(state, false, buf, room, need)
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
		text, err := json.Marshal(struct {
			Rules   string `json:"rules"`
			Seat    int    `json:"seat"`
			Players int    `json:"players"`
		}{info.Config, int(at), info.Players})
		if err != nil {
			return err
		}
		return put(text, true, buf, room, need)
	})
}

// shown is the game that a message shows, and the seat to which it was sent.
func shown(game, rules, message address, n C.size_t, seat C.int32_t, seed C.uint64_t) (env.Vector, sim.Player, error) {
	m := catalog.Message{Seat: int(seat), Seed: uint64(seed)}
	name, err := textAt("game", game)
	if err == nil && rules != 0 {
		m.Rules, err = textAt("rules", rules)
	}
	if err != nil {
		return nil, 0, err
	}
	at, err := there[byte]("message", message)
	if err != nil {
		return nil, 0, err
	}
	g, err := catalog.Find(name)
	if err != nil {
		return nil, 0, wrong("game: %v", err)
	}
	if g.Shown == nil {
		return nil, 0, wrong("game: no engine sends messages of %s", name)
	}
	if _, err := g.New(m.Rules, env.Config{N: 1}); err != nil {
		return nil, 0, wrong("rules: %v", err)
	}
	if n > maxMessage {
		return nil, 0, fault{codeData, "message: it is longer than any"}
	}
	m.Text = append([]byte(nil), unsafe.Slice(at, int(n))...)
	v, p, err := g.Shown(m)
	if err != nil {
		return nil, 0, fault{codeData, "message: " + err.Error()}
	}
	return v, p, nil
}
