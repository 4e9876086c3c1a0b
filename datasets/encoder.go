package datasets

import (
	"fmt"
	"io"
	"slices"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/games"
	"moonfarm/datasets/internal/stats"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// encoder turns the episodes of shards into the bytes of their files. It keeps
// its memory from shard to shard, whatever their number and length. It is not
// safe for concurrent use.
type encoder struct {
	layout  *layout
	players int
	replays *replays
	games   *games.Numbers // nil: the format does not number them

	tables  []*tableWriter // of the tables of the layout
	step    stepData       // columns of the steps
	final   stepData       // columns of the finals, if there are any
	sampler *stats.Sampler // nil: there are no observations

	batch   *env.Batch
	shapes  shapes
	orders  []sim.Order // for the rules that allow most
	kept    keptTurns
	returns []float32 // of the episode in hand [turns, seats]
	choices []int32   // of the episode in hand, if it tells of searches: rollout.SearchResults.AppendChoiceEnds

	// Of the shard in hand:
	rules  int
	next   uint64
	left   uint64
	counts counter
}

// tableWriter writes the rows of one table, batch by batch.
type tableWriter struct {
	w    *arrowfile.Writer
	rows *arrowfile.Table
	full func(*arrowfile.Table) error // takes every batch: the Write of w; Verify compares it first
}

// flush writes the rows in hand.
func (w *tableWriter) flush() error {
	if w.rows.Rows == 0 {
		return nil
	}
	err := w.full(w.rows)
	w.rows.Reset()
	return err
}

// shapes are the values per row.
type shapes struct{ planes, words, scalars, mask, heads int }

// newEncoder makes an encoder.
func newEncoder(l *layout, m Makers) (*encoder, error) {
	s := l.specs[0]
	x := &encoder{
		layout: l, players: s.Info.Players, replays: newReplays(l.job, m),
		batch:  env.NewBatch(s, 1, 0),
		shapes: shapes{s.Shape.PlaneBytes(), s.Shape.Words, s.Shape.Scalars, s.MaskWords, len(s.Heads)},
		orders: make([]sim.Order, s.Info.Players*l.maxOrders()),
	}
	if l.format > 2 {
		x.games = games.New(l.job.Rules, func(rules int) (env.Vector, error) {
			c := l.job.config(1)
			c.Memory = false // it does not show in states
			return m.Vector(l.job.Rules[rules], c)
		})
	}
	w, err := arrowfile.NewWriter(l.tables[0].schema, l.job.Codec)
	for i, t := range l.tables {
		if i > 0 && err == nil {
			w, err = w.Other(t.schema)
		}
		if err != nil {
			return nil, err
		}
		rows, err := arrowfile.NewTable(t.schema, t.rows, nil)
		if err != nil {
			return nil, err
		}
		x.tables = append(x.tables, &tableWriter{w, rows, w.Write})
	}
	x.step = newStepData(x.tables[stepsTable].rows, l.tables[stepsTable].rows)
	if len(x.tables) > finalsTable {
		x.final = newStepData(x.tables[finalsTable].rows, l.tables[finalsTable].rows)
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
	x.batch.Orders = x.orders[:x.players*x.layout.specs[x.rules].Info.MaxOrders]
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

// episode writes the rows of the next episode. An episode that does not hold its
// rows is played again; that fails if the game does not go as the episode says.
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
		return fmt.Errorf("episode %d tells of %d choices of members of policies, expected %d", e.ID, len(e.Chosen), choices)
	}
	if err := x.checkFound(e); err != nil {
		return err
	}
	if err := checkEpisode(e, source); err != nil {
		return err
	}
	x.next, x.left = x.next+1, x.left-1
	if err := x.turnRows(e); err != nil {
		return err
	}
	game, err := uint64(0), error(nil)
	if x.games != nil {
		if game, err = x.games.Of(x.rules, e); err != nil {
			return err
		}
	}
	x.counts.add(e, game)
	return x.episodeRow(e, game, source)
}

// checkFound fails if what an episode tells of searches is not what its rows have
// columns for.
func (x *encoder) checkFound(e *rollout.Episode) error {
	rows, f := 0, &e.Searches
	if x.layout.job.Search {
		rows = e.Turns * e.Players
	}
	if len(f.Value) != rows {
		return fmt.Errorf("episode %d tells of the searches of %d rows, expected %d", e.ID, len(f.Value), rows)
	}
	if err := foundError(f, rows, x.layout.specs[0].Heads); err != nil {
		return fmt.Errorf("episode %d: %w", e.ID, err)
	}
	x.choices = f.AppendChoiceEnds(x.choices[:0])
	return nil
}

// replays plays episodes again, by the rules of each. It is not safe for concurrent
// use.
type replays struct {
	job    Job
	makers Makers
	made   []*rollout.Replayer // per rules; when needed
}

func newReplays(j Job, m Makers) *replays {
	return &replays{j, m, make([]*rollout.Replayer, len(j.Rules))}
}

// of returns a Replayer for an episode: one that plays by the rules of that number,
// or one that goes through the states of the episode's recording.
func (r *replays) of(rules int, e *rollout.Episode) (*rollout.Replayer, error) {
	if len(e.Recording) > 0 {
		return r.recorded(rules, e)
	}
	if made := r.made[rules]; made != nil {
		return made, nil
	}
	v, err := r.makers.Vector(r.job.Rules[rules], r.job.config(1))
	if err != nil {
		return nil, err
	}
	r.made[rules], err = rollout.NewReplayer(v)
	return r.made[rules], err
}

// recorded returns a Replayer that goes through the states of the episode's
// recording. It fails if the episode has other turns or orders.
func (r *replays) recorded(rules int, e *rollout.Episode) (*rollout.Replayer, error) {
	if r.makers.Recorded == nil {
		return nil, fmt.Errorf("episode %d: a recording, and %s has none that can be checked", e.ID, r.job.Game)
	}
	v, orders, ends, err := r.makers.Recorded(r.job.Rules[rules], r.job.config(1), e.Recording)
	if err != nil {
		return nil, fmt.Errorf("episode %d: %w", e.ID, err)
	}
	if !slices.Equal(ends, e.Ends) || !slices.Equal(orders, e.Orders) {
		return nil, fmt.Errorf("episode %d: its %d turns and %d orders are not those of its recording, which has %d and %d",
			e.ID, e.Turns, len(e.Orders), len(ends)/e.Players, len(orders))
	}
	return rollout.NewReplayer(v)
}

// episodeRow appends the row of the episode to the episodes table.
func (x *encoder) episodeRow(e *rollout.Episode, game uint64, source string) error {
	w := x.tables[episodesTable]
	t := w.rows
	i := t.Rows
	arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[i] = e.ID
	arrowfile.View[uint64](t.Col(ColSeed).Fixed)[i] = e.Seed
	if d := t.Col(ColGame); d != nil {
		arrowfile.View[uint64](d.Fixed)[i] = game
	}
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
