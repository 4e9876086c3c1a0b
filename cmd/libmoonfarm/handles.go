//go:build cgo

package main

import (
	"fmt"
	"io"
	"sync"
)

// handle is the number by which a program refers to an object: handleMark, so that few
// other numbers look like a handle, and below it the number of the object. No handle is
// used twice.
type handle uint64

const handleMark handle = 0xA7 << 56

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

// idle has the methods of a value whose calls all return soon.
type idle struct{}

// Abandon implements value.
func (idle) Abandon() {}

// busy implements value.
func (idle) busy() error { return nil }

// object is a value with its lock.
type object struct {
	mu     sync.Mutex // held by the running call
	value  value
	closed bool
}

// registry holds the objects of all handles.
type registry struct {
	mu      sync.RWMutex
	last    handle // without the mark
	objects map[handle]*object
}

// add returns a handle of v.
func (r *registry) add(v value) handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = map[handle]*object{}
	}
	r.last++
	r.objects[handleMark|r.last] = &object{value: v}
	return handleMark | r.last
}

// find returns the object of h, or nil.
func (r *registry) find(h handle) *object {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.objects[h]
}

// take is find, and ends the handle.
func (r *registry) take(h handle) *object {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.objects[h]
	delete(r.objects, h)
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
		return fault{codeHandle, fmt.Sprintf("the handle %#x is of %v: expected one of %v", uint64(h), o.value, want)}
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
