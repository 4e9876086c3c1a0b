// Package imports makes datasets of recordings of the original engines.
//
// Run replays the games of all files, writes the games that go as recorded as a
// dataset, and lists the others. Examine only replays them: its Games are a
// datasets.Source.
package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"moonfarm/datasets"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/shortage"
	"moonfarm/sim/texts"
)

// Options say how to read recordings as episodes.
type Options struct {
	recordings.ReadOptions
	// Dir is the folder of the dataset. Episodes wait for their shards in a file beside
	// it, or in the folder for temporary files if that cannot be written.
	Dir string
	// ShardEpisodes is the most episodes of a shard.
	ShardEpisodes uint64
	Workers       int            // number of files examined at once; less than 1 means 1
	Progress      func(done int) // called after each file; may be nil
	// Begin, if not nil, is called by Run before it writes; its error ends Run.
	Begin   func(g *Games) error
	Dataset datasets.Options // of Run
}

// RuleSet counts the episodes that one set of rules was played in.
type RuleSet struct {
	Name     string `json:"name"` // "" if the rules have no name
	Episodes int    `json:"episodes"`
}

// Remark is a remark on a file, or on a game in it.
type Remark struct {
	File string `json:"file"`
	Game int    `json:"game"` // from 1; 0: the file
	Why  string `json:"why"`  // in one line
	Err  error  `json:"-"`    // the error with the text Why; nil if there was none
}

// Kept is a game whose episode has only its first turns.
type Kept struct {
	File  string `json:"file"`
	Game  int    `json:"game"` // from 1; 0: its files have one game only
	Turns int    `json:"turns"`
	Why   string `json:"why"`
}

// Games holds the games of recordings that can be imported. It is a datasets.Source.
// Games with the same rules are together. Close removes its file.
type Games struct {
	RuleSets []RuleSet // in the order of their first games
	Skipped  []Remark  // the files and games that cannot be imported
	Inexact  []Remark  // games that may differ from the original
	Kept     []Kept    // the games that are truncated, if Options.Keep is set
	Rules    []string  // the texts of RuleSets

	engine   recordings.Engine
	spool    *spool
	games    []game
	files    int // files with games
	examined int // all files
	shards   []datasets.Part
	firsts   []uint64 // first episode of each shard
}

// ErrNothing means that all games were skipped.
var ErrNothing = errors.New("nothing to import")

// MaxRuleSets bounds the sets of rules in one dataset: each has shards of its
// own, and its text is in the manifest.
const MaxRuleSets = 1000

// maxSkipped is the most skipped games of one file that are listed. The others are
// counted.
const maxSkipped = 100

// game is a game of a file, or a file, with the reason if it cannot be imported.
type game struct {
	file     string
	number   int    // in its file, from 1; 0: the file has one game, or none
	source   string // Source of its episode in the dataset
	players  int
	rules    string
	ruleSet  string
	sum      [sha256.Size]byte // of the file
	err      error             // why it cannot be imported; nil if it can
	turns    int               // of the episode
	seed     uint64
	recorded bool   // the episode is the recording itself: its seed is not known
	stopped  string // why the episode ends before the game is over; "" if it does not
	inexact  string // why it may differ from the original; "" if it should not
	spooled  spooled
}

// Examine replays the games of all files and sorts the games that can be imported into
// shards of one set of rules each. The result does not depend on Options.Workers. It
// fails if the context is done, or if the file for the episodes cannot be made or written,
// or this machine lacks file descriptors or memory; it does not fail if no game can be
// imported. The caller closes the Games.
func Examine(ctx context.Context, e recordings.Engine, files []string, o Options) (*Games, error) {
	spool, err := newSpool(o.Dir)
	if err != nil {
		return nil, err
	}
	all := make([][]game, len(files))
	var mu sync.Mutex
	done := 0
	err = parallel.Each(ctx, o.Workers, files, func(ctx context.Context, i int, file string) (err error) {
		if all[i], err = examineFile(ctx, e, file, o, spool); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		if o.Progress != nil {
			o.Progress(done)
		}
		return nil
	})
	if err != nil {
		spool.close()
		return nil, err
	}
	return sorted(e, spool, all, o), nil
}

// examineFile replays the games of one file and puts the episodes that can be imported
// into the spool. It fails if this machine, and not the file, is at fault.
func examineFile(ctx context.Context, e recordings.Engine, file string, o Options, s *spool) (all []game, failed error) {
	rules := map[string]string{} // texts of rules, each held once
	skipped := 0
	sum, err := read(ctx, e, file, o.ReadOptions, func(r *recordings.RecordedGame) error {
		x := game{file: file, number: r.Number, source: r.Source(file), ruleSet: r.RuleSet, players: r.Episode.Players, turns: r.Episode.Turns,
			seed: r.Episode.Seed, recorded: len(r.Episode.Recording) > 0, stopped: r.Episode.Stopped, inexact: r.Inexact}
		if r.Why != nil {
			x.err = r.Why
			if skipped++; skipped > maxSkipped {
				return nil
			}
		} else if x.rules = rules[r.Rules]; x.rules == "" {
			x.rules = strings.Clone(r.Rules)
			rules[r.Rules] = x.rules
		}
		if r.Why == nil {
			if x.spooled, failed = s.add(&r.Episode); failed != nil {
				return failed
			}
		}
		all = append(all, x)
		return nil
	})
	if failed == nil && shortage.Of(err) {
		failed = fmt.Errorf("%s: %w", file, err)
	}
	if failed != nil {
		return nil, failed
	}
	if skipped > maxSkipped {
		all = append(all, game{file: file, err: fmt.Errorf("%s: %d more games cannot be imported", file, skipped-maxSkipped)})
	}
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: there is no game in it", file)
	}
	if err != nil {
		all = append(all, game{file: file, err: err})
	}
	for i := range all {
		all[i].sum = sum
	}
	return all, nil
}

// read reads the games of a file as episodes, if it is a recording of the engine.
func read(ctx context.Context, e recordings.Engine, file string, o recordings.ReadOptions, yield func(*recordings.RecordedGame) error) (sum [sha256.Size]byte, err error) {
	in, err := recordings.Open(ctx, file)
	if err != nil {
		return sum, err
	}
	defer in.Close()
	if found, want := in.Engine.Info().Game, e.Info().Game; found != want {
		return sum, fmt.Errorf("%s: a recording of %s, not of %s", file, found, want)
	}
	return in.Read(o, yield)
}

// sorted sorts games into shards of one set of rules each.
func sorted(e recordings.Engine, spool *spool, found [][]game, o Options) *Games {
	s := &Games{engine: e, spool: spool, Skipped: []Remark{}, Kept: []Kept{}, Inexact: []Remark{}, RuleSets: []RuleSet{}, examined: len(found)}
	groups := map[string][]game{}
	first := -1 // players of the first game: all games of a dataset have the same number
	for _, file := range found {
		good := 0
		for _, x := range file {
			if x.inexact != "" {
				s.Inexact = append(s.Inexact, Remark{File: x.file, Game: x.number, Why: x.inexact})
			}
			if x.err == nil && first < 0 {
				first = x.players
			}
			if x.err == nil && x.players != first {
				x.err = fmt.Errorf("%s: a game of %s; a dataset has games of one number, and the first is of %d", x.file, texts.Plural(x.players, "player"), first)
			}
			if x.err != nil {
				s.Skipped = append(s.Skipped, Remark{x.file, x.number, recordings.OneLine(x.err), x.err})
				continue
			}
			good = 1
			if o.Keep && x.stopped != "" {
				s.Kept = append(s.Kept, Kept{x.file, x.number, x.turns, x.stopped})
			}
			if groups[x.rules] == nil {
				s.Rules = append(s.Rules, x.rules)
				s.RuleSets = append(s.RuleSets, RuleSet{Name: x.ruleSet})
			}
			groups[x.rules] = append(groups[x.rules], x)
		}
		s.files += good
	}
	for i, text := range s.Rules {
		s.games = append(s.games, groups[text]...)
		s.RuleSets[i].Episodes = len(groups[text])
		for left := uint64(len(groups[text])); left > 0; {
			n := min(left, max(o.ShardEpisodes, 1))
			s.firsts = append(s.firsts, uint64(len(s.games))-left)
			s.shards = append(s.shards, datasets.Part{Episodes: n, Rules: i})
			left -= n
		}
	}
	return s
}

// Len returns the number of games that can be imported.
func (g *Games) Len() int { return len(g.games) }

// Close removes the file of the episodes.
func (g *Games) Close() error {
	g.spool.close()
	return nil
}

// SkippedText returns the number of skipped files and games as text: "1 game and 2
// files of 7". files is the number of examined files.
func SkippedText(skipped []Remark, files int) string {
	whole := 0
	for _, x := range skipped {
		if x.Game == 0 {
			whole++
		}
	}
	games := len(skipped) - whole
	switch {
	case games == 0:
		return fmt.Sprintf("%s of %d", texts.Plural(whole, "file"), files)
	case whole == 0:
		return texts.Plural(games, "game")
	}
	return fmt.Sprintf("%s and %s of %d", texts.Plural(games, "game"), texts.Plural(whole, "file"), files)
}

// Job completes the Job of the dataset. Its Source has a checksum of everything that
// determines the episodes: the checksums of the files, the names of the games, their
// seeds, and where and why they stop. It fails with ErrNothing if there are no games,
// and if there are more than MaxRuleSets sets of rules.
func (g *Games) Job(j datasets.Job) (datasets.Job, error) {
	if len(g.games) == 0 {
		skipped := strings.TrimSuffix(SkippedText(g.Skipped, g.examined), fmt.Sprintf(" of %d", g.examined))
		return j, fmt.Errorf("%w: %s skipped", ErrNothing, skipped)
	}
	if len(g.Rules) > MaxRuleSets {
		return j, fmt.Errorf("games with %d sets of rules; a dataset may have %d: import them in parts", len(g.Rules), MaxRuleSets)
	}
	j.Game, j.Rules, j.ShardEpisodes = g.engine.Info().Game, g.Rules, 0
	j.Shards = slices.Clone(g.shards)
	sum := sha256.New()
	for _, x := range g.games {
		fmt.Fprintf(sum, "%x %s\n", x.sum, x.source)
		if x.seed != 0 || x.recorded {
			fmt.Fprintf(sum, "%d %v\n", x.seed, x.recorded)
		}
		if x.stopped != "" {
			fmt.Fprintf(sum, "%d %s\n", x.turns, x.stopped)
		}
	}
	j.Source = fmt.Sprintf("FILE… # %s, sha256 of their sums and names %s", texts.Plural(g.files, "file"), hex.EncodeToString(sum.Sum(nil)))
	return j, nil
}

// Shard implements datasets.Source.
func (g *Games) Shard(ctx context.Context, shard int, yield func(e *rollout.Episode, source string) error) error {
	first := g.firsts[shard]
	for i, x := range g.games[first : first+g.shards[shard].Episodes] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := g.spool.episode(x.spooled)
		if err != nil {
			return err
		}
		e.ID = first + uint64(i)
		if err := yield(e, x.source); err != nil {
			return err
		}
	}
	return nil
}
