// Package farm makes the shards of a run on many machines, each exactly once. It handles only
// numbers and checksums: Shards knows the content of a shard and the place of its files.
//
// A server (Serve) is NATS with JetStream, in this process or elsewhere. A coordinator (Coordinate)
// keeps runs and records in the server's key-value buckets, leases shards to workers (Work), writes
// a commit by one compare-and-set of the shard's record, has other workers make a sample of the
// shards a second time, and completes the dataset. People use a Client. Every connection needs
// credentials, and each role has its own subjects. Any process may die at any time: every action may
// be repeated, and a shard is a pure function of the run's spec.
//
// # The coordinator
//
// The decisions are plain structs without lock, clock and network: queue, leases, audits, commits
// and stragglers in internal/tracker, and workers here. A state holds them; its methods (state.go,
// assign.go) are the steps that change several of them. Other types talk to NATS: requests receives
// the messages, assigner answers workers that ask for work, committer writes records, auditor
// decides disputes, runs begins and ends runs, and upkeep does the periodic work.
//
// One lock guards a state, and one function takes it: term.do. A lock for each struct would not
// suffice, since a claim, a commit and a lapse each change a worker, a lease, a queue and an audit
// together; an owner goroutine would serialise the same steps, with a channel instead of the lock.
// A step never waits for the store. An action that needs the store consists of a step, a read or
// write, and another step that checks that the run is the same. Only steps hold the lock, and a
// step never releases it before its end.
package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"moonfarm/rollout/redact"
	"moonfarm/rollout/shard"
)

// Spec describes the result of a run. Equal specs belong to one run.
type Spec struct {
	Name     string          `json:"name"`     // for people: the game
	Build    string          `json:"build"`    // must agree between machines: version, rules, settings, files
	Shards   int             `json:"shards"`   // shard numbers are 0 to Shards−1
	Episodes uint64          `json:"episodes"` // of all shards
	Job      json.RawMessage `json:"job"`      // for Open
	Out      string          `json:"out"`      // folder or URL

	// Within is the folder that no link on the way to Out may lead out of, and Folder is Out
	// without links as Open found it; "": anywhere. They are no part of the run.
	Within, Folder string `json:"-"`
}

const (
	maxSpec   = 512 << 10 // bytes of a spec: it travels as one message
	maxShards = 1 << 30   // a coordinator has a bit for each shard
	maxText   = 4096      // bytes of a build and of an output: each status contains them
)

// printable reports whether a text has at most a number of bytes, all of printable characters.
func printable(text string, most int) bool {
	return len(text) <= most && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) < 0
}

// check fails if a spec from outside is not valid.
func (s *Spec) check() error {
	switch {
	case s.Shards < 1 || s.Shards > maxShards:
		return fmt.Errorf("spec: %d shards, expected 1 to %d", s.Shards, maxShards)
	case s.Episodes < uint64(s.Shards):
		return fmt.Errorf("spec: %d episodes in %d shards, expected at least one in each", s.Episodes, s.Shards)
	case checkName(s.Name) != nil:
		return fmt.Errorf("spec: %w", checkName(s.Name))
	case s.Build == "" || !printable(s.Build, maxText):
		return fmt.Errorf("spec: build %.80q, expected 1 to %d printable characters", s.Build, maxText)
	case s.Out == "" || !printable(s.Out, maxText):
		return fmt.Errorf("spec: output %.80q, expected 1 to %d printable characters", redact.Text(s.Out), maxText)
	case !json.Valid(s.Job):
		return errors.New("spec: the job is not JSON")
	case len(s.Job)+len(s.Name)+len(s.Build)+len(s.Out) > maxSpec:
		return fmt.Errorf("spec: more than %d bytes", maxSpec)
	}
	if err := redact.Check(s.Out); err != nil {
		return fmt.Errorf("spec: output %w", err)
	}
	return nil
}

// ID returns the name of the run: the first 32 hex digits of the sha256 of the
// spec's JSON, in which the job has no white space.
func (s *Spec) ID() string {
	text, _ := json.Marshal(s) // of strings, numbers and valid JSON: cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Receipt is the result of a shard.
type Receipt = shard.Receipt

// Shards makes and keeps the shards of one run. Its methods may be called by
// several goroutines at once. An error of Make counts as an error of the store, and the
// shard is retried until it succeeds, unless the error wraps a *shard.PermanentError: if two
// workers report one for the same shard, or one worker reports three, the run fails. *datasets.Run is one implementation.
type Shards interface {
	// Complete returns the totals of a complete dataset, and nil if it is not complete.
	Complete(ctx context.Context) (*Receipt, error)
	// Make computes the shard and stores its files under names that contain the sum. It is
	// idempotent.
	Make(ctx context.Context, shard int) (Receipt, error)
	// Remake computes the shard and stores nothing.
	Remake(ctx context.Context, shard int) (Receipt, error)
	// Differ describes the first row in which the stored shard of that sum
	// differs from the shard made here, with both values.
	Differ(ctx context.Context, shard int, sum string) (string, error)
	// Finish completes the dataset from the shards with the sums that sum
	// returns, and removes files that were stored under other sums. It is idempotent. If the
	// stored files of a shard are missing or do not have their sum, the error wraps a
	// *BrokenError: the shard is made again.
	Finish(ctx context.Context, sum func(shard int) (string, error)) error
	// Close frees files and memory.
	Close() error
}

// Open opens the shards of a spec, for at most workers calls of Make at once. It fails before it
// writes anything if this machine would make other bytes than Spec.Build names.
type Open func(ctx context.Context, s *Spec, workers int) (Shards, error)

// BrokenError is an error of Shards.Finish.
type BrokenError = shard.BrokenError
