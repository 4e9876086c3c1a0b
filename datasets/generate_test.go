package datasets

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSameBytes: the bytes do not depend on the number of workers or of games side by
// side.
func TestSameBytes(t *testing.T) {
	for _, j := range []Job{mixed(toyJob(2, 1)), full(toyJob(3, 2)), full(toyJob(4, 3))} {
		want := files(t, generateToy(t, j, Options{Workers: 1}))
		require.Len(t, want, 4+3*7+4) // manifest, folders, shards, index, statistics, card
		requireSameFiles(t, want, files(t, generateToy(t, j, Options{Workers: 2, Games: 1})))
		requireSameFiles(t, want, files(t, generateToy(t, j, Options{Workers: 5, Games: 7})))
	}
}
