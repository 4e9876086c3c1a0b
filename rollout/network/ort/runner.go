//go:build onnxruntime && (linux || darwin)

package ort

import (
	"fmt"
	"runtime"
	"unsafe"

	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// Runner evaluates batches with a model. It serves one goroutine at a time. The calls of the
// library allocate memory.
type Runner struct {
	model           *Model
	most            int
	inputs, outputs []array
	values          []uintptr // the library's values: of inputs, then outputs
}

// array is the memory of an input or output for all rows.
type array struct {
	network.Value
	floats []float32 // nil if the array is of bytes
	bytes  []uint8
	dims   []int64 // with the batch
}

// NewRunner makes a runner for batches of at most `most` rows, at least 1.
func (m *Model) NewRunner(most int) *Runner {
	r := &Runner{model: m, most: max(most, 1)}
	r.addInputs()
	for _, v := range m.outputs {
		r.outputs = append(r.outputs, newArray(v, r.most))
	}
	return r
}

// addInputs makes the memory of the inputs.
func (r *Runner) addInputs() {
	for _, v := range r.model.inputs {
		r.inputs = append(r.inputs, newArray(v, r.most))
	}
}

func newArray(v network.Value, rows int) array {
	a := array{Value: v, dims: []int64{1}}
	for _, d := range v.Dims {
		a.dims = append(a.dims, int64(d))
	}
	if v.Type == onnx.Float32 {
		a.floats = make([]float32, rows*v.Len())
	} else {
		a.bytes = make([]uint8, rows*v.Len())
	}
	return a
}

// Floats returns the memory of a float32 input for all rows, row after row, nil if the
// model has no such input.
func (r *Runner) Floats(name string) []float32 { return find(r.inputs, name).floats }

// Bytes returns the memory of a uint8 or bool input, as Floats does for float32 inputs.
func (r *Runner) Bytes(name string) []uint8 { return find(r.inputs, name).bytes }

// Output returns the memory of an output for all rows, row after row, nil if the model has
// no such output. Each Run writes the rows that it computes.
func (r *Runner) Output(name string) []float32 { return find(r.outputs, name).floats }

func find(all []array, name string) array {
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	return array{}
}

// Run computes the outputs of the first n rows of the inputs. It panics unless n is from 0
// to the limit of NewRunner, and if the library fails though it has evaluated the model
// before, for instance when memory has run out.
func (r *Runner) Run(n int) {
	if n < 0 || n > r.most {
		panic(fmt.Sprintf("ort: expected 0 to %d rows, found %d", r.most, n))
	}
	size := n
	if r.model.single {
		size = 1
	}
	for first := 0; first < n; first += size {
		if err := r.evaluate(first, size, nil); err != nil {
			panic("ort: " + err.Error())
		}
	}
}

// evaluate computes rows. With made the library allocates the outputs, else it writes to the
// outputs of the runner.
func (r *Runner) evaluate(first, rows int, made []uintptr) error {
	l, m := r.model.library, r.model
	r.values = r.values[:0]
	defer func() {
		for _, v := range r.values {
			l.release(releaseValue, v)
		}
	}()
	for _, list := range [2][]array{r.inputs, r.outputs} {
		for i := range list {
			v, err := l.wrap(&list[i], first, rows)
			if err != nil {
				return err
			}
			r.values = append(r.values, v)
		}
	}
	inputs, outputs := r.values, made
	if made == nil {
		inputs, outputs = r.values[:len(r.inputs)], r.values[len(r.inputs):]
	}
	names := len(m.inputs)
	err := l.call(runSession, m.session, 0,
		uintptr(unsafe.Pointer(&m.pointers[0])), uintptr(unsafe.Pointer(&inputs[0])), uintptr(len(inputs)),
		uintptr(unsafe.Pointer(&m.pointers[names])), uintptr(len(outputs)), uintptr(unsafe.Pointer(&outputs[0])))
	runtime.KeepAlive(r) // the values are in its memory
	return err
}

// wrap makes a value of the library from rows of an array, without copying them.
func (l *library) wrap(a *array, first, rows int) (value uintptr, err error) {
	a.dims[0] = int64(rows)
	n, size := a.Len(), 1
	var memory unsafe.Pointer
	if a.floats != nil {
		size, memory = 4, unsafe.Pointer(&a.floats[first*n])
	} else {
		memory = unsafe.Pointer(&a.bytes[first*n])
	}
	err = l.call(createTensorWithDataAsOrtValue, l.memory, uintptr(memory), uintptr(size*n*rows),
		uintptr(unsafe.Pointer(&a.dims[0])), uintptr(len(a.dims)), uintptr(a.Type), uintptr(unsafe.Pointer(&value)))
	return value, err
}
