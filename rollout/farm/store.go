package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// store is the data that outlives a coordinator, all of it in JetStream.
type store struct {
	js      jetstream.JetStream
	runs    jetstream.KeyValue // run → runRecord
	shards  jetstream.KeyValue // run.shard → record
	workers jetstream.KeyValue // name → workerRecord
	lease   jetstream.KeyValue // name of the coordinator
	events  jetstream.Stream   // moonfarm.failure, moonfarm.audit
	made    []string           // streams that were missing
}

const (
	shardBucket = "moonfarm-shards"
	leaseKey    = "coordinator"
)

// runRecord is a run in its bucket.
type runRecord struct {
	Spec    *Spec      `json:"spec"`
	State   State      `json:"state"`
	Text    string     `json:"text,omitempty"`
	Created time.Time  `json:"created"`
	Ended   time.Time  `json:"ended,omitzero"`
	End     *RunStatus `json:"end,omitempty"` // the status at the end: the records of a done run are gone
}

// record is a committed shard in its bucket.
type record struct {
	Receipt
	Worker string `json:"worker"`
	Audit  string `json:"audit,omitempty"` // one of the audit states
	By     string `json:"by,omitempty"`    // the worker that audited it
}

// workerRecord is a worker in its bucket.
type workerRecord struct {
	Version     string      `json:"version"`
	Host        string      `json:"host"`
	Slots       int         `json:"slots"`
	Beat        time.Time   `json:"beat"`
	Shards      uint64      `json:"shards"`
	Rows        uint64      `json:"rows"`
	Audits      AuditCounts `json:"audits"`
	Lapsed      uint64      `json:"lapsed"`
	Quarantined string      `json:"quarantined,omitempty"`
}

// The names of all streams; the streams of buckets begin with KV_.
const (
	runsStream    = "KV_moonfarm-runs"
	shardsStream  = "KV_" + shardBucket
	workersStream = "KV_moonfarm-workers"
	leaseStream   = "KV_moonfarm-lease"
	eventStream   = "moonfarm-notes"
)

var allStreams = []string{runsStream, shardsStream, workersStream, leaseStream, eventStream}

// lost returns the names of streams that do not exist.
func lost(ctx context.Context, js jetstream.JetStream) (list []string, err error) {
	for _, name := range allStreams {
		_, err := js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			list = append(list, name)
		} else if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// openStore opens the streams and buckets, and makes the missing ones.
func openStore(ctx context.Context, c *Conn, o *CoordinatorOptions) (*store, error) {
	js, err := jetstream.New(c.nc, jetstream.WithDefaultTimeout(10*time.Second))
	if err != nil {
		return nil, err
	}
	s := &store{js: js}
	for _, b := range []struct {
		kv     *jetstream.KeyValue
		stream string
		ttl    time.Duration
	}{{&s.runs, runsStream, 0}, {&s.shards, shardsStream, 0}, {&s.workers, workersStream, 0}, {&s.lease, leaseStream, o.lease}} {
		name := strings.TrimPrefix(b.stream, "KV_")
		if *b.kv, err = js.KeyValue(ctx, name); errors.Is(err, jetstream.ErrBucketNotFound) {
			s.made = append(s.made, b.stream)
			*b.kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: name, TTL: b.ttl, Replicas: o.Replicas, MaxValueSize: 1 << 20})
		}
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	s.events, err = js.Stream(ctx, eventStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s.made = append(s.made, eventStream)
		s.events, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: eventStream, Subjects: []string{"moonfarm.failure", "moonfarm.audit"},
			MaxMsgsPerSubject: 100_000, Replicas: o.Replicas})
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", eventStream, err)
	}
	return s, nil
}

// shardKey returns the key of a shard's record.
func shardKey(run string, shard int) string { return run + "." + strconv.Itoa(shard) }

// shardOf returns the shard whose record has a key.
func shardOf(key string) (int, error) { return strconv.Atoi(key[strings.LastIndexByte(key, '.')+1:]) }

// read reads the value of a key; revision 0 means that the key has no value.
func read(ctx context.Context, kv jetstream.KeyValue, key string, v any) (revision uint64, err error) {
	e, err := kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(e.Value(), v); err != nil {
		return 0, fmt.Errorf("%s %s: %w", kv.Bucket(), key, err)
	}
	return e.Revision(), nil
}

// write writes a value if the key still has the given revision, and returns false otherwise.
// Revision 0 means that the key has no value.
func write(ctx context.Context, kv jetstream.KeyValue, key string, v any, revision uint64) (uint64, bool, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return 0, false, err
	}
	if revision == 0 {
		revision, err = kv.Create(ctx, key, data)
	} else {
		revision, err = kv.Update(ctx, key, data, revision)
	}
	if conflict(err) {
		return 0, false, nil
	}
	return revision, err == nil, err
}

// conflict reports whether a compare-and-set failed because the key had changed.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// each calls do for every value of a bucket whose key matches the pattern.
func each[T any](ctx context.Context, kv jetstream.KeyValue, pattern string, do func(key string, revision uint64, v *T) error) error {
	w, err := kv.Watch(ctx, pattern, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return errors.New(kv.Bucket() + ": reading ended early")
			}
			if e == nil {
				return nil
			}
			v := new(T)
			if err := json.Unmarshal(e.Value(), v); err != nil {
				return fmt.Errorf("%s %s: %w", kv.Bucket(), e.Key(), err)
			}
			if err := do(e.Key(), e.Revision(), v); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// forget removes the records of a run.
func (s *store) forget(ctx context.Context, run string) error {
	shards, err := s.js.Stream(ctx, shardsStream)
	if err != nil {
		return err
	}
	return shards.Purge(ctx, jetstream.WithPurgeSubject("$KV."+shardBucket+"."+run+".>"))
}
