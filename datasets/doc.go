// Package datasets keeps episodes on disk as Arrow files that any tool reads:
// one row per turn and seat with its observation, mask, action, orders, reward
// and return, and one row per episode with its seed and all its orders, so that
// every episode can be played again exactly.
//
//	data/td/
//	  manifest.json          what it is, how it was made, sha256 of every file
//	  steps/00000.arrow      the step rows of shard 0
//	  episodes/00000.arrow   its episodes
//	  steps/00001.arrow      …
//
// FORMAT.md beside this file describes every file, column and key.
//
//   - Generate plays the missing shards of a Job and writes them; Write does
//     the same for episodes that come from elsewhere.
//   - Open reads: Batches, Episodes, ColumnSHA256.
//   - Inspect sums up, Verify checks, down to playing everything again.
//
// A shard is a pure function of the Job and its number, and so are the bytes of
// its files: workers, batch sizes, machines and kills leave no trace in a
// dataset. An Episode is its orders; the rows follow by playing them again
// straight into the column memory that is then compressed.
package datasets

// Format is the version of the format. It is raised when files are written
// that readers of the version before would misread.
const Format = 1

// Version is the version of moonfarm, as manifests name it.
const Version = "0.1.0"
