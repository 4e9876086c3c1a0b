package write

import (
	"fmt"
	"io"

	"moonfarm/datasets/internal/about"
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/rows"
	"moonfarm/datasets/internal/stats"
	"moonfarm/env"
	"moonfarm/rollout"
)

// Encoder turns the episodes of shards into the bytes of their files. It keeps its
// memory from shard to shard. It is not safe for concurrent use.
type Encoder struct {
	layout  *about.Layout
	Players int
	games   *games.Numbers
	Tables  []*tableWriter // one for each table of the layout
	sampler *stats.Sampler // nil: there are no observations
	maker   *rows.Maker
	moves   rows.Moves // of the episode in hand

	// The shard in hand:
	rules  int
	next   uint64 // number of the next episode
	left   uint64 // episodes
	Counts about.Counter
}

// NewEncoder makes an encoder.
func NewEncoder(l *about.Layout, m about.Makers) (*Encoder, error) {
	s := l.Specs[0]
	x := &Encoder{
		layout: l, Players: s.Info.Players,
		maker: rows.NewMaker(about.RowSpec(l.Job, l.Specs, l.Tables[about.StepsTable].Schema.Columns), about.NewReplays(l.Job, m).Of),
		games: games.New(l.Job.Rules, func(rules int) (env.Vector, error) {
			c := l.Job.Config(1)
			c.Memory = false // it does not change states
			return m.Vector(l.Job.Rules[rules], c)
		}),
	}
	w, err := arrowfile.NewWriter(l.Tables[0].Schema, l.Job.Codec)
	for i, t := range l.Tables {
		if i > 0 && err == nil {
			w, err = w.Other(t.Schema)
		}
		if err != nil {
			return nil, err
		}
		table, err := newTableWriter(t, w)
		if err != nil {
			return nil, err
		}
		x.Tables = append(x.Tables, table)
	}
	if l.Job.Obs != about.ObsNone {
		x.sampler, err = stats.NewSampler(s.Shape, s.Description.PackedLayout, l.Job.Obs == about.ObsPacked)
	}
	return x, err
}

// Start begins a shard whose files go to the given writers, one per table.
func (x *Encoder) Start(p about.Place, to []io.Writer) error {
	x.next, x.left, x.rules = p.First, p.N, p.Rules
	x.Counts = about.NewCounter(x.Players, about.Sidecar{Shard: p.Shard})
	if x.sampler != nil {
		x.sampler.Start()
	}
	for i, w := range x.Tables {
		w.rows.Reset()
		if err := w.Writer.Start(to[i]); err != nil {
			return err
		}
	}
	return nil
}

// Episode writes the rows of the next episode. An episode that does not hold its rows
// is played again, and episode fails if the game does not go as recorded.
func (x *Encoder) Episode(e *rollout.Episode, source string) error {
	if x.left == 0 || e.ID != x.next || len(e.Policies) != x.Players || e.Players != x.Players {
		return fmt.Errorf("episode %d of %d seats, %d policies, %d orders; expected number %d of %d seats",
			e.ID, e.Players, len(e.Policies), len(e.Orders), x.next, x.Players)
	}
	choices := 0
	if x.layout.Job.Mixed() {
		choices = e.Turns * e.Players
	}
	if len(e.Chosen) != choices {
		return fmt.Errorf("episode %d has %d choices of members, expected %d", e.ID, len(e.Chosen), choices)
	}
	if want := x.layout.Job.AskedRows(e); len(e.AskedEnds) != want {
		return fmt.Errorf("episode %d has orders of the policy that is asked for %d rows, expected %d", e.ID, len(e.AskedEnds), want)
	}
	if err := x.checkSearches(e); err != nil {
		return err
	}
	if err := about.CheckEpisode(e, source); err != nil {
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
	x.Counts.Add(e, game)
	return x.episodeRow(e, game, source)
}

// checkSearches fails if the search results of an episode do not fit the columns of its
// rows.
func (x *Encoder) checkSearches(e *rollout.Episode) error {
	rows, f := 0, &e.Searches
	if x.layout.Job.Search {
		rows = e.Turns * e.Players
	}
	if len(f.Value) != rows {
		return fmt.Errorf("episode %d has search results of %d rows, expected %d", e.ID, len(f.Value), rows)
	}
	if err := about.FoundError(f, rows, x.layout.Specs[0].Heads); err != nil {
		return fmt.Errorf("episode %d: %w", e.ID, err)
	}
	x.moves.Set(f)
	return nil
}

// episodeRow appends the row of the episode to the table of episodes.
func (x *Encoder) episodeRow(e *rollout.Episode, game uint64, source string) error {
	w := x.Tables[about.EpisodesTable]
	t := w.rows
	i := t.Rows
	arrowfile.View[uint64](t.Col(about.ColEpisode).Fixed)[i] = e.ID
	arrowfile.View[uint64](t.Col(about.ColSeed).Fixed)[i] = e.Seed
	arrowfile.View[uint64](t.Col(about.ColGame).Fixed)[i] = game
	arrowfile.View[int32](t.Col(about.ColRules).Fixed)[i] = int32(x.rules)
	arrowfile.View[int32](t.Col(about.ColTurns).Fixed)[i] = int32(e.Turns)
	t.Col(about.ColStatus).Fixed[i] = uint8(e.Status)
	results := arrowfile.View[float32](t.Col(about.ColResults).Row(i))
	scores := arrowfile.View[float64](t.Col(about.ColScores).Fixed)[i*x.Players:]
	for seat, o := range e.Outcome[:x.Players] {
		results[seat], scores[seat] = o.Result, o.Score
		t.Col(about.ColPolicies).AppendText(e.Policies[seat])
	}
	t.Col(about.ColSource).AppendText(source)
	arrowfile.AppendList(t.Col(about.ColOrders), e.Orders)
	arrowfile.AppendList(t.Col(about.ColEnds), e.Ends)
	if d := t.Col(about.ColChosen); d != nil {
		arrowfile.AppendList(d, e.Chosen)
	}
	if d := t.Col(about.ColAskedOrders); d != nil {
		arrowfile.AppendList(d, e.AskedOrders)
		arrowfile.AppendList(t.Col(about.ColAskedEnds), e.AskedEnds)
	}
	if d := t.Col(about.ColSearchValue); d != nil {
		f := &e.Searches
		arrowfile.AppendList(d, f.Value)
		arrowfile.AppendList(t.Col(about.ColSearchEnds), f.Ends)
		arrowfile.AppendList(t.Col(about.ColSearchPolicy), f.Shares)
		arrowfile.AppendList(t.Col(about.ColSearchChoices), f.Choices)
		if d := t.Col(about.ColSearchCounts); d != nil {
			arrowfile.AppendList(d, f.Counts)
		}
	}
	if d := t.Col(about.ColStopped); d != nil {
		d.AppendText(e.Stopped)
		arrowfile.AppendList(t.Col(about.ColRecording), e.Recording)
	}
	t.Rows++
	if t.Rows < t.Cap && t.ListBytes() < x.layout.Lists {
		return nil
	}
	return w.flush()
}

// Finish writes the rows in hand and the ends of the files. It returns the sidecar
// without the sha256 of the files.
func (x *Encoder) Finish() (about.Sidecar, error) {
	if x.left != 0 {
		return about.Sidecar{}, fmt.Errorf("%d episodes are missing", x.left)
	}
	if err := x.flushSteps(); err != nil {
		return about.Sidecar{}, err
	}
	c := x.Counts.Sidecar()
	for i, w := range x.Tables {
		if err := w.flush(); err != nil {
			return about.Sidecar{}, err
		}
		if err := w.Writer.Finish(); err != nil {
			return about.Sidecar{}, err
		}
		*c.Of(i) = about.File{Path: about.PathOf(x.layout.Tables[i].Name, c.Shard), Rows: uint64(w.Writer.Rows()), Bytes: uint64(w.Writer.Bytes())}
	}
	if x.sampler != nil {
		c.Sampled = x.sampler.Sums
	}
	return c, nil
}
