//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"unsafe"

	"moonfarm/rollout/stepper"
	"moonfarm/sim"
)

// slabsOf returns the caller's slabs. Slabs that would have no bytes are left
// out.
func (v *environments) slabsOf(s *C.mf_slabs) (*stepper.Slabs, error) {
	if s.reserved != 0 {
		return nil, wrong("reserved of the mf_slabs is %d: want 0", s.reserved)
	}
	spec, rows := v.Spec(), v.Rows()
	games, bytes := spec.Games, spec.Shape.PlaneBytes()
	var first error
	c := checker{&first}
	slabs := &stepper.Slabs{
		Planes:       slab[uint8](c, "planes", field(&s.planes), rows*bytes),
		Packed:       slab[uint64](c, "packed", field(&s.packed), rows*spec.Shape.Words),
		Scalars:      slab[float32](c, "scalars", field(&s.scalars), rows*spec.Shape.Scalars),
		Mask:         slab[uint64](c, "mask", field(&s.mask), rows*spec.MaskWords),
		RowSeed:      slab[uint64](c, "key", field(&s.key), rows),
		Action:       slab[int32](c, "action", field(&s.action), rows*len(spec.Heads)),
		Reward:       slab[float32](c, "reward", field(&s.reward), rows),
		Terminated:   slab[bool](c, "terminated", field(&s.terminated), games),
		Truncated:    slab[bool](c, "truncated", field(&s.truncated), games),
		Turn:         slab[int32](c, "turn", field(&s.turn), games),
		Seat:         slab[sim.Player](c, "seat", field(&s.seat), games),
		Episode:      slab[uint64](c, "episode", field(&s.episode), games),
		FinalPlanes:  slab[uint8](c, "final_planes", field(&s.final_planes), rows*bytes),
		FinalPacked:  slab[uint64](c, "final_packed", field(&s.final_packed), rows*spec.Shape.Words),
		FinalScalars: slab[float32](c, "final_scalars", field(&s.final_scalars), rows*spec.Shape.Scalars),
		FinalScore:   slab[float32](c, "final_score", field(&s.final_score), rows),
		FinalResult:  slab[float32](c, "final_result", field(&s.final_result), rows),
		Opponent:     slab[uint8](c, "opponent", field(&s.opponent), games*spec.Info.Players),
		Waits:        slab[bool](c, "waits", field(&s.waits), rows),
	}
	if first == nil {
		first = v.apart(slabs)
	}
	return slabs, first
}

// span is the memory of a slab.
type span struct {
	name     string
	from, to uintptr
}

// spanOf returns the memory of a slab; an empty span for nil.
func spanOf[T any](name string, slab []T) span {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(slab)))
	return span{name, from, from + uintptr(len(slab))*unsafe.Sizeof(*new(T))}
}

// spans returns the memory of all slabs.
func spans(s *stepper.Slabs) []span {
	return []span{
		spanOf("planes", s.Planes), spanOf("packed", s.Packed), spanOf("scalars", s.Scalars), spanOf("mask", s.Mask),
		spanOf("key", s.RowSeed), spanOf("action", s.Action), spanOf("reward", s.Reward), spanOf("terminated", s.Terminated),
		spanOf("truncated", s.Truncated), spanOf("turn", s.Turn), spanOf("seat", s.Seat), spanOf("episode", s.Episode),
		spanOf("final_planes", s.FinalPlanes), spanOf("final_packed", s.FinalPacked), spanOf("final_scalars", s.FinalScalars),
		spanOf("final_score", s.FinalScore), spanOf("final_result", s.FinalResult), spanOf("opponent", s.Opponent),
		spanOf("waits", s.Waits),
	}
}

// apart returns an error if slabs overlap, because steps would overwrite one
// with the other.
func (v *environments) apart(s *stepper.Slabs) error {
	list := spans(s)
	for k, a := range list {
		if err := a.apartFrom(list[:k]); err != nil {
			return err
		}
	}
	return nil
}

// apartFrom returns an error if the span overlaps one of the list.
func (a span) apartFrom(list []span) error {
	for _, b := range list {
		if a.from < b.to && b.from < a.to {
			return wrong("%s and %s overlap: %d bytes at %#x and %d at %#x", b.name, a.name, b.to-b.from, b.from, a.to-a.from, a.from)
		}
	}
	return nil
}

// checker keeps the first error.
type checker struct{ first *error }

// slab returns memory of the caller as a slice. It checks that the first and
// the last element can be read, and written unless they are only read, because
// the goroutines that step could not report a fault.
func slab[T any](c checker, name string, at address, n int) []T {
	if at == 0 || n == 0 || *c.first != nil {
		return nil
	}
	var p *T
	if p, *c.first = pointerAt[T](name, at); *c.first != nil {
		return nil
	}
	memory := unsafe.Slice(p, n)
	*c.first = protect(func() error {
		for _, k := range [...]int{0, n - 1} {
			first := (*byte)(unsafe.Pointer(&memory[k]))
			was := load(first)
			if name != "action" {
				store(first, was)
			}
		}
		return nil
	})
	if *c.first != nil {
		*c.first = wrong("%s: %v", name, *c.first)
		return nil
	}
	return memory
}

// load and store are not inlined, or the compiler would remove them.
//
//go:noinline
func load(p *byte) byte { return *p }

//go:noinline
func store(p *byte, b byte) { *p = b }
