//go:build cgo

package main

import (
	"fmt"
	"io"
	"sync"
)

// handle is the number by which a program refers to an object:
//
//	 0–23  index of a slot
//	24–55  generation of the slot, from 1: it changes when the object is closed
//	56–63  handleMark, so that few other numbers look like a handle
//
// Generations only grow: a slot that has had all of them is not used again.
// not used again.
type handle uint64

const (
	handleMark  = 0xA7
	slotBits    = 24
	maxSlots    = 1 << slotBits
	markShift   = 56
	lastOfSlots = 1<<32 - 1 // generation
)

// value is the object of a handle. Its type is the kind of the handle.
type value interface {
	io.Closer
	// Abandon makes running calls return soon, because the value is about to be
	// closed. It is called concurrently with them.
	Abandon()
	// busy returns an error while other calls must wait for work that an
	// earlier call began.
	busy() error
}

// object is a value with its lock.
type object struct {
	mu     sync.Mutex // held by the running call
	value  value
	closed bool
}

type slot struct {
	generation uint32
	object     *object // nil: free
}

// registry holds the objects of all handles.
type registry struct {
	mu    sync.RWMutex
	slots []slot
	free  []uint32
}

// add returns a handle of v.
func (r *registry) add(v value) (handle, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var k uint32
	switch n := len(r.free); {
	case n > 0:
		k, r.free = r.free[n-1], r.free[:n-1]
	case len(r.slots) == maxSlots:
		return 0, fmt.Errorf("%d handles are open: there can be no more", maxSlots)
	default:
		k = uint32(len(r.slots))
		r.slots = append(r.slots, slot{})
	}
	s := &r.slots[k]
	s.generation++
	s.object = &object{value: v}
	return handleMark<<markShift | handle(s.generation)<<slotBits | handle(k), nil
}

// slot returns the slot of h, or nil if h is not an open handle. The caller
// holds mu.
func (r *registry) slot(h handle) *slot {
	k := uint64(h) % maxSlots
	if h>>markShift != handleMark || k >= uint64(len(r.slots)) {
		return nil
	}
	s := &r.slots[k]
	if s.object == nil || s.generation != uint32(h>>slotBits) {
		return nil
	}
	return s
}

// find returns the object of h, or nil.
func (r *registry) find(h handle) *object {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s := r.slot(h); s != nil {
		return s.object
	}
	return nil
}

// take is find, and ends the handle.
func (r *registry) take(h handle) *object {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slot(h)
	if s == nil {
		return nil
	}
	o := s.object
	s.object = nil
	if s.generation < lastOfSlots {
		r.free = append(r.free, uint32(uint64(h)%maxSlots))
	}
	return o
}

// close ends the handle, makes running calls return soon, and closes the object
// after them.
func (r *registry) close(h handle) error {
	o := r.take(h)
	if o == nil {
		return noHandle(h)
	}
	o.value.Abandon()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	return o.value.Close()
}

// call calls f with the object of h, while no other call of h runs. It fails if
// the object is busy.
func call[T value](r *registry, h handle, f func(v T) error) error {
	return callBusy(r, h, func(v T) error {
		if err := v.busy(); err != nil {
			return err
		}
		return f(v)
	})
}

// callBusy is call, also for a busy object.
func callBusy[T value](r *registry, h handle, f func(v T) error) error {
	o := r.find(h)
	if o == nil {
		return noHandle(h)
	}
	v, ok := o.value.(T)
	if !ok {
		var want T
		return fault{codeHandle, fmt.Sprintf("the handle %#x is of %v: want one of %v", uint64(h), o.value, want)}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed { // since find
		return noHandle(h)
	}
	return f(v)
}

func noHandle(h handle) error {
	if h == 0 {
		return fault{codeHandle, "the handle is 0, which is never open"}
	}
	return fault{codeHandle, fmt.Sprintf("the handle %#x is closed, or never was one", uint64(h))}
}
