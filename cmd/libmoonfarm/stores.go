//go:build cgo && stores

package main

import (
	"maps"

	"moonfarm/datasets"
	"moonfarm/datasets/cloud"
	"moonfarm/datasets/s3"
)

// stores are where datasets may be beside folders, in a library that is built with the tag
// stores.
func stores() datasets.Stores {
	all := datasets.Stores{s3.Scheme: s3.Open}
	maps.Copy(all, cloud.Stores())
	return all
}
