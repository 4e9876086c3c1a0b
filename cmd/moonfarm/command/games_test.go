package command

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestShapes writes shapes, heads of actions and results for people.
func TestShapes(t *testing.T) {
	for got, want := range map[string]string{
		shape([]int{9, 8, 16}):   "9×8×16",
		shape(nil):               "",
		heads([]int{322}):        "322",
		heads([]int{8, 8, 8, 4}): "3 of 8, 1 of 4",
	} {
		t.Run(want, func(t *testing.T) { assert.Equal(t, want, got) })
	}
}
