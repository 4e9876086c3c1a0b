package read

import (
	"errors"
	"fmt"
	"iter"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// Episode is one row of the episodes, from which rollout.Replay plays it again.
type Episode struct {
	rollout.Episode
	Rules  int    // number of its rules in Manifest.Job.Rules
	Game   uint64 // number of its game, equal for equal games
	Source string // of an imported episode
}

// Episodes reads all episodes in order. An Episode is valid until the next one is read.
// The iteration ends after the first error, which names the file.
func (d *Dataset) Episodes() iter.Seq2[*Episode, error] { return d.EpisodesFrom(0) }

// EpisodesFrom reads the episodes with the given number and higher ones. It does not
// read files of earlier shards.
func (d *Dataset) EpisodesFrom(episode uint64) iter.Seq2[*Episode, error] {
	return sequence(func(yield func(*Episode) error) error {
		return d.eachShard(d.ShardsFrom(episode), about.EpisodesTable, nil, func(r *TableReader, s about.Shard) error {
			return d.ShardEpisodes(r, s.Episodes, func(e *Episode) error {
				if e.ID < episode {
					return nil
				}
				return yield(e)
			})
		})
	})
}

// ShardEpisodes calls each with the episodes of one file.
func (d *Dataset) ShardEpisodes(r *TableReader, f about.File, each func(*Episode) error) error {
	var e Episode
	return r.Read(f, func(first uint64) error {
		for i := range r.Table.Rows {
			if err := e.Set(r.Table, i, d.manifest); err != nil {
				return fmt.Errorf("%s: row %d: %w", f.Path, first+uint64(i), err)
			}
			if err := each(&e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Set copies row i of the table to e and checks that it is consistent.
func (e *Episode) Set(t *arrowfile.RecordBatch, i int, m *about.Manifest) error {
	players := m.Game.Players
	e.ID = arrowfile.View[uint64](t.Col(about.ColEpisode).Fixed)[i]
	e.Seed = arrowfile.View[uint64](t.Col(about.ColSeed).Fixed)[i]
	e.Rules = int(arrowfile.View[int32](t.Col(about.ColRules).Fixed)[i])
	e.Game = arrowfile.View[uint64](t.Col(about.ColGame).Fixed)[i]
	e.Turns = int(arrowfile.View[int32](t.Col(about.ColTurns).Fixed)[i])
	e.Status = sim.Status(t.Col(about.ColStatus).Fixed[i])
	e.Players, e.Source, e.Policies = players, t.Col(about.ColSource).Text(i), e.Policies[:0]
	e.Outcome = [sim.MaxPlayers]sim.Outcome{}
	for p := range players {
		e.Policies = append(e.Policies, t.Col(about.ColPolicies).Text(i*players+p))
		e.Outcome[p] = sim.Outcome{
			Result: arrowfile.View[float32](t.Col(about.ColResults).Fixed)[i*players+p],
			Score:  arrowfile.View[float64](t.Col(about.ColScores).Fixed)[i*players+p],
		}
	}
	e.Orders = arrowfile.View[sim.Order](t.Col(about.ColOrders).List(i))
	e.Ends = arrowfile.View[int32](t.Col(about.ColEnds).List(i))
	e.Chosen = nil
	if d := t.Col(about.ColChosen); d != nil {
		e.Chosen = d.List(i)
	}
	e.AskedOrders, e.AskedEnds = nil, nil
	if d := t.Col(about.ColAskedOrders); d != nil {
		e.AskedOrders, e.AskedEnds = arrowfile.View[sim.Order](d.List(i)), arrowfile.View[int32](t.Col(about.ColAskedEnds).List(i))
	}
	e.Searches = rollout.SearchResults{}
	if d := t.Col(about.ColSearchValue); d != nil {
		e.Searches = rollout.SearchResults{
			Value: arrowfile.View[float32](d.List(i)), Ends: arrowfile.View[int32](t.Col(about.ColSearchEnds).List(i)),
			Shares: arrowfile.View[float32](t.Col(about.ColSearchPolicy).List(i)), Choices: arrowfile.View[int32](t.Col(about.ColSearchChoices).List(i)),
		}
		if d := t.Col(about.ColSearchCounts); d != nil {
			e.Searches.Counts = arrowfile.View[int32](d.List(i))
		}
	}
	e.Stopped, e.Recording = "", nil
	if d := t.Col(about.ColStopped); d != nil {
		e.Stopped, e.Recording = d.Text(i), t.Col(about.ColRecording).List(i)
	}
	return e.check(m)
}

// check fails if the numbers of an episode do not fit each other or the manifest.
func (e *Episode) check(m *about.Manifest) error {
	switch {
	case e.Rules < 0 || e.Rules >= len(m.Rules):
		return fmt.Errorf("rules number %d of %d", e.Rules, len(m.Rules))
	case e.Turns < 0 || e.Turns > m.Game.MaxTurns:
		return fmt.Errorf("%d turns, the game has at most %d", e.Turns, m.Game.MaxTurns)
	case e.Status != sim.Over && e.Status != sim.Cut:
		return fmt.Errorf("status %d, expected 1 or 2", e.Status)
	case e.Stopped != "" && e.Status != sim.Cut:
		return fmt.Errorf("status %d of an episode that stopped (%s), expected 2", e.Status, e.Stopped)
	case len(e.Ends) != e.Turns*e.Players:
		return fmt.Errorf("%d ends of orders for %d turns of %d seats", len(e.Ends), e.Turns, e.Players)
	case m.Job.Mixed() && len(e.Chosen) != len(e.Ends):
		return fmt.Errorf("%d choices of members for %d turns of %d seats", len(e.Chosen), e.Turns, e.Players)
	}
	for k, c := range e.Chosen {
		if n := len(m.Job.Members[k%e.Players]); int(c) >= max(n, 1) {
			return fmt.Errorf("member %d of %d chose at turn %d, seat %d", c, n, k/e.Players, k%e.Players)
		}
	}
	if want := m.Job.AskedRows(&e.Episode); len(e.AskedEnds) != want {
		return fmt.Errorf("%d ends of the orders of the policy that was asked, expected %d", len(e.AskedEnds), want)
	}
	if err := errors.Join(about.CheckEnds(e.Orders, e.Ends), about.CheckEnds(e.AskedOrders, e.AskedEnds)); err != nil {
		return err
	}
	if m.Job.Search {
		return about.FoundError(&e.Searches, len(e.Ends), m.Action.Heads)
	}
	return nil
}

// Final holds the observations of all seats after the last turn of an episode. Slabs
// that the dataset does not have are nil.
type Final struct {
	Episode uint64
	Turns   int       // played
	Planes  []uint8   // [seats, P, H, W]
	Packed  []uint64  // [seats, Words]
	Scalars []float32 // [seats, S]
}

// Finals reads the observations after the last turn of every episode, in order. A Final
// is valid until the next one is read. A dataset without observations has none. The
// iteration ends after the first error, which names the file.
func (d *Dataset) Finals() iter.Seq2[*Final, error] {
	return sequence(func(yield func(*Final) error) error {
		if !d.manifest.HasFinals() {
			return nil
		}
		return d.eachShard(d.Shards(), about.FinalsTable, nil, func(r *TableReader, s about.Shard) error {
			return d.shardFinals(r, s, yield)
		})
	})
}

// shardFinals calls each with the finals of one shard.
func (d *Dataset) shardFinals(r *TableReader, s about.Shard, each func(*Final) error) error {
	w, err := d.WalkFinals(r, s.Finals)
	if err != nil {
		return err
	}
	defer w.Cursor.Close()
	for k := range s.Episodes.Rows {
		f, err := w.Episode(s.First + k)
		if err != nil {
			return err
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return w.End()
}

// FinalWalk goes through the finals of a shard, episode by episode.
type FinalWalk struct {
	RowWalk
	players int
	shape   features.Shape
	f       Final
}

// WalkFinals begins to read the finals of a shard.
func (d *Dataset) WalkFinals(r *TableReader, f about.File) (*FinalWalk, error) {
	c, err := r.Open(f)
	return &FinalWalk{RowWalk: RowWalk{Cursor: c}, players: d.manifest.Game.Players, shape: d.manifest.Spec().Shape}, err
}

// Episode returns the finals of the next episode, which must have the given number.
func (f *FinalWalk) Episode(id uint64) (*Final, error) {
	more, err := f.More()
	if err != nil {
		return nil, err
	}
	path, players, z := f.Cursor.File.Path, f.players, &f.shape
	if !more {
		return nil, fmt.Errorf("%s: ends before episode %d", path, id)
	}
	if f.Data.Rows-f.Row < players {
		return nil, fmt.Errorf("%s: a batch ends within episode %d", path, id)
	}
	s, first := &f.Data, f.Row
	for p := range players {
		if k := f.Row; s.Episode[k] != id || s.Turn[k] != s.Turn[first] || int(s.Seat[k]) != p {
			return nil, fmt.Errorf("%s: row %d is of episode %d, turn %d, seat %d; expected episode %d, seat %d",
				path, f.Number(), s.Episode[k], s.Turn[k], s.Seat[k], id, p)
		}
		f.Row++
	}
	f.f = Final{
		Episode: id, Turns: int(s.Turn[first]),
		Planes: about.RowsOf(s.Planes, first, players, z.PlaneBytes()), Packed: about.RowsOf(s.Packed, first, players, z.Words), Scalars: about.RowsOf(s.Scalars, first, players, z.Scalars),
	}
	return &f.f, nil
}

// episodeReader reads facts about the episodes of a shard that step rows lack.
type episodeReader struct {
	r     *TableReader
	first uint64   // number of the first episode in hand
	games []uint64 // of the episodes in hand
	names []string // of the policies of the episodes in hand [episodes, players], if they are wanted
	n     uint64   // episodes in hand
	seats int
}

func (d *Dataset) episodeReader(names bool) (*episodeReader, error) {
	r, err := d.Reader(about.EpisodesTable, func(name string) bool {
		return name == about.ColEpisode || name == about.ColGame || names && name == about.ColPolicies
	})
	return &episodeReader{r: r, seats: d.manifest.Game.Players}, err
}

// close releases the memory.
func (e *episodeReader) close() {
	if e != nil {
		e.r.Close()
	}
}

// read reads the episodes of a shard, whose first episode has the given number.
func (e *episodeReader) read(f about.File, first uint64) error {
	e.first, e.n, e.games, e.names = first, 0, e.games[:0], e.names[:0]
	return e.r.Read(f, func(uint64) error {
		t := e.r.Table
		for i, id := range arrowfile.View[uint64](t.Col(about.ColEpisode).Fixed)[:t.Rows] {
			if want := first + e.n + uint64(i); id != want {
				return fmt.Errorf("%s: found episode %d, expected %d", f.Path, id, want)
			}
		}
		e.n += uint64(t.Rows)
		e.games = append(e.games, arrowfile.View[uint64](t.Col(about.ColGame).Fixed)[:t.Rows]...)
		if d := t.Col(about.ColPolicies); d != nil {
			for k := range t.Rows * e.seats {
				e.names = append(e.names, d.Text(k))
			}
		}
		return nil
	})
}

// game returns the number of the game of an episode; false if the shard does not have
// the episode.
func (e *episodeReader) game(episode uint64) (uint64, bool) {
	if k := episode - e.first; k < uint64(len(e.games)) {
		return e.games[k], true
	}
	return 0, false
}

// policy returns the name of the policy of a seat of an episode; "" if the shard does
// not have the episode.
func (e *episodeReader) policy(episode uint64, seat int) string {
	if k := episode - e.first; k < e.n {
		return e.names[int(k)*e.seats+seat]
	}
	return ""
}
