// Package shard is the contract between a dataset that makes shards, such as datasets.Run,
// and a farm that orders them on many machines: the result of a shard, and the errors after
// which it fails or is made again. Neither side knows the other.
package shard

import "fmt"

// Receipt is the result of a shard.
type Receipt struct {
	Sum      string `json:"sum"` // sha256 of the shard's sidecar, which has the sums of its files; hex digits
	Episodes uint64 `json:"episodes"`
	Rows     uint64 `json:"rows"`  // of steps
	Bytes    uint64 `json:"bytes"` // of the files
}

// PermanentError is a failure of the shard's own computation: it would fail again. Errors of
// the store and of the context are not permanent.
type PermanentError struct{ Err error }

// Error says that the shard cannot be made, and why.
func (e *PermanentError) Error() string { return "the shard cannot be made: " + e.Err.Error() }

// Unwrap returns Err.
func (e *PermanentError) Unwrap() error { return e.Err }

// BrokenError says that the stored files of a shard are missing or are not what their sum
// says: the shard has to be made again.
type BrokenError struct {
	Shard int
	Err   error
}

// Error names the shard.
func (e *BrokenError) Error() string { return fmt.Sprintf("shard %d: %v", e.Shard, e.Err) }

// Unwrap returns Err.
func (e *BrokenError) Unwrap() error { return e.Err }
