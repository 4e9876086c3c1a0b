package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// content is the content of a tensor's message before its type is applied.
type content struct {
	raw           []byte
	hasRaw        bool
	floats        []float32
	doubles       []float32
	int32s        []int64
	int64s        []int64
	uint64s       []int64 // a number that does not fit is negative
	dims          []int64
	kind          int64
	other, abroad bool // it has numbers of a kind that is not read; it has data outside of the file
}

// parse reads the message of a tensor.
func (t *Tensor) parse(message field) error {
	c := content{}
	err := message.fields(func(f field) (err error) {
		var x int64
		switch f.number {
		case 1:
			return f.integers(&c.dims)
		case 2:
			return f.integer(&c.kind)
		case 4:
			return f.floats(&c.floats)
		case 5:
			return f.integers(&c.int32s)
		case 6:
			c.other = true
		case 11:
			return f.integers(&c.uint64s)
		case 7:
			return f.integers(&c.int64s)
		case 8:
			return f.text(&t.Name)
		case 9:
			c.hasRaw = true
			c.raw, err = f.message()
		case 10:
			return f.doubles(&c.doubles)
		case 13:
			c.abroad = true
		case 14:
			err = f.integer(&x)
			c.abroad = c.abroad || x == 1
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.kind == 0:
		return errors.New("expected a type of elements, found none")
	}
	if err := t.Type.set(c.kind); err != nil {
		return err
	}
	if c.abroad {
		return errors.New("expected its numbers in the file, found a reference to another file (external data), which is read only beside a file")
	}
	n, err := t.setDims(c.dims)
	if err != nil {
		return err
	}
	return t.fill(&c, n)
}

// setDims checks the dimensions, and returns the number of elements.
func (t *Tensor) setDims(dims []int64) (int, error) {
	if len(dims) > maxRank {
		return 0, fmt.Errorf("expected at most %d dimensions, found %d", maxRank, len(dims))
	}
	n := int64(1)
	for _, d := range dims {
		if d < 0 || d > math.MaxInt32 {
			return 0, fmt.Errorf("expected dimensions from 0 to %d, found %v", math.MaxInt32, dims)
		}
		n *= d
		if n > math.MaxInt32 {
			return 0, fmt.Errorf("expected at most %d elements, found dimensions %v", math.MaxInt32, dims)
		}
		t.Dims = append(t.Dims, int(d))
	}
	return int(n), nil
}

// fill sets the n elements. It allocates memory only after it has checked that they exist.
func (t *Tensor) fill(c *content, n int) error {
	if c.hasRaw {
		if size := n * sizes[t.Type]; len(c.raw) != size {
			return fmt.Errorf("expected %d bytes for %d elements of %s, found %d", size, n, t.Type, len(c.raw))
		}
		t.fillRaw(c.raw, n)
		return t.checkInts()
	}
	found := 0
	switch t.Type {
	case Float32:
		t.Floats, found = c.floats, len(c.floats)
	case Float64:
		t.Floats, found = c.doubles, len(c.doubles)
	case Float16, BFloat16:
		if found = len(c.int32s); found == n {
			t.Floats = make([]float32, n)
			for i, x := range c.int32s {
				t.Floats[i] = t.Type.short(uint16(x))
			}
		}
	case Int64:
		t.Ints, found = c.int64s, len(c.int64s)
	case Uint32, Uint64:
		t.Ints, found = c.uint64s, len(c.uint64s)
	default:
		t.Ints, found = c.int32s, len(c.int32s)
	}
	if found != n {
		return fmt.Errorf("expected %d elements of %s, found %d", n, t.Type, found)
	}
	return t.checkInts()
}

// checkInts fails for a whole number that its type, or an int64, cannot hold.
func (t *Tensor) checkInts() error {
	least, most := int64(math.MinInt32), int64(math.MaxInt32)
	switch t.Type {
	case Int64:
		return nil
	case Uint64:
		least, most = 0, math.MaxInt64
	case Uint32:
		least, most = 0, math.MaxUint32
	}
	for _, x := range t.Ints {
		if x < least || x > most {
			return fmt.Errorf("expected elements of %s, at most %d, found %d", t.Type, most, uint64(x))
		}
	}
	return nil
}

// fillRaw reads n elements from raw data of the right length.
func (t *Tensor) fillRaw(b []byte, n int) {
	size := sizes[t.Type]
	if t.Type.IsFloat() {
		t.Floats = make([]float32, n)
		if t.Type == Float32 { // most weights: it takes half of the time
			for i := range t.Floats {
				t.Floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			}
			return
		}
		for i := range t.Floats {
			t.Floats[i] = t.Type.float(b[i*size:])
		}
		return
	}
	t.Ints = make([]int64, n)
	for i := range t.Ints {
		t.Ints[i] = t.Type.integer(b[i*size:])
	}
}

// float returns the first element of raw data of other types than Float32.
func (t Type) float(b []byte) float32 {
	le := binary.LittleEndian
	if t == Float64 {
		return float32(math.Float64frombits(le.Uint64(b)))
	}
	return t.short(le.Uint16(b))
}

// integer returns the first element of raw data.
func (t Type) integer(b []byte) int64 {
	x, beyond := uint64(0), 64-8*sizes[t]
	for i, c := range b[:sizes[t]] {
		x |= uint64(c) << (8 * i)
	}
	if t == Int8 || t == Int16 || t == Int32 {
		return int64(x<<beyond) >> beyond // with its sign
	}
	return int64(x)
}

// short returns the float32 of a float of two bytes. A bfloat16 is the upper half of a float32.
func (t Type) short(x uint16) float32 {
	if t == BFloat16 {
		return math.Float32frombits(uint32(x) << 16)
	}
	return half(x)
}

// half returns the float32 of a float16.
func half(x uint16) float32 {
	sign, exponent, fraction := uint32(x>>15)<<31, uint32(x>>10)&31, uint32(x)&1023
	switch exponent {
	case 0: // a multiple of 2⁻²⁴, exact
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
