// Package shard is the contract between a dataset that makes shards, such as datasets.Run, and a
// farm that distributes them over many machines: the result of a shard, and the errors that fail it
// or make it be made again. Neither side imports the other.
package shard

import "fmt"

// Receipt is the result of a shard.
type Receipt struct {
	Sum      string `json:"sum"` // sha256 of the shard's sidecar, which has the sums of its files; hex digits
	Episodes uint64 `json:"episodes"`
	Rows     uint64 `json:"rows"`  // rows of steps
	Bytes    uint64 `json:"bytes"` // of the files
}

// PermanentError is a failure of the shard's own computation, which a retry would repeat. Errors of
// the store and of the context are not permanent.
type PermanentError struct{ Err error }

// Error returns the reason, with the prefix that the shard cannot be made.
func (p *PermanentError) Error() string { return "the shard cannot be made: " + p.Err.Error() }

// Unwrap returns Err.
func (p *PermanentError) Unwrap() error { return p.Err }

// BrokenError means that the stored files of a shard are missing or do not have their checksum: the
// shard must be made again.
type BrokenError struct {
	Shard int
	Err   error
}

// Error returns the shard and the reason.
func (b *BrokenError) Error() string { return fmt.Sprintf("shard %d: %v", b.Shard, b.Err) }

// Unwrap returns Err.
func (b *BrokenError) Unwrap() error { return b.Err }
