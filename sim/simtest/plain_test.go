package simtest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlainFaults(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string // part of the one fault; "" for none
	}{
		{ToyState{}, ""},
		{[3]struct{ A, B float32 }{}, ""},
		{struct{ P *int32 }{}, ".P: a ptr"},
		{struct{ M map[int]int }{}, ".M: a map"},
		{struct{ S string }{}, ".S: a string"},
		{struct{ S [2][]byte }{}, ".S[]: a slice"},
		{struct{ E error }{}, ".E: a interface"},
		{struct{ N int }{}, ".N: a int has another size"},
		{struct {
			A uint8
			_ uint8
		}{}, "a blank field of 1 bytes"},
		{struct {
			A uint8
			B uint32
		}{}, "a gap of 3 bytes before B"},
		{struct {
			A uint32
			B uint8
		}{}, "a gap of 3 bytes at the end"},
	} {
		t.Run(c.want, func(t *testing.T) {
			faults := plainFaults(nil, "S", reflect.TypeOf(c.value))
			assert.Truef(t, (c.want != "" || len(faults) == 0) && (c.want == "" || len(faults) == 1 && strings.Contains(faults[0], c.want)), "%T: faults %q, want %q", c.value, faults, c.want)
		})
	}
}

func TestDiff(t *testing.T) {
	a := ToyState{Turn: 1}
	b := a
	assert.Equal(t, "", Diff(&a, &b), "equal states differ")
	b.Heap[3], b.Turn = 5, 9
	d, want := Diff(&a, &b), "Heap[3]: 0, 5"
	assert.Equal(t, want, d, "Diff")
	d, want = DiffLists("ids", []int{1, 2}, []int{1}), "ids: entry 1: fast [2], plain []"
	assert.Equal(t, want, d, "DiffLists")
}
