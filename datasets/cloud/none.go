//go:build !cloud

package cloud

import "moonfarm/datasets"

// Stores are the stores by the schemes of their URLs: none in this build.
func Stores() datasets.Stores { return nil }
