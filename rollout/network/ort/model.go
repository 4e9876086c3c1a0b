//go:build onnxruntime && (linux || darwin)

package ort

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"moonfarm/rollout/network"
	"moonfarm/rollout/network/onnx"
)

// Model is a network in ONNX Runtime. It is read-only and safe for concurrent use; each
// goroutine needs its own Runner.
type Model struct {
	library         *library
	session         uintptr
	inputs, outputs []network.Value
	names           [][]byte  // C strings: of inputs, then outputs
	pointers        []uintptr // to names
	single          bool      // takes one row at a time
}

// Read reads a model from the bytes of an ONNX file, for a device: "cpu", or "cuda" or
// "cuda:N" for a GPU if the library has CUDA. It fails without the library, for a device
// that the library cannot use, and for a model that the library refuses or whose inputs or
// outputs network.Read would refuse.
func Read(data []byte, device string) (*Model, error) {
	l, err := loaded()
	if err != nil {
		return nil, err
	}
	m := &Model{library: l}
	if err = m.open(data, device); err == nil {
		err = m.describe()
	}
	if err == nil {
		err = m.probe()
	}
	if err != nil {
		l.release(releaseSession, m.session)
		return nil, err
	}
	runtime.AddCleanup(m, func(session uintptr) { l.release(releaseSession, session) }, m.session)
	return m, nil
}

// Inputs returns the inputs, in the order of the file.
func (m *Model) Inputs() []network.Value { return m.inputs }

// Outputs returns the outputs, in the order of the file.
func (m *Model) Outputs() []network.Value { return m.outputs }

// Version returns the version of the library, such as "1.24.3".
func (m *Model) Version() string { return m.library.version }

// open creates the session.
func (m *Model) open(data []byte, device string) error {
	if len(data) == 0 {
		return errors.New("expected an ONNX file, found nothing")
	}
	l, options := m.library, uintptr(0)
	if err := l.call(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return err
	}
	defer func() { l.release(releaseSessionOptions, options) }()
	if err := l.call(setIntraOpNumThreads, options, 1); err != nil {
		return err
	}
	if device != "cpu" {
		if err := l.useCUDA(options, device); err != nil {
			return fmt.Errorf("device %s: %w", device, err)
		}
	}
	return l.call(createSessionFromArray, l.env, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), options, uintptr(unsafe.Pointer(&m.session)))
}

// useCUDA adds a GPU, "cuda" or "cuda:N", to the options of a session.
func (l *library) useCUDA(options uintptr, device string) error {
	_, number, given := strings.Cut(device, ":")
	if !given {
		number = "0"
	}
	cuda, key, value := uintptr(0), chars("device_id"), chars(number)
	if err := l.call(createCUDAProviderOptions, uintptr(unsafe.Pointer(&cuda))); err != nil {
		return err
	}
	defer func() { l.release(releaseCUDAProviderOptions, cuda) }()
	keys, values := &key[0], &value[0]
	err := l.call(updateCUDAProviderOptions, cuda, uintptr(unsafe.Pointer(&keys)), uintptr(unsafe.Pointer(&values)), 1)
	if err != nil {
		return err
	}
	return l.call(appendCUDA, options, cuda)
}

// describe asks the session for its inputs, and for the names of its outputs.
func (m *Model) describe() error {
	l, inputs, outputs := m.library, uintptr(0), uintptr(0)
	if err := l.call(sessionGetInputCount, m.session, uintptr(unsafe.Pointer(&inputs))); err != nil {
		return err
	}
	if err := l.call(sessionGetOutputCount, m.session, uintptr(unsafe.Pointer(&outputs))); err != nil {
		return err
	}
	if inputs == 0 || outputs == 0 {
		return fmt.Errorf("expected inputs and outputs, found %d and %d", inputs, outputs)
	}
	for i := range inputs {
		name, err := m.name(sessionGetInputName, i)
		if err != nil {
			return err
		}
		v, single, err := m.input(i)
		if err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
		v.Name = name
		m.inputs, m.single = append(m.inputs, v), m.single || single
	}
	for i := range outputs {
		name, err := m.name(sessionGetOutputName, i)
		if err != nil {
			return err
		}
		m.outputs = append(m.outputs, network.Value{Name: name, Type: onnx.Float32})
	}
	for i := range m.names {
		m.pointers = append(m.pointers, uintptr(unsafe.Pointer(&m.names[i][0])))
	}
	return nil
}

// name returns the name of input or output i, and stores it as a C string.
func (m *Model) name(f function, i uintptr) (string, error) {
	p := uintptr(0)
	if err := m.library.call(f, m.session, i, m.library.allocator, uintptr(unsafe.Pointer(&p))); err != nil {
		return "", err
	}
	s := text(p)
	m.names = append(m.names, chars(s))
	return s, m.library.call(allocatorFree, m.library.allocator, p)
}

// input describes input i; single reports that it takes only one row.
func (m *Model) input(i uintptr) (v network.Value, single bool, err error) {
	l, info, tensor := m.library, uintptr(0), uintptr(0)
	if err := l.call(sessionGetInputTypeInfo, m.session, i, uintptr(unsafe.Pointer(&info))); err != nil {
		return v, false, err
	}
	defer func() { l.release(releaseTypeInfo, info) }()
	if err := l.call(castTypeInfoToTensorInfo, info, uintptr(unsafe.Pointer(&tensor))); err != nil {
		return v, false, err
	}
	if tensor == 0 {
		return v, false, errors.New("expected an array, found something else")
	}
	typ, dims, err := l.shape(tensor)
	switch {
	case err != nil:
		return v, false, err
	case typ != onnx.Float32 && typ != onnx.Uint8 && typ != onnx.Bool:
		return v, false, fmt.Errorf("expected elements of float32, uint8 or bool, found %s", typ)
	case len(dims) == 0 || dims[0] != -1 && dims[0] != 1:
		return v, false, fmt.Errorf("expected a batch of any size or of 1 as first dimension, found %v", dims)
	}
	v.Type, v.Dims, err = typ, nil, nil
	n := int64(1)
	for _, d := range dims[1:] {
		if d < 1 || d > mostElements/n {
			return v, false, fmt.Errorf("expected known dimensions of 1 to %d elements in all, found %v", mostElements, dims)
		}
		n *= d
		v.Dims = append(v.Dims, int(d))
	}
	return v, dims[0] == 1, nil
}

// mostElements bounds the elements of a row.
const mostElements = 1 << 24

// shape returns the type and the dimensions of an OrtTensorTypeAndShapeInfo; −1 stands for
// an unknown dimension.
func (l *library) shape(info uintptr) (typ onnx.Type, dims []int64, err error) {
	kind, rank := int32(0), uintptr(0)
	if err = l.call(getTensorElementType, info, uintptr(unsafe.Pointer(&kind))); err != nil {
		return 0, nil, err
	}
	if err = l.call(getDimensionsCount, info, uintptr(unsafe.Pointer(&rank))); err != nil {
		return 0, nil, err
	}
	dims = make([]int64, max(1, rank))
	err = l.call(getDimensions, info, uintptr(unsafe.Pointer(&dims[0])), rank)
	return onnx.Type(kind), dims[:rank], err // types have the same numbers as in ONNX files
}

// probe evaluates rows of zeros to find the shapes of the outputs.
func (m *Model) probe() error {
	r := &Runner{model: m, most: 2}
	if m.single {
		r.most = 1
	}
	r.addInputs()
	values := make([]uintptr, len(m.outputs)) // 0: the library allocates the outputs
	defer func() {
		for _, v := range values {
			m.library.release(releaseValue, v)
		}
	}()
	if err := r.evaluate(0, r.most, values); err != nil {
		return err
	}
	for i := range values {
		v := &m.outputs[i]
		dims, err := m.outputDims(values[i])
		if err == nil && (len(dims) == 0 || dims[0] != int64(r.most)) {
			err = fmt.Errorf("expected the batch as first dimension, found %v for a batch of %d", dims, r.most)
		}
		if err != nil {
			return fmt.Errorf("output %q: %w", v.Name, err)
		}
		for _, d := range dims[1:] {
			v.Dims = append(v.Dims, int(d))
		}
		if v.Len() < 1 || v.Len() > mostElements {
			return fmt.Errorf("output %q: expected 1 to %d elements a row, found %v", v.Name, mostElements, v.Dims)
		}
	}
	return nil
}

// outputDims returns the dimensions of a value that the library has allocated.
func (m *Model) outputDims(value uintptr) ([]int64, error) {
	l, is, info := m.library, int32(0), uintptr(0)
	if err := l.call(isTensor, value, uintptr(unsafe.Pointer(&is))); err != nil {
		return nil, err
	}
	if is == 0 {
		return nil, errors.New("expected an array, found something else")
	}
	if err := l.call(getTensorTypeAndShape, value, uintptr(unsafe.Pointer(&info))); err != nil {
		return nil, err
	}
	defer func() { l.release(releaseTensorTypeAndShapeInfo, info) }()
	typ, dims, err := l.shape(info)
	if err == nil && typ != onnx.Float32 {
		err = fmt.Errorf("expected elements of float32, found %s", typ)
	}
	return slices.Clone(dims), err
}
