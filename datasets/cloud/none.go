//go:build !cloud

package cloud

import "moonfarm/datasets"

// tagged returns the stores that only builds with the tag cloud have.
func tagged() datasets.Stores { return nil }
