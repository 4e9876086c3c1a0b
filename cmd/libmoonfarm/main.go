//go:build cgo

// Libmoonfarm is the library with which programs in C, and in languages that
// can call C, step the environments of moonfarm and read its datasets.
// moonfarm.h documents its functions.
//
//	go build -buildmode=c-shared -o libmoonfarm.so ./cmd/libmoonfarm
//
// A function of moonfarm.h is a Go function here with an export comment. All of
// them call guard, and those with a handle call. Most of the code uses only Go
// types, so that it can be tested without C. Without cgo this package is empty.
package main

/*
#define MF_TYPES_ONLY
#include <stdlib.h>
#include "moonfarm.h"
*/
import "C"

import (
	"encoding/json"
	"unsafe"

	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/policy"
)

// handles holds all open handles.
var handles registry

// version is the text of mf_version. It is never freed.
var version = C.CString(datasets.Version)

// main is never called: the program is a library.
func main() {}

//export mf_abi
func mf_abi() C.uint32_t { return C.MF_ABI }

//export mf_version
func mf_version() *C.char { return version }

//export mf_sizeof
func mf_sizeof(name address) C.uint32_t {
	var size C.uint32_t
	guard(0, func() error {
		text, err := textAt("name", name)
		size = sizes[text]
		return err
	})
	return size
}

// sizes holds the sizes of the structs of moonfarm.h.
var sizes = map[string]C.uint32_t{
	"mf_error":  C.sizeof_mf_error,
	"mf_config": C.sizeof_mf_config,
	"mf_spec":   C.sizeof_mf_spec,
	"mf_slabs":  C.sizeof_mf_slabs,

	"mf_reading": C.sizeof_mf_reading,
	"mf_batch":   C.sizeof_mf_batch,
}

//export mf_close
func mf_close(h C.mf_handle, e address) C.int32_t {
	return guard(e, func() error { return handles.close(handle(h)) })
}

//export mf_games
func mf_games(buf address, room C.size_t, need address, e address) C.int32_t {
	return guard(e, func() error {
		cards, err := gameCards()
		if err != nil {
			return err
		}
		return copyJSON(cards, buf, room, need)
	})
}

// gameCard describes a game before it is opened. Sizes and rewards are those of
// the default rules.
type gameCard struct {
	Name     string             `json:"name"`
	Doc      string             `json:"doc"`
	Players  int                `json:"players"`
	MaxTurns int                `json:"max_turns"`
	Shapes   map[string][]int   `json:"shapes"` // of a row: planes, packed, scalars, mask
	Heads    []int              `json:"heads"`  // choices of each
	Rewards  []env.Reward       `json:"rewards"`
	Policies []policy.Entry     `json:"policies"`
	Rules    []catalog.RuleCard `json:"rules"`
	Forms    []formCard         `json:"forms"`
}

// formCard describes a form of a game.
type formCard struct {
	formName
	Shapes  map[string][]int  `json:"shapes"`
	Heads   []int             `json:"heads"`
	Tensors []features.Tensor `json:"tensors"`
}

// shapesOf returns the shapes of a row: planes, packed, scalars, mask.
func shapesOf(f env.FormSpec) map[string][]int {
	z := f.Shape
	return map[string][]int{
		"planes": {z.Planes, z.Height, z.Width}, "packed": {z.Words}, "scalars": {z.Scalars}, "mask": {f.MaskWords},
	}
}

func gameCards() ([]gameCard, error) {
	cards := []gameCard{}
	for _, g := range catalog.Games() {
		v, err := g.New("", env.Settings{N: 1})
		if err != nil {
			return nil, err
		}
		s := v.Spec()
		c := gameCard{
			Name: g.Name, Doc: g.Doc, Players: s.Info.Players, MaxTurns: s.MaxTurns, Heads: list(s.Heads), Rewards: s.Rewards,
			Shapes:   shapesOf(s.FormSpec),
			Policies: policy.Names(g.Name), Rules: g.RuleCards(),
		}
		for _, f := range s.Forms {
			c.Forms = append(c.Forms, formCard{
				formName{f.Form, f.FormDoc, f.Sequential}, shapesOf(f), list(f.Heads), list(f.Description.Tensors),
			})
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// copyJSON is copyOut for the JSON of a value.
func copyJSON(v any, buf address, room C.size_t, need address) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return copyOut(text, true, buf, room, need)
}

// copyOut sets *need to the number of bytes, and copies them to the caller's
// buf if there is room.
func copyOut(what []byte, text bool, buf address, room C.size_t, need address) error {
	size, err := pointerAt[C.size_t]("need", need)
	if err != nil {
		return err
	}
	var to *byte
	if room > 0 {
		if to, err = pointerAt[byte]("buf", buf); err != nil {
			return err
		}
	}
	n := len(what)
	*size = C.size_t(n)
	if uint64(room) < uint64(n) {
		return nil
	}
	copy(unsafe.Slice(to, n), what)
	if text && uint64(room) > uint64(n) {
		*(*byte)(unsafe.Add(unsafe.Pointer(to), n)) = 0
	}
	return nil
}
