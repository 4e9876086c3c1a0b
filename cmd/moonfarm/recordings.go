package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"moonfarm/cmd/moonfarm/internal/cli"
	"moonfarm/cmd/moonfarm/internal/originals"
	"moonfarm/datasets"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
)

// importOptions say how to read recordings as episodes, and where these wait for
// their shards.
type importOptions struct {
	originals.ReadOptions
	spool *spool
}

// examined is a game of a file that can be imported, or a game or a file that
// cannot.
type examined struct {
	file     string
	game     int    // in its file, from 1; 0: the file holds one game, or none
	name     string // of the game
	players  int
	rules    string
	ruleSet  string
	sum      [sha256.Size]byte // of the file
	why      string            // why it cannot be imported; "" if it can
	turns    int               // of the episode
	seed     uint64
	recorded bool   // the episode is the recording itself: its seed is not known
	stopped  string // why the episode ends before the game is over; "" if it does not
	inexact  string // why it may differ from what is played here; "" if it should not
	spooled  spooled
}

// source is the text that a dataset has for where an episode comes from.
func (x *examined) source() string {
	s := filepath.Base(x.file)
	if x.game > 0 {
		s = strings.TrimRight(fmt.Sprintf("%s#%d %s", s, x.game, x.name), " ")
	}
	return s
}

// maxSkipped is how many games of one file are listed as skipped. The others are
// counted.
const maxSkipped = 100

// examine plays the games of every file again, so many files at once, and
// returns what it finds of each file. It fails only if the context is done.
func examine(ctx context.Context, t originals.Game, files []string, workers int, o importOptions, progress func(done int)) ([][]examined, error) {
	all := make([][]examined, len(files))
	var mu sync.Mutex
	done := 0
	err := parallel.Each(ctx, workers, files, func(ctx context.Context, i int, file string) error {
		all[i] = examineFile(ctx, t, file, o)
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done)
		return nil
	})
	return all, err
}

// examineFile plays the games of one file again and puts the episodes of those
// that can be imported into the spool.
func examineFile(ctx context.Context, t originals.Game, file string, o importOptions) []examined {
	var all []examined
	texts := map[string]string{} // of rules, each kept once
	skipped := 0
	sum, err := readRecording(ctx, t, file, o.ReadOptions, func(r *originals.Recorded) error {
		x := examined{file: file, game: r.Game, name: r.Name, ruleSet: r.RuleSet, players: r.Episode.Players, turns: r.Episode.Turns,
			seed: r.Episode.Seed, recorded: len(r.Episode.Recording) > 0, stopped: r.Episode.Stopped, inexact: r.Inexact}
		if r.Why != nil {
			x.why = originals.OneLine(r.Why)
			if skipped++; skipped > maxSkipped {
				return nil
			}
		} else if x.rules = texts[r.Rules]; x.rules == "" {
			x.rules = strings.Clone(r.Rules)
			texts[r.Rules] = x.rules
		}
		if r.Why == nil {
			var err error
			if x.spooled, err = o.spool.add(&r.Episode); err != nil {
				return err
			}
		}
		x.name = strings.Clone(x.name)
		all = append(all, x)
		return nil
	})
	if skipped > maxSkipped {
		all = append(all, examined{file: file, why: fmt.Sprintf("%s: %d more games cannot be imported", file, skipped-maxSkipped)})
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: there is no game in it", file)
	}
	if err != nil {
		all = append(all, examined{file: file, why: originals.OneLine(err)})
	}
	for i := range all {
		all[i].sum = sum
	}
	return all
}

// readRecording reads the games of a file as episodes and returns the sum of its
// whole content. An error in what follows the last game counts only if no game
// was reported as broken and the turns before a difference are not kept.
func readRecording(ctx context.Context, t originals.Game, file string, o originals.ReadOptions, yield func(*originals.Recorded) error) (sum [sha256.Size]byte, err error) {
	in, err := originals.Open(ctx, file)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	if in.Game.Game != t.Game {
		return sum, fmt.Errorf("%s: a recording of %s, not of %s", file, in.Game.Game, t.Game)
	}
	if in.Holds != "games" {
		return sum, fmt.Errorf("%s: holds %s, no games", file, in.Holds)
	}
	if in.Folder != nil {
		return t.Folder.Read(file, in.Folder, o, yield)
	}
	content := &summed{in.In, sha256.New()}
	reported := o.Keep
	err = t.Read(file, content, o, func(r *originals.Recorded) error {
		reported = reported || r.Why != nil
		return yield(r)
	})
	if err == nil {
		if _, err = io.Copy(io.Discard, content); reported && ctx.Err() == nil {
			err = nil
		} else if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	return [sha256.Size]byte(content.sum.Sum(nil)), err
}

// summed sums what is read.
type summed struct {
	io.Reader
	sum hash.Hash
}

// Read implements io.Reader.
func (s *summed) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.sum.Write(p[:n])
	return n, err
}

// recordings is the datasets.Source of the games that can be imported. Games
// with the same rules stand together.
type recordings struct {
	tools   originals.Game
	spool   *spool
	games   []examined
	files   int      // how many files these are from
	texts   []string // of the sets of rules
	rules   []importedRules
	skipped []skippedFile
	kept    []keptGame
	inexact []skippedFile // what may differ from what is played here, and why
	shards  []datasets.Part
	firsts  []uint64 // first episode of each shard
}

// newRecordings sorts the games found into shards of at most so many episodes,
// each of one set of rules.
func newRecordings(t originals.Game, o importOptions, found [][]examined, most uint64) *recordings {
	s := &recordings{tools: t, spool: o.spool, skipped: []skippedFile{}, kept: []keptGame{}, inexact: []skippedFile{}, rules: []importedRules{}}
	groups := map[string][]examined{}
	first := -1 // players of the first game: a dataset has games of one shape
	for _, file := range found {
		good := 0
		for _, x := range file {
			if x.inexact != "" {
				s.inexact = append(s.inexact, skippedFile{x.file, x.game, x.inexact})
			}
			if x.why == "" && first < 0 {
				first = x.players
			}
			if x.why == "" && x.players != first {
				x.why = fmt.Sprintf("%s: a game of %s; a dataset has games of one number, and the first is of %d", x.file, cli.Plural(x.players, "player"), first)
			}
			if x.why != "" {
				s.skipped = append(s.skipped, skippedFile{x.file, x.game, x.why})
				continue
			}
			good = 1
			if o.Keep && x.stopped != "" {
				s.kept = append(s.kept, keptGame{x.file, x.game, x.turns, x.stopped})
			}
			if groups[x.rules] == nil {
				s.texts = append(s.texts, x.rules)
				s.rules = append(s.rules, importedRules{Name: x.ruleSet})
			}
			groups[x.rules] = append(groups[x.rules], x)
		}
		s.files += good
	}
	for i, text := range s.texts {
		s.games = append(s.games, groups[text]...)
		s.rules[i].Episodes = len(groups[text])
		for left := uint64(len(groups[text])); left > 0; {
			n := min(left, most)
			s.firsts = append(s.firsts, uint64(len(s.games))-left)
			s.shards = append(s.shards, datasets.Part{Episodes: n, Rules: i})
			left -= n
		}
	}
	return s
}

// job completes the Job of the dataset. Its Source has a sum over all that
// decides which episodes are made: the sums of the files, the names of the games,
// their seeds, and where and why they stop.
func (s *recordings) job(j datasets.Job) datasets.Job {
	j.Game, j.Rules, j.ShardEpisodes = s.tools.Game, s.texts, 0
	j.Shards = s.shards
	sum := sha256.New()
	for _, x := range s.games {
		fmt.Fprintf(sum, "%x %s\n", x.sum, x.source())
		if x.seed != 0 || x.recorded {
			fmt.Fprintf(sum, "%d %v\n", x.seed, x.recorded)
		}
		if x.stopped != "" {
			fmt.Fprintf(sum, "%d %s\n", x.turns, x.stopped)
		}
	}
	j.Source = fmt.Sprintf("FILE… # %s, sha256 of their sums and names %s", cli.Plural(s.files, "file"), hex.EncodeToString(sum.Sum(nil)))
	return j
}

// Shard implements datasets.Source.
func (s *recordings) Shard(ctx context.Context, shard int, yield func(e *rollout.Episode, source string) error) error {
	first := s.firsts[shard]
	for i, x := range s.games[first : first+s.shards[shard].Episodes] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := s.spool.episode(x.spooled)
		if err != nil {
			return err
		}
		e.ID = first + uint64(i)
		if err := yield(e, x.source()); err != nil {
			return err
		}
	}
	return nil
}

// spool keeps episodes on disk from when their files are read until their shards
// are written, so that every file is read once. Its file has no name, where the
// system can do that.
type spool struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// spooled is the place of an episode in a spool.
type spooled struct{ at, size int64 }

// newSpool makes a spool beside out, or, if it cannot, where temporary files
// go.
func newSpool(out string) (*spool, error) {
	const name = ".moonfarm-import-*"
	f, err := os.CreateTemp(filepath.Dir(filepath.Clean(out)), name)
	if err != nil {
		if f, err = os.CreateTemp("", name); err != nil {
			return nil, err
		}
	}
	os.Remove(f.Name()) // where that cannot be done yet, close does it
	return &spool{file: f}, nil
}

func (s *spool) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// add appends an episode.
func (s *spool) add(e *rollout.Episode) (spooled, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return spooled{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := spooled{s.size, int64(b.Len())}
	n, err := s.file.WriteAt(b.Bytes(), s.size)
	s.size += int64(n)
	return p, err
}

// episode reads one again.
func (s *spool) episode(p spooled) (*rollout.Episode, error) {
	b := make([]byte, p.size)
	if _, err := s.file.ReadAt(b, p.at); err != nil {
		return nil, err
	}
	e := new(rollout.Episode)
	return e, gob.NewDecoder(bytes.NewReader(b)).Decode(e)
}
