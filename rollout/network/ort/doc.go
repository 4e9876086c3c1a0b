// Package ort evaluates ONNX models with ONNX Runtime, a library that it loads at run time.
// It is for models with operators that package network lacks, and for comparisons. Builds
// without the tag onnxruntime contain none of it.
//
// The environment variable MOONFARM_ONNXRUNTIME has the path of the library, such as
// /usr/lib/libonnxruntime.so.1; it needs version 1.11 or later. It computes on one thread,
// so that each worker uses only its own core. The bits of its results depend on the machine
// and on the version, but not on the batch.
package ort
