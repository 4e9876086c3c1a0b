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
//	  finals/00000.arrow     observations after their last turns
//	  steps/00001.arrow      …
//	  statistics.json        mean, deviation and range of planes and scalars
//	  README.md              a card for people
//
// FORMAT.md beside this file describes every file, column and key.
//
//   - Generate plays the missing shards of a Job and writes them; Write does
//     the same for episodes that come from elsewhere.
//   - OpenRun is for several processes that make the shards of a Job together.
//     Merge joins parts (Options.Part) that processes made separately.
//   - Open opens a dataset for reading: Batches, Episodes, Finals, Statistics,
//     ColumnSHA256, and Records for the Arrow library. Manifest.Unpacker
//     unpacks packed observations. ReadOptions.Filter selects rows of some
//     policies, seats or outcomes; ReadOptions.Split puts equal games on one
//     side. With ReadOptions.Makers, Batches plays the episodes
//     again, for rows with other observations and rewards.
//   - Inspect sums up a dataset. Verify checks one and, if asked to, plays it again.
//
// A shard is a pure function of the Job and its number, and so are the bytes of
// its files: they are the same for any workers, batch sizes and machines, and
// after any stop. An Episode is its seed and orders.
//
// This package is the face of four folders of internal, each of which imports only those of them
// that stand above it:
//
//	about    what describes a dataset: its job, manifest, columns, index and card
//	read     opens and reads a dataset, and sums it up
//	write    makes datasets: a run, its folder, and its shards, whose episodes become bytes
//	check    compares a dataset with its manifest, and with shards that are made again
//
// An episode becomes bytes in this order: write.Generate (write/generate.go) plays the missing shards by
// rollout.Run; a shardWriter (write/sink.go) creates the files of a shard. An Encoder
// (write/encoder.go) takes each episode and checks it. Package internal/rows makes its step rows
// (write/rows.go) in the columns of a batch, from the rows that the rollout kept while it played or
// by playing the episode again; then the Encoder writes its row of the episodes. Package
// internal/arrowfile compresses and writes each full batch. A row has the return, the sum of the rewards
// to come, so all rewards of the episode are known before its rows are written.
package datasets
