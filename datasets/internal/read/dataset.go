// Package read opens and reads datasets: their shards, episodes and rows, from their files or by playing
// the episodes again. It sums them up.
package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/bucket"
	"moonfarm/datasets/internal/disk"
	"moonfarm/datasets/internal/store"
	"moonfarm/env"
	"moonfarm/rollout/redact"
)

// Dataset is a complete dataset, opened for reading. Several goroutines may use it at
// once.
type Dataset struct {
	Dir      string // or URL
	Files    store.Store
	Ctx      context.Context // of all reads
	manifest *about.Manifest
	firsts   []uint64          // number of the first episode of each part of the index
	Tables   []about.TableKind // steps, episodes, and finals if there are any
}

// OpenContext opens a dataset in a folder or at a URL of the stores of a context.
func OpenContext(ctx context.Context, dir string) (*Dataset, error) {
	files, err := StoreOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	if f, ok := files.(*disk.Folder); ok {
		if s, err := os.Stat(f.Path()); err == nil && !s.IsDir() {
			return nil, fmt.Errorf("%s: expected the folder of a dataset, found a file", dir)
		}
	}
	m, err := about.ReadManifest(ctx, files)
	if err != nil {
		if _, e := store.ReadFile(ctx, files, about.RunName, about.MaxRun); e == nil {
			return nil, fmt.Errorf("%s: the dataset is not complete; repeat the command that makes it (%w)", dir, err)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no dataset there: %w", dir, err)
		}
		return nil, err
	}
	return NewDataset(ctx, dir, files, m), nil
}

// NewDataset returns the dataset of a checked manifest.
func NewDataset(ctx context.Context, dir string, files store.Store, m *about.Manifest) *Dataset {
	d := &Dataset{Dir: dir, Files: files, Ctx: ctx, manifest: m, Tables: about.NewLayout(m.Job, []env.Spec{m.Spec()}).Tables}
	first := uint64(0)
	for _, p := range m.Index {
		d.firsts = append(d.firsts, first)
		first += p.Episodes
	}
	return d
}

// Manifest returns the description of the dataset. It must not be changed.
func (d *Dataset) Manifest() *about.Manifest { return d.manifest }

// ShardCount returns the number of shards.
func (d *Dataset) ShardCount() int { return int(d.manifest.Totals.Shards) }

// sequence returns an iterator over the values that run yields. It ends with the error
// of run. When the consumer leaves, yield returns errStop, which run must return.
func sequence[T any](run func(yield func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := run(func(v T) error {
			if !yield(v, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			var none T
			yield(none, err)
		}
	}
}

// errStop means that the consumer of an iteration has left.
var errStop = errors.New("stop")

// Shards lists all shards in order. It holds one part of the index in memory. The
// iteration ends after the first error, which names the missing or damaged part of the
// index.
func (d *Dataset) Shards() iter.Seq2[about.Shard, error] { return d.Spread(d.ShardCount()) }

// Spread lists n shards that are spread evenly over all.
func (d *Dataset) Spread(n int) iter.Seq2[about.Shard, error] {
	return d.list(0, n, func(k int) int { return SpreadShard(k, n, d.ShardCount()) })
}

// ShardsFrom lists the shard that holds an episode, and all after it.
func (d *Dataset) ShardsFrom(episode uint64) iter.Seq2[about.Shard, error] {
	part, _ := slices.BinarySearch(d.firsts, episode+1)
	shards := d.list(max(part-1, 0)*about.IndexShards, d.ShardCount(), func(i int) int { return i })
	return func(yield func(about.Shard, error) bool) {
		for s, err := range shards {
			if err == nil && s.First+s.Episodes.Rows <= episode {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// list lists the shards number(from), number(from+1), … number(to-1).
func (d *Dataset) list(from, to int, number func(k int) int) iter.Seq2[about.Shard, error] {
	return sequence(func(yield func(about.Shard) error) error {
		x, err := d.IndexReader()
		if err != nil {
			return err
		}
		for k := from; k < to; k++ {
			s, err := x.Shard(number(k))
			if err == nil {
				err = yield(s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SpreadShard returns the number of the k-th of n shards that are spread evenly over
// all.
func SpreadShard(k, n, all int) int { return int(uint64(k) * uint64(all) / uint64(n)) }

// Find returns the number of the table of that name, and want, which reports whether a
// column is among the given ones, or always true if none is given. It fails if the
// dataset has no such table or column.
func (d *Dataset) Find(name string, columns ...string) (table int, want func(column string) bool, err error) {
	table = slices.IndexFunc(d.Tables, func(t about.TableKind) bool { return t.Name == name })
	if table < 0 {
		return 0, nil, fmt.Errorf("no table %q; there are: %s", name, strings.Join(about.TableNames(d.manifest.HasFinals()), ", "))
	}
	for _, c := range columns {
		if !d.Tables[table].Has(c) {
			return 0, nil, fmt.Errorf("no column %q in the %s", c, name)
		}
	}
	return table, func(c string) bool { return len(columns) == 0 || slices.Contains(columns, c) }, nil
}

// ColumnSHA256 returns the sha256, in hexadecimal, of the values of a column over all
// shards in order: numbers as little-endian bytes, bools as a byte each, the values of
// lists one after the other. table is "steps", "episodes" or "finals". Readers in other
// languages can compare their sums with it.
func (d *Dataset) ColumnSHA256(table, column string) (string, error) {
	k, want, err := d.Find(table, column)
	if err != nil {
		return "", err
	}
	sum := store.NewSum()
	err = d.eachShard(d.Shards(), k, want, func(r *TableReader, s about.Shard) error {
		return r.Read(*s.Of(k), func(uint64) error {
			_, err := sum.Write(r.Table.Col(column).Values(r.Table.Rows))
			return err
		})
	})
	if err != nil {
		return "", err
	}
	return sum.SHA256(), nil
}

// Records reads a table as record batches of the Arrow library for Go, for its packages
// for compute or Flight. The batches are the ones in the files, in order: of the given
// columns, or of all if none is given, with the metadata of the files.
//
// Columns are decompressed into the memory of the Record, without a copy; bools are
// copied, because Arrow stores them as bits. Each Record has memory of its own, which
// the garbage collector frees. Release need not be called; after Release a Record may
// not be used. Records takes the memory of one batch of the file, and of the records
// that the caller keeps.
//
// The iteration ends after the first error, which names the file.
func (d *Dataset) Records(table string, columns ...string) iter.Seq2[arrow.Record, error] {
	return sequence(func(yield func(arrow.Record) error) error {
		k, want, err := d.Find(table, columns...)
		if err != nil {
			return err
		}
		as := d.Tables[k].Schema.Part(want).Arrow()
		return d.eachShard(d.Shards(), k, want, func(r *TableReader, s about.Shard) error {
			return r.Read(*s.Of(k), func(uint64) error {
				next, err := d.batch(k, want)
				if err != nil {
					return err
				}
				record := r.Table.Record(as)
				r.Table = next
				return yield(record)
			})
		})
	})
}

type storesKey struct{}

// WithStores returns a context with stores.
func WithStores(ctx context.Context, stores bucket.Stores) context.Context {
	return context.WithValue(ctx, storesKey{}, stores)
}

// scheme matches the beginning of a URL.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// StoreOf returns the store of a dataset's files, given the path of a folder or a URL.
// It sends no request yet.
func StoreOf(ctx context.Context, place string) (store.Store, error) { return StoreIn(ctx, place, "") }

// StoreIn is storeOf for a folder that links may not lead out of within; "": there is no
// such bound.
func StoreIn(ctx context.Context, place, within string) (store.Store, error) {
	folder := func(path string) (store.Store, error) { return disk.At(path, cmp.Or(within, path)), nil }
	if !scheme.MatchString(place) {
		return folder(place)
	}
	if err := redact.Check(place); err != nil {
		return nil, err
	}
	u, err := url.Parse(place)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL: %w", redact.Text(place), errors.Unwrap(err)) // the full error repeats the whole URL
	}
	if u.Scheme != "file" {
		stores, _ := ctx.Value(storesKey{}).(bucket.Stores)
		b, err := bucket.Open(ctx, stores, u)
		if unknown := (*bucket.SchemeError)(nil); errors.As(err, &unknown) {
			unknown.Has = append([]string{"file"}, unknown.Has...)
		}
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	if u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return nil, fmt.Errorf("%s: expected the path of a folder on this machine, as in file:///data/td", place)
	}
	return folder(u.Path)
}
