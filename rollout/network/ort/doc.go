// Package ort evaluates ONNX models by ONNX Runtime, a library that is loaded when the
// program runs: for models with operators that package network lacks, and to compare
// with. All of it is left out of builds without the tag onnxruntime.
//
// The environment variable MOONFARM_ONNXRUNTIME has the path of the library, such as
// /usr/lib/libonnxruntime.so.1; version 1.11 or later is wanted. It computes on one thread,
// so that each worker keeps to its own core. The bits of its results do not depend on the
// batch, but on the machine and on the version.
package ort
