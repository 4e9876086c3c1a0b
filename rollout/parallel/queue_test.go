package parallel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQueue: early values wait for those before them.
func TestQueue(t *testing.T) {
	var got []int
	q := Queue[int]{Take: func(v int) { got = append(got, v) }}
	for _, i := range []int{2, 0, 1, 5, 4, 3, 6} {
		q.Put(i, i*i)
	}
	require.Equal(t, []int{0, 1, 4, 9, 16, 25, 36}, got)
	require.Empty(t, q.early)
}
