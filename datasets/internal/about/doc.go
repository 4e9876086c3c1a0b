// Package about describes datasets: their jobs and manifests, the columns and bounds of their files, the
// index of their shards, what is known of a finished shard, and the card.
package about

// Format is the version of the format. It is raised when readers of the version before would misread
// the files.
const Format = 3

// Encoding numbers the way in which buffers of files are compressed with zstd. Rows do not depend on
// it, the bytes of files do, so that no build continues a run of another encoding.
const Encoding = 3

// Version is the version of moonfarm, as manifests name it. It is raised when
// the bytes of a dataset change that is made by the same command.
const Version = "0.3.0"
