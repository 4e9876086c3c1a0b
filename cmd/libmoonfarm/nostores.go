//go:build cgo && !stores

package main

import "moonfarm/datasets"

// stores returns no stores. A library built with the tag stores has some.
func stores() datasets.Stores { return nil }
