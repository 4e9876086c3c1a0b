//go:build cgo && stores

package main

import (
	"moonfarm/datasets"
	"moonfarm/datasets/s3"
)

// stores returns the stores in which datasets may be, besides folders. Only a
// library built with the tag stores has any.
func stores() datasets.Stores { return datasets.Stores{s3.Scheme: s3.Open} }
