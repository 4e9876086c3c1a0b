//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"moonfarm/rollout/stepper"
	"moonfarm/sim"
)

// slabsOf returns the caller's slabs. Slabs that would have no bytes are left
// out. written are those that steps write.
func (e *environments) slabsOf(s *C.mf_slabs) (slabs *stepper.Slabs, written []span, err error) {
	if s.reserved != 0 {
		return nil, nil, wrong("reserved of the mf_slabs is %d: expected 0", s.reserved)
	}
	spec, rows := e.Spec(), e.Rows()
	games, bytes := spec.Games, spec.Shape.PlaneBytes()
	c := &checker{}
	slabs = &stepper.Slabs{
		Planes:       own[uint8](c, "planes", field(&s.planes), rows*bytes),
		Packed:       own[uint64](c, "packed", field(&s.packed), rows*spec.Shape.Words),
		Scalars:      own[float32](c, "scalars", field(&s.scalars), rows*spec.Shape.Scalars),
		Mask:         own[uint64](c, "mask", field(&s.mask), rows*spec.MaskWords),
		RowSeed:      own[uint64](c, "key", field(&s.key), rows),
		Action:       own[int32](c, "action", field(&s.action), rows*len(spec.Heads)),
		Reward:       own[float32](c, "reward", field(&s.reward), rows),
		Terminated:   own[bool](c, "terminated", field(&s.terminated), games),
		Truncated:    own[bool](c, "truncated", field(&s.truncated), games),
		Turn:         own[int32](c, "turn", field(&s.turn), games),
		Seat:         own[sim.Player](c, "seat", field(&s.seat), games),
		Episode:      own[uint64](c, "episode", field(&s.episode), games),
		FinalPlanes:  own[uint8](c, "final_planes", field(&s.final_planes), rows*bytes),
		FinalPacked:  own[uint64](c, "final_packed", field(&s.final_packed), rows*spec.Shape.Words),
		FinalScalars: own[float32](c, "final_scalars", field(&s.final_scalars), rows*spec.Shape.Scalars),
		FinalScore:   own[float32](c, "final_score", field(&s.final_score), rows),
		FinalResult:  own[float32](c, "final_result", field(&s.final_result), rows),
		Opponent:     own[uint8](c, "opponent", field(&s.opponent), games*spec.Info.Players),
		Waits:        own[bool](c, "waits", field(&s.waits), rows),
	}
	return slabs, slices.DeleteFunc(c.spans, func(s span) bool { return s.name == "action" }), c.first
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

// apartFrom returns an error if the span overlaps one of the list.
func (s span) apartFrom(list []span) error {
	for _, b := range list {
		if s.from < b.to && b.from < s.to {
			return wrong("%s and %s overlap: %d bytes at %#x and %d at %#x", b.name, s.name, b.to-b.from, b.from, s.to-s.from, s.from)
		}
	}
	return nil
}

// checker keeps the first error, and the memory of the slabs so far.
type checker struct {
	first error
	spans []span
}

// slab returns memory of the caller as a slice. It checks that the first and
// the last element can be read, and written unless they are only read, because
// the goroutines that step could not report a fault.
func slab[T any](c *checker, name string, at address, n int) []T {
	if at == 0 || n == 0 || c.first != nil {
		return nil
	}
	var p *T
	if p, c.first = pointerAt[T](name, at); c.first != nil {
		return nil
	}
	memory := unsafe.Slice(p, n)
	c.first = protect(func() error {
		for _, k := range [...]int{0, n - 1} {
			first := (*byte)(unsafe.Pointer(&memory[k]))
			was := load(first)
			if name != "action" {
				store(first, was)
			}
		}
		return nil
	})
	if c.first != nil {
		c.first = wrong("%s: %v", name, c.first)
		return nil
	}
	return memory
}

// own is slab for memory that must not overlap what own returned before for the same
// checker: one would be overwritten with the other.
func own[T any](c *checker, name string, at address, n int) []T {
	memory := slab[T](c, name, at, n)
	if c.first != nil || memory == nil {
		return nil
	}
	mine := spanOf(name, memory)
	if c.first = mine.apartFrom(c.spans); c.first != nil {
		return nil
	}
	c.spans = append(c.spans, mine)
	return memory
}

// load and store are not inlined, or the compiler would remove them.
//
//go:noinline
func load(p *byte) byte { return *p }

//go:noinline
func store(p *byte, b byte) { *p = b }
