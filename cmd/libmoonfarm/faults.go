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
	codeMemory   code = C.MF_MEMORY
)

// fault is an error with its code.
type fault struct {
	code code
	text string
}

// Error implements error.
func (f fault) Error() string { return f.text }

// wrong returns the error of an invalid argument.
func wrong(format string, a ...any) error { return fault{codeArgument, fmt.Sprintf(format, a...)} }

// codeOf returns the code of an error. Errors of other packages mostly mean an
// invalid argument.
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
			return codeArgument // the memory of a slab is gone
		}
		return codeInternal
	case errors.Is(err, stepper.ErrTimeout):
		return codeTimeout
	case errors.Is(err, io.EOF):
		return codeEnd
	}
	return codeArgument
}

// guard wraps every exported function: it calls f, turns a panic into an error,
// fills e and returns the code. An access to memory that does not exist is the
// caller's error.
func guard(e address, f func() error) C.int32_t {
	debug.SetPanicOnFault(true) // for this goroutine
	if e != 0 && protect(func() error { return begin(e) }) != nil {
		return C.MF_ARGUMENT
	}
	err := protect(f)
	if err != nil && e != 0 && protect(func() error { return fill(e, err) }) != nil {
		return C.MF_ARGUMENT
	}
	return C.int32_t(codeOf(err))
}

// protect returns the error of f, or the error of its panic.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return f()
}

// badAddress is the value of a panic after an invalid memory access.
type badAddress interface {
	runtime.Error
	Addr() uintptr
}

// panicked returns the error of a panic that is being recovered.
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

// begin resets e to MF_OK. It fails if e is not an mf_error of the right size,
// which may be too short for a text.
func begin(e address) error {
	to, err := structAt[C.mf_error]("mf_error", e)
	if err == nil {
		to.code, to.text[0] = C.MF_OK, 0
	}
	return err
}

// fill writes err to e.
func fill(e address, what error) error {
	to, err := structAt[C.mf_error]("mf_error", e)
	if err != nil {
		return err
	}
	to.code = C.int32_t(codeOf(what))
	text := unsafe.Slice((*byte)(unsafe.Pointer(&to.text[0])), len(to.text))
	text[copyText(text[:len(text)-1], redact.Text(what.Error()))] = 0
	return nil
}

// copyText copies as many whole characters of a text as fit, and returns the
// number of bytes.
func copyText(dst []byte, text string) int {
	n := copy(dst, text)
	for n < len(text) && n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// address is a pointer of the caller as a number. A variable of a pointer type
// must never hold an invalid pointer: the runtime ends the program when it
// finds one there that points into the first page.
type address = C.uintptr_t

// field returns a pointer in a struct of the caller as an address.
func field[T any](p **T) address { return *(*address)(unsafe.Pointer(p)) }

// pointerAt returns the pointer for an address. It fails if the address is NULL, in
// the first page, which is never mapped, or not aligned for the type.
func pointerAt[T any](name string, at address) (p *T, err error) {
	switch align := address(unsafe.Alignof(*p)); {
	case at == 0:
		return nil, wrong("%s is NULL", name)
	case at < firstPage:
		return nil, wrong("%s is %#x: there is no memory", name, uint64(at))
	case at%align != 0:
		return nil, wrong("%s is at %#x: expected a multiple of %d", name, uint64(at), align)
	}
	return *(**T)(unsafe.Pointer(&at)), nil
}

const firstPage = 4096

// numbers returns the n numbers at an address, which only the current call reads and writes.
func numbers[T any](name string, at address, n int) ([]T, error) {
	p, err := pointerAt[T](name, at)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(p, n), nil
}

// flags copies flags, which the caller may change meanwhile, and whose bytes other than 0 and 1 are no bool of Go, to a
// slice for as many. It returns nil for NULL.
func flags(name string, at address, to []bool) ([]bool, error) {
	if at == 0 {
		return nil, nil
	}
	from, err := numbers[uint8](name, at, len(to))
	for i, b := range from {
		to[i] = b != 0
	}
	return to, err
}

// structAt returns a struct of the caller. It fails if the struct does not exist,
// or if its first field, its size, differs from that of moonfarm.h.
func structAt[T any](name string, at address) (*T, error) {
	p, err := pointerAt[T](name, at)
	if err != nil {
		return nil, err
	}
	if got, want := *(*uint32)(unsafe.Pointer(p)), unsafe.Sizeof(*p); uintptr(got) != want {
		return nil, wrong("size of the %s is %d: in this library, of ABI %d, it is %d", name, got, C.MF_ABI, want)
	}
	return p, nil
}

// textAt returns the text at an address, or "" for NULL.
func textAt(name string, at address) (string, error) {
	if at == 0 {
		return "", nil
	}
	p, err := pointerAt[C.char](name, at)
	if err != nil {
		return "", err
	}
	return C.GoString(p), nil
}

// text is a text field of a caller's struct and the variable for it.
type text struct {
	name string
	from address
	to   *string
}

// texts copies the caller's texts.
func texts(list []text) (err error) {
	for _, t := range list {
		if *t.to, err = textAt(t.name, t.from); err != nil {
			return err
		}
	}
	return nil
}
