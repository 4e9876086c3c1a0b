//go:build cgo

package main

/*
#define MF_TYPES_ONLY
#include "moonfarm.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"moonfarm/rollout/redact"
	"moonfarm/rollout/stepper"
)

// code is one of the codes of moonfarm.h.
type code int32

const (
	codeOK       code = C.MF_OK
	codeArgument code = C.MF_ARGUMENT
	codeHandle   code = C.MF_HANDLE
	codeState    code = C.MF_STATE
	codeData     code = C.MF_DATA
	codeInternal code = C.MF_INTERNAL
	codeEnd      code = C.MF_END
	codeTimeout  code = C.MF_TIMEOUT
)

// fault is an error with its code.
type fault struct {
	code code
	text string
}

// Error implements error.
func (f fault) Error() string { return f.text }

// wrong is the error of an argument.
func wrong(format string, a ...any) error { return fault{codeArgument, fmt.Sprintf(format, a...)} }

// codeOf is the code of an error. What the packages below do not like is mostly an
// argument.
func codeOf(err error) code {
	if err == nil {
		return codeOK
	}
	return codeOfError(err) // in a function of its own: it allocates
}

func codeOfError(err error) code {
	var f fault
	var s stepper.StateError
	var p *stepper.PanicError
	switch {
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &s):
		return codeState
	case errors.As(err, &p):
		if _, ok := p.Value.(badAddress); ok {
			return codeArgument // a slab is gone
		}
		return codeInternal
	case errors.Is(err, stepper.ErrTimeout):
		return codeTimeout
	case errors.Is(err, io.EOF):
		return codeEnd
	}
	return codeArgument
}

// guard is around every function that is called from outside: it calls f, turns a
// panic into an error, fills e and returns the code. Memory of the caller that is
// not there is the caller's error as well.
func guard(e address, f func() error) C.int32_t {
	debug.SetPanicOnFault(true) // of this goroutine
	if e != 0 && protect(func() error { return begin(e) }) != nil {
		return C.MF_ARGUMENT
	}
	err := protect(f)
	if err != nil && e != 0 && protect(func() error { return fill(e, err) }) != nil {
		return C.MF_ARGUMENT
	}
	return C.int32_t(codeOf(err))
}

// protect returns the error of f, or that of its panic.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return f()
}

// badAddress is what a panic holds after a fault of memory.
type badAddress interface {
	runtime.Error
	Addr() uintptr
}

// panicked is the error of a panic, while that is recovered.
func panicked(p any) error {
	if at, ok := p.(badAddress); ok {
		return wrong("the memory at %#x, to which an argument or a slab points, is not there or may not be written", at.Addr())
	}
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	thrown := false
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if library := strings.HasPrefix(frame.Function, "runtime."); thrown && !library {
			return fault{codeInternal, fmt.Sprintf("a mistake in moonfarm: %v (%s:%d)", p, filepath.Base(frame.File), frame.Line)}
		} else if library {
			thrown = true
		}
	}
	return fault{codeInternal, fmt.Sprintf("a mistake in moonfarm: %v", p)}
}

// begin makes e say that all is well, if it is what moonfarm.h says it is: else it
// may be too short for a text.
func begin(e address) error {
	to, err := sized[C.mf_error]("mf_error", e)
	if err == nil {
		to.code, to.text[0] = C.MF_OK, 0
	}
	return err
}

// fill writes err to e.
func fill(e address, what error) error {
	to, err := sized[C.mf_error]("mf_error", e)
	if err != nil {
		return err
	}
	to.code = C.int32_t(codeOf(what))
	text := unsafe.Slice((*byte)(unsafe.Pointer(&to.text[0])), len(to.text))
	text[copyText(text[:len(text)-1], redact.Text(what.Error()))] = 0
	return nil
}

// copyText copies as much of a text as has room, whole characters, and returns
// how much that is.
func copyText(dst []byte, text string) int {
	n := copy(dst, text)
	for n < len(text) && n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// address is a pointer of the caller as it comes: a number. A variable of a
// pointer's type must never hold one that may be wrong, since the runtime ends the
// program when it finds one there that points into the first page.
type address = C.uintptr_t

// field is a pointer in a struct of the caller.
func field[T any](p **T) address { return *(*address)(unsafe.Pointer(p)) }

// there is what an address points to. It finds one that is NULL, in the first page,
// where nothing ever is, or not where the type may be.
func there[T any](name string, at address) (p *T, err error) {
	switch align := address(unsafe.Alignof(*p)); {
	case at == 0:
		return nil, wrong("%s is NULL", name)
	case at < firstPage:
		return nil, wrong("%s is %#x: there is no memory", name, uint64(at))
	case at%align != 0:
		return nil, wrong("%s is at %#x: want a multiple of %d", name, uint64(at), align)
	}
	return *(**T)(unsafe.Pointer(&at)), nil
}

const firstPage = 4096

// sized is a struct of the caller. It finds one that is not there, or of another
// size than that of moonfarm.h. Its first field is the size.
func sized[T any](name string, at address) (*T, error) {
	p, err := there[T](name, at)
	if err != nil {
		return nil, err
	}
	if got, want := *(*uint32)(unsafe.Pointer(p)), unsafe.Sizeof(*p); uintptr(got) != want {
		return nil, wrong("size of the %s is %d: in this library, of ABI %d, it is %d", name, got, C.MF_ABI, want)
	}
	return p, nil
}

// textAt is the text at an address; none at NULL.
func textAt(name string, at address) (string, error) {
	if at == 0 {
		return "", nil
	}
	p, err := there[C.char](name, at)
	if err != nil {
		return "", err
	}
	return C.GoString(p), nil
}

// text is a text among the fields of a struct of the caller, and where it goes.
type text struct {
	name string
	from address
	to   *string
}

// texts copies texts of the caller.
func texts(list []text) (err error) {
	for _, t := range list {
		if *t.to, err = textAt(t.name, t.from); err != nil {
			return err
		}
	}
	return nil
}
