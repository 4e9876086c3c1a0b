package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/font/sfnt"

	"moonfarm/sim/simtest"
)

// TestGenerated: the file of package raster equals the output of gen.
func TestGenerated(t *testing.T) {
	got, err := file()
	require.NoError(t, err)
	assert.Equal(t, string(simtest.Text(t, "../outlines.txt")), string(got), "run go generate in rollout/view/picture/raster")
}

// TestOutline: cubic curves, which package raster does not read, are refused.
func TestOutline(t *testing.T) {
	b, err := outline(sfnt.Segments{{Op: sfnt.SegmentOpMoveTo}, {Op: sfnt.SegmentOpLineTo}, {Op: sfnt.SegmentOpQuadTo}})
	require.NoError(t, err)
	assert.Equal(t, []byte{0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0}, b)
	_, err = outline(sfnt.Segments{{Op: sfnt.SegmentOpCubeTo}})
	assert.ErrorContains(t, err, "expected moves, lines and quadratic curves")
}
