package cloud

import (
	"maps"

	"moonfarm/datasets"
	"moonfarm/datasets/s3"
)

// Stores returns all stores of this build by the schemes of their URLs: S3, and
// with the tag cloud Azure and Google.
func Stores() datasets.Stores {
	all := datasets.Stores{s3.Scheme: s3.Open}
	maps.Copy(all, tagged())
	return all
}
