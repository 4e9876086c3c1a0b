package datasets

import (
	"fmt"
	"slices"
	"sort"

	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/datasets/internal/rows"
	"moonfarm/rollout"
)

const orderBytes = 8 // of a sim.Order

// tableWriter writes the rows of one table, batch by batch.
type tableWriter struct {
	w     *arrowfile.Writer
	rows  *arrowfile.RecordBatch
	slabs *rows.Slabs                        // the columns of rows, for a rows.Maker
	data  stepData                           // the same columns
	full  func(*arrowfile.RecordBatch) error // takes every batch: the Write of w; Verify compares it first
}

// newTableWriter returns a writer of a kind of table into the files of w.
func newTableWriter(t tableKind, w *arrowfile.Writer) (*tableWriter, error) {
	table, err := arrowfile.NewRecordBatch(t.schema, t.rows, nil)
	if err != nil {
		return nil, err
	}
	var width [rows.Columns]int
	var data [rows.Columns][]byte
	for _, d := range table.Data {
		if as, ok := fixedColumns[d.Column.Name]; ok && d.Fixed != nil {
			width[as], data[as] = d.Column.Width(), d.Fixed
		}
	}
	return &tableWriter{w, table, rows.Over(width, data), newStepData(table, table.Cap), w.Write}, nil
}

// stepRows writes the step rows of an episode, batch by batch, and its finals.
func (x *encoder) stepRows(e *rollout.Episode) error {
	if err := x.maker.Start(e, x.rules); err != nil {
		return err
	}
	w := x.tables[stepsTable]
	t := w.rows
	for turn := 0; turn < e.Turns; {
		first := turn
		turn += x.fitting(e, first)
		if err := x.maker.Write(w.slabs, t.Rows, first, turn); err != nil {
			return err
		}
		x.lists(e, first, turn)
		if t.Rows += (turn - first) * x.players; t.Rows < t.Cap && t.ListBytes() <= x.layout.lists {
			continue
		}
		if err := x.flushSteps(); err != nil {
			return err
		}
	}
	return x.finalRows(e)
}

// fitting returns how many turns of an episode, from the given one on, go into the
// current batch: until the batch is full, or its lists have more bytes than a batch should have.
func (x *encoder) fitting(e *rollout.Episode, first int) int {
	t := x.tables[stepsTable].rows
	most := x.listsBefore(e, first) + x.layout.lists - t.ListBytes()
	return 1 + sort.Search(min(e.Turns-first, (t.Cap-t.Rows)/x.players)-1, func(k int) bool {
		return x.listsBefore(e, first+k+1) > most
	})
}

// listsBefore returns how many bytes of lists an episode has before a turn.
func (x *encoder) listsBefore(e *rollout.Episode, turn int) int {
	moves, choices := x.moves.Before(turn * e.Players)
	n := orderBytes*ordersBefore(e, turn) + 4*moves + 4*choices
	if len(e.Searches.Counts) > 0 {
		n += 4 * moves
	}
	return n
}

// ordersBefore returns how many orders an episode has before a turn.
func ordersBefore(e *rollout.Episode, turn int) int {
	if turn == 0 {
		return 0
	}
	return int(e.Ends[turn*e.Players-1])
}

// lists appends the columns of lists of the rows of some turns.
func (x *encoder) lists(e *rollout.Episode, first, end int) {
	s, from, to := &x.tables[stepsTable].data, first*x.players, end*x.players
	before := ordersBefore(e, first)
	arrowfile.AppendLists(s.orders, e.Orders[before:ordersBefore(e, end)], before, e.Ends[from:to])
	if !x.layout.job.Search {
		return
	}
	move, choice := x.moves.Before(from)
	moveEnds, choiceEnds := x.moves.Ends(from, to)
	f := x.moves.Of(from, to)
	arrowfile.AppendLists(s.search[searchPolicy], f.Shares, move, moveEnds)
	arrowfile.AppendLists(s.search[searchChoices], f.Choices, choice, choiceEnds)
	if d := s.search[searchCounts]; d != nil {
		arrowfile.AppendLists(d, f.Counts, move, moveEnds)
	}
}

// finalRows writes the finals of an episode, if the dataset has any.
func (x *encoder) finalRows(e *rollout.Episode) error {
	if len(x.tables) <= finalsTable {
		return nil
	}
	w := x.tables[finalsTable]
	t := w.rows
	if err := x.maker.Final(w.slabs, t.Rows); err != nil {
		return err
	}
	s := &w.data
	for p := range x.players {
		k := t.Rows + p
		s.episode[k], s.turn[k], s.seat[k] = e.ID, int32(e.Turns), uint8(p)
	}
	if t.Rows += x.players; t.Rows < t.Cap {
		return nil
	}
	return w.flush()
}

// flushSteps adds the step rows in hand to the statistics, and writes them.
func (x *encoder) flushSteps() error {
	w := x.tables[stepsTable]
	if x.sampler != nil { // while the rows are in the cache
		s := &w.data
		if err := x.sampler.Batch(s.planes, s.packed, s.scalars, uint64(w.w.Rows()), w.rows.Rows); err != nil {
			return err
		}
	}
	return w.flush()
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

// replays has a Replayer for each set of rules. It is not safe for concurrent use.
type replays struct {
	job    Job
	makers Makers
	made   []*rollout.Replayer // one for each set of rules, made when needed
}

func newReplays(j Job, m Makers) *replays {
	return &replays{j, m, make([]*rollout.Replayer, len(j.Rules))}
}

// of returns a Replayer for an episode: with the rules of that number, or through the
// states of the episode's recording.
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
