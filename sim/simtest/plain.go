package simtest

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"unsafe"
)

// Diff names the first number that differs between two states, with both values
// ("Heap[3]: 4, 5"). It returns "" if there is no difference.
func Diff[S any](a, b *S) string {
	if bytes.Equal(bytesOf(a), bytesOf(b)) {
		return ""
	}
	if d := diff("", reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()); d != "" {
		return d
	}
	return "bytes that belong to no field, or the signs of zeros"
}

func diff(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			if d := diff(name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Array:
		for i := range a.Len() {
			if d := diff(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	}
	if a.Equal(b) {
		return ""
	}
	return fmt.Sprintf("%s: %v, %v", path, a, b)
}

// DiffLists names the first entry that differs between a list of the fast game
// and the list of its plain twin. It returns "" if there is no difference.
func DiffLists[E comparable](name string, fast, twin []E) string {
	i := 0
	for i < len(fast) && i < len(twin) && fast[i] == twin[i] {
		i++
	}
	if i == len(fast) && i == len(twin) {
		return ""
	}
	return fmt.Sprintf("%s: entry %d: fast %+v, plain %+v", name, i, fast[i:min(i+1, len(fast))], twin[i:min(i+1, len(twin))])
}

// bytesOf returns the memory of s.
func bytesOf[S any](s *S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s))
}

func testPlainData[S any](t *testing.T) {
	typ := reflect.TypeFor[S]()
	for _, fault := range plainFaults(nil, typ.String(), typ) {
		t.Error(fault)
	}
	t.Logf("%v: %d bytes", typ, typ.Size())
}

// plainFaults appends what keeps type t from being plain data: references to
// other memory, and gaps. A game cannot set the bytes of gaps and blank fields,
// so equal states could make different snapshots.
func plainFaults(faults []string, path string, t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Struct:
		end := uintptr(0)
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Offset != end {
				faults = append(faults, fmt.Sprintf("%s: a gap of %d bytes before %s; fill it with a named field", path, f.Offset-end, f.Name))
			}
			if f.Name == "_" {
				faults = append(faults, fmt.Sprintf("%s: a blank field of %d bytes; assignments may skip it, name it", path, f.Type.Size()))
			}
			faults = plainFaults(faults, path+"."+f.Name, f.Type)
			end = f.Offset + f.Type.Size()
		}
		if end != t.Size() {
			faults = append(faults, fmt.Sprintf("%s: a gap of %d bytes at the end; fill it with a named field", path, t.Size()-end))
		}
	case reflect.Array:
		faults = plainFaults(faults, path+"[]", t.Elem())
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
	case reflect.Int, reflect.Uint:
		faults = append(faults, fmt.Sprintf("%s: a %v has another size on other machines; use one with a fixed width", path, t.Kind()))
	default:
		faults = append(faults, fmt.Sprintf("%s: a %v is not plain data", path, t.Kind()))
	}
	return faults
}
