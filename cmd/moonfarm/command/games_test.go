package command

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/datasets"
)

// TestShapes writes shapes, heads of actions and results for people.
func TestShapes(t *testing.T) {
	for got, want := range map[string]string{
		shape([]int{9, 8, 16}):   "9×8×16",
		shape(nil):               "",
		heads([]int{322}):        "322",
		heads([]int{8, 8, 8, 4}): "3 of 8, 1 of 4",

		headsInShort([]int{8, 8, 4}, 0): "2 of 8, 1 of 4",
		headsInShort([]int{8, 8, 4}, 1): "2 of 8 and 1 more head",
		balance(datasets.Outcome{Episodes: 4, Results: []datasets.Result{{Result: "1", Episodes: 2}, {Result: "0", Episodes: 1}, {Result: "-1", Episodes: 1}}}): "+1: 50.0 %, 0: 25.0 %, −1: 25.0 %",
	} {
		t.Run(want, func(t *testing.T) { assert.Equal(t, want, got) })
	}
}
