package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"moonfarm/datasets/internal/distinct"
	"moonfarm/datasets/internal/jsontext"
	"moonfarm/datasets/internal/stats"
	"moonfarm/datasets/internal/store"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/sim"
)

// shardWriter writes the files of one shard and, when all are durable, its sidecar. It
// is a rollout.ShardSink.
type shardWriter struct {
	run     *run
	folder  folder
	place   place
	x       *encoder
	files   []store.File // one for each table
	dry     bool         // the files are summed, not stored
	receipt Receipt      // after Commit
}

// open begins a shard in the run's folder.
func (r *run) open(shard int) (rollout.ShardSink, error) { return r.openShard(shard, r.folder, false) }

// openShard begins a shard in a folder. If dry, its files are summed but not stored.
func (r *run) openShard(shard int, f folder, dry bool) (*shardWriter, error) {
	x, err := r.encoder()
	if err != nil {
		return nil, err
	}
	p := r.place(shard)
	w := &shardWriter{run: r, folder: f, place: p, x: x, dry: dry}
	var tables []io.Writer
	for _, dir := range f.tables() {
		var file store.File = nowhere{store.NewSum()}
		if !dry {
			if file, err = f.files.Create(f.ctx, variant(pathOf(dir, shard), f.by)); err != nil {
				w.Abort()
				return nil, &storeError{err}
			}
		}
		w.files, tables = append(w.files, file), append(tables, storing{file})
	}
	if err := x.start(p, tables); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// storeError is an error of the store, not of the data.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// storing wraps the errors of writing in a storeError.
type storing struct{ to io.Writer }

func (s storing) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if err != nil {
		err = &storeError{err}
	}
	return n, err
}

// nowhere is a file that is summed but not stored.
type nowhere struct{ store.Sum }

func (n nowhere) Write(b []byte) (int, error) { return n.Sum.Write(b) }
func (n nowhere) SHA256() string              { return n.Sum.SHA256() }
func (nowhere) Close() error                  { return nil }
func (nowhere) Keep(string) error             { return nil }
func (nowhere) KeepNew(string) error          { return nil }
func (nowhere) Drop()                         {}

// encoder returns an idle encoder, or makes one.
func (r *run) encoder() (*encoder, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		x := r.idle[last]
		r.idle = r.idle[:last]
		return x, nil
	}
	return newEncoder(r.layout, r.makers)
}

// Episode implements rollout.Sink.
func (w *shardWriter) Episode(e *rollout.Episode) error {
	for seat, n := range e.Networks {
		if w.run.options.Strict && n.NotFinite > 0 {
			return fmt.Errorf("the network of %s at seat %d gave NaN or infinite logits or values in %d of %d evaluations",
				e.Policies[seat], seat, n.NotFinite, n.Evaluations)
		}
	}
	return w.x.episode(e, "")
}

// Abort implements rollout.ShardSink.
func (w *shardWriter) Abort() {
	for _, f := range w.files {
		f.Drop()
	}
}

// Commit implements rollout.ShardSink.
func (w *shardWriter) Commit() error {
	text, c, err := w.complete()
	if err == nil {
		err = w.run.fits(c)
	}
	if err == nil && !w.dry {
		if err = w.keep(text, c); err != nil {
			err = &storeError{err}
		}
	}
	if err != nil {
		w.Abort()
		return err
	}
	w.receipt = Receipt{Sum: store.SHA256(text), Episodes: c.Episodes.Rows, Rows: c.Steps.Rows, Bytes: c.bytes()}
	r := w.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, w.x)
	if r.have != nil {
		r.have[w.place.shard] = digest(text)
		r.progress.Shards++
	}
	return nil
}

// complete finishes the files, and returns the sidecar.
func (w *shardWriter) complete() (text []byte, c sidecar, err error) {
	if c, err = w.x.finish(); err != nil {
		return nil, c, err
	}
	// All files are synced at the same time, which takes as long as one.
	if err := atOnce(w.files, store.File.Close); err != nil {
		return nil, c, &storeError{err}
	}
	for i, f := range w.files {
		c.of(i).SHA256 = f.SHA256()
	}
	text, err = c.encode()
	return text, c, err
}

// keep gives the files their names, and then writes the sidecar.
func (w *shardWriter) keep(text []byte, c sidecar) error {
	f, sum := w.folder, ""
	if f.by != "" {
		sum = store.SHA256(text)
		if done, err := f.isComplete(); done || err != nil { // others made the shard and completed the dataset
			w.Abort()
			return err
		}
	}
	tables := make([]int, len(w.files))
	for i := range tables {
		tables[i] = i
	}
	if err := atOnce(tables, func(i int) error { return w.files[i].Keep(variant(c.of(i).Path, sum)) }); err != nil {
		return err
	}
	// The files are durable under their names before the sidecar says so.
	if err := atOnce(f.tables(), func(d string) error { return f.files.Sync(f.ctx, d) }); err != nil {
		return err
	}
	name := pathOf(shardsDir, w.place.shard)
	return store.WriteFileAs(f.ctx, f.files, variant(name, sum), variant(name, f.by), text)
}

// atOnce calls do for all values at the same time and returns the errors.
func atOnce[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	_ = parallel.Each(context.Background(), len(all), all, func(_ context.Context, i int, x T) error {
		errs[i] = do(x) // and the others go on
		return nil
	})
	return errors.Join(errs...)
}

// sidecar describes a finished shard while other shards are missing. It gets its name
// after the shard's files are durable under theirs: a shard is finished when its
// sidecar exists.
type sidecar struct {
	Shard int `json:"shard"`
	Files
	Turns    uint64    `json:"turns"`
	Over     uint64    `json:"over"`
	Cut      uint64    `json:"cut"`
	Pairings []Pairing `json:"pairings"`
	// Networks counts the evaluations of networks for each seat; empty if no policy has
	// a network.
	Networks []rollout.NetworkCounts `json:"networks,omitempty"`
	Games    distinct.Sample         `json:"games"`            // the numbers of its games
	Sampled  stats.Sums              `json:"sampled,omitzero"` // sums for the statistics; none without observations
	Checksum string                  `json:"checksum"`         // sha256 of the file with "" here
}

// encode returns the canonical text: indented JSON and the checksum.
func (c sidecar) encode() ([]byte, error) {
	c.Checksum = ""
	return jsontext.EncodeSummed(c)
}

// digest returns a short sum of a sidecar's text, never 0.
func digest(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// decodeSidecar reads the text of a sidecar. It fails if any byte has changed.
func decodeSidecar(text []byte) (c sidecar, err error) {
	if err := jsontext.Decode(text, &c, func() ([]byte, error) { return c.encode() }); err != nil {
		return c, err
	}
	if c.Shard < 0 || !c.named(c.Shard) {
		return c, fmt.Errorf("damaged: it is of shard %d, and has files of another", c.Shard)
	}
	return c, nil
}

// pairings counts episodes by the policies at their seats. After mostPairings
// different pairings, all new ones are counted together, in one without policies.
type pairings struct {
	list []Pairing
	at   map[string]int // index into list by key; "": the pairing without policies
	key  []byte         // of the last pairing asked for: its texts, each after its length
}

// of returns the pairing of these policies.
func (s *pairings) of(policies []string, seats int) *Pairing {
	s.key = s.key[:0]
	for _, p := range policies {
		s.key = append(binary.AppendUvarint(s.key, uint64(len(p))), p...)
	}
	i, ok := s.at[string(s.key)]
	if !ok && len(s.list) >= mostPairings {
		s.key, policies = s.key[:0], nil
		i, ok = s.at[""]
	}
	if !ok {
		if i = len(s.list); s.at == nil {
			s.at = map[string]int{}
		}
		s.at[string(s.key)] = i
		p := Pairing{Policies: append([]string{}, policies...)}
		for range seats {
			p.Results = append(p.Results, map[string]uint64{})
		}
		s.list = append(s.list, p)
	}
	return &s.list[i]
}

// add adds a pairing of a shard to the counts.
func (s *pairings) add(p Pairing) {
	to := s.of(p.Policies, len(p.Results))
	to.Episodes += p.Episodes
	for seat, r := range p.Results {
		for k, n := range r {
			to.Results[seat][k] += n
		}
	}
}

// addNetworks adds the counts of each seat, if there are any.
func addNetworks(to, counts []rollout.NetworkCounts) []rollout.NetworkCounts {
	if to == nil && counts != nil && len(counts) > 0 {
		to = make([]rollout.NetworkCounts, len(counts))
	}
	for i, c := range counts {
		to[i].Add(c)
	}
	return to
}

// counter counts the episodes of a shard for its sidecar.
type counter struct {
	counts  sidecar
	players int
	pairs   pairings
	games   distinct.Set
}

func newCounter(players int, c sidecar) counter {
	return counter{counts: c, players: players}
}

// add counts one episode, and the game that it is.
func (c *counter) add(e *rollout.Episode, game uint64) {
	c.games.Add(game)
	c.counts.Turns += uint64(e.Turns)
	if e.Status == sim.Over {
		c.counts.Over++
	} else {
		c.counts.Cut++
	}
	p := c.pairs.of(e.Policies, c.players)
	p.Episodes++
	for seat := range c.players {
		p.Results[seat][resultKey(e.Outcome[seat].Result)]++
	}
	c.counts.Pairings = c.pairs.list
	c.counts.Networks = addNetworks(c.counts.Networks, e.Networks)
}

// sidecar returns the counts.
func (c *counter) sidecar() sidecar {
	counts := c.counts
	counts.Games = c.games.Sample()
	return counts
}
