// Package gamelists lists the games that a person can look at: of recordings, of datasets, of tournaments, and games of
// policies that are played now.
package gamelists

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/parallel"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim"
	"moonfarm/sim/texts"
)

// List is a list of games to look at.
type List struct {
	Title string
	Live  bool // it may change
	Grows bool // as in view.ListHead
	Games []*Game
	Why   error // of a recording: why games are left out that cannot be played
	// About is that of view.List.
	About func() (*overview.Document, error)
}

// Game is a game of a list.
type Game struct {
	Entry view.Entry
	Open  func() (*view.Film, error)

	// Of a recorded game, or one that was played now.
	Of      catalog.Entry
	Rules   string
	Episode *rollout.Episode
	Output  *view.Output // of the recording of the game; nil: it has none
}

// GameList returns the list as a view.GameList.
func (l *List) GameList() *view.List {
	s := &view.List{Title: l.Title, Live: l.Live, Grows: l.Grows, About: l.About, Open: func(i int) (*view.Film, error) { return l.Games[i].Open() }}
	for _, g := range l.Games {
		s.Entries = append(s.Entries, g.Entry)
	}
	return s
}

// filmOf opens the film of an episode of a game of the catalog.
func filmOf(g catalog.Entry, rules string, c env.Settings, id uint64, name string, e *rollout.Episode, marks []view.Mark, found *searched) (*view.Film, error) {
	c.N = 1
	v, err := g.New(rules, c)
	if len(e.Recording) > 0 && g.Recorded != nil {
		v, _, _, err = g.Recorded(rules, c, e.Recording)
	}
	if err != nil {
		return nil, err
	}
	if e.Stopped != "" {
		marks = append(slices.Clone(marks), view.Mark{Turn: e.Turns, Kind: "fault", Note: e.Stopped})
	}
	if found == nil {
		found = &searched{}
	}
	if !slices.Equal(found.heads, v.Spec().Heads) {
		found.moves = nil
	}
	return view.NewFilm(view.Game{ID: id, Name: name, Vector: v, Episode: e, Marks: marks, Series: found.series, Searches: found.moves,
		Orders: func(orders []sim.Order) []string { return recordings.OrderTexts(g.Name, orders) }})
}

// add appends an episode.
func (l *List) add(id uint64, g catalog.Entry, rules string, c env.Settings, name string, e rollout.Episode) {
	l.Games = append(l.Games, &Game{Entry: view.EntryOf(id, name, &e), Of: g, Rules: rules, Episode: &e,
		Open: func() (*view.Film, error) { return filmOf(g, rules, c, id, name, &e, nil, nil) }})
}

// Recording lists the games of a recording. A game that cannot be played again ends where it differs. rules returns the
// rules of a game whose recordings have none. The ID of a game is its number in the recording, from 0.
func Recording(ctx context.Context, file string, rules func(game string) (string, error)) (*List, error) {
	return recording(ctx, file, 0, "", rules)
}

// recording is Recording for numbers from first on, and names with a prefix.
func recording(ctx context.Context, file string, first uint64, prefix string, rules func(game string) (string, error)) (*List, error) {
	in, err := recordings.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	g, err := catalog.Find(in.Engine.Info().Game)
	if err != nil {
		return nil, err
	}
	o := recordings.ReadOptions{Keep: true}
	if o.Rules, err = rules(g.Name); err != nil {
		return nil, err
	}
	l := &List{Title: filepath.Base(file)}
	id := first
	_, err = in.Read(o, func(r *recordings.RecordedGame) error {
		id++
		if r.Why != nil {
			l.Why = errors.Join(l.Why, r.Why)
			return nil
		}
		name := strings.Clone(strings.TrimSuffix(prefix+r.Name, ": "))
		l.add(id-1, g, strings.Clone(r.Rules), env.Settings{}, name, Kept(&r.Episode))
		return nil
	})
	if err == nil && in.IsFolder() {
		err = l.readOutput(in)
	}
	if err == nil && len(l.Games) == 0 {
		err = l.Why
	}
	if err == nil && len(l.Games) == 0 {
		err = fmt.Errorf("%s: it has no games", file)
	}
	return l, err
}

// Recordings lists the games of many recordings in their order, by names that begin with those of the files. It reads a
// recording again when a film of it is opened, so that the list is small. A recording that cannot be read is left out and
// reported to warn, unless that is true of all. progress is called with the number of files read so far.
func Recordings(ctx context.Context, files []string, rules func(game string) (string, error), progress func(done int), warn func(err error)) (*List, error) {
	read, failed := make([][]*Game, len(files)), make([]error, len(files))
	var mu sync.Mutex
	done := 0
	err := parallel.Each(ctx, runtime.GOMAXPROCS(0), files, func(ctx context.Context, i int, file string) error {
		l, err := recording(ctx, file, 0, filepath.Base(file)+": ", rules)
		mu.Lock()
		defer mu.Unlock()
		if failed[i] = err; err == nil {
			for _, g := range l.Games {
				read[i] = append(read[i], &Game{Entry: g.Entry})
			}
		}
		done++
		progress(done)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	l := &List{Title: "list of " + texts.Plural(len(files), "recording")}
	for i, games := range read {
		if failed[i] != nil {
			continue
		}
		first := uint64(len(l.Games))
		for k, g := range games {
			g.Entry.ID += first
			g.Open = func() (*view.Film, error) {
				again, err := recording(context.Background(), files[i], first, filepath.Base(files[i])+": ", rules)
				if err == nil && k >= len(again.Games) {
					err = fmt.Errorf("%s: it has changed", files[i])
				}
				if err != nil {
					return nil, err
				}
				return again.Games[k].Open()
			}
		}
		l.Games = append(l.Games, games...)
	}
	if len(l.Games) == 0 {
		return nil, errors.Join(failed[:min(len(failed), 1)]...)
	}
	for _, err := range failed {
		if err != nil {
			warn(err)
		}
	}
	return l, nil
}

// Setup is a game of the catalog with rules.
type Setup struct {
	Game     catalog.Entry
	Rules    string
	Vector   func(n int) (env.Vector, error) // by these rules
	MaxTurns int                             // of Vector; 0: only the rules end games
}

// Play lists n games of policies, which it plays. progress is called with the number of games and of turns played so far.
func Play(ctx context.Context, s *Setup, specs []string, seed, n uint64, progress func(games int, turns uint64)) (*List, error) {
	l := &List{Title: s.Game.Name + ": " + strings.Join(specs, " – ")}
	counted, turns := *s, uint64(0)
	counted.Vector = func(n int) (env.Vector, error) {
		v, err := s.Vector(n)
		return stepped{v, func() {
			turns++
			progress(len(l.Games), turns)
		}}, err
	}
	err := counted.play(ctx, specs, seed, 0, n, func(e *rollout.Episode) {
		l.add(uint64(len(l.Games)), s.Game, s.Rules, env.Settings{MaxTurns: s.MaxTurns}, "", *e)
	})
	return l, err
}

// stepped calls a function after each step.
type stepped struct {
	env.Vector
	after func()
}

// Step implements env.Vector.
func (s stepped) Step(b *env.Batch) {
	s.Vector.Step(b)
	s.after()
}

// sinkFunc is a rollout.Sink of one function.
type sinkFunc func(e *rollout.Episode) error

// Episode implements rollout.Sink.
func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

// play plays n games of a run from one on, with a policy at each seat. each keeps the episode.
func (s *Setup) play(ctx context.Context, specs []string, seed, first, n uint64, each func(e *rollout.Episode)) error {
	v, err := s.Vector(1)
	if err != nil {
		return err
	}
	var makers []rollout.Maker
	for _, spec := range specs {
		m, err := policy.New(s.Game.Name, spec)
		if err != nil {
			return console.WrongUse("--players: %w", err)
		}
		makers = append(makers, m)
	}
	seats, err := rollout.NewSeats(makers, v.Spec())
	if err != nil {
		return console.WrongUse("--players: %w", err)
	}
	err = rollout.Shard(ctx, v, seats, seed, first, n, sinkFunc(func(e *rollout.Episode) error {
		kept := Kept(e)
		each(&kept)
		return nil
	}))
	return errors.Join(err, rollout.CloseSeats(seats...))
}

// First opens the first game of a game list, and returns its name and players.
func First(games view.GameList) (*view.Film, view.Entry, error) {
	list, _, err := games.Games(view.Query{Count: 1})
	if err != nil {
		return nil, view.Entry{}, err
	}
	if len(list) == 0 {
		return nil, view.Entry{}, fmt.Errorf("%s has no games", games.Head().Title)
	}
	film, err := games.Film(list[0].ID)
	return film, list[0], err
}

// datasetList lists the episodes of a dataset. It reads an episode when it is asked for.
type datasetList struct {
	game catalog.Entry
	head view.ListHead
	only []uint64 // episodes; nil: all

	about func() (*overview.Document, error) // nil: the list has no overview

	mu sync.Mutex
	d  *datasets.Dataset
}

// DatasetOptions say what is listed of a dataset.
type DatasetOptions struct {
	Only  []uint64                           // episodes; nil: all
	Title string                             // of the list
	About func() (*overview.Document, error) // returns what is said of the dataset; nil: the list has no overview
}

// Dataset opens a dataset.
func Dataset(ctx context.Context, dir string, o DatasetOptions) (view.GameList, error) {
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return nil, err
	}
	m := d.Manifest()
	g, err := catalog.Find(m.Job.Game)
	if err != nil {
		return nil, err
	}
	s := &datasetList{game: g, d: d, only: slices.Clone(o.Only), about: o.About,
		head: view.ListHead{Title: o.Title, Kind: "games", Total: m.Totals.Episodes, Policies: []string{}, Overview: o.About != nil}}
	for _, n := range s.only {
		if n >= m.Totals.Episodes {
			return nil, console.WrongUse("--episodes %d: expected 0 to %d", n, m.Totals.Episodes-1)
		}
	}
	if slices.Sort(s.only); s.only != nil {
		s.head.Total = uint64(len(s.only))
	}
	for _, p := range m.Totals.Pairings {
		for _, name := range p.Policies {
			if !slices.Contains(s.head.Policies, name) && len(s.head.Policies) < view.MostPolicies {
				s.head.Policies = append(s.head.Policies, name)
			}
		}
	}
	return s, nil
}

// Head implements view.GameList.
func (d *datasetList) Head() view.ListHead { return d.head }

// Overview implements view.GameList.
func (d *datasetList) Overview() (*overview.Document, error) { return d.about() }

// mostMatching bounds the games that are sorted or counted for a page.
const mostMatching = 1_000_000

// Games implements view.GameList.
func (d *datasetList) Games(q view.Query) (list []view.Entry, total uint64, err error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.Plain() && d.only == nil {
		if uint64(q.From) < d.head.Total {
			err = d.each(uint64(q.From), func(e *datasets.Episode) bool {
				list = append(list, entryOf(e))
				return len(list) < q.Count
			})
		}
		return list, d.head.Total, err
	}
	var matching []view.Entry
	err = d.each(0, func(e *datasets.Episode) bool {
		if _, listed := slices.BinarySearch(d.only, e.ID); d.only == nil || listed {
			if x := entryOf(e); q.Matches(&x) {
				matching = append(matching, x)
			}
		}
		return len(matching) < mostMatching
	})
	return q.Select(matching), uint64(len(matching)), err
}

// entryOf describes an episode.
func entryOf(e *datasets.Episode) view.Entry {
	kept := e.Episode
	kept.Policies = nil
	for _, name := range e.Policies {
		kept.Policies = append(kept.Policies, strings.Clone(name))
	}
	return view.EntryOf(e.ID, strings.Clone(e.Source), &kept)
}

// each calls do with the episodes from one on, until it returns false.
func (d *datasetList) each(first uint64, do func(e *datasets.Episode) bool) error {
	for e, err := range d.d.EpisodesFrom(first) {
		if err != nil {
			return err
		}
		if !do(e) {
			break
		}
	}
	return nil
}

// The name and the unit of the series with the values of searches.
const (
	SearchValue = "search value"
	SearchUnit  = "result that the search expected"
)

// searched is what searches found in an episode.
type searched struct {
	series []view.Series
	moves  *rollout.SearchResults
	heads  []int // of the actions that the moves are
}

// searched returns what the searches found in an episode, nil if there was none.
func (d *datasetList) searched(e *datasets.Episode) *searched {
	r := &e.Searches
	if len(r.Value) != len(e.Ends) || len(e.Ends) == 0 {
		return nil
	}
	return &searched{
		series: []view.Series{{Name: SearchValue, Unit: SearchUnit, Values: slices.Clone(r.Value)}},
		moves:  &rollout.SearchResults{Ends: slices.Clone(r.Ends), Shares: slices.Clone(r.Shares), Choices: slices.Clone(r.Choices), Counts: slices.Clone(r.Counts)},
		heads:  d.d.Manifest().Action.Heads,
	}
}

// Film implements view.GameList.
func (d *datasetList) Film(id uint64) (*view.Film, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found *rollout.Episode
	rules, name := 0, ""
	var search *searched
	if id < d.d.Manifest().Totals.Episodes {
		err := d.each(id, func(e *datasets.Episode) bool {
			kept := Kept(&e.Episode)
			found, rules, name = &kept, e.Rules, strings.Clone(e.Source)
			search = d.searched(e)
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s has no episode %d", d.head.Title, id)
	}
	job := &d.d.Manifest().Job
	return filmOf(d.game, job.Rules[rules], env.Settings{MaxTurns: job.MaxTurns}, id, name, found, nil, search)
}

// Kept returns a copy of the fields that are needed to play an episode again.
func Kept(e *rollout.Episode) rollout.Episode {
	kept := rollout.Episode{
		ID: e.ID, Seed: e.Seed, Players: e.Players, Turns: e.Turns, Status: e.Status, Outcome: e.Outcome,
		Orders: slices.Clone(e.Orders), Ends: slices.Clone(e.Ends),
		Stopped: strings.Clone(e.Stopped), Recording: slices.Clone(e.Recording),
	}
	for _, name := range e.Policies {
		kept.Policies = append(kept.Policies, strings.Clone(name))
	}
	return kept
}
