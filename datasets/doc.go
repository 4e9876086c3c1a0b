// Package datasets keeps episodes on disk as Arrow files that any tool reads:
// one row per turn and seat with its observation, mask, action, orders, reward
// and return, and one row per episode with its seed and all its orders, so that
// every episode can be played again exactly.
//
//	data/td/
//	  manifest.json          what it is, how it was made
//	  index/00000.arrow      rows, bytes and sha256 of every file
//	  steps/00000.arrow      the step rows of shard 0
//	  episodes/00000.arrow   its episodes
//	  finals/00000.arrow     what was seen after their last turns
//	  steps/00001.arrow      …
//	  statistics.json        mean, deviation and range of planes and scalars
//	  README.md              a card for people
//
// FORMAT.md beside this file describes every file, column and key.
//
//   - Generate plays the missing shards of a Job and writes them; Write does
//     the same for episodes that come from elsewhere.
//   - OpenRun is for several processes that make the shards of a Job together.
//     Merge puts together the parts (Options.Part) that others made by themselves.
//   - Open opens a dataset to read: Batches, Episodes, Finals, Statistics,
//     ColumnSHA256, and Records for the Arrow library. Manifest.Unpacker
//     unpacks packed observations. ReadOptions.Filter leaves rows of some
//     policies, seats or outcomes; ReadOptions.Split puts equal games on one
//     side. With ReadOptions.Makers, Batches and Render play the episodes
//     again, and make rows of other observations and rewards of them.
//   - Inspect sums up a dataset. Verify checks one and, if asked to, plays it again.
//
// A shard is a pure function of the Job and its number, and so are the bytes of
// its files: they are the same for any workers, batch sizes and machines, and
// after any stop. An Episode is its seed and orders. Its rows are those that the
// rollout kept while it played; where keeping them would take too much memory, and
// for episodes from elsewhere, the orders are played again, turn by turn, into
// the columns. The rewards of the whole episode are known before: a row holds
// the return, the sum of the rewards to come. A full batch of columns is
// compressed and written.
package datasets

// Format is the version of the format that is written. It is raised when readers of
// the version before would misread the files. Format 2 is read, too.
const Format = 3

const oldestFormat = 2 // that is read

// Version is the version of moonfarm, as manifests name it. It is raised when
// the bytes of a dataset change that is made by the same command.
const Version = "0.3.0"
