//go:build onnxruntime && (linux || darwin)

package ort

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// libraryVariable is the environment variable with the path of the library.
const libraryVariable = "MOONFARM_ONNXRUNTIME"

// function is the index of a function in struct OrtApi of the public header
// onnxruntime_c_api.h, from 0. New versions of the library only append functions.
type function int

const (
	getErrorMessage                function = 2
	createEnv                      function = 3
	createSessionFromArray         function = 8
	runSession                     function = 9
	createSessionOptions           function = 10
	setIntraOpNumThreads           function = 24
	sessionGetInputCount           function = 30
	sessionGetOutputCount          function = 31
	sessionGetInputTypeInfo        function = 33
	sessionGetInputName            function = 36
	sessionGetOutputName           function = 37
	createTensorWithDataAsOrtValue function = 49
	isTensor                       function = 50
	castTypeInfoToTensorInfo       function = 55
	getTensorElementType           function = 60
	getDimensionsCount             function = 61
	getDimensions                  function = 62
	getTensorTypeAndShape          function = 65
	createCPUMemoryInfo            function = 69
	allocatorFree                  function = 76
	getAllocatorWithDefaultOptions function = 78
	releaseStatus                  function = 93
	releaseSession                 function = 95
	releaseValue                   function = 96
	releaseTypeInfo                function = 98
	releaseTensorTypeAndShapeInfo  function = 99
	releaseSessionOptions          function = 100
	appendCUDA                     function = 204 // SessionOptionsAppendExecutionProvider_CUDA_V2
	createCUDAProviderOptions      function = 205
	updateCUDAProviderOptions      function = 206
	releaseCUDAProviderOptions     function = 208
	functions                               = 209
)

// apiVersion is the first version of struct OrtApi with all of these functions.
const apiVersion = 11

// library is ONNX Runtime, with the objects that all models share.
type library struct {
	table     [functions]uintptr
	version   string
	env       uintptr
	memory    uintptr // describes the processor's memory
	allocator uintptr
}

// loaded returns the library, which it loads once.
var loaded = sync.OnceValues(load)

func load() (*library, error) {
	path := os.Getenv(libraryVariable)
	if path == "" {
		return nil, errors.New("expected the path of ONNX Runtime's library, such as /usr/lib/libonnxruntime.so.1, in the environment variable " + libraryVariable + ", found none")
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", libraryVariable, err)
	}
	entrance, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("%s: %s: expected ONNX Runtime's library, found one without OrtGetApiBase", libraryVariable, path)
	}
	base, _, _ := purego.SyscallN(entrance)
	two := *(*[2]uintptr)(pointer(base)) // GetApi and GetVersionString
	version, _, _ := purego.SyscallN(two[1])
	l := &library{version: text(version)}
	table, _, _ := purego.SyscallN(two[0], apiVersion)
	if table == 0 {
		return nil, fmt.Errorf("%s: %s: expected ONNX Runtime 1.%d or later, found %s", libraryVariable, path, apiVersion, l.version)
	}
	l.table = *(*[functions]uintptr)(pointer(table))
	const onlyErrors, arena, ordinary = 3, 1, 0
	name := chars("moonfarm")
	err = l.call(createEnv, onlyErrors, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&l.env)))
	if err == nil {
		err = l.call(createCPUMemoryInfo, arena, ordinary, uintptr(unsafe.Pointer(&l.memory)))
	}
	if err == nil {
		err = l.call(getAllocatorWithDefaultOptions, uintptr(unsafe.Pointer(&l.allocator)))
	}
	return l, err
}

// call calls a function that returns a status. Pointers among the arguments must be
// converted in the call itself, so that the memory stays in place until it returns.
//
//go:uintptrescapes
func (l *library) call(f function, args ...uintptr) error {
	status, _, _ := purego.SyscallN(l.table[f], args...)
	if status == 0 {
		return nil
	}
	message, _, _ := purego.SyscallN(l.table[getErrorMessage], status)
	err := errors.New("ONNX Runtime: " + text(message))
	l.release(releaseStatus, status)
	return err
}

// release calls a function that releases an object and returns nothing; the object may be 0.
func (l *library) release(f function, what uintptr) { purego.SyscallN(l.table[f], what) }

// pointer converts an address from C to a pointer to memory outside of Go's heap.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// text copies a C string.
func text(p uintptr) string {
	n := 0
	for *(*byte)(unsafe.Add(pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(pointer(p)), n))
}

// chars returns a C string.
func chars(s string) []byte { return append([]byte(s), 0) }
