package datasets

import (
	"errors"
	"fmt"
	"iter"

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
		return d.eachShard(d.shardsFrom(episode), episodesTable, nil, func(r *tableReader, s Shard) error {
			return d.shardEpisodes(r, s.Episodes, func(e *Episode) error {
				if e.ID < episode {
					return nil
				}
				return yield(e)
			})
		})
	})
}

// shardEpisodes calls each with the episodes of one file.
func (d *Dataset) shardEpisodes(r *tableReader, f File, each func(*Episode) error) error {
	var e Episode
	return r.read(f, func(first uint64) error {
		for i := range r.table.Rows {
			if err := e.set(r.table, i, d.manifest); err != nil {
				return fmt.Errorf("%s: row %d: %w", f.Path, first+uint64(i), err)
			}
			if err := each(&e); err != nil {
				return err
			}
		}
		return nil
	})
}

// set copies row i of the table to e and checks that it is consistent.
func (e *Episode) set(t *arrowfile.RecordBatch, i int, m *Manifest) error {
	players := m.Game.Players
	e.ID = arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[i]
	e.Seed = arrowfile.View[uint64](t.Col(ColSeed).Fixed)[i]
	e.Rules = int(arrowfile.View[int32](t.Col(ColRules).Fixed)[i])
	e.Game = arrowfile.View[uint64](t.Col(ColGame).Fixed)[i]
	e.Turns = int(arrowfile.View[int32](t.Col(ColTurns).Fixed)[i])
	e.Status = sim.Status(t.Col(ColStatus).Fixed[i])
	e.Players, e.Source, e.Policies = players, t.Col(ColSource).Text(i), e.Policies[:0]
	e.Outcome = [sim.MaxPlayers]sim.Outcome{}
	for p := range players {
		e.Policies = append(e.Policies, t.Col(ColPolicies).Text(i*players+p))
		e.Outcome[p] = sim.Outcome{
			Result: arrowfile.View[float32](t.Col(ColResults).Fixed)[i*players+p],
			Score:  arrowfile.View[float64](t.Col(ColScores).Fixed)[i*players+p],
		}
	}
	e.Orders = arrowfile.View[sim.Order](t.Col(ColOrders).List(i))
	e.Ends = arrowfile.View[int32](t.Col(ColEnds).List(i))
	e.Chosen = nil
	if d := t.Col(ColChosen); d != nil {
		e.Chosen = d.List(i)
	}
	e.AskedOrders, e.AskedEnds = nil, nil
	if d := t.Col(ColAskedOrders); d != nil {
		e.AskedOrders, e.AskedEnds = arrowfile.View[sim.Order](d.List(i)), arrowfile.View[int32](t.Col(ColAskedEnds).List(i))
	}
	e.Searches = rollout.SearchResults{}
	if d := t.Col(ColSearchValue); d != nil {
		e.Searches = rollout.SearchResults{
			Value: arrowfile.View[float32](d.List(i)), Ends: arrowfile.View[int32](t.Col(ColSearchEnds).List(i)),
			Shares: arrowfile.View[float32](t.Col(ColSearchPolicy).List(i)), Choices: arrowfile.View[int32](t.Col(ColSearchChoices).List(i)),
		}
		if d := t.Col(ColSearchCounts); d != nil {
			e.Searches.Counts = arrowfile.View[int32](d.List(i))
		}
	}
	e.Stopped, e.Recording = "", nil
	if d := t.Col(ColStopped); d != nil {
		e.Stopped, e.Recording = d.Text(i), t.Col(ColRecording).List(i)
	}
	return e.check(m)
}

// check fails if the numbers of an episode do not fit each other or the manifest.
func (e *Episode) check(m *Manifest) error {
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
	case m.Job.mixed() && len(e.Chosen) != len(e.Ends):
		return fmt.Errorf("%d choices of members for %d turns of %d seats", len(e.Chosen), e.Turns, e.Players)
	}
	for k, c := range e.Chosen {
		if n := len(m.Job.Members[k%e.Players]); int(c) >= max(n, 1) {
			return fmt.Errorf("member %d of %d chose at turn %d, seat %d", c, n, k/e.Players, k%e.Players)
		}
	}
	if want := m.Job.askedRows(&e.Episode); len(e.AskedEnds) != want {
		return fmt.Errorf("%d ends of the orders of the policy that was asked, expected %d", len(e.AskedEnds), want)
	}
	if err := errors.Join(checkEnds(e.Orders, e.Ends), checkEnds(e.AskedOrders, e.AskedEnds)); err != nil {
		return err
	}
	if m.Job.Search {
		return foundError(&e.Searches, len(e.Ends), m.Action.Heads)
	}
	return nil
}

// checkEnds fails if orders are not those of lists with these ends.
func checkEnds(orders []sim.Order, ends []int32) error {
	from := int32(0)
	for k, to := range ends {
		if to < from || int(to) > len(orders) {
			return fmt.Errorf("ends of orders go from %d to %d of %d at %d", from, to, len(orders), k)
		}
		from = to
	}
	if int(from) != len(orders) {
		return fmt.Errorf("%d orders, of which %d belong to a turn", len(orders), from)
	}
	return nil
}

// foundError fails if f cannot be the search results of that number of rows in a game
// with these heads.
func foundError(f *rollout.SearchResults, rows int, heads []int) error {
	if len(f.Value) != rows || len(f.Ends) != rows {
		return fmt.Errorf("%d values and %d ends of searches for %d rows", len(f.Value), len(f.Ends), rows)
	}
	moves := int32(0)
	for row, end := range f.Ends {
		if n := int(end) - int(moves); n < 0 || n > maxMoves || int(end) > len(f.Shares) {
			return fmt.Errorf("ends of searches go from %d to %d of %d at row %d", moves, end, len(f.Shares), row)
		}
		moves = end
	}
	choices, counted := len(f.Shares), 0
	if len(heads) > 1 {
		choices, counted = 0, len(f.Shares)
	}
	if int(moves) != len(f.Shares) || len(f.Counts) != counted {
		return fmt.Errorf("%d moves with %d counts, of which %d belong to a row", len(f.Shares), len(f.Counts), moves)
	}
	for _, n := range f.Counts {
		if n < 0 || int(n) > len(heads) {
			return fmt.Errorf("a move of %d choices, there are %d heads", n, len(heads))
		}
		choices += int(n)
	}
	if choices != len(f.Choices) {
		return fmt.Errorf("%d choices of searches, of which %d belong to a move", len(f.Choices), choices)
	}
	all := 0
	for _, n := range heads {
		all += n
	}
	for _, c := range f.Choices {
		if int(c) < -len(heads) || int(c) >= all {
			return fmt.Errorf("choice %d of a search, there are %d", c, all)
		}
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
		if !d.manifest.hasFinals() {
			return nil
		}
		return d.eachShard(d.Shards(), finalsTable, nil, func(r *tableReader, s Shard) error {
			return d.shardFinals(r, s, yield)
		})
	})
}

// shardFinals calls each with the finals of one shard.
func (d *Dataset) shardFinals(r *tableReader, s Shard, each func(*Final) error) error {
	w, err := d.walkFinals(r, s.Finals)
	if err != nil {
		return err
	}
	defer w.cursor.close()
	for k := range s.Episodes.Rows {
		f, err := w.episode(s.First + k)
		if err != nil {
			return err
		}
		if err := each(f); err != nil {
			return err
		}
	}
	return w.end()
}

// finalWalk goes through the finals of a shard, episode by episode.
type finalWalk struct {
	rowWalk
	players int
	shape   features.Shape
	f       Final
}

func (d *Dataset) walkFinals(r *tableReader, f File) (*finalWalk, error) {
	c, err := r.open(f)
	return &finalWalk{rowWalk: rowWalk{cursor: c}, players: d.manifest.Game.Players, shape: d.manifest.spec().Shape}, err
}

// episode returns the finals of the next episode, which must have the given number.
func (w *finalWalk) episode(id uint64) (*Final, error) {
	more, err := w.more()
	if err != nil {
		return nil, err
	}
	path, players, z := w.cursor.file.Path, w.players, &w.shape
	if !more {
		return nil, fmt.Errorf("%s: ends before episode %d", path, id)
	}
	if w.rows-w.row < players {
		return nil, fmt.Errorf("%s: a batch ends within episode %d", path, id)
	}
	s, first := &w.data, w.row
	for p := range players {
		if k := w.row; s.episode[k] != id || s.turn[k] != s.turn[first] || int(s.seat[k]) != p {
			return nil, fmt.Errorf("%s: row %d is of episode %d, turn %d, seat %d; expected episode %d, seat %d",
				path, w.number(), s.episode[k], s.turn[k], s.seat[k], id, p)
		}
		w.row++
	}
	w.f = Final{
		Episode: id, Turns: int(s.turn[first]),
		Planes: rowsOf(s.planes, first, players, z.PlaneBytes()), Packed: rowsOf(s.packed, first, players, z.Words), Scalars: rowsOf(s.scalars, first, players, z.Scalars),
	}
	return &w.f, nil
}

// episodeReader reads facts about the episodes of a shard that step rows lack.
type episodeReader struct {
	r     *tableReader
	first uint64   // number of the first episode in hand
	games []uint64 // of the episodes in hand
	names []string // of the policies of the episodes in hand [episodes, players], if they are wanted
	n     uint64   // episodes in hand
	seats int
}

func (d *Dataset) episodeReader(names bool) (*episodeReader, error) {
	r, err := d.reader(episodesTable, func(name string) bool { return name == ColEpisode || name == ColGame || names && name == ColPolicies })
	return &episodeReader{r: r, seats: d.manifest.Game.Players}, err
}

// close releases the memory.
func (x *episodeReader) close() {
	if x != nil {
		x.r.close()
	}
}

// read reads the episodes of a shard, whose first episode has the given number.
func (x *episodeReader) read(f File, first uint64) error {
	x.first, x.n, x.games, x.names = first, 0, x.games[:0], x.names[:0]
	return x.r.read(f, func(uint64) error {
		t := x.r.table
		for i, id := range arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[:t.Rows] {
			if want := first + x.n + uint64(i); id != want {
				return fmt.Errorf("%s: found episode %d, expected %d", f.Path, id, want)
			}
		}
		x.n += uint64(t.Rows)
		x.games = append(x.games, arrowfile.View[uint64](t.Col(ColGame).Fixed)[:t.Rows]...)
		if d := t.Col(ColPolicies); d != nil {
			for k := range t.Rows * x.seats {
				x.names = append(x.names, d.Text(k))
			}
		}
		return nil
	})
}

// game returns the number of the game of an episode; false if the shard does not have
// the episode.
func (x *episodeReader) game(episode uint64) (uint64, bool) {
	if k := episode - x.first; k < uint64(len(x.games)) {
		return x.games[k], true
	}
	return 0, false
}

// policy returns the name of the policy of a seat of an episode; "" if the shard does
// not have the episode.
func (x *episodeReader) policy(episode uint64, seat int) string {
	if k := episode - x.first; k < x.n {
		return x.names[int(k)*x.seats+seat]
	}
	return ""
}
