package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/sim"
)

// gameList is a list of games to look at.
type gameList struct {
	title string
	live  bool // it may change
	games []*listedGame
}

// listedGame is a game of a list.
type listedGame struct {
	id    uint64
	entry view.Entry
	open  func() (*view.Film, error)

	// Of a recorded game, or one that was played now.
	game    catalog.Entry
	rules   string
	episode *rollout.Episode
}

// shelf returns the list as a shelf.
func (l *gameList) shelf() *view.List {
	s := &view.List{Title: l.title, Live: l.live, Open: func(i int) (*view.Film, error) { return l.games[i].open() }}
	for _, g := range l.games {
		s.Entries = append(s.Entries, g.entry)
	}
	return s
}

// filmOf opens the film of an episode of a game of the catalog.
func filmOf(g catalog.Entry, rules string, c env.Settings, id uint64, name string, e *rollout.Episode, marks []view.Mark) (*view.Film, error) {
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
	return view.NewFilm(view.Game{ID: id, Name: name, Vector: v, Episode: e, Marks: marks,
		Orders: func(orders []sim.Order) []string { return recordings.OrderTexts(g.Name, orders) }})
}

// add appends an episode.
func (l *gameList) add(g catalog.Entry, rules string, c env.Settings, name string, e rollout.Episode) {
	id := uint64(len(l.games))
	l.games = append(l.games, &listedGame{id: id, entry: view.EntryOf(id, name, &e), game: g, rules: rules, episode: &e,
		open: func() (*view.Film, error) { return filmOf(g, rules, c, id, name, &e, nil) }})
}

// recording lists the games of a recording. A game that cannot be played again ends where it differs.
func (f *viewFlags) recording(ctx context.Context, file string) (*gameList, error) {
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
	if o.Rules, err = rulesOfRecordings(f.rulesFile, g.Name); err != nil {
		return nil, err
	}
	l := &gameList{title: filepath.Base(file)}
	var why error
	_, err = in.Read(o, func(r *recordings.RecordedGame) error {
		if r.Why != nil {
			why = errors.Join(why, r.Why)
			return nil
		}
		l.add(g, strings.Clone(r.Rules), env.Settings{}, strings.Clone(r.Name), keptEpisode(&r.Episode))
		return nil
	})
	if err == nil && len(l.games) == 0 {
		err = why
	}
	if err == nil && len(l.games) == 0 {
		err = fmt.Errorf("%s: it has no games", file)
	}
	return l, asFlagError(err)
}

// play plays games of policies.
func (f *viewFlags) play(ctx context.Context, game string) (*gameList, error) {
	s, err := f.gameFlags.open(game)
	if err != nil {
		return nil, err
	}
	specs, err := f.specs()
	if err != nil {
		return nil, err
	}
	if len(specs) == 1 {
		specs = slices.Repeat(specs, s.spec.Info.Players)
	}
	if len(specs) != s.spec.Info.Players {
		return nil, console.WrongUse("--players: found %d, expected 1 or %d by these rules", len(specs), s.spec.Info.Players)
	}
	l := &gameList{title: game + ": " + strings.Join(specs, " – ")}
	err = playGames(ctx, s.game, s.rules, s.vector, specs, f.seed, 0, uint64(f.games), func(e *rollout.Episode) {
		l.add(s.game, s.rules, env.Settings{MaxTurns: f.maxTurns}, "", *e)
	})
	return l, err
}

// sinkFunc is a rollout.Sink of one function.
type sinkFunc func(e *rollout.Episode) error

// Episode implements rollout.Sink.
func (f sinkFunc) Episode(e *rollout.Episode) error { return f(e) }

// playGames plays games n of a run with a policy at each seat. Each keeps the episode.
func playGames(ctx context.Context, g catalog.Entry, rules string, vector func(n int) (env.Vector, error), specs []string, seed, first, n uint64, each func(e *rollout.Episode)) error {
	v, err := vector(1)
	if err != nil {
		return err
	}
	var makers []rollout.Maker
	for _, spec := range specs {
		m, err := policy.New(g.Name, spec)
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
		kept := keptEpisode(e)
		each(&kept)
		return nil
	}))
	return errors.Join(err, rollout.CloseSeats(seats...))
}

// tournament lists the games of a tournament. Games of bots are shown from their replays; games between
// policies are played again.
func (f *viewFlags) tournament(dir string) (*gameList, error) {
	j, err := arena.ReadJournal(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	flags := f.gameFlags
	flags.reward, flags.maxTurns = env.ResultReward, j.Terms.MaxTurns
	s, err := flags.open(j.Terms.Game)
	if err != nil {
		return nil, err
	}
	l := &gameList{title: dir}
	for i := range j.Games {
		p := &j.Games[i]
		x := view.Entry{ID: uint64(p.Number), Turns: p.Turns, Status: "over", Winner: -1, Scores: []string{}, Players: []string{}}
		if p.Cut {
			x.Status = "cut"
		}
		best := slices.Max(p.Results)
		for seat, k := range p.Players {
			x.Players = append(x.Players, j.Players[k])
			x.Scores = append(x.Scores, strconv.FormatFloat(p.Scores[seat], 'g', 6, 64))
			if p.Results[seat] == best && best > 0 && x.Status == "over" {
				x.Winner = seat
			}
		}
		l.games = append(l.games, &listedGame{id: x.ID, entry: x, open: func() (*view.Film, error) { return f.tournamentFilm(dir, s, j, p, &x) }})
	}
	return l, nil
}

// tournamentFilm opens the film of a game of a tournament.
func (f *viewFlags) tournamentFilm(dir string, s *gameSetup, j *arena.Journal, p *arena.Played, x *view.Entry) (*view.Film, error) {
	var marks []view.Mark
	for _, fault := range p.Faults {
		marks = append(marks, view.Mark{Turn: max(fault.Turn, 0), Kind: "fault", Seat: fault.Seat, Note: strings.TrimSpace(fault.Kind + " " + fault.Text)})
	}
	for _, file := range p.Files {
		in, err := recordings.Open(context.Background(), filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			continue // another file about the game, such as a log
		}
		in.Close()
		l, err := f.recording(context.Background(), filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		return l.games[0].open()
	}
	var specs []string
	for _, name := range x.Players {
		spec, _, _ := strings.Cut(name, " #") // the number of an equal player
		specs = append(specs, spec)
	}
	var film *view.Film
	var failed error
	err := playGames(context.Background(), s.game, s.rules, s.vector, specs, j.Terms.Seed, uint64(p.Seed), 1, func(e *rollout.Episode) {
		if arena.SumOf(e) != p.Sum {
			failed = fmt.Errorf("game %d: it goes otherwise when it is played again: its players are bots without replays, or the rules are other ones (--rules)", p.Number)
			return
		}
		film, failed = filmOf(s.game, s.rules, env.Settings{MaxTurns: j.Terms.MaxTurns}, x.ID, "", e, marks)
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return film, nil
}

// datasetShelf lists the episodes of a dataset. It reads an episode when it is asked for.
type datasetShelf struct {
	game catalog.Entry
	head view.ShelfHead
	only []uint64 // episodes; nil: all

	mu sync.Mutex
	d  *datasets.Dataset
}

// dataset opens a dataset.
func (f *viewFlags) dataset(ctx context.Context, dir string) (view.Shelf, error) {
	d, err := datasets.OpenContext(ctx, dir)
	if err != nil {
		return nil, err
	}
	m := d.Manifest()
	g, err := catalog.Find(m.Job.Game)
	if err != nil {
		return nil, err
	}
	s := &datasetShelf{game: g, d: d, only: slices.Clone(f.only), head: view.ShelfHead{Title: dir, Kind: "games", Total: m.Totals.Episodes, Policies: []string{}}}
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

// Head implements view.Shelf.
func (s *datasetShelf) Head() view.ShelfHead { return s.head }

// mostMatching bounds the games that are sorted or counted for a page.
const mostMatching = 1_000_000

// Games implements view.Shelf.
func (s *datasetShelf) Games(q view.Query) (list []view.Entry, total uint64, err error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Plain() && s.only == nil {
		if uint64(q.From) < s.head.Total {
			err = s.each(uint64(q.From), func(e *datasets.Episode) bool {
				list = append(list, entryOf(e))
				return len(list) < q.Count
			})
		}
		return list, s.head.Total, err
	}
	var matching []view.Entry
	err = s.each(0, func(e *datasets.Episode) bool {
		if _, listed := slices.BinarySearch(s.only, e.ID); s.only == nil || listed {
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
func (s *datasetShelf) each(first uint64, do func(e *datasets.Episode) bool) error {
	for e, err := range s.d.EpisodesFrom(first) {
		if err != nil {
			return err
		}
		if !do(e) {
			break
		}
	}
	return nil
}

// Film implements view.Shelf.
func (s *datasetShelf) Film(id uint64) (*view.Film, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *rollout.Episode
	rules, name := 0, ""
	if id < s.d.Manifest().Totals.Episodes {
		err := s.each(id, func(e *datasets.Episode) bool {
			kept := keptEpisode(&e.Episode)
			found, rules, name = &kept, e.Rules, strings.Clone(e.Source)
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s has no episode %d", s.head.Title, id)
	}
	job := &s.d.Manifest().Job
	return filmOf(s.game, job.Rules[rules], env.Settings{MaxTurns: job.MaxTurns}, id, name, found, nil)
}
