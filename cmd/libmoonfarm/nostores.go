//go:build cgo && !stores

package main

import "moonfarm/datasets"

// stores are none: a library that is built with the tag stores has some.
func stores() datasets.Stores { return nil }
