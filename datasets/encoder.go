package datasets

import (
	"fmt"
	"io"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/rows"
	"moonfarm/datasets/internal/stats"
	"moonfarm/env"
	"moonfarm/rollout"
)

// encoder turns the episodes of shards into the bytes of their files. It keeps its
// memory from shard to shard. It is not safe for concurrent use.
type encoder struct {
	layout  *layout
	players int
	games   *games.Numbers
	tables  []*tableWriter // one for each table of the layout
	sampler *stats.Sampler // nil: there are no observations
	maker   *rows.Maker
	moves   rows.Moves // of the episode in hand

	// The shard in hand:
	rules  int
	next   uint64 // number of the next episode
	left   uint64 // episodes
	counts counter
}

// newEncoder makes an encoder.
func newEncoder(l *layout, m Makers) (*encoder, error) {
	s := l.specs[0]
	x := &encoder{
		layout: l, players: s.Info.Players,
		maker: rows.NewMaker(rowSpec(l.job, l.specs, l.tables[stepsTable].schema.Columns), newReplays(l.job, m).of),
		games: games.New(l.job.Rules, func(rules int) (env.Vector, error) {
			c := l.job.config(1)
			c.Memory = false // it does not change states
			return m.Vector(l.job.Rules[rules], c)
		}),
	}
	w, err := arrowfile.NewWriter(l.tables[0].schema, l.job.Codec)
	for i, t := range l.tables {
		if i > 0 && err == nil {
			w, err = w.Other(t.schema)
		}
		if err != nil {
			return nil, err
		}
		table, err := newTableWriter(t, w)
		if err != nil {
			return nil, err
		}
		x.tables = append(x.tables, table)
	}
	if l.job.Obs != ObsNone {
		x.sampler, err = stats.NewSampler(s.Shape, s.Description.PackedLayout, l.job.Obs == ObsPacked)
	}
	return x, err
}

// start begins a shard whose files go to the given writers, one per table.
func (x *encoder) start(p place, to []io.Writer) error {
	x.next, x.left, x.rules = p.first, p.n, p.rules
	x.counts = newCounter(x.players, sidecar{Shard: p.shard})
	if x.sampler != nil {
		x.sampler.Start()
	}
	for i, w := range x.tables {
		w.rows.Reset()
		if err := w.w.Start(to[i]); err != nil {
			return err
		}
	}
	return nil
}

// episode writes the rows of the next episode. An episode that does not hold its rows
// is played again, and episode fails if the game does not go as recorded.
func (x *encoder) episode(e *rollout.Episode, source string) error {
	if x.left == 0 || e.ID != x.next || len(e.Policies) != x.players || e.Players != x.players {
		return fmt.Errorf("episode %d of %d seats, %d policies, %d orders; expected number %d of %d seats",
			e.ID, e.Players, len(e.Policies), len(e.Orders), x.next, x.players)
	}
	choices := 0
	if x.layout.job.mixed() {
		choices = e.Turns * e.Players
	}
	if len(e.Chosen) != choices {
		return fmt.Errorf("episode %d has %d choices of members, expected %d", e.ID, len(e.Chosen), choices)
	}
	if want := x.layout.job.askedRows(e); len(e.AskedEnds) != want {
		return fmt.Errorf("episode %d has orders of the policy that is asked for %d rows, expected %d", e.ID, len(e.AskedEnds), want)
	}
	if err := x.checkSearches(e); err != nil {
		return err
	}
	if err := checkEpisode(e, source); err != nil {
		return err
	}
	x.next, x.left = x.next+1, x.left-1
	if err := x.stepRows(e); err != nil {
		return err
	}
	game, err := x.games.Of(x.rules, e)
	if err != nil {
		return err
	}
	x.counts.add(e, game)
	return x.episodeRow(e, game, source)
}

// checkSearches fails if the search results of an episode do not fit the columns of its
// rows.
func (x *encoder) checkSearches(e *rollout.Episode) error {
	rows, f := 0, &e.Searches
	if x.layout.job.Search {
		rows = e.Turns * e.Players
	}
	if len(f.Value) != rows {
		return fmt.Errorf("episode %d has search results of %d rows, expected %d", e.ID, len(f.Value), rows)
	}
	if err := foundError(f, rows, x.layout.specs[0].Heads); err != nil {
		return fmt.Errorf("episode %d: %w", e.ID, err)
	}
	x.moves.Set(f)
	return nil
}

// episodeRow appends the row of the episode to the table of episodes.
func (x *encoder) episodeRow(e *rollout.Episode, game uint64, source string) error {
	w := x.tables[episodesTable]
	t := w.rows
	i := t.Rows
	arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[i] = e.ID
	arrowfile.View[uint64](t.Col(ColSeed).Fixed)[i] = e.Seed
	arrowfile.View[uint64](t.Col(ColGame).Fixed)[i] = game
	arrowfile.View[int32](t.Col(ColRules).Fixed)[i] = int32(x.rules)
	arrowfile.View[int32](t.Col(ColTurns).Fixed)[i] = int32(e.Turns)
	t.Col(ColStatus).Fixed[i] = uint8(e.Status)
	results := arrowfile.View[float32](t.Col(ColResults).Row(i))
	scores := arrowfile.View[float64](t.Col(ColScores).Fixed)[i*x.players:]
	for seat, o := range e.Outcome[:x.players] {
		results[seat], scores[seat] = o.Result, o.Score
		t.Col(ColPolicies).AppendText(e.Policies[seat])
	}
	t.Col(ColSource).AppendText(source)
	arrowfile.AppendList(t.Col(ColOrders), e.Orders)
	arrowfile.AppendList(t.Col(ColEnds), e.Ends)
	if d := t.Col(ColChosen); d != nil {
		arrowfile.AppendList(d, e.Chosen)
	}
	if d := t.Col(ColAskedOrders); d != nil {
		arrowfile.AppendList(d, e.AskedOrders)
		arrowfile.AppendList(t.Col(ColAskedEnds), e.AskedEnds)
	}
	if d := t.Col(ColSearchValue); d != nil {
		f := &e.Searches
		arrowfile.AppendList(d, f.Value)
		arrowfile.AppendList(t.Col(ColSearchEnds), f.Ends)
		arrowfile.AppendList(t.Col(ColSearchPolicy), f.Shares)
		arrowfile.AppendList(t.Col(ColSearchChoices), f.Choices)
		if d := t.Col(ColSearchCounts); d != nil {
			arrowfile.AppendList(d, f.Counts)
		}
	}
	if d := t.Col(ColStopped); d != nil {
		d.AppendText(e.Stopped)
		arrowfile.AppendList(t.Col(ColRecording), e.Recording)
	}
	t.Rows++
	if t.Rows < t.Cap && t.ListBytes() < x.layout.lists {
		return nil
	}
	return w.flush()
}

// finish writes the rows in hand and the ends of the files. It returns the sidecar
// without the sha256 of the files.
func (x *encoder) finish() (sidecar, error) {
	if x.left != 0 {
		return sidecar{}, fmt.Errorf("%d episodes are missing", x.left)
	}
	if err := x.flushSteps(); err != nil {
		return sidecar{}, err
	}
	c := x.counts.sidecar()
	for i, w := range x.tables {
		if err := w.flush(); err != nil {
			return sidecar{}, err
		}
		if err := w.w.Finish(); err != nil {
			return sidecar{}, err
		}
		*c.of(i) = File{Path: pathOf(x.layout.tables[i].name, c.Shard), Rows: uint64(w.w.Rows()), Bytes: uint64(w.w.Bytes())}
	}
	if x.sampler != nil {
		c.Sampled = x.sampler.Sums
	}
	return c, nil
}
