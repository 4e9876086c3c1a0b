package datasets

import (
	"fmt"
	"io"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// encoder turns the episodes of shards into the bytes of their two files. It
// keeps its memory from shard to shard, whatever their number and length. It is
// not safe for concurrent use.
type encoder struct {
	layout  *layout
	makers  Makers
	players int
	replays []*rollout.Replayer // per rules; made when needed

	steps, episodes         *arrowfile.Writer
	stepsFull, episodesFull func(*arrowfile.Table) error // take a batch: the Write of the two; Verify compares too
	s, e                    *arrowfile.Table
	step                    stepData
	batch                   *env.Batch
	orders                  []sim.Order // for the rules that allow most
	shapes                  shapes
	sums                    []float32 // returns of an episode [turns, seats], if they must be known beforehand

	// of the shard in hand
	rules  int
	next   uint64
	left   uint64
	counts counter
}

// shapes are the values per row.
type shapes struct{ planes, words, scalars, mask, heads int }

// stepData are the columns of the steps table.
type stepData struct {
	episode               []uint64
	turn                  []int32
	seat                  []uint8
	planes                []uint8
	packed                []uint64
	scalars               []float32
	mask                  []uint64
	action                []int32
	orders                *arrowfile.Data
	reward, ret, outcome  []float32
	terminated, truncated []uint8
}

func newStepData(t *arrowfile.Table) stepData {
	b := func(name string) []byte {
		if d := t.Col(name); d != nil {
			return d.Fixed
		}
		return nil
	}
	return stepData{
		episode: arrowfile.View[uint64](b(ColEpisode)), turn: arrowfile.View[int32](b(ColTurn)), seat: b(ColSeat),
		planes: b(ColPlanes), packed: arrowfile.View[uint64](b(ColPacked)), scalars: arrowfile.View[float32](b(ColScalars)),
		mask: arrowfile.View[uint64](b(ColMask)), action: arrowfile.View[int32](b(ColAction)), orders: t.Col(ColOrders),
		reward: arrowfile.View[float32](b(ColReward)), ret: arrowfile.View[float32](b(ColReturn)),
		outcome: arrowfile.View[float32](b(ColOutcome)), terminated: b(ColTerminated), truncated: b(ColTruncated),
	}
}

// newEncoder makes an encoder.
func newEncoder(l *layout, m Makers) (*encoder, error) {
	s := l.specs[0]
	x := &encoder{
		layout: l, makers: m, players: s.Info.Players, replays: make([]*rollout.Replayer, len(l.specs)),
		batch:  env.NewBatch(s, 1, 0),
		shapes: shapes{s.Shape.PlaneBytes(), s.Shape.Words, s.Shape.Scalars, s.MaskWords, len(s.Heads)},
		orders: make([]sim.Order, s.Info.Players*l.maxOrders()),
	}
	var err error
	if x.steps, err = arrowfile.NewWriter(l.steps, l.job.Codec); err != nil {
		return nil, err
	}
	if x.episodes, err = arrowfile.NewWriter(l.episodes, l.job.Codec); err != nil {
		return nil, err
	}
	if x.s, err = arrowfile.NewTable(l.steps, l.rows, nil); err != nil {
		return nil, err
	}
	if x.e, err = arrowfile.NewTable(l.episodes, episodeBatchRows, nil); err != nil {
		return nil, err
	}
	x.step = newStepData(x.s)
	x.stepsFull, x.episodesFull = x.steps.Write, x.episodes.Write
	return x, nil
}

// start begins a shard.
func (x *encoder) start(shard int, steps, episodes io.Writer) error {
	x.next, x.left, x.rules = x.layout.job.shard(shard)
	x.counts = counter{counts: sidecar{Shard: shard}, players: x.players}
	x.batch.Orders = x.orders[:x.players*x.layout.specs[x.rules].Info.MaxOrders]
	x.s.Reset()
	x.e.Reset()
	if err := x.steps.Start(steps); err != nil {
		return err
	}
	return x.episodes.Start(episodes)
}

// replayer returns the one for the rules of the shard.
func (x *encoder) replayer() (*rollout.Replayer, error) {
	if r := x.replays[x.rules]; r != nil {
		return r, nil
	}
	v, err := x.makers.Vector(x.layout.job.Rules[x.rules], x.layout.job.config(1))
	if err != nil {
		return nil, err
	}
	r, err := rollout.NewReplayer(v)
	x.replays[x.rules] = r
	return r, err
}

// episode writes the rows of the next episode. One that does not hold its rows,
// and so any from elsewhere, is played again, and fails if it does not go as it
// says.
func (x *encoder) episode(e *rollout.Episode, source string) error {
	if x.left == 0 || e.ID != x.next || len(e.Policies) != x.players || e.Players != x.players || len(e.Orders) > maxEpisodeOrders {
		return fmt.Errorf("episode %d of %d seats, %d policies, %d orders; expected number %d of %d seats",
			e.ID, e.Players, len(e.Policies), len(e.Orders), x.next, x.players)
	}
	x.next, x.left = x.next+1, x.left-1
	if err := x.rowsOf(e); err != nil {
		return err
	}
	x.counts.add(e)
	return x.episodeRow(e, source)
}

// rowsOf writes the rows of an episode that holds them, or plays it again.
func (x *encoder) rowsOf(e *rollout.Episode) error {
	if e.Rows != nil && (len(e.Rows.Mask) > 0 || x.layout.job.Obs == ObsNone) {
		return x.keptRows(e)
	}
	r, err := x.replayer()
	if err != nil {
		return err
	}
	return x.stepRows(r, e)
}

// episodeRow appends the row of the episode to the episodes table.
func (x *encoder) episodeRow(e *rollout.Episode, source string) error {
	i, t := x.e.Rows, x.e
	arrowfile.View[uint64](t.Col(ColEpisode).Fixed)[i] = e.ID
	arrowfile.View[uint64](t.Col(ColSeed).Fixed)[i] = e.Seed
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
	t.Rows++
	if t.Rows < t.Cap && t.ListBytes() < x.layout.lists {
		return nil
	}
	err := x.episodesFull(t)
	t.Reset()
	return err
}

// finish writes what is left of the shard and the ends of its files. The sums
// of the files are the caller's to fill in.
func (x *encoder) finish() (sidecar, error) {
	if x.left != 0 {
		return sidecar{}, fmt.Errorf("%d episodes are missing", x.left)
	}
	if err := x.flushSteps(); err != nil {
		return sidecar{}, err
	}
	if x.e.Rows > 0 {
		if err := x.episodesFull(x.e); err != nil {
			return sidecar{}, err
		}
	}
	if err := x.steps.Finish(); err != nil {
		return sidecar{}, err
	}
	if err := x.episodes.Finish(); err != nil {
		return sidecar{}, err
	}
	c := x.counts.counts
	c.Steps = File{Path: stepsPath(c.Shard), Rows: uint64(x.steps.Rows()), Bytes: uint64(x.steps.Bytes())}
	c.Episodes = File{Path: episodesPath(c.Shard), Rows: uint64(x.episodes.Rows()), Bytes: uint64(x.episodes.Bytes())}
	return c, nil
}
